package transport_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

// splitReader hands its text out in pieces of random size.
type splitReader struct {
	*bytes.Reader
	random *rand.Rand
	most   int
}

func (s splitReader) Read(p []byte) (int, error) {
	return s.Reader.Read(p[:min(len(p), 1+s.random.IntN(s.most))])
}

// summary is all that there is to know of a message.
func summary(m *transport.Message) string {
	fault := fmt.Sprint(m.Fault)
	if f, ok := m.Fault.(*transport.FaultError); ok {
		fault += f.Prefix
	}
	return fmt.Sprintf("%s %s %q %s %v %v %s", m.ID, m.Method, m.Params, m.Result, m.Error, m.Batch, fault)
}

// expected is what a stream should make of the text, by the simplest means.
func expected(text []byte, limit int) []string {
	var all []string
	for _, line := range bytes.Split(text, []byte("\n")) {
		if len(line) > limit {
			all = append(all, fmt.Sprintf("too large: %d", len(line)))
			continue
		}
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		for m := range transport.Decode(bytes.Clone(line)) {
			all = append(all, summary(m))
		}
	}
	return all
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"method":"a"}`+"\n"), uint16(1), uint64(1), uint16(3), uint16(1000))
	f.Add([]byte("\ufeff{\"method\":\"a\"}\r\n\r\n[{\"id\":1,\"result\":\"\u00e9\"},5]\nnoise"),
		uint16(3), uint64(2), uint16(1), uint16(1000))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":"xxxxxxxxxxxxxxxxxxxxxxxx"}`+"\n{}"),
		uint16(2000), uint64(3), uint16(5000), uint16(40))
	f.Add([]byte(`"long `), uint16(40_000), uint64(4), uint16(60_000), uint16(65_535))
	f.Add([]byte("0123456789abcde\n"), uint16(10_000), uint64(5), uint16(4096), uint16(15))
	f.Add([]byte("[1,2,3\x00]\xff\n\n"), uint16(400), uint64(6), uint16(2048), uint16(0))
	f.Fuzz(func(t *testing.T, text []byte, times uint16, seed uint64, most, limit uint16) {
		text = bytes.Repeat(text, min(int(times), 1+1<<18/(1+len(text))))
		o := &transport.StreamOptions{MaxMessageBytes: 1 + int(limit)*4}
		random := rand.New(rand.NewPCG(seed, 0))
		conn := transport.NewStream(reading(splitReader{bytes.NewReader(text), random, 1 + int(most)}), o)
		defer conn.Close()
		want := expected(text, o.MaxMessageBytes)
		got := received(t, conn)
		require.Len(t, got, len(want))
		for i, m := range got {
			if s := summary(m); s != want[i] {
				var size int
				_, err := fmt.Sscanf(want[i], "too large: %d", &size)
				require.NoError(t, err, "got %s, want %s", s, want[i])
				require.ErrorIs(t, m.Fault, transport.ErrMessageTooLarge)
				require.ErrorContains(t, m.Fault, fmt.Sprintf(": %d bytes", size))
			}
		}
	})
}
