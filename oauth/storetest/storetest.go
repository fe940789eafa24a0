// Package storetest tests whether an implementation of oauth.Store does what the interface promises, as testing/fstest
// does for file systems: [Run] within a process, and [RunLock] between two. What it cannot see is what a process leaves
// behind that is killed while it saves.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed62b61957/mcp/oauth"
)

// Run runs the tests as subtests of t. open returns an empty store for each of them, or one whose keys nobody else
// uses, and cleans up with t.Cleanup. The tests take a second.
func Run(t *testing.T, open func(t *testing.T) oauth.Store) {
	tests := []struct {
		name string
		run  func(t *testing.T, s oauth.Store)
	}{
		{"a record comes back with every byte", roundTrip},
		{"there is no record at first", nothingYet},
		{"an empty record removes it", removal},
		{"a change that failed saves nothing", failedChange},
		{"a change that panics gives the lock back", panickingChange},
		{"keys that look alike are apart", keys},
		{"bytes are not shared with the caller", ownBytes},
		{"a change may work in place", inPlace},
		{"no update is lost", counter},
		{"updates of other keys do not wait", otherKeys},
		{"a load does not wait for an update", loadDuringUpdate},
		{"a wait ends with its context", endedWait},
		{"an ended context calls no change", endedBefore},
		{"what change returned is saved after its context ended", endedDuringChange},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

const key = "https://mcp.example/one"

func roundTrip(t *testing.T, s oauth.Store) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, record := range [][]byte{[]byte(`{"version":1}`), every, {0}, bytes.Repeat(every, 256)} {
		save(t, s, key, record)
		want(t, s, key, record)
	}
}

func nothingYet(t *testing.T, s oauth.Store) {
	want(t, s, key, nil)
	update(t, s, key, func(record []byte) []byte {
		if record != nil {
			t.Errorf("change got %d bytes, want nil", len(record))
		}
		return nil
	})
	want(t, s, key, nil)
}

func removal(t *testing.T, s oauth.Store) {
	for _, empty := range [][]byte{nil, {}} {
		save(t, s, key, []byte("one"))
		save(t, s, key, empty)
		want(t, s, key, nil)
	}
	save(t, s, key, []byte("two"))
	want(t, s, key, []byte("two"))
}

func failedChange(t *testing.T, s oauth.Store) {
	refused := errors.New("refused")
	fail := func([]byte) ([]byte, error) { return []byte("new"), refused }
	for _, old := range [][]byte{nil, []byte("old")} {
		save(t, s, key, old)
		if err := s.Update(t.Context(), key, fail); err != refused {
			t.Errorf("Update returned %v, want change's own error", err)
		}
		want(t, s, key, old)
	}
}

func panickingChange(t *testing.T, s oauth.Store) {
	save(t, s, key, []byte("old"))
	func() {
		defer func() {
			if recover() != "oh" {
				t.Error("the panic of change did not arrive")
			}
		}()
		update(t, s, key, func([]byte) []byte { panic("oh") })
	}()
	want(t, s, key, []byte("old"))
	save(t, s, key, []byte("new")) // the lock is free
	want(t, s, key, []byte("new"))
}

func keys(t *testing.T, s oauth.Store) {
	alike := []string{"", "a", "A", "a/", "a/b", "a\\b", "../a", "a ", "a.", "a%2f", "a:b", "CON", "é", "e\u0301", "'",
		"\"", strings.Repeat("a", 2048), strings.Repeat("a", 2047) + "b"}
	for i, k := range alike {
		save(t, s, k, []byte(strconv.Itoa(i)))
	}
	for i, k := range alike {
		want(t, s, k, []byte(strconv.Itoa(i)))
	}
}

func ownBytes(t *testing.T, s oauth.Store) {
	given := []byte("record")
	save(t, s, key, given)
	clear(given)
	want(t, s, key, []byte("record"))
	clear(load(t, s, key))
	want(t, s, key, []byte("record"))
	err := s.Update(t.Context(), key, func(record []byte) ([]byte, error) {
		clear(record)
		return nil, errors.New("nothing is saved")
	})
	if err == nil {
		t.Error("change's error got lost")
	}
	want(t, s, key, []byte("record"))
}

func inPlace(t *testing.T, s oauth.Store) {
	save(t, s, key, []byte("one"))
	update(t, s, key, func(record []byte) []byte { return append(record[:0], "two"...) })
	want(t, s, key, []byte("two"))
}

// counter lets goroutines count in one record: an update that saw anything but what the one before it saved loses one.
func counter(t *testing.T, s oauth.Store) {
	const goroutines, rounds = 8, 10
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range rounds {
				update(t, s, key, func(record []byte) []byte {
					n, _ := strconv.Atoi(string(record)) // 0 at first
					return strconv.AppendInt(nil, int64(n+1), 10)
				})
			}
		})
	}
	all.Wait()
	want(t, s, key, []byte(strconv.Itoa(goroutines*rounds)))
}

func otherKeys(t *testing.T, s oauth.Store) {
	update(t, s, key, func([]byte) []byte {
		save(t, s, "other", []byte("two"))
		return []byte("one")
	})
	want(t, s, key, []byte("one"))
	want(t, s, "other", []byte("two"))
}

func loadDuringUpdate(t *testing.T, s oauth.Store) {
	save(t, s, key, []byte("old"))
	update(t, s, key, func([]byte) []byte {
		want(t, s, key, []byte("old"))
		return []byte("new")
	})
	want(t, s, key, []byte("new"))
}

func endedWait(t *testing.T, s oauth.Store) {
	update(t, s, key, func([]byte) []byte {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := s.Update(ctx, key, func([]byte) ([]byte, error) {
			t.Error("change was called while another had the lock")
			return nil, nil
		})
		if !errors.Is(err, oauth.ErrLockBusy) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Update returned %v, want ErrLockBusy and the context's error", err)
		}
		return []byte("held")
	})
	want(t, s, key, []byte("held"))
}

func endedBefore(t *testing.T, s oauth.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // where two things are ready, select takes either
		err := s.Update(ctx, key, func([]byte) ([]byte, error) {
			t.Error("change was called")
			return nil, nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("Update returned %v, want the context's error", err)
		}
	}
	if _, err := s.Load(ctx, key); !errors.Is(err, context.Canceled) {
		t.Errorf("Load returned %v, want the context's error", err)
	}
}

func endedDuringChange(t *testing.T, s oauth.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := s.Update(ctx, key, func([]byte) ([]byte, error) {
		cancel()
		return []byte("rotated"), nil
	})
	if err != nil {
		t.Errorf("Update: %v", err)
	}
	want(t, s, key, []byte("rotated"))
}

// update may run on any goroutine.
func update(t *testing.T, s oauth.Store, key string, change func([]byte) []byte) {
	t.Helper()
	err := s.Update(t.Context(), key, func(record []byte) ([]byte, error) { return change(record), nil })
	if err != nil {
		t.Errorf("Update: %v", err)
	}
}

func save(t *testing.T, s oauth.Store, key string, record []byte) {
	t.Helper()
	update(t, s, key, func([]byte) []byte { return record })
}

func load(t *testing.T, s oauth.Store, key string) []byte {
	t.Helper()
	record, err := s.Load(t.Context(), key)
	if err != nil {
		t.Errorf("Load: %v", err)
	}
	return record
}

func want(t *testing.T, s oauth.Store, key string, record []byte) {
	t.Helper()
	got := load(t, s, key)
	if !bytes.Equal(got, record) || (got == nil) != (len(record) == 0) {
		t.Errorf("the record of %.40q is %.40q, want %.40q", key, got, record)
	}
}
