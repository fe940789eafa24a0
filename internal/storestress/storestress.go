// Package storestress tests what a store of package oauth promises about processes: that an update which was
// acknowledged outlives the process, that no update is lost between processes, that a record is whole at any time, and
// that a killed process's lock is free. Processes count in one record and are killed at random points.
package storestress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Store is oauth.Store, which a package below oauth cannot name.
type Store interface {
	Load(ctx context.Context, key string) ([]byte, error)
	Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error
}

const (
	key        = "https://mcp.example/count"
	goroutines = 4                     // that count, in a process
	life       = 30 * time.Millisecond // of a process after its first count, at most
)

// Play counts until the process is killed, or its stdin ends since the test did. Each count is printed once it is
// saved. It does not return.
func Play(store Store) {
	for range goroutines {
		go func() {
			for {
				n, err := count(store)
				if err != nil {
					fmt.Println("failed:", err)
					os.Exit(1)
				}
				fmt.Println(n) // one write, so lines stay whole
			}
		}()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func count(store Store) (n int, err error) {
	err = store.Update(context.Background(), key, func(record []byte) ([]byte, error) {
		n, err = decode(record)
		n++
		return encode(n), err
	})
	return n, err
}

// encode makes records of very different lengths, so that a mixture of two is not taken for one.
func encode(n int) []byte {
	text := fmt.Appendf(nil, "%d\n", n)
	text = append(text, bytes.Repeat([]byte{'.'}, n*7919%(64<<10))...)
	return fmt.Appendf(text, "\n%x", sha256.Sum256(text))
}

func decode(record []byte) (int, error) {
	if record == nil {
		return 0, nil
	}
	digits, _, _ := bytes.Cut(record, []byte("\n"))
	n, err := strconv.Atoi(string(digits))
	if err != nil || !bytes.Equal(record, encode(n)) {
		return 0, fmt.Errorf("a record of %d bytes is torn", len(record))
	}
	return n, nil
}

// Run kills so many processes, one after the other in each of lanes lanes. start returns a command that calls [Play]
// with a store on the same records as store, which are none at first.
func Run(t *testing.T, store Store, start func() *exec.Cmd, lanes, kills int) {
	r := &run{store: store, start: start, counts: make(map[int]bool)}
	stop := make(chan struct{})
	var reader, all sync.WaitGroup
	reader.Go(func() { r.watch(t, stop) })
	for range lanes {
		all.Go(func() {
			for range kills / lanes {
				r.oneLife(t)
			}
		})
	}
	all.Wait()
	close(stop)
	reader.Wait()

	n, err := load(store)
	lives := kills / lanes * lanes
	t.Logf("%d processes, %d counts acknowledged, %d saved", lives, len(r.counts), n)
	// A killed goroutine has saved at most one count that it could not print.
	if err != nil || n < len(r.counts) || n > len(r.counts)+lives*goroutines {
		t.Errorf("the record is %d (error %v) after %d acknowledged counts", n, err, len(r.counts))
	}
}

type run struct {
	store Store
	start func() *exec.Cmd

	mu     sync.Mutex
	counts map[int]bool // acknowledged
	latest int          // the largest of counts
}

// watch loads all the time: what it sees is whole, and goes up.
func (r *run) watch(t *testing.T, stop <-chan struct{}) {
	last := 0
	for {
		select {
		case <-stop:
			return
		default:
		}
		n, err := load(r.store)
		if err != nil || n < last {
			t.Errorf("loaded %d (error %v) after %d", n, err, last)
			return
		}
		last = n
	}
}

// oneLife is that of a process, from its start to the check of what it left.
func (r *run) oneLife(t *testing.T) {
	cmd := r.start()
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // ends with this process
	if err != nil {
		t.Error(err)
		return
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	r.follow(t, cmd.Process, stdout)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() > 0 {
		t.Errorf("the process ended by itself: %v", err)
	}
}

// follow reads what the process acknowledged, and kills it some time after the first count.
func (r *run) follow(t *testing.T, p *os.Process, stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	var killer *time.Timer
	for lines.Scan() {
		r.acknowledged(t, lines.Text())
		if killer == nil {
			killer = time.AfterFunc(rand.N(life), func() { _ = p.Kill() })
		}
	}
	if killer == nil {
		_ = p.Kill()
		t.Error("the process counted nothing")
	}
}

func (r *run) acknowledged(t *testing.T, line string) {
	n, err := strconv.Atoi(line)
	if err != nil {
		t.Errorf("the process says %q", line)
		return
	}
	r.mu.Lock()
	lost := r.counts[n]
	r.counts[n] = true
	r.latest = max(r.latest, n)
	latest := r.latest
	r.mu.Unlock()
	if lost {
		t.Errorf("two updates made the count %d: one of them is lost", n)
	}
	if loaded, err := load(r.store); err != nil || loaded < latest {
		t.Errorf("loaded %d (error %v) after %d was acknowledged", loaded, err, latest)
	}
}

func load(store Store) (int, error) {
	record, err := store.Load(context.Background(), key)
	if err != nil {
		return 0, err
	}
	return decode(record)
}
