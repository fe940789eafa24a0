package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/llmcontent"
)

// showFunctions writes JSON, with a line for each member.
func showFunctions(out io.Writer, functions []*llmcontent.Function) {
	fmt.Fprintf(out, "\nTools, as a model gets them (%d):\n", len(functions))
	for _, f := range functions {
		fmt.Fprintf(out, "\n{\n  \"name\": %s,\n  \"description\": %s,\n  \"parameters\": %s\n}\n",
			compact(f.Name), compact(f.Description), compact(f.Parameters))
	}
}

func showProgress(out io.Writer, p mcp.Progress) {
	line := fmt.Sprintf("  progress: %g", p.Progress)
	if p.Total != nil {
		line += fmt.Sprintf(" of %g", *p.Total)
	}
	if p.Message != "" {
		line += ", " + p.Message
	}
	fmt.Fprintln(out, line)
}

func showBlocks(out io.Writer, blocks []llmcontent.Block) {
	fmt.Fprintf(out, "\nThe result, as a model gets it (%d):\n\n", len(blocks))
	for _, block := range blocks {
		if block.Image != nil {
			fmt.Fprintf(out, "image: %s, %d bytes\n", block.Image.MIMEType, len(block.Image.Data))
			continue
		}
		fmt.Fprintln(out, "text:", block.Text)
	}
}

// compact is JSON as people read it: on one line, and without the escapes for HTML that json.Marshal puts in.
func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

// screen keeps what a server says from controlling the terminal, and from reading otherwise than it is.
type screen struct{ io.Writer }

func (s screen) Write(p []byte) (int, error) {
	visible := func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}
	if _, err := s.Writer.Write(bytes.Map(visible, p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
