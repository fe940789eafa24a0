package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

// exchange is a connection on which each request has an exchange of its own.
type exchange struct {
	transport.Conn
	answer *transport.Message
	sent   []string
}

func (x *exchange) Traits() transport.Traits {
	return transport.Traits{Name: "x", RequestStreams: true, Interruptible: true}
}

func (x *exchange) Send(_ context.Context, out transport.Outgoing) error {
	x.sent = append(x.sent, out.Message.Method)
	if out.Deliver != nil {
		out.Deliver(x.answer)
	}
	return nil
}

func TestLogged(t *testing.T) {
	var lines bytes.Buffer
	stream := transport.NewStream(reading(strings.NewReader(
		`{"jsonrpc":"2.0","method":"a","params":{"n": 9007199254740993, "s":"\n"}}`+"\nListening on 80\n")), nil)
	x := &exchange{Conn: stream, answer: &transport.Message{ID: transport.IntID(1), Result: json.RawMessage(`{"b":2}`)}}
	logged := transport.Logged(transport.Func(func(context.Context) (transport.Conn, error) { return x, nil }),
		log.New(&lines, "", 0))
	conn, err := logged.Connect(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	assert.Equal(t, x.Traits(), conn.Traits())

	all := received(t, conn)
	require.Len(t, all, 2)
	assert.Equal(t, `{"n": 9007199254740993, "s":"\n"}`, string(all[0].Params))
	assert.Error(t, all[1].Fault)

	request := &transport.Message{ID: transport.IntID(1), Method: "m", Params: json.RawMessage(`{"a":1}`)}
	var delivered *transport.Message
	deliver := func(m *transport.Message) { delivered = m }
	require.NoError(t, conn.Send(t.Context(), transport.Outgoing{Message: request, Deliver: deliver}))
	assert.Same(t, x.answer, delivered)
	require.NoError(t, conn.Send(t.Context(), transport.Outgoing{Message: &transport.Message{Method: "note"}}))
	assert.Equal(t, []string{"m", "note"}, x.sent)

	assert.Equal(t, `<- {"jsonrpc":"2.0","method":"a","params":{"n": 9007199254740993, "s":"\n"}}
<- (not a message: expected an object, found nothing at offset 0) "Listening on 80"
-> {"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}
<- {"jsonrpc":"2.0","id":1,"result":{"b":2}}
-> {"jsonrpc":"2.0","method":"note"}
`, lines.String())
}

func TestLoggedFailsAsTheTransportDoes(t *testing.T) {
	away := errors.New("away")
	logged := transport.Logged(transport.Func(func(context.Context) (transport.Conn, error) { return nil, away }), nil)
	conn, err := logged.Connect(t.Context())
	assert.Equal(t, away, err)
	assert.Nil(t, conn)
}
