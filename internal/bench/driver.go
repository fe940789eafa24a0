package main

import (
	"context"
	"fmt"
	"net"
)

// A wire is a way to reach the server.
type wire string

const (
	stdioWire wire = "stdio"       // a child process
	unixWire  wire = "byte stream" // a Unix socket
	memory    wire = "in memory"   // a pipe to a server in the same process
	jsonWire  wire = "HTTP JSON"
	sseWire   wire = "HTTP SSE"
)

// An address is where a driver finds the server.
type address struct {
	wire    wire
	command []string // of stdio
	socket  string   // path of the Unix socket of a byte stream
	url     string
	modern  bool // the revision of 2026-07-28 is spoken
	single  bool // one call at a time is all that will be made
}

// dial opens a byte stream to the server.
func (a *address) dial() (net.Conn, error) {
	if a.wire == unixWire {
		return net.Dial("unix", a.socket)
	}
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		_ = serveStream(far, far)
	}()
	return near, nil
}

// version is the revision to speak.
func (a *address) version() string {
	if a.modern {
		return "2026-07-28"
	}
	return "2025-11-25"
}

// A driver is one client under measurement.
type driver interface {
	// connect reaches the server; the handshake is done when it returns.
	connect(ctx context.Context, a address) (session, error)
}

// A session is a connection of a driver. Each method checks what it gets, so that no driver is fast by being wrong. All
// but close may be called from many goroutines at once, unless the address says single.
type session interface {
	// echo calls the tool of that name with echoArgs; its result is their text.
	echo(ctx context.Context) error
	// blob calls a tool whose result is a text of size bytes.
	blob(ctx context.Context, size int) error
	// list lists all tools, page by page.
	list(ctx context.Context) error
	// progress calls a tool that reports progress n times, and returns how many reports were handled before the call
	// returned.
	progress(ctx context.Context, n int) (int, error)
	// wait calls a tool that answers when n calls of it have arrived.
	wait(ctx context.Context, n int) error
	close() error
}

// sized is the check of a result's text.
func sized(got, want int) error {
	if got != want {
		return fmt.Errorf("the text has %d bytes, not %d", got, want)
	}
	return nil
}

// listed is the check of a list.
func listed(tools int) error {
	if tools != toolCount {
		return fmt.Errorf("the list has %d tools, not %d", tools, toolCount)
	}
	return nil
}

var driverNames = []string{"floor", "ours", "gosdk", "mcpgo"}

func driverOf(name string) (driver, error) {
	switch name {
	case "floor":
		return floor{}, nil
	case "ours":
		return ours{}, nil
	case "gosdk":
		return gosdk{}, nil
	case "mcpgo":
		return mcpgo{}, nil
	}
	return nil, fmt.Errorf("there is no driver %q", name)
}
