// Package interop holds tests only: they drive servers that others wrote, over real child processes and through the
// public API. .ci/interop installs the servers and says where they are; without it the tests fail.
package interop
