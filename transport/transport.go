package transport

import "context"

// A Transport knows how to reach one server.
type Transport interface {
	// Connect opens a new connection each time it is called. ctx bounds connecting only, the cleanup after a failure
	// included; the connection does not depend on it afterwards. An error must leave nothing behind.
	Connect(ctx context.Context) (Conn, error)
}

// Func is a [Transport] that is only a function: often one that opens a stream, and returns what [NewStream] makes of
// it.
type Func func(ctx context.Context) (Conn, error)

// Connect calls f.
func (f Func) Connect(ctx context.Context) (Conn, error) { return f(ctx) }

// A Conn carries messages to and from one server. Send and Close may be called from any number of goroutines at once;
// Receive by one goroutine at a time, concurrently with the others.
type Conn interface {
	// Send delivers one message. Its error fails this exchange only, never the connection, and [SafeToRetry] tells
	// whether anything reached the server. It returns soon after ctx is done, even while the peer takes no bytes, and
	// starts nothing once ctx is done.
	//
	// On a shared channel (stdio, pipe, in-memory) it returns once the message is written, and the answer comes through
	// Receive. Where a request has an exchange of its own (HTTP), it returns when that exchange is over and passes each
	// message of it to out.Deliver, in order, on the calling goroutine. Returning nil without an answer means that the
	// message was accepted and that the answer may come through Receive. An exchange that ended without one is an
	// error that wraps [ErrNoResponse].
	Send(ctx context.Context, out Outgoing) error

	// Receive returns the next message that no exchange owns. Its error, and nothing else, ends the connection; it says
	// why, need not wrap [ErrClosed], and every later call returns one as well. Close always unblocks it. Whether the
	// end of ctx does while nothing arrives is up to the binding: see [Traits].Interruptible.
	Receive(ctx context.Context) (*Message, error)

	// Traits tells the client what this binding does. It is constant after Connect.
	Traits() Traits

	// Close ends the connection and frees what belongs to it. It is idempotent, unblocks Receive and Send, and is
	// bounded in time. Every call returns the same error.
	Close() error
}

// Outgoing is one message to send, with what a binding may need to know about it.
type Outgoing struct {
	Message *Message

	// Version is the protocol version under which the message is sent, "" until one is negotiated.
	Version string

	// Mirror is what a binding may repeat outside the message, besides its method (HTTP headers since 2026-07-28).
	Mirror Mirror

	// Deliver takes the messages that arrive on the request's own exchange, where the binding has such a thing. It is
	// called on the goroutine that called Send, and never after Send has returned. Nil drops them.
	Deliver func(*Message)

	// Header has the headers that a caller wants on this message, where the binding has such a thing (HTTP); others
	// ignore it. It must not be changed any more.
	Header map[string][]string

	// Unattended says that nobody waits for what comes of the message, so that nobody is to be asked for credentials on
	// its account.
	Unattended bool
}

// Traits describe a binding.
type Traits struct {
	// Name says what the binding is, for diagnostics: "stdio", "pipe", "http".
	Name string
	// MirrorsParams says that the binding repeats parameters that a tool marks for it (x-mcp-header), so that a tool
	// with malformed marks must not be used.
	MirrorsParams bool
	// SilentProbe says that a server may never answer a request that it does not know (server/discover of 2026-07-28),
	// so that the client must not wait for it.
	SilentProbe bool
	// RequestStreams says that a request has a response stream of its own, and that ending Send's ctx closes it, which
	// cancels the request (2026-07-28). On other bindings the client sends a notice. Since then nothing arrives on such
	// a binding but on those streams, so the client calls Receive for legacy revisions only, or with SilentProbe.
	RequestStreams bool
	// Interruptible says that Receive returns soon after its ctx is done, with the error of ctx, and that this is not
	// the end of the connection: nothing is lost, and the next Receive goes on. Then a lone caller may receive its
	// answer itself.
	Interruptible bool
}

// Mirror is what a message says that stands between client and server may want to know without reading it. The values
// are as they are in the message; the binding encodes them.
type Mirror struct {
	Name   string        // of the tool or prompt, or the URI of the resource; "" if the message has none
	Params []MirrorParam // those that the tool marks
}

// A MirrorParam is an argument under the name that the tool gives it outside the message.
type MirrorParam struct{ Name, Value string }
