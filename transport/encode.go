package transport

import (
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
		b = jsonscan.AppendString(b, m.Method)
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
	b = jsonscan.AppendString(b, e.Message)
	if present(e.Data) {
		b, err = appendRaw(b, "data", e.Data)
	}
	return append(b, '}'), err
}

// present reports whether there is a part, and more of it than null.
func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// appendRaw adds a member. Line breaks between the tokens of its value go.
func appendRaw(b []byte, name string, raw json.RawMessage) ([]byte, error) {
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	b, err := jsonscan.AppendRaw(b, raw)
	if err != nil || len(raw) == 0 {
		return b, errors.New(name + " is not valid JSON")
	}
	return b, nil
}
