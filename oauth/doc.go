// Package oauth signs users in to MCP servers that are protected by OAuth 2.1, and keeps their tokens fresh. An
// [Authorizer] is the Authorizer of a streamablehttp.Transport:
//
//	store, err := oauth.NewFileStore(dir)
//	...
//	a, err := oauth.New(oauth.Config{
//		Server:              "https://example.com/mcp",
//		Store:               store,
//		ClientIDMetadataURL: "https://app.example.org/client.json",
//	})
//	...
//	transport := &streamablehttp.Transport{URL: "https://example.com/mcp", Authorizer: a}
//	client, err := mcp.Connect(ctx, transport, nil)
//
// A call never waits for a user. When one must act, it fails with a [*SignInRequiredError], from mcp.Connect or later,
// and the application decides when and where to ask:
//
//	var required *oauth.SignInRequiredError
//	if errors.As(err, &required) {
//		callback, err := oauth.ListenLoopback(oauth.LoopbackOptions{})
//		...
//		defer callback.Close()
//		signIn, err := a.StartSignIn(ctx, &oauth.SignInOptions{
//			Required: required, RedirectURL: callback.RedirectURL(),
//		})
//		... // open signIn.AuthorizationURL in a browser
//		response, err := callback.Wait(ctx, signIn.State)
//		...
//		err = a.CompleteSignIn(ctx, signIn, response)
//		... // and call again
//	}
//
// The two halves of a sign-in need not be in the same process: a web application keeps the [SignIn] as JSON, and ends
// it where the user comes back to ([ResponseFromRedirectURL]).
//
// # What it does
//
// The authorization server is found by the protected resource metadata of the MCP server (RFC 9728) and its own (RFC
// 8414, OpenID Connect Discovery), or as in revision 2025-03-26. The client id is the one in Config.Client, which
// belongs to one issuer, or the application's Client ID Metadata Document, or one that is registered there and then
// (RFC 7591) and kept by issuer. The code is asked for with PKCE (S256), state and resource (RFC 8707), and used only
// when the answer comes from the issuer that was asked (RFC 9207). Programs without a user have [ClientCredentials],
// [EnterpriseManaged] and [WorkloadIdentity]. Tokens can be bound to a key (Config.DPoP, RFC 9449).
//
// A token is renewed 30 s before its end (of a short life, a quarter of it), or when the server refuses it. All callers
// of a process share one renewal, all processes share one by the lock of their [Store], and none of them ends with the
// call that began it. A newer record in the store is never replaced by an older one. A refresh token that is refused
// (invalid_grant, or invalid_client where the client has registered itself) is dropped, and the server's next 401 asks
// for a sign-in; on any other failure it is kept. [Authorizer.SignOut] forgets the tokens, and has them revoked (RFC
// 7009) where the authorization server does so.
//
// A process may be killed after the authorization server has changed a refresh token for a new one, and before the new
// one is in the store: within the milliseconds between an answer and its saving. The next process then sends the old
// token again. A server that takes one again for some seconds, as many do for such reasons, gives it a new one, and
// nothing is lost. To a server without that grace it looks like a thief's (RFC 9700, section 4.14.2): it revokes the
// grant, and the user has to sign in again. No client can do anything about that.
//
// # Limits and defaults
//
// A renewal takes 15 s at most, a half of a sign-in 45 s, discovery 30 s, one request 10 s, and so does the revocation
// at a sign-out. A response has at most 1 MiB. A renewal that failed is not tried again for two seconds. A token that
// was refused is replaced once; if the new one is refused, a program without a user gets a [*RefusedError], a user is
// asked to sign in, and gets the RefusedError if that was of no use either. For a scope that is too narrow a user is
// asked twice within ten minutes, and a program gets a wider token twice. An assertion of a client lasts a minute. A
// [Loopback] waits for five minutes, and closes within a second.
//
// # Where requests go
//
// Requests go to https URLs, or to http ones on loopback. Redirects stay within an origin, three at most. A token goes
// to the origin of Config.Server: for a request to another one, Authorize returns an error. Hosts that servers name are
// in ASCII (Punycode), since not everybody who connects makes the same of another one.
//
// What an MCP server names, and what an authorization server that it named does, may not lead farther inside than the
// MCP server itself is: a public one names no private, link-local or loopback address, one at a private address none of
// this machine, one on loopback anything. The host in Config.Server tells: an address, or localhost; any other name
// counts as public, whatever it resolves to. The origins of all URLs in the Config are always allowed, and
// Config.AllowPrivate allows all. How that is kept depends on Config.HTTP:
//
//   - With none, or one that has no Transport, the address is checked when it is connected to, so that a name that
//     changes its address gains nothing. (A DialContext that was put into http.DefaultTransport is not used then.) An
//     http.Transport is used as a copy that does the same; if it has a DialContext of its own, the connection is
//     checked as soon as there is one, and before anything is sent.
//   - Through a proxy (of the Transport, so by default of HTTPS_PROXY), it is the proxy that connects. Names are looked
//     up beforehand, and refused if they have such an address here. One that cannot be looked up is left to the proxy.
//   - Any other RoundTripper, or an http.Transport with the deprecated Dial or DialTLS, is treated like a proxy: it can
//     look up the name once more, and be told something else.
//
// # Secrets
//
// Tokens, codes, verifiers, client secrets and keys are in no error, in no log, and in nothing that formats a value of
// this package. They are in the Store, for which there is [Sealed], and in the JSON of a SignIn.
//
// # Deviations from the specification
//
// Discovery: metadata may name its issuer with or without a slash at its end; the iss of an answer is compared exactly.
// The issuer in the document at ServerMetadataURL is believed. The metadata of an MCP server may be about a resource
// above it at the same origin, and may name none, which then is the server's URL; if it names no authorization server,
// the server's origin is taken for one. Members of metadata with a type that is not theirs are ignored; content types
// are, too. A server that certainly has no metadata (a status of 4xx but 408, 425 and 429, or a page that is none) is
// one of 2025-03-26, for which OpenID metadata at its origin is good as well.
//
// A redirect URL may have a scheme of the application's own, as OAuth has it for native applications (RFC 8252, section
// 7.1) and MCP has not. A server without any metadata counts as one with PKCE. A token endpoint may answer with any
// status of success and with a form, and a registration endpoint with 200. A 401 without a challenge is taken for a
// demand for a token, and a 403 whose challenge names scopes that the token lacks, and no error, for a demand for
// those. A client secret that ends after the year 9999, as it does where milliseconds are counted, has no end.
// Config.Scopes stand in for those of the first challenge. Servers whose metadata lists scopes without offline_access
// are not asked for it, even where the MCP server demands it.
package oauth
