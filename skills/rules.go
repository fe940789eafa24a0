package skills

import (
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"unicode"
)

const (
	skillFile    = "/SKILL.md"
	digestPrefix = "sha256:"
	digestLength = 64
)

// broken checks an entry against the rules of the extension (SEP-2640, Skill Entries), and says which one it breaks, ""
// if none. It fills in the paths of the files.
func (s *Skill) broken(hasResources bool) string {
	root, isSkill := strings.CutSuffix(s.URI, skillFile)
	path, ok := pathOf(root)
	switch {
	case !isSkill || !ok:
		return "the uri is not that of a SKILL.md in a directory"
	case s.Name == "" || s.Description == "":
		return "the frontmatter has no name or no description"
	case s.Name != path[strings.LastIndexByte(path, '/')+1:]:
		return "the name is not that of the directory"
	case !hasResources:
		return `resources is neither a list nor "dynamic"`
	case s.Dynamic:
		return ""
	case len(s.Files) > maxFiles:
		return fmt.Sprintf("more than %d files", maxFiles)
	}
	return s.brokenFiles(root + "/")
}

func (s *Skill) brokenFiles(root string) string {
	var total int64
	paths := map[string]bool{}
	for i := range s.Files {
		f := &s.Files[i]
		within, inside := strings.CutPrefix(f.URI, root)
		path, ok := cleanPath(within)
		switch {
		case !inside || !ok || strings.Contains(path, ":"): // a drive, or a stream of a file, on Windows
			return fmt.Sprintf("file %d is not within the directory of the skill", i)
		case path == skillFile[1:] && f.URI != s.URI:
			return "SKILL.md has another uri among the files"
		case paths[path]:
			return fmt.Sprintf("file %d is listed twice", i)
		case !isDigest(f.Digest):
			return fmt.Sprintf("file %d has no digest", i)
		case f.Size < 0 || f.Size > maxSize:
			return fmt.Sprintf("file %d has no size, or one over %d bytes", i, maxSize)
		}
		f.Path = path
		paths[path] = true
		total += f.Size
	}
	if !paths[skillFile[1:]] {
		return "SKILL.md is not listed"
	}
	if total > maxSize {
		return fmt.Sprintf("more than %d bytes", maxSize)
	}
	return ""
}

// pathOf is the part of an absolute URI after the scheme, the authority included: the path of a skill. A scheme means
// nothing (SEP-2640, Resource Mapping).
func pathOf(uri string) (string, bool) {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || scheme == "" || strings.ContainsFunc(scheme, notInScheme) {
		return "", false
	}
	rest = strings.TrimPrefix(rest, "//")
	return cleanPath(strings.TrimPrefix(rest, "/")) // no authority, as in file:///
}

func notInScheme(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-.", r)
}

// cleanPath decodes a path of a URI. It reports false for one that no file of a directory has: with "..", an empty
// segment, a query, or a separator that is written in some other way.
func cleanPath(encoded string) (string, bool) {
	path, err := url.PathUnescape(encoded)
	ok := err == nil && path != "." && fs.ValidPath(path) &&
		strings.Count(path, "/") == strings.Count(encoded, "/") &&
		!strings.ContainsAny(encoded, "?#") &&
		!strings.Contains(path, `\`) && !strings.ContainsFunc(path, unicode.IsControl)
	return path, ok
}

func isDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	return ok && len(digits) == digestLength && strings.Trim(digits, "0123456789abcdef") == ""
}
