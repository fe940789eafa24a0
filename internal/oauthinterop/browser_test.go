package oauthinterop

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A browser is a Chromium with one page. It is driven by its DevTools protocol over a pipe: four commands are all that
// a sign-in takes, and neither a port nor a library that knows the whole protocol is needed for them.
type browser struct {
	t       *testing.T
	command *exec.Cmd
	to      *os.File
	from    *bufio.Reader
	answers *os.File // that from reads
	id      int      // of the last command
	session string   // with the page
	closed  bool
}

// user is who signs in.
const user = "Eve"

// Names resolve to nothing, so that it reaches loopback addresses only: neither its maker nor the fonts of a page. (It
// connects a UDP socket elsewhere, to see whether there is a way by IPv6, and sends nothing there.)
var browserFlags = []string{
	"--headless", "--remote-debugging-pipe", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
	"--no-proxy-server", "--disable-background-networking", "--disable-component-update", "--disable-sync",
	"--disable-default-apps", "--disable-extensions", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
	"--no-default-browser-check",
}

func startBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	require.NoError(t, err, "there is no Chromium to sign in with: run .ci/oauth, which installs it")
	toBrowser, to, err := os.Pipe()
	require.NoError(t, err)
	answers, fromBrowser, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(program, append(browserFlags, "--user-data-dir="+t.TempDir())...)
	if os.Getuid() == 0 {
		cmd.Args = append(cmd.Args, "--no-sandbox") // which it refuses to build as root
	}
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}   // 3 and 4 are the pipe
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // to end its helpers too if it does not end
	require.NoError(t, cmd.Start())
	toBrowser.Close()
	fromBrowser.Close()
	b := &browser{t: t, command: cmd, to: to, from: bufio.NewReader(answers), answers: answers}
	t.Cleanup(b.close)

	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	return b
}

// close is what the user does with the window.
func (b *browser) close() {
	if b.closed {
		return
	}
	b.closed = true
	b.to.Close() // which ends it
	late := time.AfterFunc(long, func() {
		b.t.Error("the browser does not end")
		_ = syscall.Kill(-b.command.Process.Pid, syscall.SIGKILL)
	})
	_ = b.command.Wait()
	late.Stop()
	b.answers.Close()
}

// call sends a command, and reads until its answer: what the browser tells besides is of no interest.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.id++
	command := map[string]any{"id": b.id, "method": method, "params": params}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	data, err := json.Marshal(command)
	require.NoError(b.t, err)
	_, err = b.to.Write(append(data, 0))
	require.NoError(b.t, err)
	require.NoError(b.t, b.answers.SetReadDeadline(time.Now().Add(long)))
	for {
		data, err := b.from.ReadBytes(0)
		require.NoError(b.t, err, method)
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		require.NoError(b.t, json.Unmarshal(data[:len(data)-1], &answer))
		if answer.ID != b.id {
			continue
		}
		require.Nil(b.t, answer.Error, method)
		require.NoError(b.t, json.Unmarshal(answer.Result, result))
		return
	}
}

// evaluate returns the text that an expression is in the page, "" when the page is being replaced.
func (b *browser) evaluate(expression string) string {
	b.t.Helper()
	var evaluated struct{ Result struct{ Value string } }
	b.call("Runtime.evaluate", map[string]any{"expression": expression}, &evaluated)
	return evaluated.Result.Value
}

func (b *browser) open(url string) {
	b.t.Helper()
	var opened struct{ ErrorText string }
	b.call("Page.navigate", map[string]any{"url": url}, &opened)
	require.Empty(b.t, opened.ErrorText)
}

// Pages, and how they are told apart.
const (
	loginPage   = "login"
	consentPage = "consent"
	lastPage    = "the end" // of the application
)

const whichPage = `document.readyState !== "complete" ? "" :
	document.querySelector("[name=prompt]")?.value ?? (location.pathname === "/callback" ? "the end" : "")`

// waitFor waits until one of the pages is there, and returns which.
func (b *browser) waitFor(pages ...string) string {
	b.t.Helper()
	for begun := time.Now(); time.Since(begun) < long; {
		page := b.evaluate(whichPage)
		for _, wanted := range pages {
			if page == wanted {
				return page
			}
		}
	}
	b.t.Fatalf("none of the pages %v came, but: %s", pages, b.text())
	return ""
}

func (b *browser) text() string {
	b.t.Helper()
	return strings.TrimSpace(b.evaluate("document.body.innerText"))
}

// leave runs a script that leads to another page, and does not come back before the old one has gone.
func (b *browser) leave(script string) {
	b.t.Helper()
	b.evaluate("window.old = true; " + script + "; ''")
	for begun := time.Now(); time.Since(begun) < long; {
		if b.evaluate("window.old ? 'old' : 'new'") == "new" {
			return
		}
	}
	b.t.Fatal("the page does not change")
}

const submit = "document.querySelector('[type=submit]').click()"

// consent signs the user in at the URL, if they are not yet, and waits for the page that asks for consent.
func (b *browser) consent(url string) {
	b.t.Helper()
	b.open(url)
	if b.waitFor(loginPage, consentPage) == loginPage {
		b.leave("document.querySelector('[name=login]').value = '" + user + "';" +
			"document.querySelector('[name=password]').value = 'any'; " + submit)
		b.waitFor(consentPage)
	}
}

// agree has the user sign in and agree, and returns the words of the last page.
func (b *browser) agree(url string) string {
	b.t.Helper()
	b.consent(url)
	b.leave(submit)
	b.waitFor(lastPage)
	return b.text()
}

// deny has the user sign in and say no.
func (b *browser) deny(url string) string {
	b.t.Helper()
	b.consent(url)
	b.leave("document.querySelector('.login-help a').click()") // "Cancel"
	b.waitFor(lastPage)
	return b.text()
}
