package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/streamablehttp"
)

// A program on the user's machine: it connects, is told to sign in, opens the browser, and connects again.
func Example() {
	server := startProtectedServer()
	defer server.Close()
	ctx := context.Background()

	authorizer, err := oauth.New(oauth.Config{
		Server:       server.URL + "/mcp",
		Registration: oauth.Registration{ClientName: "Example agent"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	transport := &streamablehttp.Transport{URL: server.URL + "/mcp", Authorizer: authorizer}

	client, err := mcp.Connect(ctx, transport, nil)
	if required, ok := errors.AsType[*oauth.SignInRequiredError](err); ok {
		fmt.Println("a sign-in is required, for", required.Scopes)
		if err := signInWithBrowser(ctx, authorizer, required); err != nil {
			fmt.Println(err)
			return
		}
		client, err = mcp.Connect(ctx, transport, nil)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	res, err := client.CallTool(ctx, "whoami", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Text())
	// Output:
	// a sign-in is required, for [profile]
	// you are Eve
}

func signInWithBrowser(ctx context.Context, a *oauth.Authorizer, required *oauth.SignInRequiredError) error {
	callback, err := oauth.ListenLoopback(oauth.LoopbackOptions{})
	if err != nil {
		return err
	}
	defer callback.Close()

	signIn, err := a.StartSignIn(ctx, &oauth.SignInOptions{
		Required:    required,
		RedirectURL: callback.RedirectURL(),
	})
	if err != nil || signIn.Done() {
		return err
	}
	go openBrowser(signIn.AuthorizationURL)
	response, err := callback.Wait(ctx, signIn.State)
	if err != nil {
		return err
	}
	return a.CompleteSignIn(ctx, signIn, response)
}

// openBrowser stands for the user's browser; the user agrees to everything.
func openBrowser(url string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if resp, err := client.Get(url); err == nil {
		resp.Body.Close()
	}
}

// A web application: the user comes back in another request, which another process may serve.
func ExampleSignIn() {
	server := startProtectedServer()
	defer server.Close()
	ctx := context.Background()

	config := oauth.Config{
		Server:      server.URL + "/mcp",
		Store:       oauth.NewMemoryStore(), // one that all processes share
		Key:         "user 7",
		RedirectURL: "https://app.example.com/callback",
	}
	first, err := oauth.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	signIn, err := first.StartSignIn(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	session := saveSignIn(signIn)                    // as JSON, where only the application reads it
	location := visitServer(signIn.AuthorizationURL) // the user's browser

	second, err := oauth.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := oauth.ResponseFromRedirectURL(location)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := second.CompleteSignIn(ctx, loadSignIn(session), response); err != nil {
		fmt.Println(err)
		return
	}
	token, err := second.Token(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(token, token.Scopes)
	// Output: oauth.Token(Bearer) [profile]
}

// A program without a user: the client itself is granted access, and nobody is ever asked.
func ExampleClientCredentials() {
	server := startProtectedServer()
	defer server.Close()
	ctx := context.Background()

	authorizer, err := oauth.New(oauth.Config{
		Server: server.URL + "/mcp",
		Grant:  oauth.ClientCredentials{},
		Client: &oauth.Client{
			ID:     "nightly-report",
			Secret: "from-the-vault", // or a SigningKey in its place
			Issuer: server.URL,       // the one authorization server that gets to see it
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	transport := &streamablehttp.Transport{URL: server.URL + "/mcp", Authorizer: authorizer}
	client, err := mcp.Connect(ctx, transport, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	res, err := client.CallTool(ctx, "whoami", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Text())
	// Output: you are Eve
}
