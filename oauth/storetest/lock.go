package storetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/seed62b61957/mcp/oauth"
)

const (
	holds    = "storetest: the lock is held" // what the holder prints
	patience = 20 * time.Second              // with a process
)

// RunLock tests, for a store that processes share, that the lock of one excludes the others, and is free when that one
// is killed. holder is a command, not started yet, that calls [Hold] with a store on the same records as s, which are
// none at first. It may be the test binary itself, told by its environment what to do:
//
//	func TestMain(m *testing.M) {
//		if folder := os.Getenv("HOLD"); folder != "" {
//			storetest.Hold(openStore(folder))
//		}
//		os.Exit(m.Run())
//	}
//
//	func TestLock(t *testing.T) {
//		folder := t.TempDir()
//		holder := exec.Command(os.Args[0])
//		holder.Env = append(os.Environ(), "HOLD="+folder)
//		storetest.RunLock(t, openStore(folder), holder)
//	}
func RunLock(t *testing.T, s oauth.Store, holder *exec.Cmd) {
	kill := start(t, holder)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := s.Update(ctx, key, func([]byte) ([]byte, error) {
		t.Error("change was called while another process had the lock")
		return nil, nil
	})
	if !errors.Is(err, oauth.ErrLockBusy) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Update returned %v, want ErrLockBusy and the context's error", err)
	}
	save(t, s, "other", []byte("free"))

	kill()
	ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second) // it is free at once
	defer cancel()
	if err := s.Update(ctx, key, func([]byte) ([]byte, error) { return []byte("next"), nil }); err != nil {
		t.Errorf("Update after the death of the process that had the lock: %v", err)
	}
	want(t, s, key, []byte("next"))
}

// Hold is the other process of [RunLock]: it takes the lock, says so on stdout, and keeps it until it is killed, or its
// stdin ends since the test did. It does not return.
func Hold(s oauth.Store) {
	err := s.Update(context.Background(), key, func(record []byte) ([]byte, error) {
		fmt.Println(holds)
		_, err := io.Copy(io.Discard, os.Stdin)
		return record, err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "storetest:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// start returns once the holder has the lock. The process ends with the test, or by kill.
func start(t *testing.T, holder *exec.Cmd) (kill func()) {
	t.Helper()
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	holder.Stderr = &said
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = holder.Process.Kill()
		_ = holder.Wait() // which tells of the kill
		_ = stdin.Close()
	}
	t.Cleanup(kill) // does nothing the second time
	late := time.AfterFunc(patience, func() { _ = holder.Process.Kill() })
	defer late.Stop()
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if lines.Text() == holds {
			return kill
		}
	}
	kill()
	t.Fatalf("the other process did not take the lock: %s", &said)
	return nil
}
