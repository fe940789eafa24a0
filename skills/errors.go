package skills

import (
	"errors"
	"fmt"

	"github.com/seed62b61957/mcp/internal/oneline"
)

// A Check is what a skill did not pass.
type Check string

// The checks. An entry is checked when it is listed, the rest when a file is read.
const (
	CheckEntry       Check = "entry"       // the entry breaks a rule of the extension, or a limit
	CheckListed      Check = "listed"      // the file is not in the entry
	CheckContents    Check = "contents"    // the server did not answer with the contents of one file
	CheckSize        Check = "size"        // in bytes
	CheckDigest      Check = "digest"      // SHA-256
	CheckFrontmatter Check = "frontmatter" // that of SKILL.md is not that of the entry, or cannot be read
)

// VerifyError says why a skill, or a file of it, is refused. A fresh entry may help ([Get]): the skill may have changed
// since it was listed.
type VerifyError struct {
	Skill string // URI of its SKILL.md
	URI   string // of the file
	What  Check
	Field string // of the frontmatter: "metadata.version"
	// Want is what the entry says, Got what the server sent. Values of the frontmatter are JSON, cut to 100 bytes; they
	// are the server's words. Both are empty where there is nothing to compare.
	Want, Got string
	Reason    string // what else there is to say
}

// Error says it in one line, of at most 2 KiB.
func (e *VerifyError) Error() string {
	s := fmt.Sprintf("%q refused: %s", e.URI, e.What)
	if e.URI != e.Skill {
		s = fmt.Sprintf("%q of skill %q refused: %s", e.URI, e.Skill, e.What)
	}
	if e.Field != "" {
		s += " " + e.Field
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	if e.Want != "" || e.Got != "" {
		s += fmt.Sprintf(": the entry has %s, the file %s", e.Want, e.Got)
	}
	const most = 2 << 10
	return oneline.Of(s, most)
}

// ErrDynamic says that a skill was not loaded because its content is generated, so that nothing can be verified.
var ErrDynamic = errors.New("the content is generated and cannot be verified")
