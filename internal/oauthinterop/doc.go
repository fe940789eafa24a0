// Package oauthinterop holds tests only: package oauth against programs that others wrote. .ci/oauth installs them,
// starts PostgreSQL and says in MCP_POSTGRES where it is; without it the tests fail.
package oauthinterop
