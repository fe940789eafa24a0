package skills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"

	"github.com/seed62b61957/mcp"
)

// Loaded is a skill whose SKILL.md was read and verified. The entry that it was verified against is kept: every other
// file is read by it.
type Loaded struct {
	Skill *Skill
	Text  string // SKILL.md as it is
	Body  string // the instructions: Text without the frontmatter

	byPath map[string]File
	byURI  map[string]File
}

// Content is a file of a skill that was read and verified.
type Content struct {
	File
	MIMEType string // what the server says; may be empty
	Data     []byte
}

// Load reads the skill's SKILL.md from the server, and verifies it. A skill that does not pass is a [*VerifyError] or
// [ErrDynamic]; other errors are those of [mcp.Client.ReadResource].
func (s *Skill) Load(ctx context.Context, opts ...mcp.CallOption) (*Loaded, error) {
	if s.client == nil {
		return nil, errors.New("skills: the skill does not come from List or Get")
	}
	if s.Refused != nil {
		return nil, s.wrap(s.Refused)
	}
	l := &Loaded{Skill: s, byPath: map[string]File{}, byURI: map[string]File{}}
	for _, f := range s.Files {
		l.byPath[f.Path], l.byURI[f.URI] = f, f
	}
	content, err := s.read(ctx, l.byURI[s.URI], opts)
	if err != nil {
		return nil, err
	}
	l.Text = string(content.Data)
	if l.Body, err = s.checkFrontmatter(l.Text); err != nil {
		return nil, s.wrap(err)
	}
	return l, nil
}

// Read reads a file of the skill from the server, and verifies it. It takes a path as the skill's files write it,
// relative to the skill's directory ("references/FORMS.md"; a fragment is ignored), or the URI of a file. What the
// entry does not list, which is all that leads out of the directory, is a [*VerifyError] without a request. Another
// SKILL.md among the files is a file like any other: its frontmatter means nothing.
func (l *Loaded) Read(ctx context.Context, ref string, opts ...mcp.CallOption) (*Content, error) {
	f, ok := l.find(ref)
	if !ok {
		return nil, l.Skill.wrap(&VerifyError{Skill: l.Skill.URI, URI: ref, What: CheckListed})
	}
	return l.Skill.read(ctx, f, opts)
}

// find looks a reference up in the entry: as it is, and as a reference of a URI (RFC 3986, section 4.2).
func (l *Loaded) find(ref string) (File, bool) {
	if f, ok := l.byURI[ref]; ok {
		return f, true
	}
	if f, ok := l.byPath[path.Clean(ref)]; ok {
		return f, true
	}
	u, err := url.Parse(ref)
	if err != nil || u.RawQuery != "" {
		return File{}, false
	}
	f, ok := l.byPath[path.Clean(u.Path)] // where there is a scheme or a host, this is not relative
	return f, ok
}

// read reads a file, and returns it if it is what the entry says.
func (s *Skill) read(ctx context.Context, f File, opts []mcp.CallOption) (*Content, error) {
	result, err := s.client.ReadResource(ctx, f.URI, opts...)
	if err != nil {
		return nil, err
	}
	refused := &VerifyError{Skill: s.URI, URI: f.URI, What: CheckContents}
	if len(result.Contents) != 1 {
		refused.Reason = fmt.Sprintf("%d contents for one file", len(result.Contents))
		return nil, s.wrap(refused)
	}
	contents := result.Contents[0]
	data, err := contents.Bytes()
	if err != nil {
		refused.Reason = err.Error()
		return nil, s.wrap(refused)
	}
	if err := f.verify(data, refused); err != nil {
		return nil, s.wrap(err)
	}
	return &Content{File: f, MIMEType: contents.MediaType(), Data: data}, nil
}

// verify checks the bytes of a file, and says in refused what is wrong with them.
func (f *File) verify(data []byte, refused *VerifyError) error {
	if int64(len(data)) != f.Size {
		refused.What = CheckSize
		refused.Want, refused.Got = strconv.FormatInt(f.Size, 10), strconv.Itoa(len(data))
		return refused
	}
	sum := sha256.Sum256(data)
	if got := digestPrefix + hex.EncodeToString(sum[:]); got != f.Digest {
		refused.What = CheckDigest
		refused.Want, refused.Got = f.Digest, got
		return refused
	}
	return nil
}

// wrap is what an error of this package looks like outside.
func (s *Skill) wrap(err error) error {
	if errors.Is(err, ErrDynamic) {
		return fmt.Errorf("skills: %q refused: %w", s.URI, err)
	}
	return fmt.Errorf("skills: %w", err)
}
