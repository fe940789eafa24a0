package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// A Scope is what belongs to one conversation, or whatever else may be over before its calls are. Its methods are those
// of the [Host], and may be called concurrently.
type Scope struct {
	host *Host
	life context.Context
	end  context.CancelCauseFunc
}

// Scope returns a new scope. It ends with the host, and takes some memory until then unless it is closed.
func (h *Host) Scope() *Scope {
	s := &Scope{host: h}
	s.life, s.end = context.WithCancelCause(h.all.life)
	return s
}

// Close ends the scope. Its calls that wait for their turn are never sent, those that are under way are cancelled, and
// what comes of them later is dropped: none that has not returned by now returns a result. Their errors, and those of
// later calls, match [ErrScopeClosed]. It does not wait for them. The servers live on.
func (s *Scope) Close() { s.end(ErrScopeClosed) }

// CallTool is like [Host.CallTool].
func (s *Scope) CallTool(
	ctx context.Context, name string, args any, opts ...mcp.CallOption,
) (result *mcp.CallToolResult, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		c := s.host.Catalog()
		t, ok := c.Lookup(name)
		if !ok {
			return wrap(transport.Unsent(&NotFoundError{Tool: name, Generation: c.Generation}))
		}
		result, err = s.host.callTool(ctx, s.life, t.Server, t.Tool.Name, args, opts)
		return err
	})
	return only(result, err)
}

// CallServerTool is like [Host.CallServerTool].
func (s *Scope) CallServerTool(
	ctx context.Context, server, tool string, args any, opts ...mcp.CallOption,
) (result *mcp.CallToolResult, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		result, err = s.host.callTool(ctx, s.life, server, tool, args, opts)
		return err
	})
	return only(result, err)
}

// GetPrompt is like [Host.GetPrompt].
func (s *Scope) GetPrompt(
	ctx context.Context, server, name string, args map[string]string, opts ...mcp.CallOption,
) (result *mcp.GetPromptResult, err error) {
	err = s.use(ctx, server, func(ctx context.Context, c *mcp.Client, sp *spec) error {
		result, err = c.GetPrompt(ctx, name, args, sp.callOptions(opts)...)
		return err
	})
	return only(result, err)
}

// ReadResource is like [Host.ReadResource].
func (s *Scope) ReadResource(
	ctx context.Context, server, uri string, opts ...mcp.CallOption,
) (result *mcp.ReadResourceResult, err error) {
	err = s.use(ctx, server, func(ctx context.Context, c *mcp.Client, sp *spec) error {
		result, err = c.ReadResource(ctx, uri, sp.callOptions(opts)...)
		return err
	})
	return only(result, err)
}

// Use is like [Host.Use].
func (s *Scope) Use(ctx context.Context, server string, do func(context.Context, *mcp.Client) error) error {
	return s.use(ctx, server, func(ctx context.Context, c *mcp.Client, _ *spec) error { return do(ctx, c) })
}

func (s *Scope) use(ctx context.Context, server string, do func(context.Context, *mcp.Client, *spec) error) error {
	return s.do(ctx, func(ctx context.Context) error {
		target := s.host.server(server)
		if target == nil {
			missing := &NotFoundError{Server: server, Generation: s.host.Catalog().Generation}
			return wrap(transport.Unsent(missing))
		}
		if err := target.use(ctx, s.life, nil, do); err != nil {
			return target.wrap(err)
		}
		return nil
	})
}

// do runs a call that ends with the scope.
func (s *Scope) do(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })
	defer stop()
	if s.life.Err() != nil {
		return wrap(transport.Unsent(context.Cause(s.life)))
	}
	err := call(ctx)
	switch over := context.Cause(s.life); {
	case over == nil || errors.Is(err, over):
		return err
	case err == nil:
		return wrap(over)
	default:
		return fmt.Errorf("%w (%w)", err, over)
	}
}

// only drops a result that came together with an error.
func only[T any](result *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return result, nil
}
