package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

// The tests run the program as a process: the binary of the tests is the program, and its demo servers, when it is told
// so. It has the race detector if the tests have it.
func TestMain(m *testing.M) {
	if os.Getenv("AGENT_TEST_PROGRAM") != "" || len(os.Args) > 1 && os.Args[1] == "-serve" {
		main()
		os.Exit(0)
	}
	leakcheck.Main(m)
}

// A program is one that runs, with the user at its terminal.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	said   bytes.Buffer // since the last until
	stderr bytes.Buffer
}

// start has a limit, so that a program that hangs fails the test.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	self, err := os.Executable()
	require.NoError(t, err)
	p := &program{t: t, cmd: exec.CommandContext(ctx, self, args...)}
	p.cmd.Env = append(os.Environ(), "AGENT_TEST_PROGRAM=1", "TEST_KEY=key-of-the-test")
	p.cmd.Stderr = &p.stderr
	p.in, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	require.NoError(t, p.cmd.Start())
	return p
}

// until reads what the program says until there were all of the texts, in any order.
func (p *program) until(texts ...string) string {
	p.t.Helper()
	p.said.Reset()
	for _, text := range texts {
		for !bytes.Contains(p.said.Bytes(), []byte(text)) {
			b, err := p.out.ReadByte()
			if err != nil {
				_ = p.cmd.Wait() // so that stderr is complete
			}
			require.NoError(p.t, err, "before %q it said: %s\nstderr: %s", text, &p.said, &p.stderr)
			p.said.WriteByte(b)
		}
	}
	return p.said.String()
}

func (p *program) enter(line string) {
	p.t.Helper()
	_, err := io.WriteString(p.in, line+"\n")
	require.NoError(p.t, err)
}

// end ends the input, and returns what the program says then.
func (p *program) end(code int) string {
	p.t.Helper()
	require.NoError(p.t, p.in.Close())
	return p.ended(code)
}

func (p *program) ended(code int) string {
	p.t.Helper()
	rest, err := io.ReadAll(p.out)
	require.NoError(p.t, err)
	_ = p.cmd.Wait() // the exit code says it
	assert.Equal(p.t, code, p.cmd.ProcessState.ExitCode(), "%s\nstderr: %s", rest, &p.stderr)
	return string(rest)
}

const opening = `Servers to start: 2
kitchen: ready, 2 tools
pantry: ready, 2 tools

you> What can I cook tonight? Then please do it, and tidy up.
I see 4 functions: mcp__kitchen__cook, mcp__kitchen__recipes, mcp__pantry__discard, mcp__pantry__list
-> kitchen/recipes {}
-> pantry/list {}
<- kitchen/recipes: onion soup, bread pudding
<- pantry/list: onions, butter, stock, old bread
-> kitchen/cook {"dish": "onion soup"}
`

func TestDemo(t *testing.T) {
	p := start(t)
	assert.Equal(t, opening+
		`May kitchen/cook be called with {"dish": "onion soup"}? It changes something. [y/N] `, p.until("[y/N] "))
	p.enter("y")
	assert.Equal(t, "kitchen asks: For how many people is it to be?\nDo you want to answer? [y/N] ", p.until("[y/N] "))
	p.enter("yes")
	assert.Equal(t, "people [2]: ", p.until(": "))
	p.enter("ten")
	assert.Equal(t, "people: must be a number\npeople [2]: ", p.until("[2]: "))
	p.enter("3")
	assert.Equal(t, `   kitchen/cook: 1 of 3, cutting
   kitchen/cook: 2 of 3, heating
   kitchen/cook: 3 of 3, seasoning
<- kitchen/cook: The onion soup for 3 is ready.
-> pantry/discard {"item": "old bread"}
May pantry/discard be called with {"item": "old bread"}? It may destroy something. [y/N] `, p.until("[y/N] "))
	p.enter("no")
	assert.Equal(t, `<- pantry/discard: Not called: the user has refused this call.
A script has no answer of its own. This is what the tools said:
- onion soup, bread pudding
- onions, butter, stock, old bread
- The onion soup for 3 is ready.
- Not called: the user has refused this call.

you> `, p.until("you> "))
	p.enter("")
	p.until("you> ")
	assert.Equal(t, "\n", p.end(0))
	assert.Empty(t, p.stderr.String())
}

func TestDemoWithoutAUser(t *testing.T) {
	said := start(t).end(0)
	assert.Contains(t, said, opening)
	assert.Contains(t, said, "<- kitchen/cook: Not called: the user has refused this call.\n")

	said = start(t, "-yes").end(0)
	assert.Contains(t, said, "<- kitchen/cook: The onion soup for 1 is ready.\n", "the server's question is not approved")
	assert.Contains(t, said, "<- pantry/discard: The old bread is gone.\n")
	assert.NotContains(t, said, "May ")
}

func TestWrongUse(t *testing.T) {
	for want, args := range map[string][]string{
		"agent: -url needs -model\n":                        {"-url", "http://localhost/v1"},
		"agent: there is no demo server \"cellar\"\n":       {"-serve", "cellar"},
		"agent: config: ":                                   {"-config", filepath.Join(t.TempDir(), "none.json")},
		"flag provided but not defined: -no-such-flag\nUsa": {"-no-such-flag"},
	} {
		p := start(t, args...)
		code := 1
		if args[0] == "-no-such-flag" {
			code = 2
		}
		assert.Empty(t, p.end(code))
		assert.True(t, strings.HasPrefix(p.stderr.String(), want), "%s", &p.stderr)
	}
}

// entry is one of a configuration file, for a demo server.
func entry(t *testing.T, name string) map[string]any {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return map[string]any{"command": self, "args": []string{"-serve", name}}
}

func writeConfig(t *testing.T, path string, servers map[string]any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	writeConfig(t, path, map[string]any{"food": entry(t, "kitchen"), "bad": map[string]any{"args": "x"}})
	p := start(t, "-config", path)
	said := p.until("you> ")
	assert.Contains(t, said, `"bad"`, "a bad entry is reported")
	assert.Contains(t, said, "food: ready, 2 tools\n", "and costs the others nothing")
	p.enter("hello")
	assert.Equal(t, `I see 2 functions: mcp__food__cook, mcp__food__recipes
-> food/recipes {}
<- food/recipes: onion soup, bread pudding
A script has no answer of its own. This is what the tools said:
- onion soup, bread pudding

you> `, p.until("you> "))

	require.NoError(t, os.WriteFile(path, []byte(`{"mcpServers": {`), 0o600))
	assert.Contains(t, p.until("stay as they are: "), "mcp.json has changed")
	p.enter("again")
	assert.Contains(t, p.until("\nyou> I see"), "config: ") // the question stands below what came meanwhile
	assert.Contains(t, p.until("\n\nyou> "), "<- food/recipes: onion soup", "the servers still run")

	writeConfig(t, path, map[string]any{"food": entry(t, "kitchen"), "larder": entry(t, "pantry")})
	said = p.until("servers in it: 2\n", "larder: ready, 2 tools\n")
	assert.NotContains(t, said, "food:", "what has not changed is left alone")
	p.enter("and now?")
	assert.Contains(t, p.until("\n\nyou> "), "I see 4 functions")

	writeConfig(t, path, map[string]any{"larder": entry(t, "pantry")})
	p.until("servers in it: 1\n", "food: removed\n")
	p.enter("and now?")
	assert.Contains(t, p.until("\n\nyou> "), "I see 2 functions")
	p.end(0)
	assert.Empty(t, p.stderr.String())
}
