// Package streamablehttp reaches a Model Context Protocol server over HTTP (MCP, "Transports", Streamable HTTP), for
// the revisions 2025-03-26 to 2026-07-28, and over the deprecated HTTP+SSE transport of 2024-11-05, to which it falls
// back by itself.
//
//	client, err := mcp.Connect(ctx, &streamablehttp.Transport{URL: "https://example.com/mcp"}, nil)
//
// # Messages
//
// Each message is a POST of its own. The answer to a request is read on the goroutine that sends it, as JSON or as an
// event stream, and the call is over as soon as it is there: at most 4 KiB and 50 ms are spent on the rest of the
// stream, so that its connection can be used again. A server that keeps its streams open is waited for ever more
// rarely.
//
// What the server sends unasked comes on a GET stream, which is opened in the background after
// notifications/initialized. Sending that notification takes until the server begins to respond to the GET, or 20 ms
// after that was written. A server may refuse it. A stream that there was outlasts any outage; if it is lost for good
// all the same, Receive says so once, as a message with a Fault that wraps transport.ErrUnheard. One that was away and
// is back may have missed something, unless the server gave its events ids: transport.ErrMissed. [Reconnect] tells how
// streams are taken up again.
//
// A request whose response breaks off is resumed if the server gave its events ids. A request whose fate is unknown is
// never sent again. Nor is one that was refused: the error is a [*StatusError], unless the server simply answers with
// an error of its own. If the status says that it may pass (429, 502, 503, 504), the error matches
// transport.ErrUnavailable, and [StatusError.RetryAfter] is how long to wait before the next call.
//
// Since 2026-07-28 there is nothing but the POST: no session, no GET stream, no resumption. Headers repeat the method
// of a message, what it is about, and the parameters that a tool marks; values that cannot be headers are encoded.
// Closing the response cancels a request.
//
// Each request has the values of its caller's context, for a Client or an Authorizer that looks for them. The GET
// stream and the end of the session have no caller: they have those of the context in which the connection was opened.
//
// # Sessions
//
// Until 2025-11-25 there may be a session. It is the one that the response to initialize names, if it does. A server
// that no longer knows it answers 404; those that say so with 400 or 401 are known by their words. The error then wraps
// transport.ErrSessionExpired, and, as nothing was executed, transport.SafeToRetry holds. The session is forgotten, and
// other messages fail in the same way until another initialize has made a new one.
//
// # Credentials and redirects
//
// Headers, credentials and messages go to the origin of the URL and nowhere else. A redirect within it is followed,
// five times at most, if the request stays what it is (307 and 308, and any for a GET); another one is an error that
// names the target. An error never shows the URL's query, nor a header of a request.
//
// # The client
//
// Without a Client, connections share one of the package's own: proxies from the environment (HTTP_PROXY, HTTPS_PROXY,
// NO_PROXY), HTTP/2 where the server has it, at most 1,024 idle connections to a host, for 90 s, and none when the last
// connection of this package is closed. It puts no bound on the connections to a server of HTTP/1.1, since a call may
// wait for a message that itself needs one; to a server of HTTP/2 there are at most 32, each with as many requests as
// the server allows. For anything else give a Client: certificates by TLSClientConfig of its http.Transport, a Unix
// socket by DialContext and a URL such as http://localhost/mcp, another proxy by Proxy. A MaxConnsPerHost of its own
// should leave room for the GET stream, every concurrent call, and an answer to the server. Cookies, by which some load
// balancers find the server of a session, are kept by a Jar.
//
// # Limits and defaults
//
// A message has at most 16 MiB (see [Transport].MaxMessageBytes); a larger answer fails its call, and the rest of it is
// given up. A [StatusError] keeps 8 KiB of a body, and waits two seconds for them. Close takes one second (see
// [Transport].CloseTimeout). The endpoint event of HTTP+SSE is waited for for ten seconds.
//
// # Deviations from the specification
//
// A JSON body without a content type, or as text/plain, is read as JSON, after a byte order mark as well. An event of
// any type is a message if it is a JSON object with the member jsonrpc; others of a type are the server's own. The
// answer at the end of its stream may lack the blank line after it. An error response without an id, which is all that
// a response has to say, answers the request that it responds to. Until 2025-11-25 the answer to a request may come on
// any stream. A response that says nothing at all leaves that to the GET stream; without one it is the end of the call.
package streamablehttp
