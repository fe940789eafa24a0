package oauth_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/oauth"
)

const (
	processes    = 4
	goroutines   = 10
	processTime  = 5 * time.Second
	processPause = 10 * time.Millisecond // between the calls of a goroutine
	tokenLife    = 2 * time.Second
)

func init() { plays["call"] = playCalls }

// playCalls calls a server from many goroutines, with the tokens of a store. The argument is a folder and a URL.
func playCalls(arg string) {
	dir, url, _ := strings.Cut(arg, " ")
	a, err := oauth.New(oauth.Config{Server: url, Store: openFileStore(dir)})
	exit(err)
	ctx, cancel := context.WithTimeout(context.Background(), processTime)
	defer cancel()
	pace := time.NewTicker(processPause / goroutines)
	defer pace.Stop()
	failed := make([]error, goroutines)
	var running sync.WaitGroup
	for i := range goroutines {
		running.Go(func() {
			for ctx.Err() == nil && failed[i] == nil {
				failed[i] = callOnce(url, a)
				<-pace.C
			}
		})
	}
	running.Wait()
	exit(errors.Join(failed...))
}

func callOnce(url string, a *oauth.Authorizer) error {
	f := &fake{rsURL: strings.TrimSuffix(url, "/mcp"), http: http.DefaultClient}
	status, err := call(context.Background(), f, a)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("answered %d", status)
	}
	return err
}

// TestManyProcesses has processes that share nothing but a folder, and an authorization server that takes a refresh
// token once. No call may fail, no grant may get lost, and no token may be renewed twice.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.lifetime = tokenLife
	store, dir := newFileStore(t)
	signIn(t, f, newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store }))

	begun := time.Now()
	var running sync.WaitGroup
	for range processes {
		process := playing(t, "call", dir+" "+f.url())
		running.Go(func() { assertRuns(t, process) })
	}
	running.Wait()
	assert.Zero(t, f.lostGrants())
	renewals := f.seen("/token") - 1
	due := int(time.Since(begun) / (tokenLife * 3 / 4))
	assert.Positive(t, renewals)
	assert.LessOrEqual(t, renewals, due, "one for each expiry")
}

func assertRuns(t *testing.T, process *exec.Cmd) {
	var output bytes.Buffer
	process.Stdout, process.Stderr = &output, &output
	assert.NoError(t, process.Run(), &output)
	assert.NotContains(t, output.String(), "access-", "no token in an error")
}
