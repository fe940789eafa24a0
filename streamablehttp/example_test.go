package streamablehttp_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"net/http"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
)

// A client of one's own: another proxy, certificates, tracing. It may serve any number of connections.
func Example() {
	below := http.DefaultTransport.(*http.Transport).Clone()
	below.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS13}
	below.MaxIdleConnsPerHost = 64 // as many as there are calls at once; net/http keeps two

	ctx := context.Background()
	client, err := mcp.Connect(ctx, &streamablehttp.Transport{
		URL:    "https://mcp.example.com/mcp",
		Client: &http.Client{Transport: below},
		Header: http.Header{"X-Api-Key": {"a key from the configuration"}},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(client.Server().Info.Name)
}

// A web back end that acts for many users: each has a client, since a connection stands for one authorization. The HTTP
// connections below are shared all the same, and a client that is idle costs little.
func ExampleAuthorizer() {
	connect := func(ctx context.Context, user string) (*mcp.Client, error) {
		return mcp.Connect(ctx, &streamablehttp.Transport{
			URL:        "https://mcp.example.com/mcp",
			Authorizer: vault{user},
		}, nil)
	}
	client, err := connect(context.Background(), "ada")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
}

// vault has the tokens of users in a place of its own. For OAuth, package oauth does all this.
type vault struct{ user string }

func (v vault) Authorize(_ context.Context, r *http.Request, _ bool) error {
	r.Header.Set("Authorization", "Bearer "+v.token())
	return nil
}

func (v vault) Inspect(context.Context, *http.Request, *http.Response) (retry bool, err error) {
	return false, nil // there is no newer token to try: after a 401 the call fails with that
}

func (v vault) token() string { return "the token of " + v.user }
