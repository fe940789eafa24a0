// Package faultproxy stands between a client and an HTTP server in tests and breaks the exchanges on the wire: delays,
// a body that ends early or in the middle of a chunk, half-closed and reset connections, slow drips, repeated events,
// wrong types and statuses.
//
// It speaks HTTP/1.1 without TLS, on loopback. A [Plan] gives each exchange its [Schedule]. [Random] draws them from a
// seed, and the schedule of the nth request of a method is always the same for that seed, whatever else is under way.
// A test that fails logs what was done to each exchange.
package faultproxy
