package transport

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// Decode reads one JSON text and yields what is in it: a message, or each one of a batch, in order and decoded as it is
// asked for. It yields at least one: what is no usable message comes as one with a Fault that is a [*FaultError].
//
// It takes data over: the messages share it, and nobody may write to it any more.
//
// Servers get away with this much: a missing jsonrpc; members that are unknown, or null where they could be absent; an
// error code that is a string, an error without code or message, an error that is only a string. Of members that come
// twice the last one counts. An error wins over a result, and either over a method, unless the result is null.
func Decode(data []byte) iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		m, rest := decodeText(data)
		for m != nil && yield(m) {
			m = rest.next()
		}
	}
}

func decodeText(data []byte) (first *Message, rest batch) {
	d := jsonscan.New(data)
	if d.Kind() != jsonscan.Array {
		return decodeMessage(data), nil
	}
	array := d.Raw()
	if err := d.End(); err != nil {
		return fault(data, "not a message: "+err.Error()), nil
	}
	rest = batch(array[1:])
	if first = rest.next(); first == nil {
		first = fault(data, "empty batch")
	}
	return first, rest
}

// A batch is what is left of a JSON array that is known to be valid: elements, commas, and the closing bracket. Its
// elements are decoded one by one, since a short text can hold millions of them.
type batch []byte

// next returns the next message of the batch, nil at its end.
func (b *batch) next() *Message {
	rest := bytes.TrimLeft(*b, ", \t\r\n")
	if len(rest) <= 1 {
		*b = nil
		return nil
	}
	d := jsonscan.New(rest)
	element := d.Raw()
	*b = batch(rest[len(element):])
	m := decodeMessage(element)
	m.Batch = true
	return m
}

func decodeMessage(data []byte) *Message {
	var e envelope
	d := jsonscan.New(data)
	e.read(&d)
	if err := d.End(); err != nil {
		m := fault(data, "not a message: "+err.Error())
		m.ID, m.Method = salvage(data, data)
		return m
	}
	m := new(Message)
	if reason := e.decode(m); reason != "" {
		m.Fault = faultError(data, reason)
		if e.version == nil {
			m.ID, m.Method = ID{}, "" // a log line in JSON, say, whose id is none of ours
		}
	}
	return m
}

// envelope holds the members of a message as they were sent, nil where absent.
type envelope struct {
	version, id, method, params, result, err json.RawMessage
}

// read reads the members of an object, up to the first syntax error.
func (e *envelope) read(d *jsonscan.Decoder) {
	for name := range d.Object() {
		switch string(name) {
		case "jsonrpc":
			e.version = d.Raw()
		case "id":
			e.id = d.Raw()
		case "method":
			e.method = d.Raw()
		case "params":
			e.params = d.Raw()
		case "result":
			e.result = d.Raw()
		case "error":
			e.err = d.Raw()
		}
	}
}

// decode fills in m, and gives the reason if it is not a message after all.
func (e *envelope) decode(m *Message) (reason string) {
	if m.ID, m.Method, reason = e.head(); reason != "" {
		return reason
	}
	switch {
	case present(e.err):
		m.Method, m.Error = "", decodeError(e.err)
	case present(e.result):
		m.Method, m.Result = "", e.result
	case m.Method != "":
		if present(e.params) {
			m.Params = e.params
		}
	case e.result != nil:
		m.Result = e.result
	default:
		return reasonEmpty
	}
	return ""
}

// head decodes what tells messages apart.
func (e *envelope) head() (id ID, method, reason string) {
	if e.id != nil {
		var err error
		if id, err = ParseID(e.id); err != nil {
			reason = err.Error()
		}
	}
	if present(e.method) {
		if e.method[0] != '"' {
			return id, "", "the method is not a string"
		}
		method = decodeMethod(e.method)
	}
	return id, method, reason
}

func decodeMethod(quoted json.RawMessage) string {
	if method, ok := common[string(quoted)]; ok {
		return method
	}
	d := jsonscan.New(quoted)
	return d.Text()
}

// common has the methods that servers call often, by their JSON text: a lookup spares the copy.
var common = func() map[string]string {
	methods := make(map[string]string)
	for _, method := range []string{
		"ping", "roots/list", "sampling/createMessage", "elicitation/create",
		"notifications/cancelled", "notifications/message", "notifications/progress",
		"notifications/prompts/list_changed", "notifications/resources/list_changed",
		"notifications/resources/updated", "notifications/tools/list_changed",
	} {
		methods[`"`+method+`"`] = method
	}
	return methods
}()

func decodeError(raw json.RawMessage) *RPCError {
	e := new(RPCError)
	d := jsonscan.New(raw)
	switch d.Kind() {
	case jsonscan.Object:
	case jsonscan.String:
		e.Message = d.Text()
		return e
	default:
		e.Data = raw
		return e
	}
	for name := range d.Object() {
		switch string(name) {
		case "code":
			e.Code = decodeCode(d.Raw())
		case "message":
			if d.Kind() == jsonscan.String {
				e.Message = d.Text()
			}
		case "data":
			if e.Data = d.Raw(); !present(e.Data) {
				e.Data = nil
			}
		}
	}
	return e
}

// decodeCode reads a number that may be quoted, 0 if it is none.
func decodeCode(raw json.RawMessage) int64 {
	d := jsonscan.New(bytes.Trim(raw, `"`))
	return d.Int64()
}

func fault(data []byte, reason string) *Message {
	return &Message{Fault: faultError(data, reason)}
}

const faultPrefix = 256

func faultError(data []byte, reason string) *FaultError {
	return &FaultError{Reason: reason, Prefix: string(data[:min(len(data), faultPrefix)])}
}
