package faultproxy

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/http"
)

// A source returns the next piece of a body, good until the next call, and with the last one, or after it, an error.
type source func() ([]byte, error)

// pieces passes a body on as it comes.
func pieces(body io.Reader) source {
	buf := make([]byte, 32<<10)
	return func() ([]byte, error) {
		n, err := body.Read(buf)
		return buf[:n], err
	}
}

// events cuts an event stream behind its blank lines. A lone carriage return is no line end here.
func events(body io.Reader) source {
	lines := bufio.NewReader(body)
	return func() ([]byte, error) {
		var event []byte
		for {
			line, err := lines.ReadBytes('\n')
			event = append(event, line...)
			if err != nil || len(bytes.TrimRight(line, "\r\n")) == 0 {
				return event, err
			}
		}
	}
}

// repeat returns the piece with the given number twice, from 1.
func repeat(next source, number int) source {
	return func() ([]byte, error) {
		piece, err := next()
		if number--; number == 0 {
			piece = bytes.Repeat(piece, 2)
		}
		return piece, err
	}
}

func isEventStream(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}
