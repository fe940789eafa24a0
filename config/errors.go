package config

import (
	"strconv"
	"strings"
)

// An Error tells what is wrong with one entry of a configuration, or with all of it. It never holds a value that may be
// a secret.
type Error struct {
	File         string // its path, "" if the text came from elsewhere
	Line, Column int    // from 1, columns in bytes; 0 for a Server that no text says
	Server       string // the name of the entry, "" for the file
	// Field is as it is written: "command", "env.TOKEN", "args[2]", "oauth.clientId"; "" for the whole entry. Of a name
	// that is none, such as "env.TOKEN=abc", it has the start: "env.TOKEN...".
	Field   string
	Reason  string
	Missing []string // of [Server.Expand]: the names that Lookup does not know, in the order of their first use
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("config: ")
	b.WriteString(e.place())
	if e.Server != "" {
		b.WriteString("server " + strconv.Quote(e.Server) + ": ")
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(e.Reason)
	return b.String()
}

func (e *Error) place() string {
	switch {
	case e.Line == 0 && e.File == "":
		return ""
	case e.Line == 0:
		return e.File + ": "
	}
	place := strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column) + ": "
	if e.File != "" {
		place = e.File + ":" + place
	}
	return place
}

// Errors are all that is wrong with a configuration, in the order of the file. There is at least one, and at most one
// for each entry. [errors.As] finds the first.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors one by one.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, err := range e {
		list[i] = err
	}
	return list
}

// orNil keeps a nil slice from becoming an error that is not nil.
func (e Errors) orNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// with appends an error, if there is one.
func (e Errors) with(err *Error) Errors {
	if err == nil {
		return e
	}
	return append(e, err)
}

// legible returns a field as errors show it. People write "TOKEN=value" and "Authorization: value" where a name is due,
// and strangers write what looks like another error, or what a terminal obeys.
func legible(field string) string {
	i := strings.IndexFunc(field, func(c rune) bool {
		return c == '=' || c == ':' || c == ' ' || !strconv.IsPrint(c)
	})
	if i < 0 {
		return field
	}
	return field[:i] + "..."
}
