package httpinterop

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// The tools that both Go servers offer, written once: a tool is told its arguments, and has a host that speaks to the
// client in the words of the server's library.

type arguments struct {
	Key   string `json:"key"`   // comes back in the result; the world counts the calls of each
	Steps int    `json:"steps"` // of progress
	Size  int    `json:"size"`  // of the result
	Ask   bool   `json:"ask"`   // the client for a message, before the result
}

// A host is what a tool may do to the client that called it.
type host interface {
	progress(ctx context.Context, step, total float64, message string) error
	log(ctx context.Context, text string) error
	ask(ctx context.Context, prompt string) (string, error)
	elicit(ctx context.Context, message string) (string, error)
	update(ctx context.Context, uri string) error
	addTool(name string)
}

type tool func(context.Context, host, *arguments) (string, error)

// A world is what the tools of one server change.
type world struct {
	mu   sync.Mutex
	ran  map[string]int // by key
	gate *gate

	started   chan string // keys of the calls of wait
	cancelled chan string // and of those that were cancelled
	over      context.Context
	end       context.CancelFunc // ends the calls that nobody cancelled
}

func newWorld() *world {
	w := &world{
		ran:       make(map[string]int),
		started:   make(chan string, 16),
		cancelled: make(chan string, 16),
	}
	w.over, w.end = context.WithCancel(context.Background())
	return w
}

func (w *world) runs(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ran[key]
}

func (w *world) tools() map[string]tool {
	return map[string]tool{
		"work":   w.work,
		"wait":   w.wait,
		"meet":   w.meet,
		"log":    func(ctx context.Context, h host, a *arguments) (string, error) { return a.Key, h.log(ctx, a.Key) },
		"ask":    func(ctx context.Context, h host, a *arguments) (string, error) { return h.ask(ctx, a.Key) },
		"elicit": func(ctx context.Context, h host, a *arguments) (string, error) { return h.elicit(ctx, a.Key) },
		"update": func(ctx context.Context, h host, a *arguments) (string, error) { return a.Key, h.update(ctx, a.Key) },
		"grow": func(_ context.Context, h host, a *arguments) (string, error) {
			h.addTool(a.Key)
			return a.Key, nil
		},
	}
}

// askTimeout bounds the wait for an answer that may be lost.
const askTimeout = 2 * time.Second

// result is what a call of work answers: its key, and as much more as was asked for.
func result(a *arguments) string {
	return a.Key + strings.Repeat("x", max(a.Size-len(a.Key), 0))
}

// work counts the call, reports progress, and answers what result says.
func (w *world) work(ctx context.Context, h host, a *arguments) (string, error) {
	w.mu.Lock()
	w.ran[a.Key]++
	w.mu.Unlock()
	for i := range a.Steps {
		_ = h.progress(ctx, float64(i+1), float64(a.Steps), a.Key) // it may have nowhere to go
	}
	if a.Ask {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		defer context.AfterFunc(w.over, cancel)()
		text, err := h.ask(ctx, a.Key)
		if err != nil {
			return "", err
		}
		if text != answerTo(a.Key) {
			return "", fmt.Errorf("asked about %s, got %s", a.Key, text)
		}
	}
	return result(a), nil
}

// wait ends when it is cancelled.
func (w *world) wait(ctx context.Context, _ host, a *arguments) (string, error) {
	send(w.started, a.Key)
	select {
	case <-ctx.Done():
		send(w.cancelled, a.Key)
	case <-w.over.Done():
	}
	return a.Key, ctx.Err()
}

// meet waits until as many calls are there as the gate wants.
func (w *world) meet(ctx context.Context, _ host, a *arguments) (string, error) {
	if err := w.gate.pass(ctx); err != nil {
		return "", err
	}
	return result(a), nil
}

// A gate opens when enough have come, and is closed for the next ones.
type gate struct {
	mu   sync.Mutex
	size int
	here int
	open chan struct{}
}

func newGate(size int) *gate { return &gate{size: size, open: make(chan struct{})} }

func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	open := g.open
	if g.here++; g.here == g.size {
		close(open)
		g.here, g.open = 0, make(chan struct{})
	}
	g.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
