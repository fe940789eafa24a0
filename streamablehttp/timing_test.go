package streamablehttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

// scripted is a Doer without a network, so that time can be a fake one. It records when each request came.
type scripted struct {
	mu    sync.Mutex
	serve func(req *http.Request, nth int) (*http.Response, error) // nth counts from 1, by HTTP method
	times map[string][]time.Time
}

func (s *scripted) Do(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	if s.times == nil {
		s.times = make(map[string][]time.Time)
	}
	s.times[req.Method] = append(s.times[req.Method], time.Now())
	nth := len(s.times[req.Method])
	s.mu.Unlock()
	return s.serve(req, nth)
}

// gaps are the times between requests with a method.
func (s *scripted) gaps(method string) (gaps []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	times := s.times[method]
	for i := 1; i < len(times); i++ {
		gaps = append(gaps, times[i].Sub(times[i-1]))
	}
	return gaps
}

// responds is a response whose body ends after text, or stays open until the request is given up.
func responds(req *http.Request, status int, text string, open bool) (*http.Response, error) {
	contentType := "text/plain"
	switch {
	case strings.HasPrefix(text, "{"):
		contentType = "application/json"
	case status == 200:
		contentType = "text/event-stream"
	}
	r, w := io.Pipe()
	stop := context.AfterFunc(req.Context(), func() { w.CloseWithError(req.Context().Err()) })
	go func() {
		io.WriteString(w, text)
		if !open {
			stop()
			w.Close()
		}
	}()
	return &http.Response{
		StatusCode:    status,
		Header:        http.Header{"Content-Type": {contentType}},
		Body:          r,
		ContentLength: -1,
		Request:       req,
	}, nil
}

// listening makes the handshake with a scripted server; the GET stream is in the background.
func listening(t *testing.T, s *scripted, tr *streamablehttp.Transport) *client {
	t.Helper()
	gets := s.serve
	s.serve = func(req *http.Request, nth int) (*http.Response, error) {
		switch {
		case req.Method == http.MethodGet:
			return gets(req, nth)
		case req.Method == http.MethodPost && nth == 1:
			return responds(req, 200, `{"jsonrpc":"2.0","id":0,"result":{}}`, false)
		}
		return responds(req, 202, "", false)
	}
	tr.URL, tr.Client = "http://server.example/mcp", s
	c := connect(t, tr)
	c.handshake()
	return c
}

func TestDelaysOfTheGetStream(t *testing.T) {
	for name, test := range map[string]struct {
		serve     func(req *http.Request, nth int) (*http.Response, error)
		reconnect streamablehttp.Reconnect
		gaps      []time.Duration // at least; at most a quarter more
		mute      bool            // there never was a stream that could be lost
	}{
		"empty": { // id-less streams reset nothing
			serve: func(req *http.Request, _ int) (*http.Response, error) {
				return responds(req, 200, "data: {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n\n", false)
			},
			gaps: seconds(1, 2, 4, 8, 16),
		},
		"errors": {
			serve: func(*http.Request, int) (*http.Response, error) { return nil, errors.New("broken") },
			gaps:  seconds(1, 2, 4, 8, 16),
		},
		"5xx": {
			serve:     func(req *http.Request, _ int) (*http.Response, error) { return responds(req, 503, "", false) },
			reconnect: streamablehttp.Reconnect{MaxRetries: 8},
			gaps:      seconds(1, 2, 4, 8, 16, 30, 30, 30),
		},
		"none": {
			serve:     func(req *http.Request, _ int) (*http.Response, error) { return responds(req, 503, "", false) },
			reconnect: streamablehttp.Reconnect{MaxRetries: -1},
		},
		"own delays": {
			serve:     func(req *http.Request, _ int) (*http.Response, error) { return responds(req, 503, "", false) },
			reconnect: streamablehttp.Reconnect{MaxRetries: 3, Delay: 4 * time.Second, MaxDelay: 5 * time.Second},
			gaps:      seconds(4, 5, 5),
		},
		"retry field": {
			serve: func(req *http.Request, nth int) (*http.Response, error) {
				return responds(req, 200, "retry: 3000\n\n", false)
			},
			gaps: seconds(3, 3, 4, 8, 16),
		},
		"retry 0": {
			serve: func(req *http.Request, nth int) (*http.Response, error) {
				if nth > 3 {
					return responds(req, 404, "", false)
				}
				return responds(req, 200, "retry: 0\nid: 1\ndata:\n\n", false)
			},
			gaps: []time.Duration{100 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond},
		},
		"events with ids": {
			serve: func(req *http.Request, nth int) (*http.Response, error) {
				if nth%2 == 1 && nth < 6 {
					return responds(req, 200, fmt.Sprintf("id: %d\ndata:\n\n", nth), false)
				}
				return responds(req, 500, "", false)
			},
			gaps: seconds(1, 2, 1, 2, 1, 2, 4, 8, 16),
		},
		"held long": { // as by a proxy that cuts idle streams
			serve: func(req *http.Request, nth int) (*http.Response, error) {
				if nth > 7 {
					return responds(req, 404, "", false)
				}
				ctx, cancel := context.WithTimeout(req.Context(), 100*time.Second)
				context.AfterFunc(ctx, cancel)
				return responds(req.WithContext(ctx), 200, "", true)
			},
			gaps: seconds(101, 101, 101, 101, 101, 101, 101),
		},
		"outage": {
			serve: func(req *http.Request, nth int) (*http.Response, error) {
				switch {
				case nth == 1 || nth == 11:
					return responds(req, 200, ": hello\n\n", false)
				case nth > 11:
					return responds(req, 404, "", false)
				case nth%2 == 0:
					return responds(req, 503, "", false)
				}
				return nil, errors.New("broken")
			},
			gaps: seconds(1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30),
		},
		"Retry-After": {
			serve: func(req *http.Request, nth int) (*http.Response, error) {
				resp, err := responds(req, []int{429, 503, 404}[nth-1], "", false)
				resp.Header.Set("Retry-After", []string{"7", "1", ""}[nth-1])
				return resp, err
			},
			gaps: seconds(7, 2),
			mute: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{serve: test.serve}
				c := listening(t, s, &streamablehttp.Transport{Reconnect: test.reconnect})
				time.Sleep(time.Hour)
				gaps := s.gaps(http.MethodGet)
				require.Len(t, gaps, len(test.gaps))
				for i, gap := range gaps {
					assert.GreaterOrEqual(t, gap, test.gaps[i], i)
					assert.LessOrEqual(t, gap, test.gaps[i]+test.gaps[i]/4, i)
				}
				var last *transport.Message
				for len(c.received) > 0 {
					last = <-c.received
				}
				assert.Equal(t, test.mute, last == nil)
				if last != nil {
					assert.ErrorIs(t, last.Fault, transport.ErrUnheard)
				}
				require.NoError(t, c.conn.Close())
				<-c.ended
			})
		})
	}
}

func seconds(list ...time.Duration) []time.Duration {
	for i := range list {
		list[i] *= time.Second
	}
	return list
}

func TestTheDelayBeforeAResponseIsResumed(t *testing.T) { // field cases 83, 85
	for text, delay := range map[string]time.Duration{
		"id: 1\nretry: 500\ndata:\n\n": 500 * time.Millisecond,
		"id: 1\nretry: 0\ndata:\n\n":   100 * time.Millisecond,
		"id: 1\ndata:\n\nretry: 700\n": 700 * time.Millisecond,
	} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{serve: func(req *http.Request, nth int) (*http.Response, error) {
					if req.Method == http.MethodGet {
						return responds(req, 200, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n", false)
					}
					return responds(req, 200, text, false)
				}}
				c := connect(t, &streamablehttp.Transport{URL: "http://server.example/mcp", Client: s})
				begun := time.Now()
				_, _, err := c.call(1, "work")
				require.NoError(t, err)
				assert.Equal(t, delay, time.Since(begun))
				require.NoError(t, c.conn.Close())
				<-c.ended
			})
		})
	}
}

// A proxy cuts streams that are silent for a minute, and the server has nothing to say for ten. Then it is busy.
func TestALongCallIsResumedForAsLongAsItTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{serve: func(req *http.Request, nth int) (*http.Response, error) {
			switch {
			case req.Method == http.MethodPost:
				return responds(req, 200, "id: 1\ndata:\n\n", false)
			case nth <= 10:
				ctx, cancel := context.WithTimeout(req.Context(), time.Minute)
				context.AfterFunc(ctx, cancel)
				return responds(req.WithContext(ctx), 200, "", true)
			case nth == 11:
				resp, err := responds(req, 429, "", false)
				resp.Header.Set("Retry-After", "20")
				return resp, err
			}
			return responds(req, 200, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n", false)
		}}
		c := connect(t, &streamablehttp.Transport{URL: "http://server.example/mcp", Client: s})
		result, _, err := c.call(1, "work")
		require.NoError(t, err)
		assert.Equal(t, "{}", result)
		gaps := s.gaps(http.MethodGet)
		require.Len(t, gaps, 11)
		assert.Equal(t, 20*time.Second, gaps[10])
		require.NoError(t, c.conn.Close())
		<-c.ended
	})
}

func TestRetryAfter(t *testing.T) { // RFC 9110, section 10.2.3
	synctest.Test(t, func(t *testing.T) {
		for value, want := range map[string]time.Duration{
			"":                              0,
			"0":                             0,
			"120":                           2 * time.Minute,
			"-7":                            0,
			"1.5":                           0,
			"soon":                          0,
			"99999999999999999999":          math.MaxUint32 * time.Second,
			"Sat, 01 Jan 2000 00:00:30 GMT": 30 * time.Second,
			"Fri, 31 Dec 1999 23:59:00 GMT": 0,
		} {
			e := &streamablehttp.StatusError{Header: http.Header{"Retry-After": {value}}}
			assert.Equal(t, want, e.RetryAfter(), value)
		}
		assert.Zero(t, (&streamablehttp.StatusError{}).RetryAfter())
	})
}

func TestABrokenResponseIsNotResumedAfterTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{serve: func(req *http.Request, nth int) (*http.Response, error) {
			return responds(req, 200, "id: 1\nretry: 5000\ndata:\n\n", false)
		}}
		c := connect(t, &streamablehttp.Transport{URL: "http://server.example/mcp", Client: s})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, _, err := c.callContext(ctx, 1, "work")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.False(t, transport.SafeToRetry(err))
		time.Sleep(time.Minute)
		assert.Empty(t, s.times[http.MethodGet])
		require.NoError(t, c.conn.Close())
		<-c.ended
	})
}

func TestTheEndOfAStreamIsWaitedForEverMoreRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lingers := true
		s := &scripted{serve: func(req *http.Request, nth int) (*http.Response, error) {
			return responds(req, 200, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n", lingers)
		}}
		c := connect(t, &streamablehttp.Transport{URL: "http://server.example/mcp", Client: s})
		waits := func(calls int) (pattern string) {
			for range calls {
				begun := time.Now()
				_, _, err := c.call(1, "work")
				require.NoError(t, err)
				switch time.Since(begun) {
				case 0:
					pattern += "-"
				case 50 * time.Millisecond:
					pattern += "w"
				default:
					pattern += "?"
				}
			}
			return pattern
		}
		assert.Equal(t, "w-w--w----w--------w", waits(20))
		lingers = false
		waits(100) // among them one that is waited for, and ends
		lingers = true
		assert.Equal(t, "w-w--w", waits(6))
		require.NoError(t, c.conn.Close())
		<-c.ended
	})
}

func TestTheEndpointIsWaitedForTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{serve: func(req *http.Request, _ int) (*http.Response, error) {
			return responds(req, 200, ": nothing\n\n", true)
		}}
		begun := time.Now()
		tr := &streamablehttp.Transport{URL: "http://server.example/mcp", Client: s, LegacySSE: streamablehttp.LegacyOnly}
		_, err := tr.Connect(t.Context())
		assert.EqualError(t, err, "streamablehttp: no endpoint event within 10s")
		assert.Equal(t, 10*time.Second, time.Since(begun))
	})
}

func TestCloseTakesASecondAtMost(t *testing.T) { // field case 90
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{serve: func(req *http.Request, nth int) (*http.Response, error) {
			if req.Method == http.MethodDelete {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}
			resp, err := responds(req, 200, `{"jsonrpc":"2.0","id":0,"result":{}}`, false)
			resp.Header.Set("Mcp-Session-Id", "s")
			return resp, err
		}}
		c := connect(t, &streamablehttp.Transport{URL: "http://server.example/mcp", Client: s, DisableGetStream: true})
		c.handshake()
		begun := time.Now()
		err := c.conn.Close()
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(begun))
		<-c.ended
	})
}

func TestCloseDoesNotWaitLongForItsNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{serve: func(req *http.Request, nth int) (*http.Response, error) {
			switch {
			case nth == 1:
				return responds(req, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"`+version+
					`","capabilities":{},"serverInfo":{"name":"fake","version":"1"}}}`, false)
			case nth == 2:
				return responds(req, 202, "", false)
			}
			<-req.Context().Done() // neither the call nor the notice is taken
			return nil, req.Context().Err()
		}}
		client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{
			URL: "http://server.example/mcp", Client: s, DisableGetStream: true,
		}, legacy)
		require.NoError(t, err)
		called := make(chan error, 1)
		go func() {
			_, err := client.Request(t.Context(), "work", nil)
			called <- err
		}()
		synctest.Wait()
		begun := time.Now()
		require.NoError(t, client.Close())
		assert.Equal(t, 500*time.Millisecond, time.Since(begun))
		assert.ErrorIs(t, <-called, mcp.ErrClosed)
		assert.Len(t, s.times[http.MethodPost], 4)
	})
}
