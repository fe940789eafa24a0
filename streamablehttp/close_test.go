package streamablehttp_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

func TestCloseDeletesTheSession(t *testing.T) { // field case 90
	for status, text := range map[int]string{
		200: "", 202: "", 204: "", 400: "", 404: "", 405: "", 501: "",
		500: "streamablehttp: the session may live on: DELETE answered 500 Internal Server Error: no",
		401: "streamablehttp: the session may live on: DELETE answered 401 Unauthorized: no",
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			f := newFake(t)
			f.on("DELETE", func(a *arrival) {
				if a.status(status); status != 204 {
					a.write("no")
				}
			})
			c := open(t, f)
			var closing sync.WaitGroup
			for range 10 {
				closing.Go(func() {
					if err := c.conn.Close(); text == "" {
						assert.NoError(t, err)
					} else {
						assert.EqualError(t, err, text)
					}
				})
			}
			closing.Wait()
			c.conn.Close()
			assert.Equal(t, 1, f.count("DELETE"))
		})
	}
}

func TestCloseDoesNotWaitForTheDelete(t *testing.T) { // field case 90
	f := newFake(t)
	f.on("DELETE", func(a *arrival) { a.linger() })
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.CloseTimeout = 50 * time.Millisecond })
	begun := time.Now()
	err := c.conn.Close()
	assert.Less(t, time.Since(begun), soon)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "the session may live on")
}

func TestCloseIsBoundedEvenSo(t *testing.T) {
	f := newFake(t)
	stuck := make(chan struct{})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	c := open(t, f, func(tr *streamablehttp.Transport) {
		tr.CloseTimeout = 10 * time.Millisecond
		tr.DisableGetStream = true
		tr.Client = doer(func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodDelete {
				<-stuck // whatever the context says
			}
			return client.Do(req)
		})
	})
	assert.EqualError(t, c.conn.Close(), "streamablehttp: the session may live on: close takes longer than 10ms")
	close(stuck)
}

func TestCloseUnblocksEverything(t *testing.T) {
	f := newFake(t)
	f.on("GET", func(a *arrival) { a.stream(); a.linger() })
	f.on("POST slow", func(a *arrival) { a.linger() })
	f.on("POST stream", func(a *arrival) { a.stream(); a.linger() })
	f.on("POST cut", func(a *arrival) { a.stream(); a.event("id: 1", "retry: 100000", "data:") })
	c := open(t, f)
	done := make(chan error, 3)
	for id, method := range []string{"slow", "stream", "cut"} {
		go func() {
			_, _, err := c.call(int64(id), method)
			done <- err
		}()
		f.await("POST "+method, 1)
	}
	f.await("GET", 1)
	require.NoError(t, c.conn.Close())
	for range 3 {
		err := within(t, done)
		assert.ErrorIs(t, err, transport.ErrClosed)
		assert.EqualError(t, err, "streamablehttp: connection closed")
		assert.False(t, transport.SafeToRetry(err))
	}
	assert.EqualError(t, within(t, c.ended), "streamablehttp: connection closed")
	_, _, err := c.call(9, "slow")
	assert.ErrorIs(t, err, transport.ErrClosed)
	assert.True(t, transport.SafeToRetry(err))
}

// A server outlives the connection, and not every one stops its work with the session.
func TestCloseTellsWhichCallsNobodyWaitsFor(t *testing.T) {
	for name, closing := range map[string]func(cancel func(), called <-chan error, client *mcp.Client) error{
		"pending": func(_ func(), called <-chan error, client *mcp.Client) error {
			var closers sync.WaitGroup
			for range 3 {
				closers.Go(func() { client.Close() })
			}
			closers.Wait()
			return <-called
		},
		"cancelled just before": func(cancel func(), called <-chan error, client *mcp.Client) error {
			cancel()
			err := <-called
			client.Close()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			cancelled, answered := make(chan struct{}), make(chan struct{})
			f.on("POST work", func(a *arrival) {
				defer close(answered)
				a.stream()
				select { // there are servers that answer a request that was cancelled
				case <-cancelled:
					a.event(`data: {"jsonrpc":"2.0","id":` + a.msg.ID.String() + `,"error":{"code":0,"message":"cancelled"}}`)
				case <-a.r.Context().Done():
				}
			})
			f.on("POST notifications/cancelled", func(a *arrival) {
				close(cancelled)
				<-answered
				a.status(202)
			})
			client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url, DisableGetStream: true}, legacy)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			called := make(chan error, 1)
			go func() {
				_, err := client.Request(ctx, "work", nil)
				called <- err
			}()
			id := f.await("POST work", 1).msg.ID
			err = closing(cancel, called, client)
			assert.True(t, errors.Is(err, mcp.ErrClosed) || errors.Is(err, context.Canceled), err)
			assert.Equal(t, []string{"POST work", "POST notifications/cancelled", "DELETE"}, f.order()[2:])
			assert.JSONEq(t, `{"requestId":`+id.String()+`}`, string(f.await("POST notifications/cancelled", 1).msg.Params))
		})
	}
}

func TestCloseCancelsTheTaskOfACallThatWasGivenUp(t *testing.T) {
	f := newFake(t)
	f.on("POST server/discover", func(a *arrival) { a.json(discovered) })
	f.on("POST tools/call", func(a *arrival) { a.json(`{"resultType":"task",` + aTask + `"status":"working"}`) })
	f.on("POST tasks/get", func(a *arrival) { a.linger() })
	f.on("POST tasks/cancel", func(a *arrival) { a.json(`{}`) })
	client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url}, &mcp.Options{Tasks: true})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan error, 1)
	go func() {
		_, err := client.CallTool(ctx, "t", nil)
		called <- err
	}()
	f.await("POST tasks/get", 1)
	cancel()
	require.ErrorIs(t, within(t, called), context.Canceled)
	require.NoError(t, client.Close())
	assert.Equal(t, 1, f.count("POST tasks/cancel"))
}

func TestTheEndOfAContext(t *testing.T) {
	f := newFake(t)
	f.on("POST slow", func(a *arrival) { a.linger() })
	f.on("POST stream", func(a *arrival) { a.stream(); a.linger() })
	f.on("POST json", func(a *arrival) { a.set("Content-Type", "application/json"); a.write("{"); a.flush(); a.linger() })
	f.on("POST cut", func(a *arrival) { a.stream(); a.event("id: 1", "retry: 100000", "data:") })
	f.on("POST refused", func(a *arrival) { a.status(500); a.flush(); a.linger() })
	f.on("POST quick", func(a *arrival) { a.json(`{}`) })
	c := open(t, f, noGet)
	for id, method := range []string{"slow", "stream", "json", "cut", "refused"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() {
			_, _, err := c.callContext(ctx, int64(id), method)
			done <- err
		}()
		f.await("POST "+method, 1)
		cancel(assert.AnError)
		err := within(t, done)
		assert.Equal(t, assert.AnError, err, method)
	}
	_, _, err := c.call(9, "quick")
	assert.NoError(t, err, "the connection lives on")
}

func TestNothingIsSentAfterTheEndOfAContext(t *testing.T) { // field case 55
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	auth := &authorizer{}
	c := open(t, f, noGet, func(tr *streamablehttp.Transport) { tr.Authorizer = auth })
	auth.authorize = func(*http.Request, bool) error { cancel(); return nil }
	_, _, err := c.callContext(ctx, 1, "work")
	assert.Equal(t, context.Canceled.Error(), err.Error())
	assert.True(t, transport.SafeToRetry(err))
	auth.authorize = nil
	_, _, err = c.callContext(ctx, 1, "work")
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, transport.SafeToRetry(err))
	assert.Zero(t, f.count("POST work"))
}

func TestNothingIsSentAgainAfterTheEndOfAContext(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.on("POST work", func(a *arrival) { a.status(401) })
	c := open(t, f, noGet, func(tr *streamablehttp.Transport) {
		tr.Authorizer = &authorizer{inspect: func(resp *http.Response) (bool, error) {
			if resp.StatusCode == 401 {
				cancel()
			}
			return resp.StatusCode == 401, nil
		}}
	})
	_, _, err := c.callContext(ctx, 1, "work")
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 1, f.count("POST work"))
}
