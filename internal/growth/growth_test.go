package growth_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/internal/growth"
)

// failures is a test that only counts how often it fails.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestLinear(t *testing.T) {
	growth.Linear(t, 1<<20, func(n int) func() {
		text := strings.Repeat("x", n)
		return func() { assert.Equal(t, n, strings.Count(text, "x")) }
	})
	var f failures
	growth.Linear(&f, 200, func(n int) func() {
		texts := strings.Split(strings.Repeat("x,", n), ",")
		return func() {
			for range texts {
				for _, text := range texts {
					_ = strings.Contains(text, "y")
				}
			}
		}
	})
	assert.Equal(t, 1, f.n, "the square is found")
}
