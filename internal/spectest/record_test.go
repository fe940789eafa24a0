package spectest

import (
	"context"
	"encoding/json"
	"maps"
	"sync"

	"github.com/seed62b61957/mcp/transport"
)

// A recorder is a transport that keeps what the client sends, and what the server has asked it for.
type recorder struct {
	transport.Transport

	mu      sync.Mutex
	sent    []sentMessage
	asked   map[transport.ID]string // the methods of the server's requests
	inputs  map[string]string       // the methods of what the server needs as input, by key
	failure error
}

// sentMessage is a message of the client's, with what tells how it has to look.
type sentMessage struct {
	transport.Message
	text    []byte
	version string            // that it was sent under
	answers string            // the method of the request that it answers
	inputs  map[string]string // the methods of the requests for input that it may answer
}

func newRecorder(t transport.Transport) *recorder {
	return &recorder{Transport: t, asked: make(map[transport.ID]string), inputs: make(map[string]string)}
}

func (r *recorder) Connect(ctx context.Context) (transport.Conn, error) {
	conn, err := r.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &recordingConn{conn, r}, nil
}

type recordingConn struct {
	transport.Conn
	recorder *recorder
}

func (c *recordingConn) Send(ctx context.Context, out transport.Outgoing) error {
	c.recorder.record(out)
	return c.Conn.Send(ctx, out)
}

func (c *recordingConn) Receive(ctx context.Context) (*transport.Message, error) {
	m, err := c.Conn.Receive(ctx)
	if err == nil {
		c.recorder.observe(m)
	}
	return m, err
}

func (r *recorder) record(out transport.Outgoing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, err := out.Message.Append(nil)
	if err != nil && r.failure == nil {
		r.failure = err
	}
	r.sent = append(r.sent, sentMessage{
		Message: *out.Message,
		text:    text,
		version: out.Version,
		answers: r.asked[out.Message.ID],
		inputs:  maps.Clone(r.inputs),
	})
}

func (r *recorder) observe(m *transport.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.IsRequest() {
		r.asked[m.ID] = m.Method
		return
	}
	var needed struct {
		InputRequests map[string]struct{ Method string }
	}
	if m.Result != nil && json.Unmarshal(m.Result, &needed) == nil {
		for key, request := range needed.InputRequests {
			r.inputs[key] = request.Method
		}
	}
}
