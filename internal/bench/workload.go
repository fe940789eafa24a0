package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A workload is what is measured: an operation, how often, by how many callers, over which wire.
type workload struct {
	name    string
	wire    wire
	modern  bool
	callers int
	ops     int                                                  // of one measurement, at scale 1
	op      func(ctx context.Context, s session) error           // on a session that is there
	whole   func(ctx context.Context, d driver, a address) error // with a session of its own
	idle    bool                                                 // ops connections are opened and left alone
	soak    bool                                                 // once, what is held after as many as in all rounds
	floor   float64                                              // the least part of the floor's rate to reach
}

var (
	echoText = strings.Repeat("echo ", 20)
	// echoArgs are the caller's, who has made them before the call is measured.
	echoArgs = map[string]any{"text": echoText}
)

func echoOp(ctx context.Context, s session) error { return s.echo(ctx) }
func listOp(ctx context.Context, s session) error { return s.list(ctx) }

func blobOp(mib int) func(context.Context, session) error {
	return func(ctx context.Context, s session) error { return s.blob(ctx, mib<<20) }
}

const steps = 1000

// errLate says that a call returned before all of its progress was handled. It is counted, not fatal.
type errLate struct{ got int }

func (e errLate) Error() string { return fmt.Sprintf("%d of %d progress notifications", e.got, steps) }

func progressOp(ctx context.Context, s session) error {
	got, err := s.progress(ctx, steps)
	if err == nil && got != steps {
		err = errLate{got}
	}
	return err
}

const inFlight = 10_000

func waitOp(ctx context.Context, s session) error { return s.wait(ctx, inFlight) }

func connectListClose(ctx context.Context, d driver, a address) error {
	s, err := d.connect(ctx, a)
	if err != nil {
		return err
	}
	return errors.Join(s.list(ctx), s.close())
}

var workloads = []*workload{
	{name: "echo, stdio, 1 caller", wire: stdioWire, callers: 1, ops: 20_000, op: echoOp, floor: 0.75},
	{name: "echo, stdio, 64 callers", wire: stdioWire, callers: 64, ops: 60_000, op: echoOp, floor: 0.55},
	{name: "echo, HTTP JSON, 1 caller", wire: jsonWire, callers: 1, ops: 6_000, op: echoOp, floor: 0.80},
	{name: "echo, HTTP JSON, 64 callers", wire: jsonWire, callers: 64, ops: 10_000, op: echoOp, floor: 0.75},
	{name: "echo, HTTP SSE, 1 caller", wire: sseWire, callers: 1, ops: 6_000, op: echoOp, floor: 0.85},
	{name: "echo, HTTP SSE, 64 callers", wire: sseWire, callers: 64, ops: 10_000, op: echoOp, floor: 0.80},
	{name: "result of 1 MiB, stdio", wire: stdioWire, callers: 1, ops: 200, op: blobOp(1), floor: 0.50},
	{name: "result of 8 MiB, stdio", wire: stdioWire, callers: 1, ops: 25, op: blobOp(8), floor: 0.60},
	{name: "result of 1 MiB, HTTP JSON", wire: jsonWire, callers: 1, ops: 200, op: blobOp(1), floor: 0.40},
	{name: "result of 8 MiB, HTTP JSON", wire: jsonWire, callers: 1, ops: 25, op: blobOp(8), floor: 0.40},
	{name: "result of 1 MiB, HTTP SSE", wire: sseWire, callers: 1, ops: 200, op: blobOp(1), floor: 0.35},
	{name: "result of 8 MiB, HTTP SSE", wire: sseWire, callers: 1, ops: 25, op: blobOp(8), floor: 0.35},
	{name: "1,000 tools in pages of 50, stdio", wire: stdioWire, callers: 1, ops: 60, op: listOp, floor: 0.45},
	{name: "1,000 tools in pages of 50, HTTP JSON", wire: jsonWire, callers: 1, ops: 40, op: listOp, floor: 0.50},
	{name: "a call with 1,000 progress notifications, stdio", wire: stdioWire, callers: 1, ops: 100, op: progressOp,
		floor: 0.35},
	{name: "a call with 1,000 progress notifications, HTTP SSE", wire: sseWire, callers: 1, ops: 80, op: progressOp,
		floor: 0.35},
	{name: "connect, list, close, byte stream", wire: unixWire, callers: 1, ops: 60, whole: connectListClose,
		floor: 0.65},
	{name: "connect, list, close, HTTP JSON", wire: jsonWire, callers: 1, ops: 40, whole: connectListClose,
		floor: 0.70},
	{name: "10,000 calls in flight, byte stream", wire: unixWire, callers: inFlight, ops: 2 * inFlight, op: waitOp},
	{name: "echo, in memory, 1 caller", wire: memory, callers: 1, ops: 40_000, op: echoOp},
	{name: "echo of 2026-07-28, stdio, 1 caller", wire: stdioWire, modern: true, callers: 1, ops: 20_000, op: echoOp},
	{name: "echo of 2026-07-28, HTTP JSON, 1 caller", wire: jsonWire, modern: true, callers: 1, ops: 6_000, op: echoOp},
	{name: "many calls, byte stream", wire: unixWire, callers: 16, ops: 1_000_000, op: echoOp, soak: true},
	{name: "idle connection, byte stream", wire: unixWire, ops: 500, idle: true},
	{name: "idle connection, HTTP JSON", wire: jsonWire, ops: 500, idle: true},
	{name: "idle connection of 2026-07-28, HTTP JSON", wire: jsonWire, modern: true, ops: 500, idle: true},
}

// count is how many operations a measurement makes, of so many rounds. A soak is made once, and therefore longer.
func (w *workload) count(rounds int, scale float64) int {
	if w.soak {
		scale = min(scale*float64(rounds), 1)
	}
	return max(int(float64(w.ops)*scale), w.callers, 1)
}

func workloadOf(name string) (*workload, error) {
	for _, w := range workloads {
		if w.name == name {
			return w, nil
		}
	}
	return nil, fmt.Errorf("there is no workload %q", name)
}
