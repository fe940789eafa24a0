// Package mcptest is for testing what is built on a Model Context Protocol client: a programmable [Server] in memory, a
// connection whose two ends a test holds ([Pipe]), and connections that fail on demand ([Faulty]).
//
//	func TestAgentAnswers(t *testing.T) {
//		server := &mcptest.Server{}
//		server.AddTool(&mcp.Tool{Name: "add"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
//			var args struct{ A, B int }
//			if err := call.Bind(&args); err != nil {
//				return nil, err
//			}
//			return mcptest.Text(strconv.Itoa(args.A + args.B)), nil
//		})
//		agent := NewAgent(mcptest.Connect(t, server, nil))
//		...
//	}
//
// The server is a tool for tests, not a framework to build servers with: it trusts its handlers, keeps every message
// that it receives ([Server.Received]), and lets a test answer wrongly ([Server.Handle], [Session.Send]). It runs in
// memory ([Server.Transport]), over any stream ([Server.Serve]), or as a child process ([Server.ServeStdio]).
//
// It speaks the revisions 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28, the last one with a client
// that finds out what it speaks; [Server].Versions makes it an older server, or a stricter one. Handlers work with all
// of them if they ask the client, and log, through their [Call] and not through its [Session].
//
// A server in memory is known to answer, so that a client waits for the answer to server/discover, however long the
// server takes. To test what a client does about a silent one, use [Server.Serve] with [transport.NewStream].
//
// # Limits and defaults
//
// A connection in memory has no buffer, and its messages no size limit; over a stream they have 16 MiB. Requests are
// served all at once, without a bound. No handler has a time limit, and a panic in one ends the process.
//
// Everything here works inside a bubble of testing/synctest, where a delay takes no time.
package mcptest
