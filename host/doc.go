// Package host keeps many MCP servers under one roof: it starts what a configuration names, connects again what was
// lost, and has one catalog of what all of them offer, in which a model's call finds its server.
//
//	h := host.New(host.Options{})
//	defer h.Close(ctx)
//	err := h.Apply(ctx, servers) // of a config.File; again whenever the file has changed
//	functions, skipped := h.Catalog().Functions(llmcontent.Anthropic)
//	...
//	result, err := h.CallTool(ctx, call.Name, args)
//
// [Options] have what differs from server to server as functions of its configuration, so that whatever a server asks
// for, logs or signs in to is known by its name.
//
// # States
//
// [Host.Status] and [Host.Events] say what each server is doing:
//
//	disabled        by its configuration
//	idle            lazy, or not used for IdleStop; the next use connects it
//	connecting      the first attempt since it was started
//	ready           connected, and its lists were fetched (or ListErr says why not)
//	reconnecting    lost, or never reached; the status has attempt, next try and reason
//	needs-sign-in   the status has what for; Host.SignIn leads out of it
//	stopping        until its process is gone; no other one starts under its name before that
//	stopped         by Host.Stop
//	failed          given up, with the reason; Host.Start, Host.Restart and Host.Apply try again
//
// # Supervision
//
// A connection that is lost, or an attempt that fails, begins an outage. The waits between its attempts double from
// 500 ms to 30 s, each up to a fifth longer or shorter by chance: enough to spread the servers of a host, and little
// enough for the schedule to be known. After 10 failures in a row the server has failed, which takes some two minutes,
// and what it offers is withdrawn. A connection that lasts no longer than 30 s counts as a failure, so that a server
// that crashes soon after each start comes to an end as well; one that lasts longer begins the count anew.
//
// A server at a URL has no process that could be seen to end. It is lost when a call cannot reach it, or is told that
// it is unavailable (502, 503). After a call without a response, or one that a gateway gave up waiting for (504), it is
// asked for its lists, which tells whether the server is away or the call was at fault. Once it is known what a server
// at a URL offers, it is not tried for nobody: the first call after the wait makes the attempt, and calls that come
// meanwhile share it. So the number of attempts does not depend on the number of callers. Calls that are under way on
// the old connection go on. A server that says when to come back (Retry-After) is not tried sooner, up to 30 s.
//
// Of a server that is away, calls fail at once with a [*StateError], except while an attempt is under way: for that
// they wait as long as their ctx allows. The same goes for a server that connects for the first time, is idle, or is
// being restarted. A call that was sent is never sent again.
//
// A server that hangs is not noticed by itself: calls have their limits. With KeepAlive in the options of its client it
// is lost when it does not answer a ping.
//
// A server that wants a sign-in is not in an outage, and is not tried again before that. A command that does not exist
// is: somebody may be installing it.
//
// # Catalog
//
// The tools, prompts, resources and resource templates of a server are fetched at the same time, when it connects and
// when it says that one of the lists has changed, and replace what was there together. Changes within 250 ms are one; a
// server that goes on telling of changes from which nothing new comes is asked ever more rarely, down to every 30 s.
// Lists that cannot be fetched are tried again, as often as a server in an outage; those that must not be taken (a
// [*ListError]) or do not end (a [*mcp.PageError]) when they change. What was there before stays until then. A server
// that answers one of the lists with an error, or with too much, loses no tools by it unless it is that of tools: only
// that list stays as it was. Servers that list in another order each time change nothing. A call that is refused as one
// of an unknown tool or with wrong arguments has the lists fetched again, for servers that do not tell of changes.
//
// What a server offers is in the catalog as long as there is a prospect of using it, also while it is away, idle, in
// need of a sign-in or being restarted. It is withdrawn when the server has failed (but not if NoReconnect is why), and
// at once when it is stopped, disabled or removed, or has another configuration, however long its process takes to end.
//
// # Many servers
//
// A server with IdleStop is connected to learn what it offers, and then only while it is used: its tools are in the
// catalog, and cost no process. A server with Lazy is not even started for that. Its tools are not in the catalog until
// it was used for the first time: by [Host.Start], such as when the model asks for a server by its description, or by
// [Host.CallServerTool]. Both options go together.
//
// # Limits and defaults
//
// A server has 32 calls to deal with at once, and others wait for their turn. An attempt to connect takes 60 s at most,
// fetching the lists 30 s. A list has 100 pages and 1,000 items at most; more is an error, never a shorter list.
// [ServerOptions] has all of these. A call has the limits of its client, by default 60 s without an answer or progress,
// unless the configuration of the server has a timeout. Stopping a server takes as long as its transport's Close, by
// default 2.5 s; ctx bounds how long [Host.Close] and [Host.Stop] wait for it.
//
// A server that is connected takes one goroutine of the host beside those of its client; any other takes none.
//
// # Concurrency
//
// Everything may be called from any goroutine. No lock is held while something is waited for. The functions in Options
// may call the host, except that they must not wait for the very thing that they are called for.
//
// # Deviations
//
// A configuration with the clientRegistration "cimd" uses the application's Client ID Metadata Document, and fails
// without one; where an authorization server takes none, package oauth registers the client all the same.
package host
