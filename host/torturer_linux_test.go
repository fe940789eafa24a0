package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
)

// A victim is a server that is tortured. What reconfigure changes is read by nobody else, but for the revision.
type victim struct {
	run      *torture
	name     string
	index    int
	address  string       // where it listens, "" over stdio
	revision atomic.Int64 // that calls from now on are answered by
	next     int64        // revision
	disabled bool
	removed  bool

	http *httpServer // only its torturer uses it
}

// tortureListen is an address that nobody has: a port that the system gives to no connection, on a loopback address of
// this process.
func tortureListen(i int) string {
	pid := os.Getpid()
	return net.JoinHostPort(net.IPv4(127, byte(1+i), byte(pid>>8), byte(pid)).String(), "7931")
}

func (v *victim) hasKeepAlive() bool { return v.index%3 > 0 }
func (v *victim) mayBeRemoved() bool { return v.index%5 == 0 }
func (v *victim) era() string        { return []string{"legacy", "modern"}[v.index%2] }

func (v *victim) environment(play string) map[string]string {
	env := map[string]string{
		playVar: play, tortureName: v.name, tortureRun: v.run.id, tortureBook: v.run.book, httpEra: v.era(),
		httpAddress: v.address, "GORACE": "atexit_sleep_ms=0",
	}
	if v.index%6 == 5 {
		env[tortureOffshoot] = "1"
	}
	if v.index%9 == 8 {
		env[tortureDawdle] = "1"
	}
	return env
}

func (v *victim) config() config.Server {
	c := config.Server{Name: v.name, Disabled: v.disabled}
	if v.index%8 == 6 {
		c.Timeout = time.Second
	}
	if v.address != "" {
		c.Type, c.URL = config.HTTP, "http://"+v.address+"/mcp"
		c.Headers = map[string]string{"X-Revision": fmt.Sprint(v.next)}
		return c
	}
	c.Type, c.Command, c.Env = config.Stdio, os.Args[0], v.environment("tortured")
	c.Env[tortureRevision] = fmt.Sprint(v.next)
	return c
}

// startHTTP starts the process of a server over HTTP, unless it runs.
func (v *victim) startHTTP() {
	if v.address == "" || v.http != nil {
		return
	}
	var err error
	v.http, err = startHTTPServer(v.environment("tortured over HTTP"))
	assert.NoError(v.run.t, err)
}

func (v *victim) killHTTP() {
	if v.http != nil {
		v.http.kill()
		v.http = nil
	}
}

// torture does bad things to a server until the time is over, and leaves it running.
func (r *torture) torture(v *victim, random *rand.Rand) {
	for r.pause(random, 200*time.Millisecond, 4*time.Second) {
		deeds := []func(*victim, *rand.Rand) string{r.kill, r.kill, r.stop, r.stop, r.slowDown, r.restart, r.stopAndStart}
		what := deeds[random.IntN(len(deeds))](v, random)
		r.count("deed: " + what)
	}
	v.startHTTP()
}

// pause reports false when the time is over.
func (r *torture) pause(random *rand.Rand, least, most time.Duration) bool {
	d := least + time.Duration(random.Int64N(int64(most-least)))
	select {
	case <-time.After(d):
		return true
	case <-r.over:
		return false
	}
}

func (r *torture) kill(v *victim, random *rand.Rand) string {
	if v.address != "" {
		v.killHTTP()
		r.pause(random, time.Millisecond, 3*time.Second)
		v.startHTTP()
		return "kill, and start over HTTP"
	}
	p := r.find(v)
	defer p.release()
	p.signal(syscall.SIGKILL)
	return "kill"
}

// stop has a process hang. One that is found out by pings is left like that.
func (r *torture) stop(v *victim, random *rand.Rand) string {
	p := r.find(v)
	defer p.release()
	p.signal(syscall.SIGSTOP)
	forGood := random.IntN(2) == 0
	if v.address == "" && v.hasKeepAlive() && forGood {
		return "stop for good"
	}
	r.pause(random, 50*time.Millisecond, 5*time.Second)
	p.signal(syscall.SIGCONT)
	return "stop"
}

func (r *torture) slowDown(v *victim, random *rand.Rand) string {
	p := r.find(v)
	defer p.release()
	for range 20 {
		p.signal(syscall.SIGSTOP)
		r.pause(random, 10*time.Millisecond, 100*time.Millisecond)
		p.signal(syscall.SIGCONT)
		r.pause(random, time.Millisecond, 20*time.Millisecond)
	}
	return "slow down"
}

func (r *torture) restart(v *victim, random *rand.Rand) string {
	return "restart: " + r.ask(v, random, r.host.Restart)
}

func (r *torture) stopAndStart(v *victim, random *rand.Rand) string {
	what := "stop: " + r.ask(v, random, r.host.Stop)
	r.pause(random, time.Millisecond, time.Second)
	return what + ", start: " + r.ask(v, random, r.host.Start)
}

// ask asks something of the host, and asserts that it is over in time and has a type if it is an error.
func (r *torture) ask(v *victim, random *rand.Rand, do func(context.Context, string) error) string {
	limit := time.Duration(50+random.IntN(10000)) * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	begun := time.Now()
	err := do(ctx, v.name)
	r.punctual("a change of "+v.name, limit, time.Since(begun))
	var state *host.StateError
	var missing *host.NotFoundError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &state):
		return string(state.State)
	case errors.As(err, &missing):
		assert.True(r.t, v.mayBeRemoved(), err)
		return "no such server"
	}
	assert.ErrorIs(r.t, err, context.DeadlineExceeded)
	return "out of time"
}

// reconfigure changes servers, and whether they are there.
func (r *torture) reconfigure(random *rand.Rand) {
	for r.pause(random, 200*time.Millisecond, 3*time.Second) {
		for range 1 + random.IntN(4) {
			v := r.victims[random.IntN(len(r.victims))]
			what := random.IntN(4)
			switch {
			case v.disabled || v.removed:
				v.disabled, v.removed = false, false
			case what == 0:
				v.disabled = true
			case what == 1 && v.mayBeRemoved():
				v.removed = true
			default:
				v.next++
			}
		}
		r.apply(random)
	}
}

func (r *torture) apply(random *rand.Rand) {
	limit := time.Duration(10+random.IntN(5000)) * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	begun := time.Now()
	err := r.host.Apply(ctx, r.configuration())
	r.punctual("Apply", limit, time.Since(begun))
	for _, v := range r.victims {
		v.revision.Store(v.next)
	}
	var state *host.StateError
	if err == nil {
		r.count("apply: done")
	} else if assert.ErrorAs(r.t, err, &state) {
		r.count("apply: some did not start")
	}
}

// recovered makes sure that a server works, and that its tools are those in the catalog; or says why not.
func (v *victim) recovered(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := v.run.host.Start(ctx, v.name); err != nil {
		return err.Error()
	}
	result, err := v.run.host.CallServerTool(ctx, v.name, "which", text(fmt.Sprint(v.run.texts.Add(1))))
	if err != nil {
		return err.Error()
	}
	var answer torturedAnswer
	if err := json.Unmarshal([]byte(result.Text()), &answer); err != nil {
		return err.Error()
	}
	for _, t := range v.run.host.Catalog().Tools {
		if t.Server == v.name && t.Tool.Description == setText(v.name, answer.Set) {
			return ""
		}
	}
	return "the catalog does not have " + setText(v.name, answer.Set)
}
