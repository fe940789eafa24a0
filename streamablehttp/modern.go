package streamablehttp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/seed62b61957/mcp/transport"
)

// Since 2026-07-28 there are no sessions, no GET stream and no resumption: a request is all that there is, and headers
// repeat what it is about (basic/transports/streamable-http, Request Metadata).

const (
	firstModern       = "2026-07-28"
	headerMethod      = "Mcp-Method"
	headerName        = "Mcp-Name"
	headerParamPrefix = "Mcp-Param-"
)

// isModern reports whether a message with the version is of such a revision. Versions are dates, and compare as text.
func isModern(version string) bool { return version >= firstModern }

// mirror repeats in headers what a message is about.
func mirror(h http.Header, out *transport.Outgoing) {
	h.Set(headerMethod, headerValue(out.Message.Method))
	if out.Mirror.Name != "" {
		h.Set(headerName, headerValue(out.Mirror.Name))
	}
	for _, p := range out.Mirror.Params {
		h.Set(headerParamPrefix+p.Name, headerValue(p.Value))
	}
}

const (
	sentinelPrefix = "=?base64?"
	sentinelSuffix = "?="
)

// headerValue encodes a value that cannot be a header as it is, or that looks encoded (section Value Encoding).
func headerValue(s string) string {
	unfit := func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }
	plain := strings.TrimSpace(s) == s && !strings.ContainsFunc(s, unfit)
	if plain && !(strings.HasPrefix(s, sentinelPrefix) && strings.HasSuffix(s, sentinelSuffix)) {
		return s
	}
	return sentinelPrefix + base64.StdEncoding.EncodeToString([]byte(s)) + sentinelSuffix
}

// jsonStream reads a body that is one JSON text after the other, which some servers make of a subscription. Each has
// the limit of a message.
func (x *exchange) jsonStream(ctx context.Context, r *reply) error {
	body := &io.LimitedReader{R: r.Body}
	texts := json.NewDecoder(body)
	for {
		body.N = int64(x.conn.limit)
		var text json.RawMessage
		err := texts.Decode(&text)
		if err != nil {
			r.abandon()
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case body.N <= 0:
				return transport.ErrMessageTooLarge
			case err == io.EOF:
				err = errors.New("the stream ended without it")
			}
			return x.unanswered(err)
		}
		for m := range transport.Decode(text) {
			if !x.take(m) {
				x.conn.finish(r)
				return nil
			}
		}
	}
}
