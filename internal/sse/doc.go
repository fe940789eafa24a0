// Package sse reads streams of server-sent events as the WHATWG HTML standard defines them (section 9.2, "Server-sent
// events"), in one pass: each byte is searched and copied a bounded number of times, however the stream is split into
// reads, and an event is returned as soon as its blank line is there.
//
// An event's data has at most [DefaultMaxEventBytes] (16 MiB) unless [NewReader] is told otherwise. Of a line that is
// not data, such as an ID or a comment, only the first 64 KiB are looked at: a longer one is ignored.
//
// # Deviations from the standard
//
// An event without data is returned if it has an ID or a retry time: servers send an ID ahead of everything else, to
// resume from, and the standard keeps that ID although it dispatches no event.
//
// A retry time counts from its own line on, as in the standard, so the end of the stream does not discard it with the
// rest of an unfinished event: it comes as an event of its own.
//
// The event that a stream ends in is returned beside [io.EOF] without its blank line, for those who can tell that it is
// whole; see [Reader.Next].
//
// The type "message" is returned as "", since the two mean the same. Text is not made valid UTF-8.
package sse
