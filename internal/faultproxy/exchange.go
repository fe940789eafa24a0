package faultproxy

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"time"
)

// An exchange is one request and its response.
type exchange struct {
	Schedule
	proxy  *Proxy
	method string
	number int
	passed bool // guarded by the proxy's mu

	w       http.ResponseWriter
	chunked bool
	sent    int // bytes of the body
}

// run does it all. It panics with [http.ErrAbortHandler] where the response cannot go on and the connection must close.
func (x *exchange) run(w http.ResponseWriter, r *http.Request) {
	x.w = w
	ctx := r.Context()
	pause(ctx, x.Delay)
	if x.Refuse != 0 || x.endsAt(BeforeRequest) {
		io.Copy(io.Discard, r.Body) // closing a connection with unread bytes would reset it
	}
	if x.Refuse != 0 {
		x.refuse()
		return
	}
	if x.endsAt(BeforeRequest) {
		x.end(ctx, nil)
		return
	}
	resp, err := x.proxy.pass(x, r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer resp.Body.Close()
	pause(ctx, x.Hold)
	if x.endsAt(BeforeHead) {
		x.end(ctx, nil)
		return
	}
	x.head(resp)
	x.body(ctx, resp)
}

func (x *exchange) endsAt(place int) bool { return x.End != Whole && x.After == place }

func (x *exchange) refuse() {
	x.w.Header().Set("Content-Type", "text/html")
	x.w.WriteHeader(x.Refuse)
	io.WriteString(x.w, "<html><body>no</body></html>")
}

func (x *exchange) head(resp *http.Response) {
	maps.Copy(x.w.Header(), resp.Header)
	x.w.Header().Del("Connection")
	if x.Type != "" {
		x.w.Header().Set("Content-Type", x.Type)
	}
	if x.duplicates(resp) {
		x.w.Header().Del("Content-Length")
	}
	status := resp.StatusCode
	if x.Status != 0 {
		status = x.Status
	}
	x.chunked = x.w.Header().Get("Content-Length") == "" && resp.ContentLength != 0
	x.w.WriteHeader(status)
	x.flush()
}

func (x *exchange) duplicates(resp *http.Response) bool {
	return x.Duplicate > 0 && isEventStream(resp)
}

func (x *exchange) body(ctx context.Context, resp *http.Response) {
	next := pieces(resp.Body)
	if x.duplicates(resp) {
		next = repeat(events(resp.Body), x.Duplicate)
	}
	for {
		piece, err := next()
		if kept := x.After - x.sent; x.End != Whole && kept <= len(piece) {
			x.write(ctx, piece[:kept])
			x.end(ctx, piece[kept:])
			return
		}
		x.write(ctx, piece)
		switch {
		case err == nil:
		case x.End != Whole:
			x.end(ctx, nil)
			return
		case err == io.EOF:
			return
		default:
			panic(http.ErrAbortHandler)
		}
	}
}

func (x *exchange) write(ctx context.Context, piece []byte) {
	for len(piece) > 0 {
		n := len(piece)
		if x.Drip > 0 {
			n = min(n, x.Drip)
		}
		if x.sent > 0 && x.Drip > 0 {
			pause(ctx, DripPause)
		}
		if _, err := x.w.Write(piece[:n]); err != nil {
			panic(http.ErrAbortHandler)
		}
		x.flush()
		x.sent += n
		piece = piece[n:]
	}
}

func (x *exchange) flush() {
	if http.NewResponseController(x.w).Flush() != nil {
		panic(http.ErrAbortHandler)
	}
}

// end ends the exchange as its schedule says; rest is what came next in the body.
func (x *exchange) end(ctx context.Context, rest []byte) {
	if x.End == Cut && x.After >= 0 {
		return // the server closes the body, or the connection if the body is short
	}
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	defer context.AfterFunc(x.proxy.ctx, func() { conn.Close() })()
	switch tcp := conn.(*net.TCPConn); x.End {
	case Truncate:
		x.truncate(tcp, rest)
	case HalfClose:
		tcp.CloseWrite()
		io.Copy(io.Discard, tcp)
	case Reset:
		tcp.SetLinger(0)
	}
}

// truncate sends a chunk that is shorter than its size says.
func (x *exchange) truncate(conn net.Conn, rest []byte) {
	if x.After < 0 || !x.chunked {
		return
	}
	rest = rest[:len(rest)/2]
	fmt.Fprintf(conn, "%x\r\n%s", len(rest)+1000, rest)
}

// pause waits, unless the exchange is over.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		panic(http.ErrAbortHandler)
	}
}
