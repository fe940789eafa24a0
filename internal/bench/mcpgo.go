package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

type mcpgo struct{}

func (mcpgo) connect(ctx context.Context, a address) (session, error) {
	var t transport.Interface
	switch a.wire {
	case stdioWire:
		t = transport.NewStdio(a.command[0], nil, a.command[1:]...)
	case unixWire, memory:
		conn, err := a.dial()
		if err != nil {
			return nil, err
		}
		t = transport.NewIO(conn, conn, io.NopCloser(strings.NewReader("")))
	default:
		var err error
		if t, err = transport.NewStreamableHTTP(a.url, transport.WithHTTPBasicClient(peerClient())); err != nil {
			return nil, err
		}
	}
	s := &mcpgoSession{client: client.NewClient(t, client.WithProtocolVersion(a.version()))}
	if err := s.client.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	s.client.OnNotification(s.notified)
	var init mcp.InitializeRequest
	init.Params.ProtocolVersion = a.version()
	init.Params.ClientInfo = mcp.Implementation{Name: "mcpgo", Version: "1"}
	if _, err := s.client.Initialize(ctx, init); err != nil {
		_ = s.client.Close()
		return nil, err
	}
	return s, nil
}

type mcpgoSession struct {
	client *client.Client
	tokens atomic.Int64
	got    sync.Map // *atomic.Int64 by token
}

func (s *mcpgoSession) notified(n mcp.JSONRPCNotification) {
	if got, ok := s.got.Load(fmt.Sprint(n.Params.AdditionalFields["progressToken"])); ok {
		got.(*atomic.Int64).Add(1)
	}
}

func (s *mcpgoSession) tool(ctx context.Context, params mcp.CallToolParams, want int) error {
	result, err := s.client.CallTool(ctx, mcp.CallToolRequest{Params: params})
	if err != nil {
		return err
	}
	text, ok := mcp.AsTextContent(result.Content[0])
	if !ok {
		return fmt.Errorf("content of type %T", result.Content[0])
	}
	return sized(len(text.Text), want)
}

func (s *mcpgoSession) echo(ctx context.Context) error {
	return s.tool(ctx, mcp.CallToolParams{Name: "echo", Arguments: echoArgs}, len(echoText))
}

func (s *mcpgoSession) blob(ctx context.Context, size int) error {
	return s.tool(ctx, mcp.CallToolParams{Name: "blob", Arguments: map[string]any{"size": size}}, size)
}

func (s *mcpgoSession) list(ctx context.Context) error {
	result, err := s.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return err
	}
	return listed(len(result.Tools))
}

func (s *mcpgoSession) progress(ctx context.Context, n int) (int, error) {
	token := fmt.Sprint("t", s.tokens.Add(1))
	got := new(atomic.Int64)
	s.got.Store(token, got)
	defer s.got.Delete(token)
	err := s.tool(ctx, mcp.CallToolParams{Name: "progress", Arguments: map[string]any{"n": n},
		Meta: &mcp.Meta{ProgressToken: token}}, 0)
	return int(got.Load()), err
}

func (s *mcpgoSession) wait(ctx context.Context, n int) error {
	return s.tool(ctx, mcp.CallToolParams{Name: "wait", Arguments: map[string]any{"n": n}}, 0)
}

func (s *mcpgoSession) close() error { return s.client.Close() }
