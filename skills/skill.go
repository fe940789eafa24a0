package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// Extension is the identifier of the extension in the capabilities of a server.
const Extension = "io.modelcontextprotocol/skills"

const (
	maxFiles = 512      // SEP-2640, Limits
	maxSize  = 16 << 20 // bytes of all files together
)

// A Skill is what a server lists of a skill: metadata only. It belongs to the client that listed it.
type Skill struct {
	// URI is that of SKILL.md. It identifies the skill, on this server.
	URI string
	// Name and Description are those of the frontmatter. They are the server's words.
	Name, Description string
	// Frontmatter is all of the frontmatter, by field.
	Frontmatter map[string]json.RawMessage
	// Files are all of the skill's files, SKILL.md included; none if Dynamic is set.
	Files []File
	// Dynamic says that the content is generated, so that there are no digests.
	Dynamic bool
	// Refused is why the skill cannot be loaded: a [*VerifyError] or [ErrDynamic], or nil if it can. The other fields
	// hold what could be read.
	Refused error

	client *mcp.Client
}

// A File is a file of a skill, as the skill's entry describes it.
type File struct {
	URI    string
	Path   string // within the skill: "references/FORMS.md"
	Digest string // "sha256:" and 64 hexadecimal digits
	Size   int64  // bytes
}

// Fingerprint stands for the content of all the skill's files: the entries of a skill have the same one exactly if they
// have the same URIs and digests. An approval that is kept must be bound to it (SEP-2640, Security Considerations). It
// is empty if Dynamic is set, where no approval can be kept.
func (s *Skill) Fingerprint() string {
	if s.Dynamic {
		return ""
	}
	lines := make([]string, len(s.Files))
	for i, f := range s.Files {
		lines[i] = f.Digest + " " + f.URI + "\n"
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// decodeSkill reads an entry. One that cannot be used says why.
func decodeSkill(data json.RawMessage) *Skill {
	s := &Skill{}
	d := jsonscan.New(data)
	if d.Kind() != jsonscan.Object {
		s.refuse("not an object")
		return s
	}
	found := false // resources, as a list or as dynamic
	for name := range d.Object() {
		switch string(name) {
		case "uri":
			s.URI = text(&d)
		case "frontmatter":
			s.Frontmatter = object(&d)
		case "resources":
			found = s.decodeResources(&d)
		}
	}
	s.Name, s.Description = field(s.Frontmatter, "name"), field(s.Frontmatter, "description")
	switch reason := s.broken(found); {
	case reason != "":
		s.refuse(reason)
	case s.Dynamic:
		s.Refused = ErrDynamic
	}
	return s
}

func (s *Skill) refuse(reason string) {
	s.Refused = &VerifyError{Skill: s.URI, URI: s.URI, What: CheckEntry, Reason: reason}
}

// decodeResources reads the files, not many more than are allowed, and reports whether resources has a form that it may
// have.
func (s *Skill) decodeResources(d *jsonscan.Decoder) bool {
	switch d.Kind() {
	case jsonscan.String:
		s.Dynamic = d.Text() == "dynamic"
		return s.Dynamic
	case jsonscan.Array:
		s.Files = []File{}
		for range d.Array() {
			if s.Files = append(s.Files, decodeFile(d.Raw())); len(s.Files) > maxFiles {
				break
			}
		}
		return true
	}
	return false
}

// decodeFile reads what there is of a file; what is missing breaks a rule.
func decodeFile(data json.RawMessage) File {
	f := File{Size: -1}
	d := jsonscan.New(data)
	if d.Kind() != jsonscan.Object {
		return f
	}
	for name := range d.Object() {
		switch string(name) {
		case "uri":
			f.URI = text(&d)
		case "digest":
			f.Digest = text(&d)
		case "size":
			if d.Kind() == jsonscan.Number {
				size := jsonscan.New(d.Raw()) // so that its error does not stick
				if n := size.Int64(); size.Err() == nil {
					f.Size = n
				}
			}
		}
	}
	return f
}

// text reads a string; anything else is as if there were none.
func text(d *jsonscan.Decoder) string {
	if d.Kind() != jsonscan.String {
		return ""
	}
	return d.Text()
}

func object(d *jsonscan.Decoder) map[string]json.RawMessage {
	if d.Kind() != jsonscan.Object {
		return nil
	}
	m := map[string]json.RawMessage{}
	for name := range d.Object() {
		m[string(name)] = d.Raw()
	}
	return m
}

func field(m map[string]json.RawMessage, name string) string {
	d := jsonscan.New(m[name])
	return text(&d)
}
