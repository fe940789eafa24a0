package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// What a server may say and ask on its own account. Nothing is checked against what the client offers: a test may want
// to see what comes of it.
//
// Since 2026-07-28 a server says and asks nothing that does not belong to a request; see the methods of Call for that.

var errBelongsToCall = errors.New("mcptest: the client speaks a revision in which this belongs to a request: see Call")

// Version is the revision that was agreed on, or that the latest modern request was in; "" until then.
func (x *Session) Version() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.version
}

// Client is how the client introduced itself, in the latest modern request if there is one.
func (x *Session) Client() mcp.Implementation {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.client
}

// ClientCapabilities are what the client says that it offers, as it was sent, in the latest modern request if there is
// one.
func (x *Session) ClientCapabilities() json.RawMessage {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.capabilities
}

// Close ends the connection, as a server does that exits.
func (x *Session) Close() error { return x.conn.Close() }

// Send sends a message as it is, right or wrong. In memory that may even be one with a Fault, in place of what is not a
// message.
func (x *Session) Send(ctx context.Context, m *transport.Message) error {
	return x.conn.Send(ctx, transport.Outgoing{Message: m, Version: x.Version()})
}

// Notify sends a notification, as it is. Params are encoded as JSON; nil is none. [Server.Notify] sends changes where
// the client listens for them.
func (x *Session) Notify(ctx context.Context, method string, params any) error {
	raw, err := encodedParams(params)
	if err != nil {
		return fmt.Errorf("mcptest: %s: %w", method, err)
	}
	return x.Send(ctx, &transport.Message{Method: method, Params: raw})
}

// Log sends a log message, unless the client has set a level that is more severe. It fails if the client speaks a
// modern revision: see [Call.Log].
func (x *Session) Log(ctx context.Context, m *mcp.LogMessage) error {
	if x.modern() {
		return errBelongsToCall
	}
	x.mu.Lock()
	level := x.level
	x.mu.Unlock()
	if level != "" && m.Level.Level() < level.Level() {
		return nil
	}
	return x.Notify(ctx, "notifications/message", m)
}

// Request asks the client for something and returns its result as it came, even where the revision forbids it. Params
// are encoded as JSON; nil is none. An error that the client sends is an [*mcp.RPCError]. When ctx ends first, the
// request is cancelled.
//
// The ids of a session's requests count from 0: there are clients that take that for none.
func (x *Session) Request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw, err := encodedParams(params)
	if err != nil {
		return nil, fmt.Errorf("mcptest: %s: %w", method, err)
	}
	id, answer := x.ask()
	defer x.forget(id)
	if err := x.Send(ctx, &transport.Message{ID: id, Method: method, Params: raw}); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, m.Error
		}
		return m.Result, nil
	case <-ctx.Done():
		go x.Notify(x.ctx, "notifications/cancelled", map[string]any{"requestId": id})
		return nil, context.Cause(ctx)
	case <-x.ctx.Done():
		return nil, context.Cause(x.ctx)
	}
}

func (x *Session) ask() (transport.ID, <-chan *transport.Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	id := transport.IntID(x.lastID)
	x.lastID++
	answer := make(chan *transport.Message, 1)
	x.asked[id] = answer
	return id, answer
}

func (x *Session) forget(id transport.ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.asked, id)
}

func (x *Session) answered(m *transport.Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if answer := x.asked[m.ID]; answer != nil {
		answer <- m
		delete(x.asked, m.ID)
	}
}

// Ping asks the client for a sign of life. It fails if the client speaks a modern revision, which has no such thing.
func (x *Session) Ping(ctx context.Context) error {
	var result struct{}
	return x.request(ctx, "ping", nil, &result)
}

type listRootsResult struct {
	Roots []mcp.Root `json:"roots"`
}

// Roots asks the client for its roots. It fails if the client speaks a modern revision: see [Call.Roots].
func (x *Session) Roots(ctx context.Context) ([]mcp.Root, error) {
	var result listRootsResult
	err := x.request(ctx, "roots/list", nil, &result)
	return result.Roots, err
}

// CreateMessage asks the client's model. It fails if the client speaks a modern revision: see [Call.CreateMessage].
func (x *Session) CreateMessage(ctx context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	result := new(mcp.CreateMessageResult)
	if err := x.request(ctx, "sampling/createMessage", r, result); err != nil {
		return nil, err
	}
	return result, nil
}

// Elicit asks the client's user. It fails if the client speaks a modern revision: see [Call.Elicit].
func (x *Session) Elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	result := new(mcp.ElicitResult)
	if err := x.request(ctx, "elicitation/create", r, result); err != nil {
		return nil, err
	}
	return result, nil
}

// request decodes the result.
func (x *Session) request(ctx context.Context, method string, params, result any) error {
	if x.modern() {
		return errBelongsToCall
	}
	raw, err := x.Request(ctx, method, params)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("mcptest: %s: unusable result: %w", method, err)
	}
	return nil
}

func encodedParams(params any) (json.RawMessage, error) {
	if params == nil {
		return nil, nil
	}
	return encoded(params)
}
