// Package servers pins the servers that .ci/interop runs: those from npm in package.json and its lock file, those
// written in Go as tools of this module. typescript.mjs is a server of ours on an SDK that comes without one.
package servers
