package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const measureArg = "measure"

// A sample is what one measurement found; each figure is of one operation.
type sample struct {
	Nanoseconds float64 `json:"ns"`
	CPU         float64 `json:"cpuNs"` // of the client's process, a child that it started not counted
	Allocs      float64 `json:"allocs"`
	Bytes       float64 `json:"bytes"`
	Late        int     `json:"late,omitempty"`       // operations that ended before their progress was handled
	Goroutines  float64 `json:"goroutines,omitempty"` // of one idle connection, or more than before a soak
	Slower      float64 `json:"slower,omitempty"`     // what a call takes at the end of a soak, of what it took first
}

// measureChild makes one measurement: the arguments are workload, driver, number of operations, and address.
func measureChild(args []string) error {
	w, err := workloadOf(args[0])
	if err != nil {
		return err
	}
	d, err := driverOf(args[1])
	if err != nil {
		return err
	}
	ops, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	a := address{wire: w.wire, modern: w.modern, single: w.callers == 1}
	switch w.wire {
	case stdioWire:
		self, err := os.Executable()
		if err != nil {
			return err
		}
		a.command = []string{self, serveArg, string(stdioWire)}
	case memory:
	case unixWire:
		a.socket = args[3]
	default:
		a.url = "http://" + args[3] + "/mcp"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	stop, err := profile(args[1] + " " + args[0])
	if err != nil {
		return err
	}
	defer stop()
	var s *sample
	switch {
	case w.soak:
		s, err = measureSoak(ctx, w, d, a, ops)
	case w.idle:
		s, err = measureIdle(ctx, d, a, ops)
	case w.whole != nil:
		s, err = measureOps(w.callers, ops, func() error { return w.whole(ctx, d, a) })
	default:
		s, err = measureSession(ctx, w, d, a, ops)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

func measureSession(ctx context.Context, w *workload, d driver, a address, ops int) (*sample, error) {
	s, err := d.connect(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	result, err := measureOps(w.callers, ops, func() error { return w.op(ctx, s) })
	return result, errors.Join(err, s.close())
}

// measureOps makes the operation a tenth as often first, to warm up, and then counts.
func measureOps(callers, ops int, op func() error) (*sample, error) {
	if _, err := repeat(callers, max(ops/10, callers), op); err != nil {
		return nil, err
	}
	runtime.GC()
	before := usageNow()
	late, err := repeat(callers, ops, op)
	if err != nil {
		return nil, err
	}
	s := usageNow().since(before, ops)
	s.Late = late
	return s, nil
}

// repeat has callers make the operation, ops times in all.
func repeat(callers, ops int, op func() error) (late int, err error) {
	var (
		left    atomic.Int64
		tardy   atomic.Int64
		running sync.WaitGroup
		once    sync.Once
	)
	left.Store(int64(ops))
	for range callers {
		running.Go(func() {
			for left.Add(-1) >= 0 {
				e := op()
				if _, ok := errors.AsType[errLate](e); ok {
					tardy.Add(1)
					continue
				}
				if e != nil {
					once.Do(func() { err = e })
					return
				}
			}
		})
	}
	running.Wait()
	return int(tardy.Load()), err
}

// measureIdle opens connections and measures what one of them holds.
func measureIdle(ctx context.Context, d driver, a address, connections int) (*sample, error) {
	open := func(n int) (sessions []session, err error) {
		for range n {
			s, err := d.connect(ctx, a)
			if err != nil {
				return nil, err
			}
			sessions = append(sessions, s)
		}
		return sessions, nil
	}
	if _, err := open(10); err != nil { // what is there once is not counted
		return nil, err
	}
	held, goroutines := settled()
	sessions, err := open(connections)
	if err != nil {
		return nil, err
	}
	heldNow, goroutinesNow := settled()
	s := &sample{
		Bytes:      float64(int64(heldNow)-int64(held)) / float64(connections),
		Goroutines: float64(goroutinesNow-goroutines) / float64(connections),
	}
	runtime.KeepAlive(sessions)
	return s, nil
}

// measureSoak makes a tenth of the calls and then the others, and measures what the connection holds more after those.
func measureSoak(ctx context.Context, w *workload, d driver, a address, ops int) (*sample, error) {
	session, err := d.connect(ctx, a)
	if err != nil {
		return nil, err
	}
	op := func() error { return w.op(ctx, session) }
	first, err := measureOps(w.callers, ops/10, op)
	if err != nil {
		return nil, err
	}
	held, goroutines := settled()
	rest, err := measureOps(w.callers, ops-ops/10, op)
	if err != nil {
		return nil, err
	}
	heldNow, goroutinesNow := settled()
	rest.Slower = rest.Nanoseconds / first.Nanoseconds
	rest.Bytes, rest.Goroutines = float64(int64(heldNow)-int64(held)), float64(goroutinesNow-goroutines)
	return rest, session.close()
}

// settled returns the memory that is held, stacks included, when nothing moves any more.
func settled() (held uint64, goroutines int) {
	for range 5 {
		time.Sleep(100 * time.Millisecond)
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse, runtime.NumGoroutine()
}

// usage is what the process has used so far.
type usage struct {
	at  time.Time
	cpu time.Duration
	mem runtime.MemStats
}

func usageNow() *usage {
	u := new(usage)
	runtime.ReadMemStats(&u.mem)
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err == nil {
		u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	u.at = time.Now()
	return u
}

func (u *usage) since(before *usage, ops int) *sample {
	n := float64(ops)
	return &sample{
		Nanoseconds: float64(u.at.Sub(before.at)) / n,
		CPU:         float64(u.cpu-before.cpu) / n,
		Allocs:      float64(u.mem.Mallocs-before.mem.Mallocs) / n,
		Bytes:       float64(u.mem.TotalAlloc-before.mem.TotalAlloc) / n,
	}
}
