package mcptest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// connector is a transport that hands out one connection.
type connector struct{ conn transport.Conn }

func (c connector) Connect(context.Context) (transport.Conn, error) { return c.conn, nil }

// faulty returns the two ends of a connection with faults.
func faulty(t *testing.T, faults ...mcptest.Fault) (client, server transport.Conn) {
	t.Helper()
	near, server := mcptest.Pipe()
	client, err := mcptest.Faulty(connector{near}, faults...).Connect(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "memory", client.Traits().Name)
	return client, server
}

// carry sends three messages and returns what arrives of them, and the first error of sending.
func carry(from, to transport.Conn) (arrived []string, err error) {
	received := make(chan []string)
	go func() { received <- drain(to) }()
	for _, method := range []string{"a", "b", "c"} {
		if e := from.Send(context.Background(), one(notification(method))); err == nil {
			err = e
		}
	}
	from.Close()
	return <-received, err
}

func TestFaults(t *testing.T) {
	type (
		direction = mcptest.Direction
		faults    = []mcptest.Fault
	)
	isB := func(m *transport.Message) bool { return m.Method == "b" }
	replace := func(from, to string) func([]byte) []byte {
		return func(text []byte) []byte { return bytes.ReplaceAll(text, []byte(from), []byte(to)) }
	}
	insertLine := func(text []byte) []byte { return append([]byte("null\n"), text...) }
	for name, test := range map[string]struct {
		faults func(direction) faults
		want   []string
	}{
		"none":       {func(direction) faults { return nil }, []string{"a", "b", "c"}},
		"drop":       {func(d direction) faults { return faults{mcptest.Drop(d, 2)} }, []string{"a", "c"}},
		"drop all":   {func(d direction) faults { return faults{mcptest.Drop(d, 0)} }, nil},
		"where":      {func(d direction) faults { return faults{mcptest.Drop(d, 1).Where(isB)} }, []string{"a", "c"}},
		"duplicate":  {func(d direction) faults { return faults{mcptest.Duplicate(d, 2)} }, []string{"a", "b", "b", "c"}},
		"disconnect": {func(d direction) faults { return faults{mcptest.Disconnect(d, 2)} }, []string{"a"}},

		"cut":         {func(d direction) faults { return faults{mcptest.Truncate(d, 2, 20)} }, []string{"a", "fault", "c"}},
		"cut to none": {func(d direction) faults { return faults{mcptest.Truncate(d, 2, 0)} }, []string{"a", "c"}},
		"cut nothing": {func(d direction) faults { return faults{mcptest.Truncate(d, 2, 1e6)} }, []string{"a", "b", "c"}},
		"corrupt": {func(d direction) faults {
			return faults{mcptest.Corrupt(d, 2, replace(`"b"`, `"B"`))}
		}, []string{"a", "B", "c"}},
		"corrupt to two lines": {func(d direction) faults {
			return faults{mcptest.Corrupt(d, 2, insertLine)}
		}, []string{"a", "fault", "b", "c"}},
		"several on one": {func(d direction) faults {
			return faults{
				mcptest.Duplicate(d, 2),
				mcptest.Corrupt(d, 2, replace(`"b"`, `"x"`)), mcptest.Corrupt(d, 2, replace(`"x"`, `"y"`)),
			}
		}, []string{"a", "y", "y", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := faulty(t, test.faults(mcptest.ToServer)...)
			arrived, _ := carry(client, server)
			assert.Equal(t, test.want, arrived, "to the server")

			client, server = faulty(t, test.faults(mcptest.ToClient)...)
			arrived, _ = carry(server, client)
			assert.Equal(t, test.want, arrived, "to the client")
			client.Close()

			client, server = faulty(t, test.faults(mcptest.ToServer)...)
			arrived, err := carry(server, client)
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "b", "c"}, arrived, "the other direction")
			client.Close()
		})
	}
}

func TestDisconnectLooksLikeTheServersDoing(t *testing.T) {
	client, server := faulty(t, mcptest.Disconnect(mcptest.ToServer, 1))
	failed := make(chan error)
	go func() {
		_, err := client.Receive(context.Background())
		failed <- err
	}()
	err := client.Send(t.Context(), one(notification("n")))
	assert.ErrorIs(t, err, transport.ErrClosed)
	assert.True(t, transport.SafeToRetry(err))
	assert.ErrorIs(t, <-failed, io.EOF)
	_, err = server.Receive(t.Context())
	assert.ErrorIs(t, err, io.EOF)

	require.NoError(t, client.Close())
	_, err = client.Receive(t.Context())
	assert.ErrorIs(t, err, transport.ErrClosed)
	assert.NotErrorIs(t, err, io.EOF)
}

func TestEachConnectionCountsAnew(t *testing.T) {
	server := new(mcptest.Server)
	network := mcptest.Faulty(server.Transport(), mcptest.Drop(mcptest.ToServer, 1))
	for range 2 {
		conn, err := network.Connect(t.Context())
		require.NoError(t, err)
		require.NoError(t, conn.Send(t.Context(), one(notification("lost"))))
		require.NoError(t, conn.Send(t.Context(), one(notification("got"))))
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool { return len(server.Received()) == 2 }, 10*time.Second, time.Millisecond)
	assert.Len(t, server.Received("got"), 2)
}

func TestOnAStreamWhatIsNoMessageIsLost(t *testing.T) {
	near, far := net.Pipe()
	stream, server := transport.NewStream(near, nil), transport.NewStream(far, nil)
	client, err := mcptest.Faulty(connector{stream}, mcptest.Truncate(mcptest.ToServer, 2, 20)).Connect(t.Context())
	require.NoError(t, err)
	arrived, err := carry(client, server)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "c"}, arrived)
	server.Close()
}

func TestDelayKeepsTheOrder(t *testing.T) {
	for _, direction := range []mcptest.Direction{mcptest.ToServer, mcptest.ToClient} {
		synctest.Test(t, func(t *testing.T) {
			from, to := faulty(t, mcptest.Delay(direction, 1, time.Minute), mcptest.Delay(direction, 2, time.Second))
			if direction == mcptest.ToClient {
				from, to = to, from
			}
			for _, method := range []string{"a", "b", "c"} {
				go from.Send(context.Background(), one(notification(method)))
				synctest.Wait()
			}
			start := time.Now()
			for _, want := range []struct {
				method string
				after  time.Duration
			}{{"a", time.Minute}, {"b", time.Minute + time.Second}, {"c", time.Minute + time.Second}} {
				m, err := to.Receive(t.Context())
				require.NoError(t, err)
				assert.Equal(t, want.method, m.Method)
				assert.Equal(t, want.after, time.Since(start))
			}
			from.Close()
			to.Close()
		})
	}
}

func TestDelayToTheServerEndsWithCtx(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := faulty(t, mcptest.Delay(mcptest.ToServer, 1, time.Hour))
		received := make(chan []string)
		go func() { received <- drain(server) }()
		start, cause := time.Now(), errors.New("enough")
		send := func(method string, limit time.Duration) <-chan error {
			result := make(chan error)
			go func() {
				ctx, cancel := context.WithTimeoutCause(context.Background(), limit, cause)
				defer cancel()
				result <- client.Send(ctx, one(notification(method)))
			}()
			synctest.Wait()
			return result
		}
		delayed, behind, next := send("delayed", time.Minute), send("behind", time.Second), send("next", time.Hour)
		for _, ended := range []struct {
			result <-chan error
			after  time.Duration
		}{{behind, time.Second}, {delayed, time.Minute}} {
			err := <-ended.result
			assert.ErrorIs(t, err, cause)
			assert.True(t, transport.SafeToRetry(err))
			assert.Equal(t, ended.after, time.Since(start))
		}
		require.NoError(t, <-next)
		client.Close()
		assert.Equal(t, []string{"next"}, <-received)
	})
}

func TestDelayToTheClientKeepsTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := faulty(t, mcptest.Delay(mcptest.ToClient, 1, time.Minute))
		go server.Send(context.Background(), one(notification("n")))
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Receive(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		m, err := client.Receive(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "n", m.Method)
		assert.Equal(t, time.Minute, time.Since(start))
		client.Close()
	})
}

func TestCloseEndsADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := faulty(t,
			mcptest.Delay(mcptest.ToServer, 0, time.Hour), mcptest.Delay(mcptest.ToClient, 0, time.Hour))
		results := make(chan error, 3)
		go func() { results <- client.Send(context.Background(), one(notification("delayed"))) }()
		go func() { results <- client.Send(context.Background(), one(notification("delayed"))) }()
		go server.Send(context.Background(), one(notification("n")))
		go func() {
			_, err := client.Receive(context.Background())
			results <- err
		}()
		synctest.Wait()
		start := time.Now()
		client.Close()
		for range 3 {
			assert.ErrorIs(t, <-results, transport.ErrClosed)
		}
		assert.Zero(t, time.Since(start))
	})
}

// exchange is a connection where a request is answered on an exchange of its own.
type exchange struct {
	transport.Conn
	answers []string
}

func (e exchange) Send(_ context.Context, out transport.Outgoing) error {
	for _, method := range e.answers {
		out.Deliver(notification(method))
	}
	return nil
}

func TestFaultsStrikeExchangesAsWell(t *testing.T) {
	near, _ := mcptest.Pipe()
	conn, err := mcptest.Faulty(connector{exchange{near, []string{"a", "b", "c"}}},
		mcptest.Drop(mcptest.ToClient, 2), mcptest.Duplicate(mcptest.ToClient, 3)).Connect(t.Context())
	require.NoError(t, err)
	var delivered []string
	out := one(notification("request"))
	out.Deliver = func(m *transport.Message) { delivered = append(delivered, m.Method) }
	require.NoError(t, conn.Send(t.Context(), out))
	assert.Equal(t, []string{"a", "c", "c"}, delivered)
	conn.Close()
}

func TestFaultyReportsThatConnectingFailed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := mcptest.Faulty(new(mcptest.Server).Transport()).Connect(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}
