package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// demoServer is a small server, so that there is something to connect to. Package mcptest is made for tests: it is good
// enough to play with, and no framework to build servers with.
func demoServer() *mcptest.Server {
	s := &mcptest.Server{Info: mcp.Implementation{Name: "demo", Version: "1.0.0"}}
	s.AddTool(&mcp.Tool{
		Name:        "draw",
		Description: "Draws a square in all shades of grey, row by row.",
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {"size": {"type": "integer", "minimum": 2, "maximum": 64, "description": "side in pixels"}},
			"required": ["size"]
		}`),
	}, draw)
	s.AddTool(&mcp.Tool{
		Name:        "count.words", // models accept no dot
		Description: "Counts the words of a text.",
		InputSchema: json.RawMessage(
			`{"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}`),
	}, countWords)
	s.AddTool(&mcp.Tool{Name: "now", Description: "Tells the time."}, now) // models insist on a schema
	return s
}

func draw(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
	var args struct{ Size int }
	if err := call.Bind(&args); err != nil {
		return nil, err
	}
	if args.Size < 2 || args.Size > 64 {
		return nil, fmt.Errorf("size is %d, and must be from 2 to 64", args.Size)
	}
	picture := image.NewGray(image.Rect(0, 0, args.Size, args.Size))
	for y := range args.Size {
		select {
		case <-time.After(300 * time.Millisecond): // for people to watch
		case <-ctx.Done(): // the client cancelled the call
			return nil, ctx.Err()
		}
		for x := range args.Size {
			picture.SetGray(x, y, color.Gray{Y: uint8(255 * (x + y) / (2*args.Size - 2))})
		}
		row := y + 1
		if err := call.Progress(ctx, float64(row), float64(args.Size), fmt.Sprintf("drew row %d", row)); err != nil {
			return nil, err
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{
		mcp.Text(fmt.Sprintf("A grey square of %d by %d pixels.", args.Size, args.Size)),
		mcp.Image(file.Bytes(), "image/png"),
	}}, nil
}

func countWords(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
	var args struct{ Text string }
	if err := call.Bind(&args); err != nil {
		return nil, err
	}
	return mcptest.Text(fmt.Sprint(len(strings.Fields(args.Text)))), nil
}

func now(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
	return mcptest.Text(time.Now().Format(time.RFC1123)), nil
}
