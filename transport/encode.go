package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// envelopeBytes is room for what surrounds the params or the result of most messages.
const envelopeBytes = 128

const reasonEmpty = "neither a method, a result nor an error"

// Append adds the JSON text of the message to b, on one line and without the newline. Raw parts are copied as they are,
// but for line breaks between their tokens; params that are null are left out, as JSON-RPC 2.0, section 4.2, wants it.
//
// A part that is not JSON in UTF-8 is an error, since it would break the framing, or the peer's reader, for every other
// message too. The error names the part and not its content. b is then returned as it was.
func (m *Message) Append(b []byte) ([]byte, error) {
	out, err := m.append(b)
	if err == nil && !utf8.Valid(out[len(b):]) {
		err = errors.New("not valid UTF-8")
	}
	if err != nil {
		return b, fmt.Errorf("message cannot be encoded: %w", err)
	}
	return out, nil
}

func (m *Message) append(b []byte) (_ []byte, err error) {
	b = slices.Grow(b, envelopeBytes+len(m.Params)+len(m.Result))
	b = append(b, `{"jsonrpc":"2.0"`...)
	if m.ID != (ID{}) {
		b = append(b, `,"id":`...)
		b = m.ID.Append(b)
	}
	switch {
	case m.Method != "":
		b = append(b, `,"method":`...)
		b = appendString(b, m.Method)
		if present(m.Params) {
			b, err = appendRaw(b, "params", m.Params)
		}
	case m.Error != nil:
		b, err = appendError(b, m.Error)
	case m.Result != nil:
		b, err = appendRaw(b, "result", m.Result)
	default:
		err = errors.New(reasonEmpty)
	}
	return append(b, '}'), err
}

func appendError(b []byte, e *RPCError) (_ []byte, err error) {
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, e.Code, 10)
	b = append(b, `,"message":`...)
	b = appendString(b, e.Message)
	if present(e.Data) {
		b, err = appendRaw(b, "data", e.Data)
	}
	return append(b, '}'), err
}

// present reports whether there is a part, and more of it than null.
func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// appendRaw adds a member. A JSON text has line breaks only between its tokens; a carriage return must go as well,
// since some peers end a line there.
func appendRaw(b []byte, name string, raw json.RawMessage) ([]byte, error) {
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		if !jsonscan.Valid(raw) {
			return b, errors.New(name + " is not valid JSON")
		}
		return append(b, raw...), nil
	}
	buf := bytes.NewBuffer(b)
	if json.Compact(buf, raw) != nil {
		return b, errors.New(name + " is not valid JSON")
	}
	return buf.Bytes(), nil
}

// appendString adds a JSON string. It escapes what it must, and the two separators that JavaScript takes for line ends;
// invalid UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ' || r == '\u2028' || r == '\u2029':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
