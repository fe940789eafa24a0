package transport_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

func TestConcurrentSendersNeverInterleave(t *testing.T) { // field case 13
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	dialed, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	peer, err := listener.Accept()
	require.NoError(t, err)
	defer peer.Close()
	conn := transport.NewStream(dialed, nil)
	defer conn.Close()

	const senders, each = 20, 20
	var sending sync.WaitGroup
	for sender := range senders {
		sending.Go(func() {
			for i := range each {
				id := int64(sender*each + i)
				assert.NoError(t, conn.Send(context.Background(), call(id, padded(16<<10))))
			}
		})
	}
	next := make([]int64, senders)
	lines := bufio.NewReader(peer)
	for range senders * each {
		line, err := lines.ReadBytes('\n')
		require.NoError(t, err)
		var m struct {
			ID     int64           `json:"id"`
			Params json.RawMessage `json:"params"`
		}
		require.NoError(t, json.Unmarshal(line, &m))
		assert.Equal(t, padded(16<<10), string(m.Params))
		assert.Equal(t, next[m.ID/each], m.ID%each, "each sender's order is kept")
		next[m.ID/each]++
	}
	sending.Wait()
}

// held is a stream whose writes wait until they are let through; it counts them.
type held struct {
	writes  chan string // each Write, as it begins
	results chan result // what it returns
	closed  chan struct{}
}

type result struct {
	n   int
	err error
}

func newHeld() *held {
	return &held{make(chan string), make(chan result), make(chan struct{})}
}

func (h *held) Read([]byte) (int, error) {
	<-h.closed
	return 0, io.ErrClosedPipe
}

func (h *held) Write(p []byte) (int, error) {
	select {
	case h.writes <- string(p):
	case <-h.closed:
		return 0, io.ErrClosedPipe
	}
	select {
	case r := <-h.results:
		if r.n < 0 {
			r.n = len(p)
		}
		return r.n, r.err
	case <-h.closed:
		return 1, io.ErrClosedPipe
	}
}

func (h *held) Close() error {
	close(h.closed)
	return nil
}

var accepted = result{-1, nil}

// sender sends messages in the background of a synctest bubble and keeps what became of them.
type sender struct {
	conn transport.Conn
	errs []chan error
}

// send queues a message; the ones before it are queued already.
func (s *sender) send(ctx context.Context, size int) {
	done := make(chan error, 1)
	id := int64(len(s.errs))
	s.errs = append(s.errs, done)
	go func() { done <- s.conn.Send(ctx, call(id, padded(size))) }()
	synctest.Wait()
}

// result is what became of message i, which must be known by now.
func (s *sender) result(t *testing.T, i int) error {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-s.errs[i]:
		return err
	default:
		require.Fail(t, "the sender still waits", "message %d", i)
		return nil
	}
}

func (s *sender) waits(i int) bool {
	synctest.Wait()
	return len(s.errs[i]) == 0
}

func line(id, size int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"test","params":%s}`+"\n", id, padded(size))
}

func TestWhatIsQueuedGoesOutInOrderAndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newHeld()
		s := &sender{conn: transport.NewStream(below, nil)}
		defer s.conn.Close()
		sizes := []int{1, 2, 3, 40 << 10, 40 << 10, 100 << 10, 5, 6}
		for _, size := range sizes {
			s.send(t.Context(), size)
		}
		// The first was alone when it was sent; after it, as much as fits into 64 KiB, or one.
		for _, batch := range [][]int{{0}, {1, 2, 3}, {4}, {5}, {6, 7}} {
			var want strings.Builder
			for _, id := range batch {
				want.WriteString(line(id, sizes[id]))
			}
			assert.Equal(t, want.String(), <-below.writes)
			assert.True(t, s.waits(batch[0]))
			below.results <- accepted
			for _, id := range batch {
				assert.NoError(t, s.result(t, id))
			}
		}
	})
}

func TestContextTakesBackWhatHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newHeld()
		s := &sender{conn: transport.NewStream(below, nil)}
		defer s.conn.Close()
		why := errors.New("no answer within a minute")
		ctx, cancel := context.WithCancelCause(t.Context())
		s.send(ctx, 1)
		first := <-below.writes
		s.send(ctx, 2)
		s.send(t.Context(), 3)

		cancel(why)
		err := s.result(t, 0)
		assert.ErrorIs(t, err, why)
		assert.False(t, transport.SafeToRetry(err), "its Write has begun")
		err = s.result(t, 1)
		assert.ErrorIs(t, err, why)
		assert.True(t, transport.SafeToRetry(err), "it only waited")
		assert.True(t, s.waits(2))

		below.results <- accepted
		assert.Equal(t, line(0, 1), first, "what has begun is finished, from memory that is not used again")
		assert.Equal(t, line(2, 3), <-below.writes)
		below.results <- accepted
		assert.NoError(t, s.result(t, 2))

	})
}

func TestNothingIsWrittenForAContextThatIsDone(t *testing.T) { // field case 55
	writes := new(counter)
	conn := transport.NewStream(duplex{strings.NewReader(""), writes, func() error { return nil }}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 5_000 {
		err := conn.Send(ctx, call(1, "{}"))
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, transport.SafeToRetry(err))
	}
	assert.Zero(t, writes.Load())
	require.NoError(t, conn.Send(context.Background(), call(1, "{}")))
	assert.EqualValues(t, 1, writes.Load())
}

// counter counts the writes that it takes.
type counter struct{ atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.Add(1)
	return len(p), nil
}

func TestAFailedWriteTellsWhatReachedThePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newHeld()
		s := &sender{conn: transport.NewStream(below, &transport.StreamOptions{Name: "pipe"})}
		defer s.conn.Close()
		for range 4 {
			s.send(t.Context(), 10)
		}
		<-below.writes
		below.results <- accepted
		require.NoError(t, s.result(t, 0))
		<-below.writes // 1, 2 and 3
		s.send(t.Context(), 10)
		broken := errors.New("broken")
		below.results <- result{len(line(1, 10)) + 5, broken}

		assert.NoError(t, s.result(t, 1), "it was written")
		s.send(t.Context(), 10)
		for i, safe := range map[int]bool{2: false, 3: true, 4: true, 5: true} {
			err := s.result(t, i)
			assert.ErrorIs(t, err, broken, i)
			assert.EqualError(t, err, "pipe: broken")
			assert.Equal(t, safe, transport.SafeToRetry(err), i)
		}
	})
}

func TestAShortWriteIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newHeld()
		s := &sender{conn: transport.NewStream(below, nil)}
		defer s.conn.Close()
		s.send(t.Context(), 10)
		<-below.writes
		below.results <- result{3, nil}
		assert.ErrorIs(t, s.result(t, 0), io.ErrShortWrite)
	})
}

func TestAnswersStillArriveAfterAFailedWrite(t *testing.T) {
	conn, in, out := pipes(t, nil)
	require.NoError(t, in.Close()) // a server that has closed its stdin, but still answers
	err := conn.Send(context.Background(), call(1, "{}"))
	require.Error(t, err)
	assert.True(t, transport.SafeToRetry(err))
	assert.NotErrorIs(t, err, transport.ErrClosed)
	sends(t, out, `{"id":0,"result":{}}`+"\n")
	assert.Len(t, received(t, conn), 1)
}

func TestWhatCannotBeEncodedIsRefusedAlone(t *testing.T) {
	conn, in, _ := pipes(t, &transport.StreamOptions{Name: "stdio"})
	err := conn.Send(context.Background(), call(1, "{\"a\":\n\"b\"}}"))
	assert.EqualError(t, err, "stdio: message cannot be encoded: params is not valid JSON")
	assert.True(t, transport.SafeToRetry(err))
	require.NoError(t, conn.Send(context.Background(), call(2, "{\n\"a\":1\n}")))
	text, err := bufio.NewReader(in).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, `{"jsonrpc":"2.0","id":2,"method":"test","params":{"a":1}}`+"\n", text)
}
