// Package stdio runs a Model Context Protocol server as a child process and speaks with it over its standard input and
// output (MCP, "Transports", stdio).
//
//	client, err := mcp.Connect(ctx, &stdio.Transport{Command: "npx", Args: []string{"-y", "some-server"}}, nil)
//
// # The process
//
// The server gets a process group of its own (a job object on Windows), so that a launcher such as npx and all that it
// starts end together. A Ctrl-C in the host's terminal does not reach it: the host ends it by Close, or by dying, which
// closes the server's input. The server does not depend on the context of Connect.
//
// Close closes the server's input, waits for [DefaultCloseGrace], sends SIGTERM to the group, waits for
// [DefaultKillGrace], and sends SIGKILL. It ends as soon as no process of the group runs, and takes at most two seconds
// more than both periods. Meanwhile it reads away what the server still writes. A server that ends by itself takes what
// it started along: SIGTERM, and SIGKILL half a second later. The leader of the group is reaped last, so that no signal
// can reach a process that got its number. A descendant that makes a session of its own (setsid, a daemon) is in no
// group of the server's and lives on, except on Windows.
//
// Windows has no SIGTERM for a process without a console: there the job is killed after the first period. On the BSDs
// the members of a group are not known, so what a server leaves behind is killed without being asked. On systems other
// than these, Linux and macOS, Connect fails with errors.ErrUnsupported.
//
// # The end of a server
//
// Receive reports it as an [*ExitError] with the exit status and the end of stderr: within a second, and in spite of a
// descendant that holds on to the output. Standard error is always read, whether anybody wants it or not; its last 64
// KiB are kept.
//
// # The environment
//
// A server does not see the host's secrets unless it is given them: it gets the variables that programs need to work
// (see [Transport].Env), and those in Env.
//
// # Limits and defaults
//
// A message has at most 16 MiB (see MaxMessageBytes). The text of an [*ExitError] quotes at most 2 KiB of stderr.
package stdio
