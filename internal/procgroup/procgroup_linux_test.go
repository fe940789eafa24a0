package procgroup

import (
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The signal comes when the thread that started the leader ends, so it must be kept for as long as the leader lives.
func TestLeaderThatEndsWithTheHostKeepsItsThread(t *testing.T) {
	g := start(t, "obedient", Options{EndWithHost: true})
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	waits := regexp.MustCompile(`goroutine \d+ [^\n]*locked to thread\]:\n([^\n]+\n)*[^\n]*awaitExit`)
	assert.Regexp(t, waits, string(stacks))
	require.NoError(t, g.stdin.Close())
	require.NoError(t, g.End(long, 0))
}
