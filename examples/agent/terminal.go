package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
)

const maxInput = 1 << 20 // bytes of a line that is typed, or pasted

// terminal is where the user sits. It asks one thing at a time.
type terminal struct {
	lines  <-chan string // closed when the input has ended
	asking chan struct{} // full while somebody asks

	mu   sync.Mutex
	out  io.Writer
	open string // the question that waits for its answer
}

// newTerminal starts to read. Since reading cannot be interrupted, that goes on until the input ends.
func newTerminal(in io.Reader, out io.Writer) *terminal {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxInput)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	return &terminal{lines: lines, asking: make(chan struct{}, 1), out: screen{out}}
}

// printf writes whole lines, and the open question again below them.
func (t *terminal) printf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if t.open != "" {
		text = "\n" + text + t.open
	}
	io.WriteString(t.out, text)
}

// complain prints an error, if there is one.
func (t *terminal) complain(err error) {
	if err != nil {
		t.printf("agent: %v\n", err)
	}
}

// claim makes the caller the only one who asks, until it calls release.
func (t *terminal) claim(ctx context.Context) (release func(), err error) {
	select {
	case t.asking <- struct{}{}:
		return func() { <-t.asking }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ask asks something, and waits for a line. The caller has claimed the terminal. At the end of the input it is io.EOF.
func (t *terminal) ask(ctx context.Context, question string) (string, error) {
	t.setOpen(question, question)
	select {
	case line, ok := <-t.lines:
		if !ok {
			t.setOpen("", "\n")
			return "", io.EOF
		}
		t.setOpen("", "")
		return line, nil
	case <-ctx.Done():
		t.setOpen("", "\n")
		return "", context.Cause(ctx)
	}
}

func (t *terminal) setOpen(question, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = strings.TrimLeft(question, "\n")
	io.WriteString(t.out, text)
}

// question is one that needs no other one after it.
func (t *terminal) question(ctx context.Context, question string) (string, error) {
	release, err := t.claim(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	return t.ask(ctx, question)
}

// agrees asks a question that is answered with yes or no. The caller has claimed the terminal.
func (t *terminal) agrees(ctx context.Context, question string) (bool, error) {
	answer, err := t.ask(ctx, question+" [y/N] ")
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// quoted marks the lines of what a server or a model says within a question, so that none looks like the program's own.
func quoted(text string) string { return strings.ReplaceAll(text, "\n", "\n  | ") }

// screen keeps what a server or a model says from controlling the terminal, and from reading otherwise than it is.
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
