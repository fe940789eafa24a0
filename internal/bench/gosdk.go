package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type gosdk struct{}

func (gosdk) connect(ctx context.Context, a address) (session, error) {
	var t mcp.Transport
	switch a.wire {
	case stdioWire:
		t = &mcp.CommandTransport{Command: exec.Command(a.command[0], a.command[1:]...)}
	case unixWire, memory:
		conn, err := a.dial()
		if err != nil {
			return nil, err
		}
		// It closes both, and takes the second Close of one connection for a failure.
		t = &mcp.IOTransport{Reader: io.NopCloser(conn), Writer: conn, MaxLineLength: -1}
	default:
		t = &mcp.StreamableClientTransport{Endpoint: a.url, DisableStandaloneSSE: true, HTTPClient: peerClient(),
			MaxEventSize: -1}
	}
	s := new(gosdkSession)
	client := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: s.progressed,
	})
	var err error
	s.session, err = client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: a.version()})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// peerClient has idle connections for all callers, and all connections of a driver share it: ours does so by itself.
var peerClient = sync.OnceValue(func() *http.Client {
	tr := http.DefaultTransport.(*http.Transport).Clone()
	tr.MaxIdleConnsPerHost = 128
	return &http.Client{Transport: tr}
})

type gosdkSession struct {
	session *mcp.ClientSession
	tokens  atomic.Int64
	got     sync.Map // *atomic.Int64 by token
}

func (s *gosdkSession) progressed(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	if got, ok := s.got.Load(fmt.Sprint(r.Params.ProgressToken)); ok {
		got.(*atomic.Int64).Add(1)
	}
}

func (s *gosdkSession) tool(ctx context.Context, params *mcp.CallToolParams, want int) error {
	result, err := s.session.CallTool(ctx, params)
	if err != nil {
		return err
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return fmt.Errorf("content of type %T", result.Content[0])
	}
	return sized(len(text.Text), want)
}

func (s *gosdkSession) echo(ctx context.Context) error {
	return s.tool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: echoArgs}, len(echoText))
}

func (s *gosdkSession) blob(ctx context.Context, size int) error {
	return s.tool(ctx, &mcp.CallToolParams{Name: "blob", Arguments: map[string]any{"size": size}}, size)
}

func (s *gosdkSession) list(ctx context.Context) error {
	tools := 0
	for _, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		tools++
	}
	return listed(tools)
}

func (s *gosdkSession) progress(ctx context.Context, n int) (int, error) {
	token := fmt.Sprint("t", s.tokens.Add(1))
	got := new(atomic.Int64)
	s.got.Store(token, got)
	defer s.got.Delete(token)
	params := &mcp.CallToolParams{Name: "progress", Arguments: map[string]any{"n": n}}
	params.SetProgressToken(token)
	err := s.tool(ctx, params, 0)
	return int(got.Load()), err
}

func (s *gosdkSession) wait(ctx context.Context, n int) error {
	return s.tool(ctx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{"n": n}}, 0)
}

func (s *gosdkSession) close() error { return s.session.Close() }
