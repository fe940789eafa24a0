package httpinterop

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"sync"
)

// A wire sees what the client sends and what comes back.
type wire struct {
	below http.RoundTripper

	mu  sync.Mutex
	all []exchange
}

type exchange struct {
	method  string // of HTTP
	rpc     string // method of the message
	session string // as the client names it
	version string
	status  int
	media   string
	proto   int  // major version of HTTP
	resumes bool // a stream that broke off
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchange{
		method:  req.Method,
		session: req.Header.Get("Mcp-Session-Id"),
		version: req.Header.Get("Mcp-Protocol-Version"),
		resumes: req.Header.Get("Last-Event-Id") != "",
	}
	if req.Body != nil {
		data, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body.Close()
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(data))
		var message struct{ Method string }
		_ = json.Unmarshal(data, &message)
		x.rpc = message.Method
	}
	resp, err := w.below.RoundTrip(req)
	if err == nil {
		x.status, x.proto = resp.StatusCode, resp.ProtoMajor
		x.media, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	}
	w.mu.Lock()
	w.all = append(w.all, x)
	w.mu.Unlock()
	return resp, err
}

// seen returns the exchanges that are like this, in the order in which their responses began.
func (w *wire) seen(like func(x exchange) bool) []exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.all), func(x exchange) bool { return !like(x) })
}

func (w *wire) byMethod(method string) []exchange {
	return w.seen(func(x exchange) bool { return x.method == method })
}

func (w *wire) byMessage(method string) []exchange {
	return w.seen(func(x exchange) bool { return x.rpc == method })
}
