// Package mcp is a Model Context Protocol client: it connects an agent to an MCP server, lists what the server offers
// (tools, resources, prompts), and calls it. [Connect] takes a transport from one of the packages beside this one
// (stdio starts a child process, streamablehttp reaches a server over HTTP, pipe uses a program that something else
// started, testing/mcptest is in memory) and returns a live [Client]; there is no other state.
//
//	client, err := mcp.Connect(ctx, &stdio.Transport{Command: "my-server"}, &mcp.Options{
//		Info: mcp.Implementation{Name: "my-agent", Version: "1.0.0"},
//	})
//	if err != nil { ... }
//	defer client.Close()
//	for tool, err := range client.Tools(ctx) { ... }
//	result, err := client.CallTool(ctx, "search", map[string]any{"query": "MCP"})
//
// It speaks the revisions 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28 of the protocol behind the same
// API; the server's choice is in [Client.Server]. Servers of the last one are told from the others by a probe, which a
// host spares by pinning what it learned the last time ([Options].Versions).
//
// # Limits and defaults
//
// A call may see neither answer nor progress for 60 s, and lasts 1 h at most; ctx always wins, and a call returns at
// once when it ends. A message has at most 16 MiB (a setting of the transport). A list has at most 1,000 pages. At most
// 32 handlers of the server's requests run at once, and 256 requests wait for them. At most 1,024 notifications wait
// for a slow handler, and at most 65,536 answers for a server that does not read. Each of these queues, and the
// progress that waits for a slow handler, holds 16 MiB at most; what comes on top is dropped, with a diagnostic.
// [Options] and [CallOption] change what can be changed.
//
// # Tasks
//
// With [Options].Tasks a server may answer a call of a tool at once and go on with it as a task (since 2026-07-28,
// extension io.modelcontextprotocol/tasks). [Client.CallTool] then asks for the task until it has ended: as often as
// the server wants, but at least every 5 minutes and at most every 100 ms; once per second if it does not say. A task
// may last longer than a call may be idle, since each of these requests is answered, but not longer than MaxTimeout.
// What the task needs is asked of the same handlers. Requests that do not get through are repeated, five times in a row
// at most. On connections that all requests share, the server is also asked to tell of changes by itself.
//
// The tasks of 2025-11-25 were an experiment, and are another thing: a tool that cannot do without them (TaskSupport is
// "required") refuses a call with "method not found". [Client.Request] sends whatever such a server wants.
//
// A call that gives up (ctx, a limit, a handler that fails) cancels its task in the background. For a task that
// outlives the call, or the process, take its ID with [WithTask] and come back with [Client.AwaitTask]. A [*TaskError]
// has the ID as well, such as after a lost connection.
//
// # Caching
//
// With [Options].Cache the client keeps the pages of lists and what it read of resources for as long as a server says
// that they are fresh (2026-07-28), or until it tells of a change. A [Cache] holds 16 MiB by default, and may be shared
// by clients; what a server marks as private stays with its authorization. Nothing is kept without one. The answer to
// server/discover is what [Client.Server] returns for as long as the client lives.
//
// # Concurrency
//
// Everything may be called from any goroutine. Progress handlers run on the goroutine that made the call; handlers of
// requests run on their own; handlers of notifications run one at a time. Any of them may call the client, or close it.
//
// # Interceptors
//
// An [Interceptor] stands around every exchange with the server, in both directions: it sees what goes over the wire,
// may add to its _meta, and may refuse it. Without interceptors an exchange costs nothing more. The module otelmcp has
// one for OpenTelemetry.
//
// # Errors
//
// Errors are matched with errors.Is and errors.As: [*RPCError] is what the server sent, [*TimeoutError] a limit of the
// call, [ErrClosed] the end of the connection (with what is known about it: for a child process its exit status and the
// end of its stderr). transport.SafeToRetry tells whether the server can have seen the request.
//
// # Deviations from the specification
//
// What the client sends follows the schema of the revision. What it receives it takes as far as the meaning is clear,
// and reports to [Options].Logger:
//   - missing or null content is an empty list, and entries of a list that cannot be used are set aside;
//   - an answer whose id is a string with the digits of a request's number belongs to that request;
//   - an empty nextCursor is the end of a list;
//   - a list that the server says it has but answers with "method not found" is empty;
//   - an error without an id answers the request that opens the connection, if nothing else is under way;
//   - a result without a resultType is complete (2026-07-28);
//   - a result that may be kept and names no scope, or one that is unknown, is private;
//   - an initialize result without a version is taken to agree to the one that was asked for;
//   - a server that refuses the first version of initialize and names another in the error's data is asked again;
//   - the state of a task may come with the resultType "task", as in examples of the extension;
//   - batches are taken apart under every revision; each request in them is answered on its own.
//
// A task that wants to be asked for more rarely than every 5 minutes is asked for every 5 minutes: a call that waits is
// not to learn of its result hours late, and nobody is overwhelmed by that.
//
// A client counts as one authorization for what a server marks as private (server/utilities/caching), whatever tokens
// its transport goes through. Results that are no longer fresh are returned where [WithCached] asks for them, never in
// place of an error.
//
// A tool that marks a parameter with x-mcp-header more than 32 levels deep in its arguments is left out, like one whose
// marks are malformed.
//
// A list that the server does not offer at all is empty without a request; other requests that need a capability which
// was not negotiated are a [*CapabilityError]. A progress token goes with each call of a tool, each read of a resource
// and each prompt, even if nobody listens, since progress renews the limit.
package mcp
