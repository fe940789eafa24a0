package main

import (
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshd is an OpenSSH server on loopback, with the files that a client needs.
type sshd struct {
	target    string // user@host:port
	keyFile   string
	knownFile string
}

// startSSHD serves each connection by a process of its own, as inetd would, so that no port has to be guessed.
func startSSHD(t *testing.T) *sshd {
	t.Helper()
	program := findSSHD(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	me, err := user.Current()
	require.NoError(t, err)

	dir := t.TempDir()
	s := &sshd{
		target:    me.Username + "@" + listener.Addr().String(),
		keyFile:   filepath.Join(dir, "id"),
		knownFile: filepath.Join(dir, "known_hosts"),
	}
	hostKeyFile, authorizedFile := filepath.Join(dir, "host_key"), filepath.Join(dir, "authorized_keys")
	hostKey, key := newKey(t, hostKeyFile), newKey(t, s.keyFile)
	write(t, authorizedFile, string(ssh.MarshalAuthorizedKey(key)))
	write(t, s.knownFile, knownhosts.Line([]string{listener.Addr().String()}, hostKey)+"\n")
	configFile := filepath.Join(dir, "sshd_config")
	write(t, configFile, strings.Join([]string{
		"HostKey " + hostKeyFile,
		"AuthorizedKeysFile " + authorizedFile,
		"StrictModes no", // the folder for temporary files is everybody's
		"PermitRootLogin prohibit-password",
		"PasswordAuthentication no",
		"PidFile none",
		"UsePAM no",
	}, "\n")+"\n")

	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { serveConn(t, conn, program, configFile) })
		}
	})
	t.Cleanup(connections.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	return s
}

// findSSHD fails, rather than skips, since an example that nobody ran says nothing.
func findSSHD(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("sshd")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/sshd") // often not in PATH; it wants to be called by its full path
	}
	require.NoError(t, err, "this test needs OpenSSH's sshd: apt-get install openssh-server")
	if os.Getuid() == 0 {
		require.NoError(t, os.MkdirAll("/run/sshd", 0o755), "sshd run by root wants this folder")
	}
	return program
}

func serveConn(t *testing.T, conn net.Conn, program, configFile string) {
	socket, err := conn.(*net.TCPConn).File()
	_ = conn.Close()
	if err != nil {
		t.Error(err)
		return
	}
	var log strings.Builder
	cmd := exec.Command(program, "-i", "-e", "-f", configFile)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = socket, socket, &log
	if err = cmd.Start(); err != nil {
		t.Error(err)
	}
	_ = socket.Close()
	if err == nil {
		_ = cmd.Wait() // 255 for a client that just hangs up
	}
	t.Log(log.String())
}

// newKey writes a private key and returns the public one.
func newKey(t *testing.T, file string) ssh.PublicKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(t, err)
	write(t, file, string(pem.EncodeToMemory(block)))
	key, err := ssh.NewPublicKey(public)
	require.NoError(t, err)
	return key
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// command makes the test binary play a server on the far side, where nothing of this environment is known.
func command(play string) string {
	// The race detector lets a process linger for a second at its exit, unless told not to.
	return fmt.Sprintf("exec env GORACE=atexit_sleep_ms=0 %s=%s '%s'", playVar, play, os.Args[0])
}
