package goexit_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestPersist(t *testing.T) {
	steps, done := 0, make(chan struct{})
	go goexit.Persist(func() bool {
		switch steps++; steps {
		case 1, 3:
			runtime.Goexit()
		case 5:
			close(done)
			return false
		}
		return true
	})
	<-done
	assert.Equal(t, 5, steps)
}

func TestRun(t *testing.T) {
	assert.NoError(t, goexit.Run(func() error { return nil }))
	assert.Equal(t, io.EOF, goexit.Run(func() error { return io.EOF }))
	assert.Equal(t, goexit.Err, goexit.Run(func() error {
		runtime.Goexit()
		return nil
	}))
}
