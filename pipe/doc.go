// Package pipe speaks with a Model Context Protocol server that something else starts: an SSH session, docker exec, a
// Kubernetes exec, a virtual machine. It is the framing of package stdio over the standard files of that program.
//
//	t := &pipe.Transport{Open: func(ctx context.Context) (*pipe.Process, error) {
//		session, err := sshClient.NewSession()
//		...
//		return &pipe.Process{Stdin: stdin, Stdout: stdout, Stderr: stderr, Wait: session.Wait, Kill: session.Close},
//			session.Start("my-server")
//	}}
//
// For a child process use package stdio, which also ends what the server starts.
//
// # The end of a server
//
// Receive reports it as an [*ExitError], with the error of Wait and the end of stderr. Standard error is always read,
// and its last 64 KiB are kept. A server whose Wait has returned has ended, even if its output is still open: after a
// tenth of a second of silence.
//
// Close closes the server's input and waits for Wait, for [DefaultCloseTimeout] at most; then it calls Kill, and waits
// for another second at most. Meanwhile it reads away what the server still writes.
//
// # Limits and defaults
//
// A message has at most 16 MiB (see MaxMessageBytes). The text of an [*ExitError] quotes at most 2 KiB of stderr.
package pipe
