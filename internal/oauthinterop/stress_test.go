package oauthinterop

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/oauth/sqlstore"
	"github.com/seed62b61957/mcp/streamablehttp"
)

const (
	stressTime    = time.Minute
	stressLife    = 3 * time.Second        // of a process that is killed, at most
	stressPace    = time.Second            // all processes call at the same time, so that they all find a token over
	stressWindow  = 200 * time.Millisecond // after that, in which processes are killed
	processes     = 4
	goroutines    = 50 // in each
	tokenLifetime = 2  // seconds; the server counts in whole ones, so that one may end after the first
	shortestLife  = int64(1000)
)

// A player is what a process needs to know that uses the tokens of another one.
type player struct {
	Name  string // by which the authorization server knows it
	URL   string // of the MCP server
	Dir   string // of a file store
	Table string // of a store in PostgreSQL, if Dir is ""
}

func (p player) command(t *testing.T, play string) *exec.Cmd {
	t.Helper()
	arg, err := json.Marshal(p)
	require.NoError(t, err)
	return playing(t, play, string(arg))
}

// authorizer is that of a process that plays.
func (p player) authorizer(transport http.RoundTripper) *oauth.Authorizer {
	var store oauth.Store
	var err error
	if p.Dir != "" {
		store, err = oauth.NewFileStore(p.Dir)
		exit(err)
	} else {
		store = openStore(p.Table)
	}
	a, err := oauth.New(oauth.Config{
		Server: p.URL,
		Store:  store,
		HTTP:   &http.Client{Transport: named{p.Name, transport}},
	})
	exit(err)
	return a
}

// named tells the authorization server which process asks.
type named struct {
	name string
	http.RoundTripper
}

func (n named) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("X-Process", n.name)
	return n.RoundTripper.RoundTrip(req)
}

func readPlayer(arg string) (p player) {
	exit(json.Unmarshal([]byte(arg), &p))
	return p
}

func init() { plays["call"] = playCalls }

// playCalls calls from all goroutines at once, again and again, until stdin ends. After each time it prints how many
// calls went well, and how many came too late for all tokens. Any other call that fails ends the process.
func playCalls(arg string) {
	p := readPlayer(arg)
	transport := &streamablehttp.Transport{URL: p.URL, Authorizer: p.authorizer(http.DefaultTransport)}
	client, err := mcp.Connect(context.Background(), transport, nil)
	exit(err)
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	for {
		late, err := callFromAll(client)
		exit(err)
		fmt.Println(goroutines-late, late)
		select {
		case <-over:
			exit(client.Close())
			return
		case <-time.After(untilRound(time.Now())):
		}
	}
}

func untilRound(after time.Time) time.Duration {
	return time.Until(after.Truncate(stressPace).Add(stressPace))
}

// callFromAll counts the calls that come too late: on a busy machine one may take longer than a token lives, and so may
// the other tries, after which the server's answer is all that there is to tell.
func callFromAll(client *mcp.Client) (late int, err error) {
	failed := make([]error, goroutines)
	var calls sync.WaitGroup
	for i := range goroutines {
		calls.Go(func() {
			res, err := client.CallTool(context.Background(), "whoami", nil)
			if err == nil && res.Text() != "you are "+user {
				err = fmt.Errorf("the answer is %q", res.Text())
			}
			failed[i] = err
		})
	}
	calls.Wait()
	failed = slices.DeleteFunc(failed, func(err error) bool {
		status, ok := errors.AsType[*streamablehttp.StatusError](err)
		_, required := errors.AsType[*oauth.SignInRequiredError](err)
		if ok = ok && status.StatusCode == http.StatusUnauthorized && !required; ok {
			late++
		}
		return ok
	})
	return late, errors.Join(failed...)
}

// A stress is a run of many processes with the tokens of one user.
type stress struct {
	t     *testing.T
	world *world
	store player // what all processes know
	kills bool   // processes are killed at random times, and others take their place

	mu     sync.Mutex
	calls  int
	late   int // of calls
	lives  int
	killed map[string]int64 // when, in milliseconds
}

func (s *stress) run() {
	s.killed = make(map[string]int64)
	s.world.remembers.Store(true) // most servers do, and this one has many calls
	end := time.Now().Add(stressTime)
	var lanes sync.WaitGroup
	for range processes {
		lanes.Go(func() {
			for s.oneLife(end) && time.Now().Before(end) {
			}
		})
	}
	lanes.Wait()
	s.check()
}

// oneLife is that of a process, until it is killed or the run ends. It reports whether all went well.
func (s *stress) oneLife(end time.Time) bool {
	p := s.store
	s.mu.Lock()
	s.lives++
	p.Name = "process " + strconv.Itoa(s.lives)
	s.mu.Unlock()
	cmd := p.command(s.t, "call")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	stdin, err := cmd.StdinPipe()
	if !assert.NoError(s.t, err) {
		return false
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if !assert.NoError(s.t, err) || !assert.NoError(s.t, cmd.Start()) {
		return false
	}
	left, kill := time.Until(end), false
	life := untilRound(time.Now().Add(rand.N(stressLife))) + rand.N(stressWindow)
	if s.kills && life < left {
		left, kill = life, true
	}
	timer := time.AfterFunc(left, func() {
		if !kill {
			stdin.Close()
			return
		}
		s.mu.Lock()
		s.killed[p.Name] = time.Now().UnixMilli()
		s.mu.Unlock()
		_ = cmd.Process.Kill()
	})
	defer timer.Stop()
	s.count(stdout)
	err = cmd.Wait()
	s.world.provider.assertNoSecret(complaints.String())
	if kill {
		var exit *exec.ExitError
		return assert.ErrorAs(s.t, err, &exit) && assert.Equal(s.t, -1, exit.ExitCode(), complaints.String())
	}
	return assert.NoError(s.t, err, complaints.String())
}

// count adds up the calls of a process.
func (s *stress) count(stdout io.Reader) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var good, late int
		_, err := fmt.Sscan(lines.Text(), &good, &late)
		assert.NoError(s.t, err)
		s.mu.Lock()
		s.calls += good
		s.late += late
		s.mu.Unlock()
	}
}

// check is about what the authorization server has seen: no grant was lost, and there was one refresh for each expiry.
// Only a process that was killed may have lost an answer that it did not save, for which another asks at once.
func (s *stress) check() {
	seen := s.world.provider.seen()
	enough := int(stressTime/time.Second) / tokenLifetime / 2
	require.Greater(s.t, len(seen.Refreshes), enough, "there was too little to do")
	gaps := make([]int64, 0, len(seen.Refreshes))
	early := 0
	for i := range seen.Refreshes[1:] {
		gap := seen.Refreshes[i+1] - seen.Refreshes[i]
		gaps = append(gaps, gap)
		if gap < shortestLife {
			early++
		}
	}
	slices.Sort(gaps)
	s.t.Logf("%d processes, %d killed; %d calls, %d too late; %d refreshes, %d to %d ms apart; %d grants lost; "+
		"%d answers lost with a process that was killed", s.lives, len(s.killed), s.calls, s.late,
		len(seen.Refreshes), gaps[0], gaps[len(gaps)-1], seen.Revoked, len(seen.Reused))
	assert.Less(s.t, s.late, s.calls/100)
	assert.Zero(s.t, seen.Revoked, "grants that were lost")
	assert.Empty(s.t, seen.Refused)
	assert.LessOrEqual(s.t, early, len(seen.Reused), "refreshes of tokens that were good")
	for _, r := range seen.Reused {
		dead := slices.ContainsFunc(r.By[:], func(name string) bool {
			killed, ok := s.killed[name]
			return ok && killed <= r.At
		})
		assert.True(s.t, dead, "%v were alive and used the same refresh token", r.By)
	}
}

// The authorization server takes a refresh token once, and revokes the grant when it sees it again.
func TestStressFileStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := oauth.NewFileStore(dir)
	require.NoError(t, err)
	w := newWorld(t, providerOptions{Lifetime: tokenLifetime})
	signIn(t, startBrowser(t), newAuthorizer(t, oauth.Config{Server: w.url, Store: store}), nil)
	s := &stress{t: t, world: w, store: player{URL: w.url, Dir: dir}}
	s.run()
}

// The authorization server takes a refresh token again for some seconds, as it must if a process may die between its
// answer and the store.
func TestStressPostgresAndProcessesThatAreKilled(t *testing.T) {
	t.Parallel()
	store, _, table := newStore(t, sqlstore.Options{})
	w := newWorld(t, providerOptions{Lifetime: tokenLifetime, Grace: 10})
	signIn(t, startBrowser(t), newAuthorizer(t, oauth.Config{Server: w.url, Store: store}), nil)
	s := &stress{t: t, world: w, store: player{URL: w.url, Table: table}, kills: true}
	s.run()
}
