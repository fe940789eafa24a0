package httpinterop

import (
	"fmt"
	"os"
	"testing"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

func TestMain(m *testing.M) {
	if err := makeCertificate(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	leakcheck.Main(m) // which does not return
}
