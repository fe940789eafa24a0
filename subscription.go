package mcp

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// A Filter says which changes a subscription is about.
type Filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`  // the list, not what is in them
	URIs      []string `json:"resourceSubscriptions,omitempty"` // resources whose content matters
	TaskIDs   []string `json:"taskIds,omitempty"`               // tasks, with [Options].Tasks
}

// IsZero reports whether the filter lets nothing through.
func (f *Filter) IsZero() bool {
	return !f.Tools && !f.Prompts && !f.Resources && len(f.URIs) == 0 && len(f.TaskIDs) == 0
}

// An EventKind is what changed. The kinds have the names of the notifications that they come from.
type EventKind string

// The kinds of events.
const (
	ToolsChanged     EventKind = "notifications/tools/list_changed"
	PromptsChanged   EventKind = "notifications/prompts/list_changed"
	ResourcesChanged EventKind = "notifications/resources/list_changed"
	ResourceUpdated  EventKind = "notifications/resources/updated"
	TaskChanged      EventKind = "notifications/tasks"
)

// An Event says that something changed.
type Event struct {
	Kind EventKind
	URI  string // of the resource, for ResourceUpdated
	Task *Task  // as it is now, for TaskChanged
}

// A Subscription tells of changes until one side ends it. Its methods may be called from any goroutine, Events by one
// at a time. Close it when it is no longer needed.
type Subscription struct {
	accepted Filter
	stop     func() // ends it on the server's side

	mu     sync.Mutex
	events []Event       // no two about the same
	at     map[Event]int // where they are, by subject
	bytes  int           // of their URIs
	ended  bool
	err    error
	wake   chan struct{}
}

// Accepted is the part of the filter that the server agreed to. What it names beyond that counts for nothing.
func (s *Subscription) Accepted() Filter { return s.accepted }

// Events walks the changes as they come, and waits in between. Equal changes that come while the loop is busy are one,
// and of several changes of a task the last; at most 65,536 different ones, and 16 MiB of URIs, wait for it, and what
// comes on top is dropped, with a diagnostic. A resource may be one that was not asked about: a part of one that was.
//
// The loop ends without an error after Close, or when the server ended the subscription in an orderly way; with an
// error when the connection was lost, or nothing is received unasked on it any more, or the server failed, or ctx is
// done. After an error a caller that listens again should take everything for changed.
//
// Where the server's messages may have been missed for a while and the subscription goes on, or the server made a new
// session (until 2025-11-25), there is an event for everything that was asked for.
func (s *Subscription) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			events, over, err := s.take()
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if over {
				if err != nil {
					yield(Event{}, err)
				}
				return
			}
			select {
			case <-s.wake:
			case <-ctx.Done():
				yield(Event{}, ended(ctx))
				return
			}
		}
	}
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() error {
	s.end(nil)
	s.stop()
	return nil
}

func (s *Subscription) take() (events []Event, ended bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events, s.events, s.at, s.bytes = s.events, nil, nil, 0
	return events, s.ended, s.err
}

// push adds an event, in place of one about the same that waits there already. It reports false if too much waits.
func (s *Subscription) push(e Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return true
	}
	at := e.subject()
	if i, waits := s.at[at]; waits {
		s.events[i] = e
		return true
	}
	if len(s.events) >= maxChanges || s.bytes+len(e.URI) > maxQueueBytes {
		return false
	}
	if s.at == nil {
		s.at = make(map[Event]int)
	}
	s.at[at] = len(s.events)
	s.events = append(s.events, e)
	s.bytes += len(e.URI)
	s.signal()
	return true
}

// subject is what an event is about: nobody needs to know of an earlier one about the same.
func (e Event) subject() Event {
	if e.Task != nil {
		return Event{Kind: e.Kind, URI: e.Task.ID}
	}
	return e
}

// end is final: only the first call counts.
func (s *Subscription) end(err error) {
	s.mu.Lock()
	if !s.ended {
		s.ended, s.err = true, err
	}
	s.mu.Unlock()
	s.signal()
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// and is what both filters let through.
func (f *Filter) and(other *Filter) Filter {
	return Filter{
		Tools:     f.Tools && other.Tools,
		Prompts:   f.Prompts && other.Prompts,
		Resources: f.Resources && other.Resources,
		URIs:      common(f.URIs, other.URIs),
		TaskIDs:   common(f.TaskIDs, other.TaskIDs),
	}
}

// common returns those of the texts that are among the others as well.
func common(texts, others []string) []string {
	among := make(map[string]bool, len(others))
	for _, text := range others {
		among[text] = true
	}
	var both []string
	for _, text := range texts {
		if among[text] {
			both = append(both, text)
		}
	}
	return both
}

// wants reports whether an event is what the filter is about.
func (f *Filter) wants(e Event) bool {
	switch e.Kind {
	case ToolsChanged:
		return f.Tools
	case PromptsChanged:
		return f.Prompts
	case ResourcesChanged:
		return f.Resources
	case ResourceUpdated:
		return slices.Contains(f.URIs, e.URI)
	case TaskChanged:
		return slices.Contains(f.TaskIDs, e.Task.ID)
	}
	return false
}

// message is the notification that an event stands for, as far as the event says.
func (e Event) message() *transport.Message {
	m := &transport.Message{Method: string(e.Kind)}
	if e.Kind == ResourceUpdated {
		m.Params = append(jsonscan.AppendString([]byte(`{"uri":`), e.URI), '}')
	}
	return m
}

// eventOf reads a notification as an event.
func eventOf(method string, params json.RawMessage) (Event, bool) {
	switch kind := EventKind(method); kind {
	case ToolsChanged, PromptsChanged, ResourcesChanged:
		return Event{Kind: kind}, true
	case ResourceUpdated:
		uri := stringMember(params, "uri")
		return Event{Kind: kind, URI: uri}, uri != ""
	case TaskChanged:
		task, _, err := decodeResult[Task](params)
		return Event{Kind: kind, Task: task}, err == nil
	}
	return Event{}, false
}
