// Package transport is where a Model Context Protocol client and the ways to reach a server meet: the [Transport] and
// [Conn] interfaces, the [Message] that crosses them, the errors both sides understand, and [NewStream], which frames
// messages by newlines over any byte stream.
//
// The client owns correlation, ids, timeouts and cancellation. A transport owns framing and I/O, and nothing else. To
// reach a server in a new way, implement [Transport]; if what you have is a reliable byte stream (a Unix socket, a TCP
// connection, an SSH channel), [NewStream] is the whole of [Conn].
//
// # Limits and defaults
//
// A message has at most [DefaultMaxMessageBytes] (16 MiB) unless [StreamOptions] says otherwise. A longer one is skipped
// in constant memory; the call that it answers fails with [ErrMessageTooLarge] and the connection lives on.
//
// # Deviations from the specification
//
// The specification forbids a server to write anything but messages to the stream. Real servers do: what is not a
// message (banners, log lines, blank lines, a byte order mark) is skipped and reported as a [Message] with a Fault.
// JSON-RPC batches, which only revision 2025-03-26 knows, are always taken apart; [Message.Batch] tells.
package transport
