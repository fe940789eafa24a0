package main

import "bytes"

const maxStderr = 4 << 10 // bytes of a line

// lineWriter prints what a server writes to its standard error, line by line, with its name in front.
type lineWriter struct {
	t    *terminal
	name string
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			break
		}
		w.print(line)
		w.rest = rest
	}
	if len(w.rest) > maxStderr {
		w.print(w.rest)
		w.rest = nil
	}
	return len(p), nil
}

func (w *lineWriter) print(line []byte) { w.t.printf("[%s] %s\n", w.name, bytes.TrimRight(line, "\r")) }
