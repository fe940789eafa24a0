package oauthinterop

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/oauth"
)

func init() { plays["refresh and hang"] = playRefresh }

// playRefresh asks for a token until that takes a refresh, and hangs with the answer to it.
func playRefresh(arg string) {
	a := readPlayer(arg).authorizer(hanging{http.DefaultTransport})
	for {
		_, err := a.Token(context.Background())
		exit(err)
	}
}

type hanging struct{ http.RoundTripper }

func (h hanging) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := h.RoundTripper.RoundTrip(req)
	if strings.HasSuffix(req.URL.Path, "/token") {
		fmt.Println("answered")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	return resp, err
}

// killedWithTheAnswer signs in, and kills a process that has an answer to the refresh of its token and not saved it. It
// returns a client of the next process. (What a process does not save, it cannot leave to anybody.)
func killedWithTheAnswer(t *testing.T, w *world) *mcp.Client {
	t.Helper()
	dir := t.TempDir()
	store, err := oauth.NewFileStore(dir)
	require.NoError(t, err)
	client, _ := signedIn(t, w, startBrowser(t), oauth.Config{Store: store})

	process := player{Name: "killed", URL: w.url, Dir: dir}.command(t, "refresh and hang")
	stdin, err := process.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "answered\n", line)
	require.NoError(t, process.Process.Kill())
	require.Error(t, process.Wait())
	return client
}

func TestProcessThatIsKilledWithAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: 2, Grace: 10})
	client := killedWithTheAnswer(t, w)
	callUntil(t, w, client, 2)
	seen := w.provider.seen()
	require.Len(t, seen.Reused, 1)
	assert.Equal(t, [2]string{"killed", ""}, seen.Reused[0].By)
	assert.Zero(t, seen.Revoked)
}

// A server that takes no refresh token twice cannot tell that from a thief's: only the user can help.
func TestProcessThatIsKilledWithAnAnswerThatIsGivenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: 2})
	client := killedWithTheAnswer(t, w)
	var err error
	for begun := time.Now(); err == nil && time.Since(begun) < long; { // as long as the last token lives
		_, err = client.CallTool(t.Context(), "whoami", nil)
	}
	requireSignIn(t, err)
	seen := w.provider.seen()
	assert.Equal(t, map[string]int{"refresh token already used": 1}, seen.Refused)
	assert.Equal(t, 1, seen.Revoked)
}
