package config

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A Lookup gives the values that references stand for, and reports whether there is one. [os.LookupEnv] is a Lookup.
// Another one may ask the user, a keychain, or a list of what a file may know. It is called for each reference, so one
// that asks the user keeps what it was told.
//
// ${NAME} and ${env:NAME} ask for NAME. With any other prefix, that is part of the name: ${input:token} asks for
// "input:token", and ${workspaceFolder} for "workspaceFolder".
type Lookup func(name string) (value string, ok bool)

// Expand returns the servers that are to be started: those that are not disabled, expanded, in their order. With an
// error, which is of the type [Errors], it has those that are good.
func (f *File) Expand(lookup Lookup) ([]Server, error) {
	var list []Server
	var errs Errors
	left := MaxBytes
	for _, s := range f.Servers {
		if s.Disabled {
			continue
		}
		expanded, err := s.expand(lookup, &left)
		if err == nil {
			list = append(list, expanded)
		}
		errs = errs.with(err)
	}
	return list, errs.orNil()
}

// Expand returns the server with what its references stand for, in Command, Args, Env, Cwd, URL, Headers and OAuth. A ~
// at the start of Command, Cwd and of an argument is the user's home directory. Cwd, and a Command that is a path,
// become relative to the folder of the file, and so absolute. It fails for an override, with nothing to override.
//
// The values of lookup are taken as they are: references and a ~ in them mean nothing. An error is an [*Error], which
// has all names that are missing. It never has a value.
//
// Of a server that was expanded it returns a copy.
func (s Server) Expand(lookup Lookup) (Server, error) {
	left := MaxBytes
	expanded, err := s.expand(lookup, &left)
	if err != nil {
		return Server{}, err
	}
	return expanded, nil
}

// expand puts in as many bytes as are left.
func (s Server) expand(lookup Lookup, left *int) (Server, *Error) {
	switch {
	case s.expanded:
		return s, nil
	case s.IsOverride():
		return Server{}, s.fail("", "has neither command nor url, and there is nothing that it could change")
	}
	if err := s.settle(); err != nil {
		return Server{}, err // of a Server that a program made
	}
	x := expander{lookup: lookup, left: left, server: s}
	s.replace(x.text)
	if err := x.error(); err != nil {
		return Server{}, err
	}
	if field, reason := s.check(true); reason != "" {
		return Server{}, s.fail(field, reason)
	}
	s.expanded = true
	return s, nil
}

// replace puts in, for each text that may have references, what it becomes. It changes s and nothing that s shares.
func (s *Server) replace(become func(field, text string) string) {
	s.Command = become("command", s.Command)
	s.Args = slices.Clone(s.Args)
	for i, arg := range s.Args {
		s.Args[i] = become("args["+strconv.Itoa(i)+"]", arg)
	}
	s.Env = replaceTable("env", s.Env, become)
	s.Cwd = become("cwd", s.Cwd)
	s.URL = become("url", s.URL)
	s.Headers = replaceTable("headers", s.Headers, become)
	if s.OAuth == nil {
		return
	}
	o := *s.OAuth
	o.ClientID = become("oauth.clientId", o.ClientID)
	o.ClientSecret = become("oauth.clientSecret", o.ClientSecret)
	o.CallbackURL = become("oauth.callbackUrl", o.CallbackURL)
	o.Scope = become("oauth.scope", o.Scope)
	o.ClientName = become("oauth.clientName", o.ClientName)
	o.AuthServerMetadataURL = become("oauth.authServerMetadataUrl", o.AuthServerMetadataURL)
	s.OAuth = &o
}

// replaceTable goes by the order of the names, so that the same error comes first every time.
func replaceTable(field string, table map[string]string, become func(field, text string) string) map[string]string {
	table = maps.Clone(table)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		table[name] = become(field+"."+name, table[name])
	}
	return table
}

// An expander expands the texts of one server. It goes on after an error, to find all that is missing.
type expander struct {
	lookup  Lookup
	left    *int   // how much more may be put in
	full    bool   // more was to be put in
	server  Server // as it was read
	err     *Error
	missing []string
	known   map[string]bool // those in missing
	first   string          // the field of the first that is missing
}

func (x *expander) fail(field, reason string) {
	if x.err == nil {
		x.err = x.server.fail(field, reason)
	}
}

func (x *expander) error() *Error {
	if x.err != nil || len(x.missing) == 0 {
		return x.err
	}
	reason := x.missing[0] + " is not set"
	if len(x.missing) > 1 {
		reason = strings.Join(x.missing, ", ") + " are not set"
	}
	err := x.server.fail(x.first, reason)
	err.Missing = x.missing
	return err
}

// text expands a text; if it is a path, it is resolved too.
func (x *expander) text(field, text string) string {
	expanded, missing, reason := expand(text, x.value)
	if x.full {
		reason = reasonFull
	}
	if reason != "" {
		x.fail(field, reason)
	}
	x.miss(field, missing)
	isCommand, isArg, isCwd := field == "command", strings.HasPrefix(field, "args["), field == "cwd"
	if (isCommand || isArg || isCwd) && startsAtHome(text) {
		home, err := os.UserHomeDir()
		if err != nil {
			x.fail(field, "there is no home directory that ~ could be")
		}
		expanded = home + strings.TrimPrefix(expanded, "~")
	}
	if isCwd || isCommand && isPath(expanded, windows) {
		return resolve(expanded, x.server.spot(field).dir(), windows)
	}
	return expanded
}

// value asks for a value, as long as what is put in stays within the limit: a short text may refer to a long one often.
func (x *expander) value(name string) (string, bool) {
	if x.lookup == nil || x.full {
		return "", false
	}
	value, ok := x.lookup(name)
	if len(value) > *x.left {
		x.full = true
		return "", false
	}
	*x.left -= len(value)
	return value, ok
}

// miss takes down the names that nobody knows.
func (x *expander) miss(field string, names []string) {
	for _, name := range names {
		if x.known == nil {
			x.first, x.known = field, make(map[string]bool)
		}
		if !x.known[name] {
			x.known[name] = true
			x.missing = append(x.missing, name)
		}
	}
}
