// Package interop holds tests only: they drive servers that others wrote, as real processes, over stdio and over HTTP,
// and through the public API. .ci/interop installs the servers and says where they are; without it the tests fail.
package interop
