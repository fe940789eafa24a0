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
// It speaks the revisions 2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25.
//
// # Limits and defaults
//
// A connection in memory has no buffer, and its messages no size limit; over a stream they have 16 MiB. Requests are
// served all at once, without a bound. No handler has a time limit, and a panic in one ends the process.
//
// Everything here works inside a bubble of testing/synctest, where a delay takes no time.
package mcptest
