package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/transport"
)

// Options configure a [Host]. The zero value is usable. The functions are given the server that they are asked about,
// whose name tells it from the others; they may be called concurrently, and should return soon. They must not change
// what they are given.
type Options struct {
	// Server returns how the host treats a server. It is called by [Host.Apply]; a server for which it says something
	// else than the last time is restarted. Nil means the defaults for all.
	Server func(config.Server) ServerOptions

	// Client returns the options of the client of a server. Handlers that close over the name know which server asks
	// for input, logs something or tells of a change. It is called for each attempt to connect. The host listens to
	// changes of lists before the handlers in On do, and sets MaxPages. Without a Logger of its own, a client gets the
	// host's. Nil means the zero options.
	Client func(config.Server) mcp.Options

	// Transport may change or replace the way to a server, such as to take its stderr or to send requests by another
	// HTTP client: t is what the host would use, a [*stdio.Transport] or a [*streamablehttp.Transport] that nobody else
	// has, nil for a type of server that the host does not know. It is called for each attempt to connect. Nil leaves
	// all as they are.
	Transport func(s config.Server, t transport.Transport) (transport.Transport, error)

	// OAuth returns how to sign in to a server at a URL. The host adds the URL and what the server's own settings say.
	// Without a Store, tokens are kept in memory for as long as the host lives. It is not called for a server with an
	// Authorization header of its own. Nil means the zero configuration.
	OAuth func(config.Server) oauth.Config

	// Approve is asked before each call of a tool, before it waits for its turn. A call for which it returns an error
	// is not sent, and fails with a [*RefusedError]; so does one whose server gets another configuration, or whose tool
	// changes, until it can be sent (see [ErrChanged]). It may ask a user: ctx is that of the call. Nil approves all.
	Approve func(ctx context.Context, call *Call) error

	// Reserved are names of tools for models that the application uses itself. A server with a tool of such a name has
	// its list refused.
	Reserved []string

	// Logger is told when a server is lost, recovers or fails, and gets the diagnostics of clients. No secret goes
	// there. Nil means nobody.
	Logger *slog.Logger
}

// ServerOptions are how the host treats one server. The zero value has the defaults.
type ServerOptions struct {
	// FailOnStartupError has [Host.Apply] return an error when the first attempt to connect to the server fails.
	FailOnStartupError bool

	// Lazy leaves the server alone until it is first used, or [Host.Start] is called. Its tools are not known until
	// then: see the package's documentation.
	Lazy bool
	// IdleStop is for how long nothing may be asked of the server before its connection is closed, and its process
	// ended. What it offers stays listed, and the next call connects again. 0 means that it stays connected.
	IdleStop time.Duration

	// NoReconnect leaves a server that was lost as it is. What it offers stays listed, and calls fail.
	NoReconnect bool

	// Allow are the only tools that may be used, by the server's own names; nil means all. Deny are tools that may not.
	// Those that may not are not listed.
	Allow, Deny []string

	// MaxCalls is how many calls the server has to deal with at once: 32 if zero. Others wait for their turn, first
	// come, first served.
	MaxCalls int

	// ConnectTimeout bounds one attempt to connect: 60 s if zero. ListTimeout bounds the fetching of all lists
	// together: 30 s if zero.
	ConnectTimeout, ListTimeout time.Duration

	// MaxPages and MaxItems bound each list that the server has: 100 pages and 1,000 items if zero. More are an error,
	// never a shorter list.
	MaxPages, MaxItems int
}

// A Call is a call of a tool that is about to be made.
type Call struct {
	Server string
	// Tool is what the server says about the tool; nil if it has not been listed yet. What its annotations say comes
	// from the server, so trust them as far as you trust it.
	Tool *mcp.Tool
	Name string // of the tool, by which the server knows it
	Args any    // as they were given
}

const (
	defaultMaxCalls       = 32
	defaultConnectTimeout = 60 * time.Second
	defaultListTimeout    = 30 * time.Second
	defaultMaxPages       = 100
	defaultMaxItems       = 1000
)

// resolved returns the options with the defaults filled in.
func (o ServerOptions) resolved() ServerOptions {
	fill(&o.MaxCalls, defaultMaxCalls)
	fill(&o.ConnectTimeout, defaultConnectTimeout)
	fill(&o.ListTimeout, defaultListTimeout)
	fill(&o.MaxPages, defaultMaxPages)
	fill(&o.MaxItems, defaultMaxItems)
	return o
}

func fill[T int | time.Duration](v *T, byDefault T) {
	if *v <= 0 {
		*v = byDefault
	}
}
