package main

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp"
)

func TestShowProgress(t *testing.T) {
	total := 2.5
	for want, p := range map[string]mcp.Progress{
		"  progress: 1\n":                 {Progress: 1},
		"  progress: 1 of 2.5\n":          {Progress: 1, Total: &total},
		"  progress: 0.5 of 2.5, going\n": {Progress: 0.5, Total: &total, Message: "going"},
	} {
		var out bytes.Buffer
		showProgress(&out, p)
		assert.Equal(t, want, out.String())
	}
}

func TestCompactKeepsWhatPeopleRead(t *testing.T) {
	assert.Equal(t, `"a<b & c>d"`, compact("a<b & c>d"))
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
