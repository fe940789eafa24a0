// Package oauthinterop holds tests only: package oauth against programs that others wrote. The authorization server is
// oidc-provider, the MCP server is one of the Go SDK behind its package auth, the user's browser is Chromium, and the
// store that many machines share is in PostgreSQL. .ci/oauth installs them, starts PostgreSQL, and says in MCP_POSTGRES
// and MCP_OAUTH_PROVIDER where things are; without it the tests fail.
package oauthinterop
