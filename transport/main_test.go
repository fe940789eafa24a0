package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/transport"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// duplex makes one stream of two.
type duplex struct {
	io.Reader
	io.Writer
	close func() error
}

func (d duplex) Close() error { return d.close() }

// reading is a stream whose input is r; what is sent to it vanishes.
func reading(r io.Reader) io.ReadWriteCloser {
	return duplex{r, io.Discard, func() error { return nil }}
}

// pipes returns a connection over two real pipes, and the peer's ends of them.
func pipes(t *testing.T, o *transport.StreamOptions) (conn transport.Conn, in, out *os.File) {
	t.Helper()
	in, ours, err := os.Pipe()
	require.NoError(t, err)
	theirs, out, err := os.Pipe()
	require.NoError(t, err)
	conn = transport.NewStream(duplex{theirs, ours, func() error { return errors.Join(ours.Close(), theirs.Close()) }}, o)
	t.Cleanup(func() {
		conn.Close()
		in.Close()
		out.Close()
	})
	return conn, in, out
}

// received returns what arrives until the stream ends.
func received(t *testing.T, conn transport.Conn) []*transport.Message {
	t.Helper()
	var all []*transport.Message
	for {
		m, err := conn.Receive(context.Background())
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return all
		}
		all = append(all, m)
	}
}

// receivedFrom returns what a stream of this text holds.
func receivedFrom(t *testing.T, text string, o *transport.StreamOptions) []*transport.Message {
	t.Helper()
	conn := transport.NewStream(reading(strings.NewReader(text)), o)
	defer conn.Close()
	return received(t, conn)
}

func one(m *transport.Message) transport.Outgoing { return transport.Outgoing{Message: m} }

func call(id int64, params string) transport.Outgoing {
	return one(&transport.Message{ID: transport.IntID(id), Method: "test", Params: json.RawMessage(params)})
}

// padded returns params of about this many bytes.
func padded(size int) string { return `{"pad":"` + strings.Repeat("x", size) + `"}` }

func parseID(t *testing.T, text string) transport.ID {
	t.Helper()
	id, err := transport.ParseID([]byte(text))
	require.NoError(t, err)
	return id
}
