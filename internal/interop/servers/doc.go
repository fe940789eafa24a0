// Package servers pins the servers that .ci/interop runs: those from npm in package.json and its lock file, those
// written in Go as tools of this module. typescript.mjs and golang are servers of ours on SDKs that come without one of
// the newest revision. The two have the same tools, and are of the legacy era, the modern one, or both, as one likes.
package servers
