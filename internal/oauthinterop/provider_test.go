package oauthinterop

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// providerVar has the folder in which oidc-provider is installed.
const providerVar = "MCP_OAUTH_PROVIDER"

// A provider is an authorization server, oidc-provider in a process of its own.
type provider struct {
	t      *testing.T
	issuer string
	secret string // with which the MCP server asks about tokens

	mu    sync.Mutex
	lines io.Writer
	said  *bufio.Reader
}

// providerOptions are read by provider/provider.mjs.
type providerOptions struct {
	Resource string           `json:"resource"`
	Scopes   []string         `json:"scopes"`
	Lifetime int              `json:"lifetime"` // of access tokens, in seconds
	Grace    int              `json:"grace"`    // for refresh tokens that were used, in seconds
	Nonces   bool             `json:"nonces"`   // for DPoP
	Clients  []map[string]any `json:"clients"`  // that are registered already
}

func startProvider(t *testing.T, o providerOptions) *provider {
	t.Helper()
	folder := os.Getenv(providerVar)
	require.NotEmpty(t, folder, providerVar+" is not set: run .ci/oauth")
	if o.Clients == nil {
		o.Clients = []map[string]any{}
	}
	config, err := json.Marshal(o)
	require.NoError(t, err)
	cmd := exec.Command("node", filepath.Join(folder, "provider.mjs"), string(config))
	var complaints strings.Builder
	cmd.Stderr = &complaints
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &provider{t: t, lines: stdin, said: bufio.NewReader(stdout)}
	t.Cleanup(func() {
		stdin.Close() // which ends it
		late := time.AfterFunc(long, func() { _ = cmd.Process.Kill() })
		assert.NoError(t, cmd.Wait(), "the provider did not end by itself")
		late.Stop()
		if t.Failed() {
			t.Log("the provider said:", complaints.String())
		}
	})
	var first struct{ Issuer, Secret string }
	p.hear(&first)
	p.issuer, p.secret = first.Issuer, first.Secret
	return p
}

func (p *provider) hear(answer any) {
	p.t.Helper()
	line, err := p.said.ReadBytes('\n')
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(line, answer))
}

func (p *provider) ask(question string, answer any) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := io.WriteString(p.lines, question+"\n")
	require.NoError(p.t, err)
	p.hear(answer)
}

// sights are what the provider has seen.
type sights struct {
	Grants    map[string]int // that went well, by type
	Refreshes []int64        // when each refresh token was used, in milliseconds
	Refused   map[string]int // by what was said of it
	Revoked   int            // grants, all in all
	Reused    []reuse        // refresh tokens that were used again within the grace
}

// A reuse is that of a refresh token by two processes.
type reuse struct {
	By [2]string
	At int64 // the second time, in milliseconds
}

func (p *provider) seen() (s sights) {
	p.t.Helper()
	p.ask("seen", &s)
	return s
}

// revoke takes back what was granted, as users do on a page of their account.
func (p *provider) revoke() {
	p.t.Helper()
	var nothing any
	p.ask("revoke", &nothing)
}

// assertNoSecret finds no token, code or client secret in a text.
func (p *provider) assertNoSecret(text string) {
	p.t.Helper()
	var secrets []string
	p.ask("secrets", &secrets)
	for _, secret := range secrets {
		assert.False(p.t, strings.Contains(text, secret), "a secret is in what the program says") // and not here
	}
}
