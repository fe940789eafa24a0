package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"time"
)

// A Type is the way to a server.
type Type string

// The types. SSE is the deprecated HTTP+SSE transport of 2024-11-05. A server at a URL whose entry does not say so is
// HTTP, and package streamablehttp then finds out by itself which of the two it is.
const (
	Stdio Type = "stdio"
	HTTP  Type = "http"
	SSE   Type = "sse"
)

// A Server is an entry of a configuration, or one that a program makes. Nothing that formats it shows more than its
// name and type, unless it is in an unexported field of another struct: there package fmt cannot call its methods.
//
// A Server that was read has its values as they are written, with their references; [Server.Expand] puts in what those
// stand for.
type Server struct {
	// Name is what users call it. One of a file may be "io.github.example/forge" or "My Server (old)": package
	// llmcontent makes names of functions of all of them, but not each is the name of a file.
	Name string
	// Type is "" for an override: see [Server.IsOverride].
	Type Type

	// Command starts the server: a name that is looked up in PATH, or a path.
	Command string
	Args    []string
	// Env is laid over the environment that the host gives to servers.
	Env map[string]string
	// Cwd is the server's working directory; "" means the host's.
	Cwd string

	// URL is the endpoint of the server, http or https.
	URL string
	// Headers are sent with every request. No two names differ in case only.
	Headers map[string]string
	// OAuth says how to sign in to the server; nil means that there is nothing to say, not that it needs none.
	OAuth *OAuth

	// Disabled says that the user does not want the server now.
	Disabled bool
	// Description says in a line what the server is for.
	Description string
	// Timeout bounds a call without progress; 0 means the host's default.
	Timeout time.Duration

	// Extra has the fields that this package does not know, as they are written, without comments.
	Extra map[string]json.RawMessage

	// File is the path of the file that has the entry, "" if it came from elsewhere. After [Merge] it tells which file
	// a server comes from, and so whether it is trusted.
	File string

	entry    *entry // nil for a Server that a program made
	expanded bool
}

// An entry is what a Server was read from.
type entry struct {
	members []member
	place   place           // of the whole
	spots   map[string]spot // of what is in it, by its path
}

// A spot is where a field is, and its name as it is written there: "serverUrl" for the field url.
type spot struct {
	place
	name string
}

// IsOverride reports whether the entry has neither a command nor a url nor a type. It then describes no server of its
// own, and is there to change one of the same name in a more trusted file: see [Merge].
func (s Server) IsOverride() bool { return s.Type == "" && s.Command == "" && s.URL == "" }

// Equal reports whether both are configured alike, wherever they are written: a server that is equal to what it was
// needs no restart. Compare servers after [Server.Expand], since before that the same text may mean two things.
func (s Server) Equal(other Server) bool {
	s.File, other.File = "", ""
	s.entry, other.entry = nil, nil
	s.expanded, other.expanded = false, false
	s.compact()
	other.compact()
	return reflect.DeepEqual(s, other)
}

// compact leaves out of Extra how it is laid out, and changes nothing that s shares.
func (s *Server) compact() {
	s.Extra = compact(s.Extra)
	if s.OAuth != nil {
		o := *s.OAuth
		o.Extra = compact(o.Extra)
		s.OAuth = &o
	}
}

func compact(extra map[string]json.RawMessage) map[string]json.RawMessage {
	extra = maps.Clone(extra)
	for name, text := range extra {
		var b bytes.Buffer
		if json.Compact(&b, text) == nil { // what a program has put there may be no JSON
			extra[name] = b.Bytes()
		}
	}
	return extra
}

// spot returns where a field is. It is the whole entry for what is not written, and nowhere if nothing is.
func (s *Server) spot(field string) spot {
	if s.entry == nil {
		return spot{name: field}
	}
	if at, ok := s.entry.spots[field]; ok {
		return at
	}
	return spot{s.entry.place, field}
}

// fail makes an error about a field.
func (s *Server) fail(field, reason string) *Error {
	at := s.spot(field)
	err := at.fail(at.name, reason)
	err.Server = s.Name
	return err
}
