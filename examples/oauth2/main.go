// Command oauth2 joins the package oauth with golang.org/x/oauth2, both ways: a token of an [oauth.Authorizer] for
// libraries that take an oauth2.TokenSource, and a token of an oauth2.TokenSource for an MCP server.
//
//	go run . https://example.com/mcp CLIENT_ID CLIENT_SECRET
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"golang.org/x/oauth2"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/streamablehttp"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: oauth2 URL CLIENT_ID CLIENT_SECRET")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "oauth2:", err)
		os.Exit(1)
	}
}

// run lists the tools of a server twice: with an oauth.Authorizer, and with the same token by way of x/oauth2.
func run(ctx context.Context, url, clientID, secret string) error {
	authorizer, err := oauth.New(oauth.Config{
		Server: url,
		Grant:  oauth.ClientCredentials{},
		Client: &oauth.Client{ID: clientID, Secret: secret},
	})
	if err != nil {
		return err
	}
	if err := list(ctx, url, authorizer); err != nil {
		return err
	}
	source := oauth2.ReuseTokenSource(nil, tokenSource{ctx, authorizer})
	return list(ctx, url, fromTokenSource{source})
}

func list(ctx context.Context, url string, a streamablehttp.Authorizer) error {
	client, err := mcp.Connect(ctx, &streamablehttp.Transport{URL: url, Authorizer: a}, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	for tool, err := range client.Tools(ctx) {
		if err != nil {
			return err
		}
		fmt.Println(tool.Name)
	}
	return nil
}

// tokenSource makes an oauth2.TokenSource of an Authorizer. Its ctx bounds every Token, since the interface has none.
type tokenSource struct {
	ctx        context.Context
	authorizer *oauth.Authorizer
}

func (s tokenSource) Token() (*oauth2.Token, error) {
	t, err := s.authorizer.Token(s.ctx)
	if err != nil {
		return nil, err
	}
	return &oauth2.Token{AccessToken: t.AccessToken, TokenType: t.Type, Expiry: t.Expires}, nil
}

// fromTokenSource makes a streamablehttp.Authorizer of an oauth2.TokenSource, which renews its token by itself and
// meets no challenge. What a request that only cleans up has no token for, it goes without.
type fromTokenSource struct{ source oauth2.TokenSource }

func (a fromTokenSource) Authorize(_ context.Context, req *http.Request, refresh bool) error {
	if !refresh {
		return nil // a TokenSource cannot be asked for what it has at hand
	}
	t, err := a.source.Token()
	if err != nil {
		return err
	}
	t.SetAuthHeader(req)
	return nil
}

func (fromTokenSource) Inspect(context.Context, *http.Request, *http.Response) (bool, error) {
	return false, nil
}
