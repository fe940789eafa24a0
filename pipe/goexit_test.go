package pipe_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/pipe"
)

type exitingReader struct{}

func (exitingReader) Read([]byte) (int, error) {
	runtime.Goexit()
	return 0, nil
}

func TestAnOutputThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		p.Process.Stdout = exitingReader{}
		p.obey()
		conn := connect(t, p, pipe.Transport{})
		_, err := conn.Receive(t.Context())
		require.ErrorContains(t, err, "Goexit")
		require.NoError(t, conn.Close())
	})
}

func TestFunctionsOfTheProgramThatEndTheirGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		exit := func() error {
			runtime.Goexit()
			return nil
		}
		p.Process.Wait, p.Process.Release = exit, exit
		conn := connect(t, p, pipe.Transport{})
		begun := time.Now()
		_, err := conn.Receive(t.Context())
		require.ErrorContains(t, err, "Goexit")
		require.ErrorContains(t, conn.Close(), "Goexit")
		assert.Less(t, time.Since(begun), time.Second, "nobody waits for them")
		p.end(nil)
	})
}
