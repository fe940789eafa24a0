//go:build linux

package transport_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

func TestAnInterruptedReceiveLosesNothing(t *testing.T) {
	const limit = 200 << 10
	long := strings.Repeat("x", limit/2)
	for name, text := range map[string]string{
		"short":          `{"jsonrpc":"2.0","id":1,"result":{}}`,
		"long":           `{"jsonrpc":"2.0","id":1,"result":"` + long + `"}`,
		"batch":          `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]`,
		"over the limit": `{"jsonrpc":"2.0","id":1,"result":"` + long + long + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			near, far := sockets(t)
			conn := transport.NewStream(near, &transport.StreamOptions{MaxMessageBytes: limit})
			defer conn.Close()
			require.True(t, conn.Traits().Interruptible)
			text += "\n"
			const parts = 7
			for i := range parts {
				_, err := far.Write([]byte(text[i*len(text)/parts : (i+1)*len(text)/parts]))
				require.NoError(t, err)
				if i == parts-1 {
					break
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Millisecond, cancel)
				_, err = conn.Receive(ctx)
				require.ErrorIs(t, err, context.Canceled)
				_, err = conn.Receive(ctx)
				require.ErrorIs(t, err, context.Canceled, "it is done already")
			}
			m, err := conn.Receive(t.Context())
			require.NoError(t, err)
			id, _ := m.ID.Int64()
			assert.EqualValues(t, 1, id)
			if name == "over the limit" {
				require.ErrorIs(t, m.Fault, transport.ErrMessageTooLarge)
			} else {
				require.NoError(t, m.Fault)
			}
			_, err = fmt.Fprintln(far, `{"jsonrpc":"2.0","method":"behind it"}`)
			require.NoError(t, err)
			if name == "batch" {
				_, err = conn.Receive(t.Context())
				require.NoError(t, err)
			}
			m, err = conn.Receive(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "behind it", m.Method)
		})
	}
}

func TestReceivingWithContextsThatEnd(t *testing.T) {
	const messages = 3000
	near, far := sockets(t)
	conn := transport.NewStream(near, nil)
	defer conn.Close()
	go func() {
		random := rand.New(rand.NewPCG(1, 2))
		var text strings.Builder
		for i := range messages {
			fmt.Fprintf(&text, `{"jsonrpc":"2.0","id":%d,"result":"%s"}`+"\n", i, strings.Repeat("x", random.IntN(300)))
		}
		for rest := text.String(); rest != ""; {
			n := min(len(rest), 1+random.IntN(500))
			if _, err := far.Write([]byte(rest[:n])); !assert.NoError(t, err) {
				return
			}
			rest = rest[n:]
		}
	}()
	random := rand.New(rand.NewPCG(3, 4))
	for next := int64(0); next < messages; {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(200))*time.Microsecond)
		for range 1 + random.IntN(100) {
			m, err := conn.Receive(ctx)
			if err != nil {
				require.ErrorIs(t, err, ctx.Err())
				break
			}
			id, ok := m.ID.Int64()
			require.True(t, ok)
			require.Equal(t, next, id)
			next++
		}
		cancel()
	}
}
