package host

import (
	"context"
	"reflect"

	"github.com/seed62b61957/mcp"
)

// An approval binds a call to what it was approved for: whoever approved it may have taken a minute to do so, and then
// the call may have waited for its turn. Nil is that of a call that nobody was asked about.
type approval struct {
	call *Call
	spec *spec
}

// covers returns an error if the server has another spec than the one that the call was approved for.
func (a *approval) covers(sp *spec) error {
	if a == nil || a.spec == sp {
		return nil
	}
	return a.expired()
}

// coversTool returns an error if the tool is not what it was said to be.
func (a *approval) coversTool(t *mcp.Tool) error {
	if a == nil || a.call.Tool == nil || reflect.DeepEqual(a.call.Tool, t) {
		return nil
	}
	return a.expired()
}

func (a *approval) expired() error {
	return &RefusedError{Server: a.call.Server, Tool: a.call.Name, Err: ErrChanged}
}

// admit asks whether a call may be made, unless it could not be anyway.
func (s *server) admit(ctx context.Context, tool string, args any) (*approval, error) {
	if err := s.check(tool, nil); err != nil {
		return nil, err
	}
	approve := s.host.options.Approve
	switch {
	case approve == nil:
		return nil, nil
	case ctx.Err() != nil:
		return nil, ended(ctx)
	}
	s.mu.Lock()
	if !s.usable() {
		defer s.mu.Unlock()
		return nil, s.failure()
	}
	a := &approval{call: &Call{Server: s.name, Name: tool, Args: args}, spec: s.spec}
	if s.offering != nil {
		a.call.Tool = s.offering.tool(tool)
	}
	s.mu.Unlock()
	if err := approve(ctx, a.call); err != nil {
		return nil, &RefusedError{Server: s.name, Tool: tool, Err: err}
	}
	return a, nil
}

// check finds out whether there is such a tool, as far as that is known, and whether it may be used.
func (s *server) check(tool string, a *approval) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.spec.permits(tool) {
		return &RefusedError{Server: s.name, Tool: tool, Err: ErrDenied}
	}
	if s.offering == nil {
		return nil
	}
	t := s.offering.tool(tool)
	if t == nil {
		return &NotFoundError{Server: s.name, Tool: tool, Generation: s.host.Catalog().Generation}
	}
	return a.coversTool(t)
}
