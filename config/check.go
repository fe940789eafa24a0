package config

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// check looks at the values, and returns what is wrong with the first. Those with references are left for when they are
// expanded.
func (s *Server) check(expanded bool) (field, reason string) {
	ready := func(text string) bool { return expanded || !hasReference(text) }
	if !expanded {
		if field, reason := s.checkReferences(); reason != "" {
			return field, reason
		}
	}
	if expanded && s.Type == Stdio && s.Command == "" {
		return "command", "is empty"
	}
	// No program and no folder has such a name: it is a path of Windows with single backslashes.
	for _, path := range []struct{ field, text string }{{"command", s.Command}, {"cwd", s.Cwd}} {
		if strings.ContainsFunc(path.text, isControl) {
			return path.field, `holds a control character (a backslash is written \\)`
		}
	}
	for i, arg := range s.Args {
		if strings.Contains(arg, "\x00") {
			return "args[" + strconv.Itoa(i) + "]", "holds a NUL"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return "env." + name, "is not a name of a variable"
		case strings.Contains(s.Env[name], "\x00"):
			return "env." + name, "holds a NUL"
		}
	}
	if (s.URL != "" || expanded && s.Type != Stdio) && ready(s.URL) && httpURL(s.URL) == nil {
		reason := "is not an http or https URL"
		if strings.TrimSpace(s.URL) != s.URL {
			reason += " (there is white space around it)"
		}
		return "url", reason
	}
	if field, reason := s.checkHeaders(); reason != "" {
		return field, reason
	}
	if s.OAuth != nil {
		field, reason := s.OAuth.check(expanded)
		return "oauth." + field, reason
	}
	return "", ""
}

func (s *Server) checkReferences() (field, reason string) {
	other := *s
	other.replace(func(at, text string) string {
		if _, _, why := expand(text, nil); why != "" && reason == "" {
			field, reason = at, why
		}
		return text
	})
	return field, reason
}

func (s *Server) checkHeaders() (field, reason string) {
	known := make(map[string]string, len(s.Headers))
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		folded := strings.ToLower(name)
		switch {
		case !isToken(name):
			return "headers." + name, "is not a name of a header (RFC 9110, section 5.1)"
		case known[folded] != "":
			return "headers." + name, "is the same header as " + known[folded]
		case strings.ContainsFunc(s.Headers[name], func(c rune) bool { return c != '\t' && isControl(c) }):
			return "headers." + name, "holds a control character"
		}
		known[folded] = name
	}
	return "", ""
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// isToken knows the tokens of RFC 9110, section 5.6.2.
func isToken(text string) bool {
	for _, c := range []byte(text) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !letter && !strings.Contains("!#$%&'*+-.^_`|~", string(rune(c))) {
			return false
		}
	}
	return text != ""
}

// isName knows the names that servers may have. Galleries of editors write names of a registry, people write titles.
func isName(text string) bool {
	bad := func(c rune) bool { return !strconv.IsPrint(c) || c == utf8.RuneError }
	return text != "" && strings.TrimSpace(text) == text && !strings.ContainsFunc(text, bad)
}

// httpURL returns nil for what is no absolute http or https URL. Package url takes a space at the end for a part of it.
func httpURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.TrimSpace(text) != text {
		return nil
	}
	if port, err := strconv.Atoi(cmp.Or(u.Port(), "1")); err != nil || port < 1 || port > 65535 {
		return nil
	}
	return u
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
