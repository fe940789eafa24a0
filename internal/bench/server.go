package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
)

const serveArg = "serve"

// serve is the server: raw, on the standard library alone, and the same for each driver. On stdio it serves its
// standard streams; else it listens, prints its address, and ends with its standard input.
func serve(args []string) error {
	switch wire(args[0]) {
	case stdioWire:
		return serveStream(os.Stdin, os.Stdout)
	case unixWire:
		return serveListener("unix", args[1], func(l net.Listener) error {
			for {
				conn, err := l.Accept()
				if err != nil {
					return err
				}
				go func() {
					defer conn.Close()
					_ = serveStream(conn, conn)
				}()
			}
		})
	default:
		handler := &httpServer{sse: wire(args[0]) == sseWire, modern: len(args) > 1 && args[1] == "modern"}
		return serveListener("tcp", "127.0.0.1:0", func(l net.Listener) error { return http.Serve(l, handler) })
	}
}

func serveListener(network, address string, serve func(net.Listener) error) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = l.Close()
	}()
	fmt.Println(l.Addr())
	if err := serve(l); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// serveStream answers each line in the order of arrival, but for calls that wait.
func serveStream(r io.Reader, w io.Writer) error {
	in := bufio.NewReaderSize(r, 64<<10)
	out := &lineWriter{w: bufio.NewWriterSize(w, 64<<10)}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil
		}
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		switch {
		case c.ID == nil:
		case c.Params.Name == "wait":
			go out.respond(&c)
		default:
			out.respond(&c)
		}
		if in.Buffered() == 0 {
			out.flush()
		}
	}
}

type lineWriter struct {
	mu sync.Mutex
	w  *bufio.Writer
}

func (l *lineWriter) respond(c *call) {
	result := answer(c, func(m []byte) { l.write(m, []byte("\n")) })
	l.write([]byte(`{"jsonrpc":"2.0","id":`), c.ID, []byte(`,"result":`), result, []byte("}\n"))
	if c.Params.Name == "wait" {
		l.flush()
	}
}

func (l *lineWriter) write(parts ...[]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, part := range parts {
		_, _ = l.w.Write(part)
	}
}

func (l *lineWriter) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.w.Flush()
}

// httpServer answers each POST with JSON or with an event stream. It has no stream for GET.
type httpServer struct{ sse, modern bool }

func (s *httpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var c call
	if err := json.Unmarshal(body, &c); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	header := w.Header()
	if c.Method == "initialize" {
		header.Set("Mcp-Session-Id", "raw")
	}
	switch {
	case c.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case c.Method == "server/discover" && !s.modern:
		header.Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, c.ID)
	case s.sse || strings.Contains(c.Params.Name, "progress"):
		header.Set("Content-Type", "text/event-stream")
		s.stream(w, &c)
	default:
		header.Set("Content-Type", "application/json")
		result := answer(&c, func([]byte) {})
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":`, c.ID)
		_, _ = w.Write(result)
		_, _ = w.Write([]byte("}"))
	}
}

func (s *httpServer) stream(w http.ResponseWriter, c *call) {
	out := bufio.NewWriterSize(w, 32<<10)
	result := answer(c, func(m []byte) {
		_, _ = fmt.Fprintf(out, "event: message\ndata: %s\n\n", m)
	})
	_, _ = fmt.Fprintf(out, `event: message`+"\n"+`data: {"jsonrpc":"2.0","id":%s,"result":`, c.ID)
	_, _ = out.Write(result)
	_, _ = out.WriteString("}\n\n")
	_ = out.Flush()
}
