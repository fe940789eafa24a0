package stdio_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// 256 KiB on stderr before each reply stall nothing: nobody wants them, a writer takes them, fails, or is stuck.
func TestNoiseOnStderr(t *testing.T) {
	stuck := stuckWriter{make(chan struct{})}
	t.Cleanup(func() { close(stuck.release) })
	var all log
	for name, w := range map[string]io.Writer{
		"nobody":     nil,
		"writer":     &all,
		"failing":    writerFunc(func([]byte) (int, error) { return 0, errors.New("disk full") }),
		"for ever":   stuck,
		"one by one": writerFunc(func(p []byte) (int, error) { return len(p), nil }),
	} {
		t.Run(name, func(t *testing.T) {
			tr := server("noisy")
			tr.Stderr = w
			conn := connect(t, tr)
			for id := range int64(4) {
				send(t, conn, id, "1")
				assert.Equal(t, "1", string(mustReceive(t, conn).Result))
			}
			within(t, 10*time.Second, func() { require.NoError(t, conn.Close()) })
		})
	}
	assert.Contains(t, all.String(), "nnn")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type stuckWriter struct{ release chan struct{} }

func (s stuckWriter) Write(p []byte) (int, error) {
	<-s.release
	return len(p), nil
}
