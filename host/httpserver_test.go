package host_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/seed62b61957/mcp/testing/mcptest"
)

// What a server over HTTP is told in its environment.
const (
	httpAddress = "HOST_TEST_ADDRESS" // where to listen
	httpEra     = "HOST_TEST_ERA"     // "legacy" or "modern": what it serves
)

// An httpServer is a process of the test binary that serves over HTTP.
type httpServer struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	address string
}

// startHTTPServer returns when the server listens.
func startHTTPServer(env map[string]string) (*httpServer, error) {
	s := &httpServer{cmd: exec.Command(os.Args[0])}
	s.cmd.Env, s.cmd.Stderr = os.Environ(), os.Stderr
	for name, value := range env {
		s.cmd.Env = append(s.cmd.Env, name+"="+value)
	}
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		s.kill()
		return nil, fmt.Errorf("the server has not said where it listens: %w", err)
	}
	s.address = strings.TrimSpace(line)
	return s, nil
}

func (s *httpServer) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// serveHTTP serves until the input ends, which it does when whoever started this process is gone.
func serveHTTP(s *mcptest.Server, refuse func() bool) {
	handler := http.Handler(&front{server: s})
	if os.Getenv(httpEra) == "legacy" {
		handler = &sessionFront{server: s}
	}
	listener, err := net.Listen("tcp", os.Getenv(httpAddress))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	}))
}

// era has a server speak what it serves.
func era(s *mcptest.Server) *mcptest.Server {
	switch os.Getenv(httpEra) {
	case "legacy":
		s.Versions = []string{"2025-11-25", "2025-06-18", "2025-03-26"}
	case "modern":
		s.Versions = []string{"2026-07-28"}
	}
	return s
}

// playHTTP serves what there is over stdio as well.
func playHTTP() { serveHTTP(usual(), func() bool { return false }) }
