package host_test

import (
	"os"
	"testing"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

// TestMain makes the test binary a server when it is started as one.
func TestMain(m *testing.M) {
	if play, ok := plays[os.Getenv(playVar)]; ok {
		play()
		os.Exit(0)
	}
	leakcheck.Main(m)
}
