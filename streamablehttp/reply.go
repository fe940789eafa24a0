package streamablehttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/internal/chunked"
	"github.com/seed62b61957/mcp/transport"
)

const (
	// drainBytes and drainTime bound what is read after the last byte that matters, so that the connection can be used
	// again: most servers end a stream right after the answer, some a few milliseconds later.
	drainBytes = 4 << 10
	drainTime  = 50 * time.Millisecond
	// errorBodyTime bounds the reading of the body of a refusal.
	errorBodyTime = 2 * time.Second
)

// A reply is a response whose body can be given up at any time.
type reply struct {
	*http.Response
	request *http.Request // as it went out; Response.Request is up to the Doer
	cancel  context.CancelFunc
}

// abandon frees what belongs to the response. Whatever is unread of it is lost, mostly with its connection.
func (r *reply) abandon() {
	r.cancel()
	r.Body.Close()
}

// discard is for a response of which only the header matters, and after which another request follows at once.
func (r *reply) discard() {
	if 0 <= r.ContentLength && r.ContentLength <= drainBytes {
		r.drain()
	}
	r.abandon()
}

// readFor reads the body until buf is full, the time is over, or the body has ended. There is nothing more to be read
// afterwards if the time was over.
func (r *reply) readFor(d time.Duration, buf []byte) (n int, ended bool) {
	timer := time.AfterFunc(d, r.cancel)
	defer timer.Stop()
	for n < len(buf) {
		read, err := r.Body.Read(buf[n:])
		if n += read; err != nil {
			return n, err == io.EOF
		}
	}
	var more [1]byte
	read, err := r.Body.Read(more[:])
	return n, read == 0 && err == io.EOF
}

// drain reads away what is left of the body, if it is little and comes soon, and reports whether it has ended.
func (r *reply) drain() (ended bool) {
	buf := chunked.Get()
	defer chunked.Put(buf)
	_, ended = r.readFor(drainTime, buf[:drainBytes])
	return ended
}

// patience decides whether it is worth waiting for the end of a body. A server that keeps its streams open after the
// answer is waited for ever more rarely.
type patience struct {
	mu    sync.Mutex
	skip  int // this many times from now on
	delay int // what skip is set to when it was in vain again
}

const maxSkips = 64

func (p *patience) worthIt() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.skip > 0 {
		p.skip--
		return false
	}
	return true
}

func (p *patience) learn(ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ended {
		p.skip, p.delay = 0, 0
		return
	}
	p.delay = min(max(2*p.delay, 1), maxSkips)
	p.skip = p.delay
}

// finish reads what is left after the answer, if it is little and comes soon, and frees the response.
func (c *conn) finish(r *reply) {
	if c.patience.worthIt() {
		c.patience.learn(r.drain())
	}
	r.abandon()
}

// statusError takes a refusal over and frees the response.
func (r *reply) statusError() *StatusError {
	e := &StatusError{
		Method:     r.request.Method,
		StatusCode: r.StatusCode,
		Status:     r.status(),
		Header:     r.Header,
	}
	body := make([]byte, maxErrorBody)
	n, _ := r.readFor(errorBodyTime, body)
	r.abandon()
	e.Body = bytes.Clone(body[:n])
	e.answer = rpcError(body[:n])
	return e
}

// status is the code and its text, which not every Doer gives.
func (r *reply) status() string {
	if r.Status != "" {
		return r.Status
	}
	return strings.TrimSpace(fmt.Sprint(r.StatusCode, " ", http.StatusText(r.StatusCode)))
}

func (r *reply) ok() bool { return 200 <= r.StatusCode && r.StatusCode <= 299 }

// media returns the media type in lower case, without parameters; "" if there is none.
func (r *reply) media() string {
	text := r.Header.Get("Content-Type")
	if text == "application/json" || text == "text/event-stream" {
		return text
	}
	if media, _, err := mime.ParseMediaType(text); err == nil {
		return media
	}
	text, _, _ = strings.Cut(text, ";")
	return strings.ToLower(strings.TrimSpace(text))
}

func (r *reply) isEventStream() bool { return r.media() == "text/event-stream" }

// readAll reads a body up to the limit of a message. A longer one is given up.
func (r *reply) readAll(limit int) ([]byte, error) {
	data, over, err := chunked.ReadAll(r.Body, limit, r.ContentLength)
	switch {
	case over:
		return nil, fmt.Errorf("%w: the limit is %d bytes", transport.ErrMessageTooLarge, limit)
	case err != nil:
		return nil, noResponse(fmt.Errorf("the body ended early: %w", err))
	}
	return data, nil
}
