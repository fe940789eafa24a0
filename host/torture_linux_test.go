package host_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/transport"
)

var (
	tortureFor  = flag.Duration("torture", 2*time.Second, "how long TestTorture goes on")
	tortureSeed = flag.Uint64("torture.seed", 0, "what TestTorture does; 0: by chance")
)

const (
	tortureProcesses = 35 // over stdio
	tortureRemotes   = 15 // over HTTP
	tortureCallers   = 100
	// tortureGrace is how much later than its deadline a call may end on a machine that is busy with all of this.
	tortureGrace = 2 * time.Second
)

// A torture is one run: servers to which bad things happen while they are used, and what was seen.
type torture struct {
	t       *testing.T
	id      string // of the run, in the environment of all its processes
	book    string // the file with the calls that servers have dealt with
	host    *host.Host
	victims []*victim
	names   map[string]*victim
	over    chan struct{} // closed when nothing bad happens any more
	closing atomic.Bool
	texts   atomic.Int64 // gives each call one of its own
	checked atomic.Pointer[host.Catalog]

	mu     sync.Mutex
	counts map[string]int
	unsent map[string]bool // texts of calls whose error says that no server has seen them
	late   time.Duration   // by how much the latest call missed its deadline
}

// TestTorture has servers killed, stopped, slowed down, restarted and reconfigured by chance while they are used. The
// seed settles what is done to whom and in which order, though not the moment: that is up to the machine as well.
func TestTorture(t *testing.T) {
	leakcheck.Goroutines(t)
	seed := *tortureSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("to do it again: go test ./host -run TestTorture -v -args -torture %v -torture.seed %d", *tortureFor, seed)
	temporary := filepath.Join(t.TempDir(), "temporary")
	require.NoError(t, os.Mkdir(temporary, 0o700))
	t.Setenv("TMPDIR", temporary)
	r := newTorture(t, seed)
	r.begin()

	callers, torturers, watcher := new(sync.WaitGroup), new(sync.WaitGroup), new(sync.WaitGroup)
	watcher.Go(r.watch)
	for i := range tortureCallers {
		callers.Go(func() { r.call(source(seed, "caller", i)) })
	}
	for i, v := range r.victims {
		torturers.Go(func() { r.torture(v, source(seed, v.name, i)) })
	}
	torturers.Go(func() { r.reconfigure(source(seed, "configuration", 0)) })
	time.Sleep(*tortureFor)
	close(r.over)
	torturers.Wait()
	r.heal()

	r.closing.Store(true)
	closeHost(t, r.host) // under load
	assert.Empty(t, r.processes(func(p process) bool { return !strings.HasPrefix(p.name, "remote-") }))
	callers.Wait()
	watcher.Wait()
	r.end(temporary)
}

func source(seed uint64, what string, i int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(len(what))<<32|uint64(i)))
}

func newTorture(t *testing.T, seed uint64) *torture {
	r := &torture{
		t: t, id: fmt.Sprint("torture-", os.Getpid(), "-", seed), book: filepath.Join(t.TempDir(), "book"),
		names: make(map[string]*victim), over: make(chan struct{}),
		counts: make(map[string]int), unsent: make(map[string]bool),
	}
	for i := range tortureProcesses {
		r.add(&victim{name: fmt.Sprint("process-", i), index: i})
	}
	for i := range tortureRemotes {
		r.add(&victim{name: fmt.Sprint("remote-", i), index: i, address: tortureListen(i)})
	}
	r.host = host.New(host.Options{Server: r.serverOptions, Client: r.clientOptions, Transport: r.transport})
	return r
}

func (r *torture) add(v *victim) {
	v.run = r
	r.victims = append(r.victims, v)
	r.names[v.name] = v
}

// Servers are treated differently, so that whatever the host does meets everything that may happen.
func (r *torture) serverOptions(s config.Server) host.ServerOptions {
	i := r.names[s.Name].index
	o := host.ServerOptions{ConnectTimeout: 10 * time.Second, ListTimeout: 5 * time.Second}
	if i%4 == 1 {
		o.IdleStop = 300 * time.Millisecond
	}
	if i%5 == 2 {
		o.MaxCalls = 2
	}
	o.Lazy = i%7 == 3
	o.NoReconnect = i%11 == 4
	o.FailOnStartupError = i%3 == 0
	return o
}

func (r *torture) clientOptions(s config.Server) mcp.Options {
	o := mcp.Options{ProbeTimeout: 300 * time.Millisecond}
	if r.names[s.Name].hasKeepAlive() {
		o.KeepAlive = time.Second
	}
	return o
}

func (r *torture) transport(s config.Server, t transport.Transport) (transport.Transport, error) {
	if t, ok := t.(*stdio.Transport); ok && r.names[s.Name].index%2 == 0 {
		t.CloseGrace, t.KillGrace = 50*time.Millisecond, 100*time.Millisecond
	}
	return t, nil
}

// begin starts all servers, and does not wait long for those that dawdle.
func (r *torture) begin() {
	for _, v := range r.victims {
		v.startHTTP()
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Second)
	defer cancel()
	if err := r.host.Apply(ctx, r.configuration()); err != nil {
		r.t.Log("what the first Apply says:", err) // of servers that are not ready yet
	}
}

func (r *torture) configuration() (list []config.Server) {
	for _, v := range r.victims {
		if !v.removed {
			list = append(list, v.config())
		}
	}
	return list
}

// heal leaves the servers alone, and asserts that all come back and that the catalog has what they offer.
func (r *torture) heal() {
	for _, v := range r.victims {
		v.removed, v.disabled = false, false
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	if err := r.host.Apply(ctx, r.configuration()); err != nil {
		r.t.Log("what the last Apply says:", err) // of servers that have a mood
	}
	var all sync.WaitGroup
	for _, v := range r.victims {
		all.Go(func() {
			why := "it was not tried"
			assert.Eventually(r.t, func() bool {
				why = v.recovered(ctx)
				return why == ""
			}, time.Minute, 100*time.Millisecond, "%s does not recover", v.name)
			if why != "" {
				r.t.Log(v.name, "did not recover:", why)
			}
		})
	}
	all.Wait()
}

// end looks for what is left, and at what was seen.
func (r *torture) end(temporary string) {
	t := r.t
	assert.Empty(t, r.host.Status())
	assert.Empty(t, r.host.Catalog().Tools)
	for _, v := range r.victims {
		v.killHTTP()
	}
	assert.Empty(t, r.processes(func(process) bool { return true }))
	files, err := os.ReadDir(temporary)
	assert.NoError(t, err)
	assert.Empty(t, files, "temporary files are left")
	r.readBook()
	assert.Positive(t, r.counts["call: right"])
	for _, what := range sorted(r.counts) {
		t.Logf("%7d %s", r.counts[what], what)
	}
	t.Logf("the latest call ended %v after its deadline", r.late.Round(time.Millisecond))
}

// readBook finds calls that were made twice, and those that were made although their error says that they were not.
func (r *torture) readBook() {
	data, err := os.ReadFile(r.book)
	require.NoError(r.t, err)
	seen := make(map[string]bool)
	for text := range strings.Lines(string(data)) {
		text = strings.TrimSpace(text)
		assert.False(r.t, seen[text], "call %s was made twice", text)
		assert.False(r.t, r.unsent[text], "call %s was made, and said not to be", text)
		seen[text] = true
	}
	r.counts["call: seen by a server"] = len(seen)
}

func (r *torture) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what]++
}

func sorted(counts map[string]int) []string {
	var list []string
	for what := range counts {
		list = append(list, what)
	}
	slices.Sort(list)
	return list
}
