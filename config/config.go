package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// MaxBytes is the largest file that is read: 16 MiB, since some applications keep all that they know in the same file.
const MaxBytes = 16 << 20

// Options are those of reading. Nil and the zero value are the defaults.
type Options struct {
	// Dir is what relative paths are relative to; "" means the folder of the file, and the host's working directory if
	// there is no file. For a file that editors keep in a folder of their own (.vscode, .cursor), it should be the
	// folder above that.
	Dir string
	// TimeoutUnit is the unit of timeouts; 0 means a second. Some applications write milliseconds.
	TimeoutUnit time.Duration
	// RefuseSSE makes an entry with the deprecated transport an error.
	RefuseSSE bool
}

// A File is what a configuration holds. Nothing that formats it shows more than its path and the number of its servers.
type File struct {
	Path string // "" if the text came from elsewhere
	// Servers are in the order of the text; no two have the same name.
	Servers []Server
	// Inputs are what the user has to be asked for, in the form of VS Code.
	Inputs []Input
	// Extra has what else there is in the file, without comments.
	Extra map[string]json.RawMessage

	options Options
	ids     map[string]spot  // of Inputs
	bad     map[string]place // entries that are not in Servers, by their names
}

// ParseFile reads a file. The File is never nil: with an error, which is of the type [Errors] unless the file could not
// be read, it has the entries that are good.
func ParseFile(path string, o *Options) (*File, error) {
	data, err := readFile(path)
	if err != nil {
		return &File{Path: path}, fmt.Errorf("config: %w", err)
	}
	f, errs := parseText(path, data, o.orDefault(filepath.Dir(path)))
	return f, errs.orNil()
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, MaxBytes)
	}
	return data, nil
}

// ParseBytes reads the text of a file. The File is never nil: with an error, which is of the type [Errors], it has the
// entries that are good.
func ParseBytes(data []byte, o *Options) (*File, error) {
	f, errs := parseText("", data, o.orDefault("."))
	return f, errs.orNil()
}

// Parse reads one entry, which is what a file has below the name. An error is an [*Error].
func Parse(name string, data []byte, o *Options) (Server, error) {
	options := o.orDefault(".")
	v, err := parse(newSource("", data, options), data)
	if err != nil {
		err.Server = name
		return Server{}, err
	}
	s, err := parseServer(name, v.place, v, options)
	if err != nil {
		return Server{}, err
	}
	return s, nil
}

func (o *Options) orDefault(dir string) Options {
	var options Options
	if o != nil {
		options = *o
	}
	options.TimeoutUnit = cmp.Or(options.TimeoutUnit, time.Second)
	options.Dir, _ = filepath.Abs(cmp.Or(options.Dir, dir)) // "" where there is no working directory
	return options
}

// parseText reads a file.
func parseText(path string, data []byte, o Options) (*File, Errors) {
	f := &File{Path: path, options: o}
	v, err := parse(newSource(path, data, o), data)
	if err != nil {
		return f, Errors{err}
	}
	if kind := v.kind(); kind != jsonscan.Object {
		return f, Errors{v.fail("", "must be an object, not "+kind.String())}
	}
	var errs Errors
	var entries []member
	known := make(map[string]place)
	for _, m := range v.object() {
		if at, ok := known[m.name]; ok {
			errs = append(errs, duplicate(m.name, at, m.key))
			f.keepBadList(m)
			continue
		}
		known[m.name] = m.key
		switch m.name {
		case "mcpServers", "servers":
			list, err := entriesOf(m)
			entries = append(entries, list...)
			errs = errs.with(err)
		case "inputs":
			errs = append(errs, f.readInputs(m.value)...)
		default:
			f.keep(m)
		}
	}
	if len(known) == len(f.Extra) { // neither mcpServers nor servers nor inputs
		errs = errs.with(misplaced(v))
	}
	errs = append(errs, f.readServers(entries)...)
	slices.SortStableFunc(errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f, errs
}

func (f *File) keep(m member) {
	if f.Extra == nil {
		f.Extra = make(map[string]json.RawMessage)
	}
	f.Extra[m.name] = bytes.Clone(m.raw)
}

func entriesOf(m member) ([]member, *Error) {
	switch kind := m.kind(); kind {
	case jsonscan.Object:
		return m.object(), nil
	case jsonscan.Null:
		return nil, nil
	default:
		return nil, m.fail(m.name, "must be an object, not "+kind.String())
	}
}

// misplaced finds what is there to be read and would be missed in silence: an entry outside of mcpServers, or
// mcpServers in another spelling.
func misplaced(file value) *Error {
	spelling := strings.NewReplacer("_", "", "-", "", ".", "")
	for _, m := range file.object() {
		if m.kind() != jsonscan.Object {
			continue
		}
		if strings.EqualFold(spelling.Replace(m.name), "mcpServers") {
			return m.key.fail(m.name, "is not read; the servers belong below mcpServers or servers")
		}
		for _, field := range m.object() {
			if r := find(serverRows, field.name); r != nil && (r.field == "command" || r.field == "url") {
				return m.key.fail(m.name, "looks like a server, which belongs below mcpServers or servers")
			}
		}
	}
	return nil
}

// readServers reads the entries. Of those that share a name none is taken: nobody knows which one is meant.
func (f *File) readServers(entries []member) Errors {
	var errs Errors
	count := make(map[string]int, len(entries))
	for _, m := range entries {
		count[m.name]++
	}
	first := make(map[string]place)
	for _, m := range entries {
		at, again := first[m.name]
		if !again {
			first[m.name] = m.key
		}
		switch {
		case again:
			err := duplicate("", at, m.key)
			err.Server = m.name
			errs = append(errs, err)
			f.keepBad(m.name, at)
		case count[m.name] == 1:
			s, err := parseServer(m.name, m.key, m.value, f.options)
			if err == nil {
				f.Servers = append(f.Servers, s)
			} else {
				f.keepBad(m.name, m.key)
			}
			errs = errs.with(err)
		}
	}
	return errs
}

// keepBadList keeps the names of servers that are in the file and not read.
func (f *File) keepBadList(m member) {
	if m.name != "mcpServers" && m.name != "servers" {
		return
	}
	list, _ := entriesOf(m)
	for _, entry := range list {
		f.keepBad(entry.name, entry.key)
	}
}

func (f *File) keepBad(name string, at place) {
	if f.bad == nil {
		f.bad = make(map[string]place)
	}
	f.bad[name] = at
}

// parseServer reads an entry.
func parseServer(name string, key place, v value, o Options) (s Server, err *Error) {
	defer func() {
		if err != nil {
			err.Server = name
		}
	}()
	if !isName(name) {
		return Server{}, key.fail("", "the name must be printable text without white space around it")
	}
	if kind := v.kind(); kind != jsonscan.Object {
		return Server{}, v.fail("", "must be an object, not "+kind.String())
	}
	return decodeServer(name, &entry{members: v.object(), place: key}, o)
}

// decodeServer makes a server of what an entry says.
func decodeServer(name string, e *entry, o Options) (Server, *Error) {
	e.spots = make(map[string]spot)
	d := &decoder{spots: e.spots}
	s := Server{Name: name, File: e.place.src.file, entry: e}
	s.Extra = decodeObject(d, "", e.members, serverRows, &s)
	if d.err != nil {
		return Server{}, d.err
	}
	if err := s.settle(); err != nil {
		return Server{}, err
	}
	if field, reason := s.check(false); reason != "" {
		return Server{}, s.fail(field, reason)
	}
	if s.Type == SSE && o.RefuseSSE {
		return Server{}, s.fail("type", "the deprecated HTTP+SSE transport is refused")
	}
	return s, nil
}
