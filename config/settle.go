package config

import "fmt"

// settle finds the type of a server, and refuses what does not go together.
func (s *Server) settle() *Error {
	switch {
	case s.Command != "" && s.URL != "":
		return s.conflict("url", "command")
	case s.Type == Stdio && s.URL != "":
		return s.conflict("url", "type")
	case s.Type != "" && s.Type != Stdio && s.Command != "":
		return s.conflict("command", "type")
	case s.Type == Stdio && s.Command == "":
		return s.fail("type", "stdio needs a command")
	case s.Type != "" && s.Type != Stdio && s.URL == "":
		return s.fail("type", string(s.Type)+" needs a url")
	case s.Command != "":
		s.Type = Stdio
	case s.URL != "" && s.Type == "":
		s.Type = HTTP
	}
	return s.misfit()
}

// misfit finds what has no effect on a server of this type. Somebody counts on it nevertheless.
func (s *Server) misfit() *Error {
	switch {
	case s.Type == "":
		return nil // an override
	case s.Type == Stdio && len(s.Headers) > 0:
		return s.conflict("headers", "command")
	case s.Type == Stdio && s.OAuth != nil:
		return s.conflict("oauth", "command")
	case s.Type != Stdio && len(s.Args) > 0:
		return s.conflict("args", "url")
	case s.Type != Stdio && len(s.Env) > 0:
		return s.conflict("env", "url")
	case s.Type != Stdio && s.Cwd != "":
		return s.conflict("cwd", "url")
	}
	return nil
}

// conflict blames the field, or the one that an override brought in.
func (s *Server) conflict(field, other string) *Error {
	at, second := s.spot(field), s.spot(other)
	if s.entry == nil {
		return s.fail(field, "conflicts with "+second.name)
	}
	if base := s.entry.place.src; at.src == base && second.src != base {
		field, at, second = other, second, at
	}
	return s.fail(field, fmt.Sprintf("conflicts with %s at %s", second.name, second.seenFrom(at.place)))
}
