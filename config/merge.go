package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A Policy says what a less trusted file may do. The zero value allows nothing.
type Policy struct {
	// Fields are those that it may change of a server in the trusted file: "enabled", "description", any field that
	// this package does not know. A field goes for all its spellings: "enabled" for "disabled" too. Whoever lists
	// command, args, env, cwd, url, headers or oauth lets the file run programs, or send secrets where it likes.
	Fields []string
	// NewServers lets it add servers, and the inputs that they need. They are those whose [Server].File is the other
	// file: ask the user before one is started, and think of what the Lookup for them gives away.
	NewServers bool
}

// Merge lays a less trusted file over a trusted one: that of a project over the user's. An entry with the name of a
// trusted server changes the fields that it has, and these as a whole: a new env replaces the old one. The rest of the
// server stays, with its secrets. An entry that may not be, or would not fit, changes nothing, and one with the name of
// a bad entry of the trusted file is not taken for a new server.
//
// The File is never nil: with an error, which is of the type [Errors], it has what could be merged. The other things in
// the less trusted file, Extra, are left out. It goes by the texts: of a server that an entry changes, what a program
// has changed before is lost. More than two files are merged one after the other, the most trusted first.
func Merge(trusted, other *File, p Policy) (*File, error) {
	merged := *trusted
	merged.Servers = slices.Clone(trusted.Servers)
	index := make(map[string]int, len(merged.Servers))
	for i, s := range merged.Servers {
		index[s.Name] = i
	}
	var errs Errors
	for _, s := range other.Servers {
		errs = errs.with(merged.lay(&s, index, p))
	}
	if p.NewServers {
		errs = append(errs, merged.layInputs(other)...)
	}
	merged.bad = maps.Clone(other.bad)
	for name, at := range trusted.bad {
		merged.keepBad(name, at)
	}
	return &merged, errs.orNil()
}

// lay changes or adds one server. The index has those that are there by their names.
func (f *File) lay(s *Server, index map[string]int, p Policy) *Error {
	i, known := index[s.Name]
	switch {
	case known:
		changed, err := f.Servers[i].override(s, p, f.options)
		if err != nil {
			err.Server = s.Name
			return err
		}
		f.Servers[i] = changed
	case s.IsOverride():
		return s.fail("", "has neither command nor url, and there is no server that it could change")
	case f.bad[s.Name].src != nil:
		here := s.spot("")
		return s.fail("", "has the name of a bad entry of the trusted file, at "+f.bad[s.Name].seenFrom(here.place))
	case !p.NewServers:
		return s.fail("", "is not a server of the trusted file, and none may be added")
	default:
		index[s.Name] = len(f.Servers)
		f.Servers = append(f.Servers, *s)
	}
	return nil
}

// override returns the server with the fields of the other one.
func (s Server) override(other *Server, p Policy, o Options) (Server, *Error) {
	if s.entry == nil || other.entry == nil {
		return Server{}, s.fail("", "was made by a program, and not read")
	}
	changed := make(map[string]bool)
	for _, m := range other.entry.members {
		field := fieldOf(m.name)
		if !slices.ContainsFunc(p.Fields, func(allowed string) bool { return fieldOf(allowed) == field }) {
			return Server{}, m.key.fail(m.name, "may not be changed here; what may be: "+allowedFields(p))
		}
		changed[field] = true
	}
	kept := slices.DeleteFunc(slices.Clone(s.entry.members), func(m member) bool { return changed[fieldOf(m.name)] })
	return decodeServer(s.Name, &entry{members: append(kept, other.entry.members...), place: s.entry.place}, o)
}

func fieldOf(name string) string {
	if r := find(serverRows, name); r != nil {
		return r.field
	}
	return name
}

func allowedFields(p Policy) string {
	if len(p.Fields) == 0 {
		return "nothing"
	}
	return strings.Join(p.Fields, ", ")
}

// layInputs adds what the user is asked for. What the trusted file asks for stays as it says.
func (f *File) layInputs(other *File) Errors {
	var errs Errors
	f.Inputs = slices.Clone(f.Inputs)
	ids := make(map[string]spot)
	for _, input := range f.Inputs {
		ids[input.ID] = f.ids[input.ID] // nowhere for one that a program made
	}
	trusted := maps.Clone(ids)
	for _, input := range other.Inputs {
		here := other.ids[input.ID]
		if at, ok := trusted[input.ID]; ok {
			reason := "is an input of the trusted file"
			if at.src != nil {
				reason += ", at " + at.seenFrom(here.place)
			}
			errs = append(errs, here.fail(cmp.Or(here.name, "inputs"), reason))
			continue
		}
		ids[input.ID] = here
		f.Inputs = append(f.Inputs, input)
	}
	f.ids = ids
	return errs
}
