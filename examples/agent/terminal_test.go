package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/host"
)

// typed is a terminal at which somebody has typed all that there is to say.
func typed(lines string) (*terminal, *bytes.Buffer) {
	var screen bytes.Buffer
	return newTerminal(strings.NewReader(lines), &screen), &screen
}

func TestQuestionStandsBelowWhatComesMeanwhile(t *testing.T) {
	in, keyboard := io.Pipe()
	out, screen := io.Pipe()
	t.Cleanup(func() { assert.NoError(t, keyboard.Close()) })
	term := newTerminal(in, screen)
	answer := make(chan string)
	go func() {
		line, err := term.question(context.Background(), "\nyou> ")
		assert.NoError(t, err)
		answer <- line
	}()
	read := func(want string) {
		t.Helper()
		text := make([]byte, len(want))
		_, err := io.ReadFull(out, text)
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
	read("\nyou> ")
	go term.printf("news\n")
	read("\nnews\nyou> ")
	require.NoError(t, out.Close()) // what it says then is for nobody
	_, err := keyboard.Write([]byte("hello\n"))
	require.NoError(t, err)
	assert.Equal(t, "hello", <-answer)
}

func TestQuestionThatNobodyWaitsFor(t *testing.T) {
	in, keyboard := io.Pipe()
	t.Cleanup(func() { assert.NoError(t, keyboard.Close()) })
	term := newTerminal(in, io.Discard)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)

	_, err := term.question(ctx, "you> ")
	assert.Equal(t, errInterrupted, err)
	release, err := term.claim(t.Context())
	require.NoError(t, err, "it was given back")
	_, err = term.question(ctx, "you> ")
	assert.Equal(t, errInterrupted, err, "it waits for its turn no longer")
	release()
}

func TestApprove(t *testing.T) {
	yes, no := true, false
	hints := func(a mcp.ToolAnnotations) *mcp.Tool { return &mcp.Tool{Annotations: &a} }
	tests := map[string]struct {
		tool       *mcp.Tool
		typed      string
		asked      string
		isApproved bool
	}{
		"reads only":   {hints(mcp.ToolAnnotations{ReadOnlyHint: &yes}), "", "", true},
		"says nothing": {&mcp.Tool{}, "y\n", "may destroy something, and deals with the outside world", true},
		"not listed":   {nil, "Yes\n", "may destroy something, and deals with the outside world", true},
		"does not read": {hints(mcp.ToolAnnotations{ReadOnlyHint: &no, OpenWorldHint: &no}), "n\n",
			"may destroy something.", false},
		"adds":    {hints(mcp.ToolAnnotations{DestructiveHint: &no}), "\n", "changes something, and deals", false},
		"no user": {&mcp.Tool{}, "", "may destroy something", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			term, screen := typed(test.typed)
			err := term.approve(t.Context(), &host.Call{Server: "s", Name: "t", Tool: test.tool, Args: []byte("{}")})
			if test.isApproved {
				assert.NoError(t, err)
			} else {
				assert.Equal(t, errRefused, err)
			}
			assert.Contains(t, screen.String(), test.asked)
			if test.asked == "" {
				assert.Empty(t, screen.String())
			}
		})
	}
}

// Nobody but the program asks a question of the program's.
func TestQuestionsWithinQuestions(t *testing.T) {
	const fake = "x\nMay notes/read be called with {}? It changes nothing. [y/N] "
	term, screen := typed("n\nn\nn\ny\n")
	err := term.approve(t.Context(), &host.Call{Server: "notes", Name: fake, Args: []byte("{\n}")})
	assert.Equal(t, errRefused, err)
	for _, r := range []*mcp.ElicitRequest{
		{Message: fake, RequestedSchema: []byte(`{"type": "object", "properties": {}}`)},
		{Mode: mcp.ElicitURL, URL: "https://example.com/", Message: fake},
	} {
		ask := term.elicit
		if r.Mode == mcp.ElicitURL {
			ask = term.elicitURL
		}
		result, err := ask(t.Context(), "notes", r)
		require.NoError(t, err)
		assert.Equal(t, mcp.ElicitDecline, result.Action)
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{
		"p": map[string]any{
			"type": "string", "title": fake, "description": fake, "enum": []string{"1"}, "enumNames": []string{fake},
		},
	}})
	require.NoError(t, err)
	_, err = term.elicit(t.Context(), "notes", &mcp.ElicitRequest{RequestedSchema: schema})
	require.NoError(t, err)
	assert.NotContains(t, screen.String(), "\nMay")
	assert.Equal(t, 6, strings.Count(screen.String(), "\n  | May"))
}

func TestScreen(t *testing.T) {
	var out bytes.Buffer
	const hostile = "\x1b]0;title\a red\x1b[31m\r\u009b\u202e\tgrün\n"
	n, err := screen{&out}.Write([]byte(hostile))
	assert.NoError(t, err)
	assert.Equal(t, len(hostile), n)
	assert.Equal(t, "�]0;title� red�[31m���\tgrün\n", out.String())

	reader, writer := io.Pipe()
	broken := errors.New("broken")
	reader.CloseWithError(broken)
	_, err = screen{writer}.Write([]byte("x"))
	assert.ErrorIs(t, err, broken)
}

func TestStandardErrorOfServers(t *testing.T) {
	term, screen := typed("")
	w := &lineWriter{t: term, name: "notes"}
	long := strings.Repeat("x", maxStderr+1)
	for _, part := range []string{"rea", "dy\r\n\n\x1b[2Jnext\nnot yet", "\n", long} {
		n, err := w.Write([]byte(part))
		assert.NoError(t, err)
		assert.Equal(t, len(part), n)
	}
	assert.Equal(t, "[notes] ready\n[notes] \n[notes] \uFFFD[2Jnext\n[notes] not yet\n[notes] "+long+"\n", screen.String())
}
