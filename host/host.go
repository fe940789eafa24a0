package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/oauth"
)

// A Host keeps servers running and knows what they offer. All its methods may be called concurrently.
type Host struct {
	options  Options
	log      *slog.Logger
	reserved map[string]bool
	store    oauth.Store // of tokens, where the application has none

	catalog board
	feed    feed
	all     *Scope // of all calls

	mu      sync.Mutex
	servers map[string]*server
	closed  bool
}

// New returns a host without servers. It starts nothing.
func New(o Options) *Host {
	h := &Host{
		options:  o,
		log:      o.Logger,
		reserved: make(map[string]bool),
		store:    oauth.NewMemoryStore(),
		servers:  make(map[string]*server),
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	for _, name := range o.Reserved {
		h.reserved[name] = true
	}
	h.catalog.offers = make(map[string]*offering)
	h.catalog.current.Store(newCatalog(0, nil))
	h.all = &Scope{host: h}
	h.all.life, h.all.end = context.WithCancelCause(context.Background())
	return h
}

// Apply makes servers those of the host. It starts those that are new, stops those that are not in the list any more,
// restarts those that have changed (see [config.Server.Equal] and [Options].Server), and starts again those that were
// stopped or had failed. All others are left alone. References must be expanded: see [config.File.Expand]. The servers
// must not be changed afterwards.
//
// It returns when something has come of the first attempt of each server that it started, or when ctx is done; neither
// ends what it has begun. The error joins a [*StateError] for each server with FailOnStartupError that is not ready by
// then, or whose lists could not be had. Nothing is done if two servers have the same name, or one has none.
func (h *Host) Apply(ctx context.Context, servers []config.Server) error {
	specs := make(map[string]*spec, len(servers))
	for _, c := range servers {
		if c.Name == "" || specs[c.Name] != nil {
			return fmt.Errorf("host: apply: the name %q is missing, or there twice", c.Name)
		}
		specs[c.Name] = h.newSpec(c)
	}
	started, err := h.reconcile(servers, specs)
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range started {
		_ = s.server.wait(ctx, func() bool { return s.server.settled(s.turn) })
		errs = append(errs, s.server.startupError())
	}
	return errors.Join(errs...)
}

// A started server is one with the turn that it was asked to start in.
type started struct {
	server *server
	turn   int
}

// reconcile asks of each server what is to be, and returns those that are to start, in the order of the list.
func (h *Host) reconcile(servers []config.Server, specs map[string]*spec) ([]started, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, wrap(ErrClosed)
	}
	for name, s := range h.servers {
		if specs[name] == nil {
			s.remove()
		}
	}
	var list []started
	for _, c := range servers {
		s := h.servers[c.Name]
		if s == nil {
			s = newServer(h, c.Name, specs[c.Name])
			h.servers[c.Name] = s
		}
		if turn, asked := s.apply(specs[c.Name]); asked {
			list = append(list, started{s, turn})
		}
	}
	return list, nil
}

// Start starts a server that was stopped or has failed, and connects one that is lazy, idle or waits for its next
// attempt. It waits until something has come of that, or ctx is done. The error is a [*StateError] if the server is not
// ready.
func (h *Host) Start(ctx context.Context, name string) error {
	return h.ask(ctx, name, (*server).isUp, func(s *server) bool {
		s.up, s.now = true, true
		return s.conn == nil && s.status.State != Connecting
	})
}

// Restart stops a server and starts it again. What it offers stays listed meanwhile, and calls wait for it. The error
// is that of [Host.Start].
func (h *Host) Restart(ctx context.Context, name string) error {
	return h.ask(ctx, name, (*server).isUp, func(s *server) bool {
		s.up, s.now = true, true
		return true
	})
}

// Stop stops a server and waits until nothing is left of it, or ctx is done. It stays in the host, without tools, until
// Start or Apply starts it again. The error is a [*StateError] if somebody has done so by then.
func (h *Host) Stop(ctx context.Context, name string) error {
	return h.ask(ctx, name, (*server).isDown, func(s *server) bool {
		s.up, s.now = false, false
		return true
	})
}

// ask asks something of a server, if that is needed, and waits until something has come of it. If that is not what was
// to be, it is an error. Both functions are called with the server's mu held.
func (h *Host) ask(ctx context.Context, name string, ok func(*server) bool, change func(*server) (needed bool)) error {
	h.mu.Lock()
	s := h.servers[name]
	if h.closed || s == nil || s.isGone() {
		defer h.mu.Unlock()
		if h.closed {
			return wrap(ErrClosed)
		}
		return wrap(&NotFoundError{Server: name, Generation: h.Catalog().Generation})
	}
	turn := s.askIf(func() bool { return change(s) })
	h.mu.Unlock()
	if err := s.wait(ctx, func() bool { return s.settled(turn) }); err != nil {
		return s.wrap(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ok(s) {
		return wrap(s.failure())
	}
	return nil
}

// Close stops all servers and waits until nothing is left of them, whatever they are doing, or ctx is done. Calls that
// are under way, and later ones, fail with [ErrClosed]. The error of a ctx that is done before names the servers that
// are left; these are stopped all the same.
func (h *Host) Close(ctx context.Context) error {
	h.all.end(ErrClosed)
	h.mu.Lock()
	h.closed = true
	servers := make([]*server, 0, len(h.servers))
	for _, s := range h.servers {
		s.remove()
		servers = append(servers, s)
	}
	if len(servers) == 0 {
		h.feed.close()
	}
	h.mu.Unlock()
	var left []string
	for _, s := range servers {
		select {
		case <-s.forgotten:
			continue
		default:
		}
		select {
		case <-s.forgotten:
		case <-ctx.Done():
			left = append(left, s.name)
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		return fmt.Errorf("host: close: %w: still stopping %q", ended(ctx), left)
	}
	return nil
}

// Status returns the status of each server, by name.
func (h *Host) Status() []ServerStatus {
	h.mu.Lock()
	all := make([]ServerStatus, 0, len(h.servers))
	for _, s := range h.servers {
		all = append(all, s.snapshot())
	}
	h.mu.Unlock()
	slices.SortFunc(all, func(a, b ServerStatus) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Catalog returns what the servers offer now. It costs nothing.
func (h *Host) Catalog() *Catalog { return h.catalog.current.Load() }

// CallTool calls a tool by the name that a model has for it: see [Catalog].
//
// The call waits for its turn if the server has MaxCalls to deal with, and then for a connection if one is being made,
// as long as ctx lasts; between the attempts of an outage it fails at once. A [*StateError] says what the server is
// doing, a [*NotFoundError] that the tool is not there, or not any more, a [*RefusedError] that it may not be called.
// With all of these, and when ctx is done before, nothing was sent, and [transport.SafeToRetry] holds. Everything else
// is as with [mcp.Client.CallTool]; the limit of a call is that of the server's configuration, or else that of the
// client. No call is ever sent twice.
func (h *Host) CallTool(
	ctx context.Context, name string, args any, opts ...mcp.CallOption,
) (*mcp.CallToolResult, error) {
	return h.all.CallTool(ctx, name, args, opts...)
}

// CallServerTool calls a tool by the names of server and tool, also one that is not known yet because the server is
// lazy. It is like CallTool otherwise.
func (h *Host) CallServerTool(
	ctx context.Context, server, tool string, args any, opts ...mcp.CallOption,
) (*mcp.CallToolResult, error) {
	return h.all.CallServerTool(ctx, server, tool, args, opts...)
}

// GetPrompt has a server fill in a prompt, by the server's own name for it. Errors are as with CallTool.
func (h *Host) GetPrompt(
	ctx context.Context, server, name string, args map[string]string, opts ...mcp.CallOption,
) (*mcp.GetPromptResult, error) {
	return h.all.GetPrompt(ctx, server, name, args, opts...)
}

// ReadResource reads a resource of a server. Errors are as with CallTool.
func (h *Host) ReadResource(
	ctx context.Context, server, uri string, opts ...mcp.CallOption,
) (*mcp.ReadResourceResult, error) {
	return h.all.ReadResource(ctx, server, uri, opts...)
}

// Use gives the client of a server to do, for everything that the host has no method for. It counts as a call, but
// Approve is not asked about what do does, and neither Allow nor Deny holds for it. The client must not be used after
// do has returned, nor closed. Errors are as with CallTool; that of do is wrapped.
func (h *Host) Use(ctx context.Context, server string, do func(context.Context, *mcp.Client) error) error {
	return h.all.Use(ctx, server, do)
}

// server finds a server by its name, nil if there is none.
func (h *Host) server(name string) *server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.servers[name]
}

// forget drops a server of which nothing is left. It reports false if something was asked of it meanwhile.
func (h *Host) forget(s *server) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.mu.Lock()
	if s.begun != s.turn {
		s.mu.Unlock()
		return false
	}
	s.mu.Unlock()
	delete(h.servers, s.name)
	h.feed.mark(s.name)
	if h.closed && len(h.servers) == 0 {
		h.feed.close()
	}
	close(s.forgotten)
	return true
}
