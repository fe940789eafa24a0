package httpinterop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/faultproxy"
	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// A failed schedule is repeated with: go test -run TestFaults -seed N -schedules 1
var (
	firstSeed = flag.Uint64("seed", 0, "seed of the first schedule; 0 draws one")
	schedules = flag.Int("schedules", 400, "how many schedules each of the servers with faults goes through")
)

const (
	schedulesAtOnce = 16
	callsAtOnce     = 4
	faultTimeout    = time.Second // idle, of a call
	faultDeadline   = wait        // of a call with all that it may wait for
)

// Between the client and a server of the Go SDK, exchanges go wrong in every way that the proxy knows. Whatever
// happens, a call ends in time: with the right answer, or with an error that says what is known. The server counts the
// calls, so that none can be sent twice, and an error that says that nothing was sent can be held to it.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		name    string
		options sdk.StreamableHTTPOptions
		events  bool // its streams can be taken up again
		forgets bool // its sessions, now and then
		modern  bool
	}{
		{name: "SSE with events", events: true},
		{name: "JSON", options: sdk.StreamableHTTPOptions{JSONResponse: true}},
		{name: "forgetful", events: true, forgets: true},
		{name: "modern", options: modernOptions(false), modern: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			leakcheck.Goroutines(t)
			seed := *firstSeed
			if seed == 0 {
				seed = rand.Uint64N(1 << 40)
			}
			t.Logf("seeds %d to %d", seed, seed+uint64(*schedules)-1)
			var sum tally
			var all errgroup.Group // t.Parallel would run as many at once as there are processors, and these mostly wait
			all.SetLimit(schedulesAtOnce)
			for i := range *schedules {
				all.Go(func() error {
					t.Run(fmt.Sprint(seed+uint64(i)), func(t *testing.T) {
						o := test.options
						if test.events {
							o.EventStore = sdk.NewMemoryEventStore(nil)
						}
						f := newFaulty(t, o, seed+uint64(i), &sum)
						f.forgets = test.forgets
						if test.modern {
							f.versions = []string{mcp.Version20260728}
						}
						f.run()
					})
					return nil
				})
			}
			_ = all.Wait()
			t.Log(&sum)
			assert.Positive(t, sum.right.Load())
			assert.Positive(t, sum.failed.Load(), "nothing went wrong: the faults have no effect")
		})
	}
}

// A tally says what came of all the schedules of a server.
type tally struct{ connected, refused, right, failed, unsent, lost, resumed, forgotten atomic.Int64 }

func (s *tally) String() string {
	return fmt.Sprintf("%d connections and %d that failed; %d calls were answered and %d failed: %d of them unsent, "+
		"%d with their session; %d streams were asked for again; %d sessions were forgotten",
		s.connected.Load(), s.refused.Load(), s.right.Load(), s.failed.Load(), s.unsent.Load(), s.lost.Load(),
		s.resumed.Load(), s.forgotten.Load())
}

// faulty is one schedule: a server of its own behind a proxy with faults, and a client.
type faulty struct {
	t       *testing.T
	random  *rand.Rand
	world   *world
	server  *sdk.Server
	url     string
	sum     *tally
	forgets bool

	versions []string // that the client accepts
}

func newFaulty(t *testing.T, o sdk.StreamableHTTPOptions, seed uint64, sum *tally) *faulty {
	f := &faulty{t: t, random: rand.New(rand.NewPCG(seed, 0)), world: newWorld(), sum: sum}
	server, handler := goSDK(t, f.world, o)
	f.server = server
	direct := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "" {
			sum.resumed.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(f.world.end)
	f.url = faultproxy.New(t, direct.URL, faultproxy.Random(seed)).URL()
	return f
}

func (f *faulty) run() {
	client := f.connect()
	if client == nil {
		return
	}
	f.sum.connected.Add(1)
	var rounds sync.WaitGroup
	for round := range 2 {
		for i := range callsAtOnce {
			a := &arguments{
				Key: fmt.Sprintf("%d-%d", round, i), Steps: f.random.IntN(4), Size: f.random.IntN(3000), Ask: f.random.IntN(8) == 0,
			}
			rounds.Go(func() { f.call(client, a) })
		}
		if f.forgets {
			rounds.Go(func() { f.sum.forgotten.Add(int64(forget(f.server))) })
		}
		rounds.Wait()
	}
	begun := time.Now()
	if err := client.Close(); err != nil {
		assert.ErrorContains(f.t, err, "the session may live on")
	}
	assert.Less(f.t, time.Since(begun), faultDeadline, "Close")
}

// connect tries a few times, since the handshake has faults as well. It returns nil if they were too many.
func (f *faulty) connect() *mcp.Client {
	for range 5 {
		ctx, cancel := context.WithTimeout(f.t.Context(), faultDeadline)
		client, err := mcp.Connect(ctx, &streamablehttp.Transport{
			URL:       f.url,
			Reconnect: streamablehttp.Reconnect{MaxRetries: 3, Delay: time.Millisecond},
		}, &mcp.Options{Versions: f.versions, Timeout: faultTimeout, CreateMessage: createMessage})
		overdue := ctx.Err() != nil
		cancel()
		if err == nil {
			return client
		}
		f.sum.refused.Add(1)
		assert.False(f.t, overdue, "Connect hung: %v", err)
		f.typed(err)
	}
	return nil
}

// call makes one call and holds the client to what it says of it.
func (f *faulty) call(client *mcp.Client, a *arguments) {
	t := f.t
	last := 0.0
	ctx, cancel := context.WithTimeout(t.Context(), faultDeadline)
	defer cancel()
	got, err := client.CallTool(ctx, "work", a, mcp.WithProgress(func(p mcp.Progress) {
		assert.Equal(t, a.Key, p.Message, "progress of another call")
		assert.GreaterOrEqual(t, p.Progress, last, "progress of %s goes back", a.Key)
		last = p.Progress
	}))
	assert.NoError(t, ctx.Err(), "call %s hung", a.Key)
	if err == nil {
		f.answered(a, got)
		return
	}
	f.sum.failed.Add(1)
	f.typed(err)
	most := 1
	if transport.SafeToRetry(err) {
		f.sum.unsent.Add(1)
		most = 0
	}
	if errors.Is(err, mcp.ErrSessionExpired) {
		f.sum.lost.Add(1)
	}
	assert.LessOrEqual(t, f.world.runs(a.Key), most, "runs of call %s, which failed with: %v", a.Key, err)
}

func (f *faulty) answered(a *arguments, got *mcp.CallToolResult) {
	assert.Equal(f.t, 1, f.world.runs(a.Key), "runs of call %s, which was answered", a.Key)
	if got.IsError {
		// The tool could not ask the client, or its session was taken away.
		assert.True(f.t, a.Ask || f.forgets, "call %s failed: %s", a.Key, got.Text())
		return
	}
	f.sum.right.Add(1)
	assert.Equal(f.t, result(a), got.Text(), "a wrong answer to call %s", a.Key)
}

// typed checks that an error is one that a caller can tell from others.
func (f *faulty) typed(err error) {
	var (
		status  *streamablehttp.StatusError
		timeout *mcp.TimeoutError
		rpc     *mcp.RPCError
		fault   *transport.FaultError
	)
	known := errors.As(err, &status) || errors.As(err, &timeout) || errors.As(err, &rpc) || errors.As(err, &fault) ||
		errors.Is(err, mcp.ErrNoResponse) || errors.Is(err, mcp.ErrSessionExpired)
	assert.True(f.t, known, "an error of no kind: %v", err)
}

// Sessions that the server has forgotten are made anew: once, however many calls find out, and each call runs once.
func TestForgottenSession(t *testing.T) {
	for _, o := range []sdk.StreamableHTTPOptions{{}, {JSONResponse: true}, {EventStore: sdk.NewMemoryEventStore(nil)}} {
		t.Run(fmt.Sprintf("JSON %t, events %t", o.JSONResponse, o.EventStore != nil), func(t *testing.T) {
			leakcheck.Goroutines(t)
			w := newWorld()
			server, handler := goSDK(t, w, o)
			c := connect(t, listen(t, handler).URL, nil)
			for round := range 20 {
				before := len(c.wire.byMessage("initialize"))
				require.Equal(t, 1, forget(server))
				var calls sync.WaitGroup
				for i := range 32 {
					calls.Go(func() {
						a := arguments{Key: fmt.Sprintf("%d-%d", round, i)}
						got, err := c.CallTool(c.ctx(), "work", a)
						if assert.NoError(t, err) {
							assert.Equal(t, a.Key, got.Text())
						}
						assert.Equal(t, 1, w.runs(a.Key))
					})
				}
				calls.Wait()
				assert.Equal(t, before+1, len(c.wire.byMessage("initialize")), "the new session is not shared")
			}
		})
	}
}
