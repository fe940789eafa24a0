// Package transport is where a Model Context Protocol client and the ways to reach a server meet: the [Transport] and
// [Conn] interfaces, the [Message] that crosses them, the errors both sides understand, and [NewStream], which frames
// messages by newlines over any byte stream.
//
// The client owns correlation, ids, timeouts and cancellation. A transport owns framing and I/O, and nothing else. To
// reach a server in a new way, implement [Transport], for which a [Func] may do; if what you have is a reliable byte
// stream (a Unix socket, a TCP connection, an SSH channel), [NewStream] is the whole of [Conn]. [Logged] shows what
// goes over any of them.
//
// # Limits and defaults
//
// A received message has at most [DefaultMaxMessageBytes] (16 MiB) unless [StreamOptions] says otherwise. A longer one
// is skipped in constant memory; the call that it answers fails with [ErrMessageTooLarge] if its id can be read from
// the first or the last 4 KiB, and the connection lives on. Close takes at most 5 s.
//
// # Deviations from the specification
//
// The specification forbids a server to write anything but messages to the stream. Real servers do: a line that is no
// message (a banner, a log line) is reported as a [Message] with a Fault, and blank lines and a byte order mark are
// passed over. [Decode] tells what is tolerated within a message.
//
// JSON-RPC batches, which only revision 2025-03-26 knows, are always taken apart; [Message.Batch] tells.
package transport
