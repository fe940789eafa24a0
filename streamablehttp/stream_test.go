package streamablehttp_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

func TestEventsOfAResponse(t *testing.T) { // field cases 73, 76, 77
	progress := `{"jsonrpc":"2.0","method":"notifications/progress"}`
	for name, text := range map[string]string{
		"CRLF":          "data: PROGRESS\r\n\r\ndata: ANSWER\r\n\r\n",
		"CR":            "data: PROGRESS\r\rdata: ANSWER\r\r",
		"two lines":     "data: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/progress\"}\n\ndata: ANSWER\n\n",
		"other events":  "data: PROGRESS\n\nevent: ping\ndata: now\n\n: comment\n\nevent: message\ndata: ANSWER\n\n",
		"of any type":   "event: progress\ndata: PROGRESS\n\nevent: response\ndata: ANSWER\n\n",
		"not ours":      "data: PROGRESS\n\nevent: log\ndata: {\"id\":1,\"result\":{}}\n\ndata: ANSWER\n\n",
		"no newline":    "data: PROGRESS\n\nevent: message\ndata: ANSWER",
		"no blank line": "data: PROGRESS\n\nid: 1\ndata: ANSWER\n",
		"priming":       "id: 1\nretry: 500\ndata:\n\ndata: PROGRESS\n\nid: 2\n\ndata: ANSWER\n\n",
		"batch":         "data: [PROGRESS,ANSWER]\n\n",
		"BOM":           "\ufeffdata: PROGRESS\n\ndata: ANSWER\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("POST work", func(a *arrival) {
				a.stream()
				a.write(strings.NewReplacer("PROGRESS", progress, "ANSWER", a.answer(`{}`)).Replace(text))
			})
			c := open(t, f, func(tr *streamablehttp.Transport) { tr.DisableGetStream = true })
			result, before, err := c.call(1, "work")
			require.NoError(t, err)
			assert.Equal(t, `{}`, result)
			require.Len(t, before, 1)
			assert.NoError(t, before[0].Fault)
			assert.Equal(t, "notifications/progress", before[0].Method)
			assert.Zero(t, f.count("GET"), "nothing is resumed after the answer")
		})
	}
}

func TestNoiseOnAStreamIsReported(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) {
		a.stream()
		a.event("data: hello")
		a.event("data: " + a.answer(`{}`))
	})
	c := open(t, f)
	result, before, err := c.call(1, "work")
	require.NoError(t, err)
	assert.Equal(t, `{}`, result)
	require.Len(t, before, 1)
	var noise *transport.FaultError
	require.ErrorAs(t, before[0].Fault, &noise)
	assert.Equal(t, "hello", noise.Prefix)
}

func TestAStreamThatStaysOpenAfterTheAnswer(t *testing.T) { // field case 81
	for name, server := range map[string]func(testing.TB) *fake{"HTTP/1.1": newFake, "HTTP/2": newTLS} {
		t.Run(name, func(t *testing.T) {
			f := server(t)
			f.on("POST work", func(a *arrival) {
				assert.Equal(t, name == "HTTP/2", a.r.ProtoMajor == 2)
				a.stream()
				a.event("data: " + a.answer(`{}`))
				a.linger()
			})
			c := open(t, f, func(tr *streamablehttp.Transport) { tr.Client = f.server.Client() })
			begun := time.Now()
			for id := range 20 {
				result, _, err := c.call(int64(id+1), "work")
				require.NoError(t, err)
				assert.Equal(t, `{}`, result)
			}
			assert.Less(t, time.Since(begun), soon)
		})
	}
}

func TestAnAnswerInAnEventThatIsNoMessage(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) {
		a.stream()
		a.event("event: result", `data: {"id":1,"result":{}}`)
	})
	c := open(t, f, noGet)
	_, _, err := c.call(1, "work")
	assert.ErrorIs(t, err, transport.ErrNoResponse)
	assert.EqualError(t, err, "streamablehttp: no response: the stream ended without it; "+
		`an event of type "result" was no JSON-RPC message`)
}

func TestAStreamWithoutAnswerAndIDs(t *testing.T) { // field case 82
	for name, serve := range map[string]func(*arrival){
		"ended": func(a *arrival) { a.stream(); a.event(`data: {"jsonrpc":"2.0","method":"notifications/x"}`) },
		"cut":   func(a *arrival) { a.stream(); a.write("data: {"); a.flush(); panic(http.ErrAbortHandler) },
		"cut after the answer": func(a *arrival) {
			a.stream()
			a.write("data: " + a.answer(`{}`) + "\n")
			a.flush()
			panic(http.ErrAbortHandler)
		},
		"unfinished":          func(a *arrival) { a.stream(); a.write("data: " + strings.TrimSuffix(a.answer(`{}`), "}")) },
		"unfinished, foreign": func(a *arrival) { a.stream(); a.write("data: {\"id\":1,\"result\":{}}") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("POST work", serve)
			c := open(t, f, func(tr *streamablehttp.Transport) { tr.DisableGetStream = true })
			_, _, err := c.call(1, "work")
			assert.ErrorIs(t, err, transport.ErrNoResponse)
			assert.False(t, transport.SafeToRetry(err))
			assert.Zero(t, f.count("GET"))
		})
	}
}

// countConnections counts the connections that a server accepts.
func countConnections(f *fake) func() int {
	var mu sync.Mutex
	seen := 0
	f.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if state == http.StateNew {
			seen++
		}
	}
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

func TestConnectionsAreReused(t *testing.T) { // field case 93
	f := newBare(t)
	f.server = httptest.NewUnstartedServer(f)
	connections := countConnections(f)
	f.server.Start()
	defer f.server.Close()
	f.url = f.server.URL
	f.on("POST stream", func(a *arrival) {
		a.stream()
		a.event("data: " + a.answer(`{}`))
		time.Sleep(5 * time.Millisecond) // the last chunk comes later than the answer
	})
	f.on("POST json", func(a *arrival) { a.json(`{}`) })
	f.on("POST refused", func(a *arrival) { a.text(500, "text/plain", "no") })
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.DisableGetStream = true })
	for id := range 100 {
		for _, method := range []string{"stream", "json", "refused"} {
			_, _, err := c.call(int64(id), method)
			assert.Equal(t, method == "refused", err != nil)
		}
	}
	assert.LessOrEqual(t, connections(), 10, "one or two, on a machine that has time")
}

func TestAnAnswerOnAnotherStream(t *testing.T) {
	for name, elsewhere := range map[string]string{"the GET stream": "GET", "another call's": "POST other"} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			work := make(chan *arrival, 1)
			f.on("POST work", func(a *arrival) {
				a.stream()
				work <- a
				a.linger()
			})
			f.on(elsewhere, func(a *arrival) {
				a.stream()
				a.event("data: " + strings.Replace((<-work).answer(`{"late":1}`), `"id":1`, `"id":"1"`, 1))
				a.event(`data: {"jsonrpc":"2.0","id":2,"result":{}}`)
				a.linger()
			})
			c := open(t, f)
			if elsewhere == "GET" {
				_, _, err := c.call(1, "work")
				require.NoError(t, err, "the answer comes through Receive")
				m := within(t, c.received)
				assert.Equal(t, `{"late":1}`, string(m.Result))
				return
			}
			done := make(chan error, 1)
			go func() {
				_, _, err := c.call(1, "work")
				done <- err
			}()
			f.await("POST work", 1)
			_, before, err := c.call(2, "other")
			require.NoError(t, err)
			require.Len(t, before, 1)
			assert.Equal(t, `{"late":1}`, string(before[0].Result))
			assert.NoError(t, within(t, done))
		})
	}
}

func TestAServerRequestIsAnsweredMeanwhile(t *testing.T) {
	for name, on := range map[string]string{"the call's stream": "POST work", "the GET stream": "GET"} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			answered, asked := make(chan struct{}), make(chan struct{})
			ask := func(a *arrival) {
				a.event(`data: {"jsonrpc":"2.0","id":"s1","method":"ping"}`)
				close(asked)
			}
			f.on("POST answer", func(a *arrival) {
				a.status(202)
				close(answered)
			})
			f.on("POST work", func(a *arrival) {
				a.stream()
				if on == "POST work" {
					ask(a)
				}
				<-answered
				a.event("data: " + a.answer(`{}`))
			})
			f.on("GET", func(a *arrival) {
				a.stream()
				if on == "GET" {
					ask(a)
				}
				a.linger()
			})
			c := open(t, f)
			f.await("GET", 1)
			var answering sync.WaitGroup
			defer answering.Wait()
			answering.Go(func() {
				<-asked
				m := &transport.Message{Result: []byte(`{}`)}
				m.ID, _ = transport.ParseID([]byte(`"s1"`))
				assert.NoError(t, c.conn.Send(t.Context(), transport.Outgoing{Message: m, Version: version}))
			})
			result, before, err := c.call(1, "work")
			require.NoError(t, err)
			assert.Equal(t, `{}`, result)
			if on == "GET" {
				before = []*transport.Message{within(t, c.received)}
			}
			require.Len(t, before, 1)
			assert.True(t, before[0].IsRequest())
			assert.Equal(t, sessionID, f.await("POST answer", 1).got("Mcp-Session-Id"))
		})
	}
}
