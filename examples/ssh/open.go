package main

import (
	"context"
	"errors"
	"net"

	"golang.org/x/crypto/ssh"

	"github.com/seed62b61957/mcp/pipe"
)

// over returns what a [pipe.Transport] needs to run a command on another machine. Each process has an SSH connection of
// its own, which ends with it.
func over(addr string, config *ssh.ClientConfig, command string) func(context.Context) (*pipe.Process, error) {
	return func(ctx context.Context) (*pipe.Process, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		// The handshake knows no context. Closing the connection under it ends it, and whatever else is under way.
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		process, err := start(conn, addr, config, command)
		if !stop() {
			err = context.Cause(ctx)
		}
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		return process, nil
	}
}

func start(conn net.Conn, addr string, config *ssh.ClientConfig, command string) (*pipe.Process, error) {
	c, channels, requests, err := ssh.NewClientConn(conn, addr, config)
	if err != nil {
		return nil, err
	}
	client := ssh.NewClient(c, channels, requests)
	session, err := client.NewSession()
	if err != nil {
		return nil, err
	}
	p := &pipe.Process{Wait: session.Wait}
	var errs [4]error
	p.Stdin, errs[0] = session.StdinPipe()
	p.Stdout, errs[1] = session.StdoutPipe()
	p.Stderr, errs[2] = session.StderrPipe()
	errs[3] = session.Start(command)
	p.Kill = func() error {
		// OpenSSH hands the signal to the process group of the command, but for root, and where it does not run as root
		// itself. There, all that a server sees that ignores the end of its input is that its output is closed.
		err := session.Signal(ssh.SIGKILL)
		return errors.Join(err, client.Close())
	}
	p.Release = func() error {
		if err := client.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil // by Kill, or by the other side
	}
	return p, errors.Join(errs[:]...)
}
