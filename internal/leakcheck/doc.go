// Package leakcheck fails a package's tests when they leave something behind: a goroutine, a child process that runs or
// was not reaped, an open file.
//
//	func TestMain(m *testing.M) { leakcheck.Main(m) }
//
// What was there before the tests ran is the baseline and does not count. What is on its way out gets [Settle] to go.
// Processes and files are checked only where /proc has them; goroutines are checked everywhere. A file that
// only its finalizer would close is a leak, unless the collector came by while the tests ran.
package leakcheck
