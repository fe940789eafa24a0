package transport

import "encoding/json"

// Message is a JSON-RPC message: a request (ID and Method), a notification (Method alone), or a response (ID with
// Result or Error). Its raw parts are valid JSON and belong to the message. Whoever sends one does not write to them
// any more. Whoever hands one to the client, in Receive or Deliver, gives it away: the client decodes long strings in
// place, so a wrapper that wants to keep a part copies it before.
type Message struct {
	ID     ID
	Method string
	Params json.RawMessage // nil if absent
	Result json.RawMessage // nil if absent; the text null if that was sent
	Error  *RPCError       // what the peer sent as error

	// Batch says that the message came as an element of a JSON-RPC batch.
	Batch bool

	// Fault, when set, says that something arrived that is not a usable message: a [*FaultError] for noise, an error
	// that wraps [ErrMessageTooLarge] for a message over the limit. ID and Method are what could still be read of it.
	// One that wraps [ErrMissed] or [ErrUnheard] is about what did not arrive. The connection goes on.
	Fault error
}

// IsRequest reports whether the message asks for an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID.IsValid() }

// IsNotification reports whether the message is one-way. A method with the id null counts: nobody could be answered.
func (m *Message) IsNotification() bool { return m.Method != "" && !m.ID.IsValid() }

// IsResponse reports whether the message answers a request, possibly with an id that matches none.
func (m *Message) IsResponse() bool { return m.Method == "" && (m.Result != nil || m.Error != nil) }
