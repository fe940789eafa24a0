package main

import (
	"context"
	"fmt"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

type ours struct{}

func (ours) connect(ctx context.Context, a address) (session, error) {
	var t transport.Transport
	switch a.wire {
	case stdioWire:
		t = &stdio.Transport{Command: a.command[0], Args: a.command[1:]}
	case unixWire, memory:
		t = streamTransport(a)
	default:
		t = &streamablehttp.Transport{URL: a.url}
	}
	client, err := mcp.Connect(ctx, t, &mcp.Options{Versions: []string{a.version()}})
	if err != nil {
		return nil, err
	}
	return &oursSession{client}, nil
}

// streamTransport frames a byte stream to the address.
type streamTransport address

func (t streamTransport) Connect(context.Context) (transport.Conn, error) {
	conn, err := (*address)(&t).dial()
	if err != nil {
		return nil, err
	}
	return transport.NewStream(conn, nil), nil
}

type oursSession struct{ client *mcp.Client }

func (s *oursSession) tool(ctx context.Context, name string, args any, want int, o ...mcp.CallOption) error {
	result, err := s.client.CallTool(ctx, name, args, o...)
	if err != nil {
		return err
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return fmt.Errorf("content of type %T", result.Content[0])
	}
	return sized(len(text.Text), want)
}

func (s *oursSession) echo(ctx context.Context) error {
	return s.tool(ctx, "echo", echoArgs, len(echoText))
}

func (s *oursSession) blob(ctx context.Context, size int) error {
	return s.tool(ctx, "blob", map[string]any{"size": size}, size)
}

func (s *oursSession) list(ctx context.Context) error {
	tools, err := s.client.ListTools(ctx)
	if err != nil {
		return err
	}
	return listed(len(tools))
}

func (s *oursSession) progress(ctx context.Context, n int) (int, error) {
	got := 0
	err := s.tool(ctx, "progress", map[string]any{"n": n}, 0, mcp.WithProgress(func(mcp.Progress) { got++ }))
	return got, err
}

func (s *oursSession) wait(ctx context.Context, n int) error {
	return s.tool(ctx, "wait", map[string]any{"n": n}, 0)
}

func (s *oursSession) close() error { return s.client.Close() }
