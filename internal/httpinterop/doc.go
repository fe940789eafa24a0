// Package httpinterop holds tests only: they drive servers that others wrote over HTTP, through the public API and real
// sockets. The Go SDK's and mcp-go's run in the test process, those from npm and nginx as processes. .ci/http installs
// them and says where they are; without it the tests fail.
package httpinterop
