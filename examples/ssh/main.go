// Ssh lists the tools of an MCP server that it starts on another machine, over SSH.
//
//	go run . -key ~/.ssh/id_ed25519 user@host:22 my-server --flag
//
// The host must be in the known hosts file. The command is run by the user's shell over there.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/pipe"
)

func main() {
	home, _ := os.UserHomeDir()
	key := flag.String("key", filepath.Join(home, ".ssh", "id_ed25519"), "`file` with the private key")
	known := flag.String("known-hosts", filepath.Join(home, ".ssh", "known_hosts"), "`file` with the keys of hosts")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: ssh [flags] user@host[:port] command...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *key, *known, flag.Arg(0), strings.Join(flag.Args()[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, "ssh:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, keyFile, knownFile, target, command string) error {
	addr, config, err := configure(keyFile, knownFile, target)
	if err != nil {
		return err
	}
	client, err := mcp.Connect(ctx, &pipe.Transport{Open: over(addr, config, command)}, &mcp.Options{
		Info: mcp.Implementation{Name: "ssh-example", Version: "1.0.0"},
	})
	if err != nil {
		return err
	}
	defer client.Close()
	for tool, err := range client.Tools(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\t%s\n", tool.Name, tool.Description)
	}
	return nil
}

// configure reads what SSH needs to know from the files.
func configure(keyFile, knownFile, target string) (addr string, config *ssh.ClientConfig, err error) {
	user, host, ok := strings.Cut(target, "@")
	if !ok {
		return "", nil, fmt.Errorf("%q is not user@host", target)
	}
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(host, "22")
	}
	text, err := os.ReadFile(keyFile)
	if err != nil {
		return "", nil, err
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	hosts, err := knownhosts.New(knownFile)
	if err != nil {
		return "", nil, err
	}
	return host, &ssh.ClientConfig{
		User:            user,
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyCallback: hosts,
	}, nil
}
