package mcptest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// Since 2026-07-28 a client is told of changes where it listens for them (basic/patterns/subscriptions).

// A subscription is a subscriptions/listen request that is under way.
type subscription struct {
	call   *Call
	filter mcp.Filter
	turn   chan struct{} // taken by whoever sends; it is not there until the subscription is acknowledged
	over   *latch        // whatever ended it
}

func listen(ctx context.Context, call *Call) (any, error) {
	var params struct {
		Filter *mcp.Filter `json:"notifications"`
	}
	if err := json.Unmarshal(call.params(), &params); err != nil || params.Filter == nil {
		return nil, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "no filter of notifications"}
	}
	if len(params.Filter.TaskIDs) > 0 {
		if err := call.wantsTasks(); err != nil {
			return nil, err
		}
	}
	sub := &subscription{
		call:   call,
		filter: call.Session.server.agreed(params.Filter),
		turn:   make(chan struct{}, 1),
		over:   newLatch(),
	}
	defer sub.over.set()
	x := call.Session
	x.addSubscription(sub) // whoever has read the acknowledgement may count on it
	defer x.removeSubscription(sub)
	acknowledgement := map[string]any{"notifications": sub.filter}
	if err := sub.send(ctx, "notifications/subscriptions/acknowledged", acknowledgement); err != nil {
		return nil, err
	}
	for _, id := range sub.filter.TaskIDs { // what happened before has to be told as well
		if err := sub.send(ctx, string(mcp.TaskChanged), call.Session.server.task(id).snapshot()); err != nil {
			return nil, err
		}
	}
	sub.turn <- struct{}{}
	select {
	case <-ctx.Done():
		return nil, ErrNoAnswer
	case <-sub.over.done:
		return map[string]any{"_meta": map[string]any{metaSubscriptionID: call.ID}}, nil
	}
}

// agreed is the part of a filter that the server has something to tell about.
func (s *Server) agreed(asked *mcp.Filter) mcp.Filter {
	var offers mcp.ServerCapabilities
	if raw, err := encoded(s.capabilities()); err == nil {
		_ = json.Unmarshal(raw, &offers) // whatever a test has it say
	}
	agreed := mcp.Filter{
		Tools:     asked.Tools && offers.Tools != nil && offers.Tools.ListChanged,
		Prompts:   asked.Prompts && offers.Prompts != nil && offers.Prompts.ListChanged,
		Resources: asked.Resources && offers.Resources != nil && offers.Resources.ListChanged,
		TaskIDs:   s.knownTasks(asked.TaskIDs),
	}
	if offers.Resources == nil || !offers.Resources.Subscribe {
		return agreed
	}
	for _, uri := range asked.URIs {
		if s.findResource(uri) != nil {
			agreed.URIs = append(agreed.URIs, uri)
		}
	}
	return agreed
}

// isChange reports whether a notification is one that clients have to subscribe to.
func isChange(method string) bool {
	switch mcp.EventKind(method) {
	case mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged, mcp.ResourceUpdated, mcp.TaskChanged:
		return true
	}
	return false
}

func (sub *subscription) wants(method, uri, taskID string) bool {
	switch mcp.EventKind(method) {
	case mcp.ToolsChanged:
		return sub.filter.Tools
	case mcp.PromptsChanged:
		return sub.filter.Prompts
	case mcp.ResourcesChanged:
		return sub.filter.Resources
	case mcp.ResourceUpdated:
		return slices.Contains(sub.filter.URIs, uri)
	case mcp.TaskChanged:
		return slices.Contains(sub.filter.TaskIDs, taskID)
	}
	return false
}

// tell sends a notification on every subscription that wants it.
func (x *Session) tell(ctx context.Context, method string, params any) error {
	raw, err := encodedParams(params)
	if err != nil {
		return err
	}
	var about struct {
		URI    string `json:"uri"`
		TaskID string `json:"taskId"`
	}
	_ = json.Unmarshal(raw, &about) // lists have none
	for _, sub := range x.listening() {
		if !sub.wants(method, about.URI, about.TaskID) {
			continue
		}
		if taken, err := sub.take(ctx); err != nil {
			return err
		} else if !taken {
			continue
		}
		err := sub.send(ctx, method, params)
		sub.turn <- struct{}{}
		if err != nil {
			return err
		}
	}
	return nil
}

// take waits for the turn to send, and reports whether there is one before the subscription is over.
func (sub *subscription) take(ctx context.Context) (bool, error) {
	select {
	case <-sub.turn:
		return true, nil
	case <-sub.over.done:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// send sends a notification that says which subscription it belongs to.
func (sub *subscription) send(ctx context.Context, method string, params any) error {
	if params == nil {
		params = struct{}{}
	}
	raw, err := encoded(params)
	if err != nil {
		return err
	}
	if raw, err = withMeta(raw, map[string]any{metaSubscriptionID: sub.call.ID}); err != nil {
		return err
	}
	return sub.call.Session.Send(ctx, &transport.Message{Method: method, Params: raw})
}

// EndSubscriptions ends what the client listens to (since 2026-07-28) in an orderly way, as a server does before it
// exits: each gets its result, and nothing after it. It returns when that was sent, or ctx is done.
func (x *Session) EndSubscriptions(ctx context.Context) error {
	for _, sub := range x.listening() {
		if taken, err := sub.take(ctx); err != nil {
			return err
		} else if !taken {
			continue
		}
		sub.over.set() // the turn is never given back
		select {
		case <-sub.call.finished:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (x *Session) addSubscription(sub *subscription) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.listeners = append(x.listeners, sub)
}

func (x *Session) removeSubscription(sub *subscription) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.listeners = slices.DeleteFunc(x.listeners, func(other *subscription) bool { return other == sub })
}

func (x *Session) listening() []*subscription {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.listeners)
}
