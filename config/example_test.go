package config_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

// A file is read, and its servers are started. The lookup is os.LookupEnv in most programs.
func Example() {
	ctx := context.Background()
	file, err := config.ParseFile("testdata/example.json", nil)
	if err != nil {
		fmt.Println(err) // the bad entries, a line for each; the others are in file
	}
	servers, err := file.Expand(lookup)
	if err != nil {
		fmt.Println(err)
	}
	for _, s := range servers {
		client, err := mcp.Connect(ctx, transportOf(s), &mcp.Options{Timeout: s.Timeout})
		if err != nil {
			fmt.Println(s.Name, err)
			continue
		}
		defer client.Close()
		res, err := client.CallTool(ctx, "shout", map[string]any{"text": "hello"})
		if err != nil {
			fmt.Println(s.Name, err)
			continue
		}
		fmt.Println(s.Name, res.Text())
	}
	// Output:
	// shouter HELLO!
}

// transportOf makes the transport that an expanded server describes.
func transportOf(s config.Server) transport.Transport {
	if s.Type == config.Stdio {
		return &stdio.Transport{Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Cwd}
	}
	header := http.Header{}
	for name, value := range s.Headers {
		header.Set(name, value)
	}
	return &streamablehttp.Transport{URL: s.URL, Header: header} // with an Authorizer of package oauth for s.OAuth
}

// lookup gives the variables that a configuration may use, and no others.
func lookup(name string) (string, bool) {
	if name == "SHOUTER" {
		self, err := os.Executable()
		return self, err == nil
	}
	return "", false
}

// An error tells where it is, and what is missing can be asked for.
func ExampleError() {
	file, err := config.ParseBytes([]byte(`{
		"servers": {
			"forge": {"url": "https://forge.example/mcp", "headers": {"Authorization": "Bearer ${input:token}"}},
			"notes": {"command": "notes", "timeout": -1}
		}
	}`), nil)
	fmt.Println(err)

	_, err = file.Expand(os.LookupEnv)
	if e, ok := errors.AsType[*config.Error](err); ok {
		fmt.Println(e)
		fmt.Println("to be asked for:", e.Missing)
	}
	// Output:
	// config: 4:45: server "notes": timeout: must be more than 0
	// config: 3:79: server "forge": headers.Authorization: input:token is not set
	// to be asked for: [input:token]
}

// The file of a project may switch servers of the user off, and do nothing else to them.
func ExampleMerge() {
	user, _ := config.ParseBytes([]byte(`{"mcpServers": {
		"forge": {"url": "https://forge.example/mcp", "headers": {"Authorization": "Bearer s3cr3t"}},
		"notes": {"command": "notes"}
	}}`), nil)
	project, _ := config.ParseBytes([]byte(`{"mcpServers": {
		"notes": {"enabled": false},
		"forge": {"url": "https://elsewhere.example/mcp"}
	}}`), nil)

	merged, err := config.Merge(user, project, config.Policy{Fields: []string{"enabled"}})
	for _, s := range merged.Servers {
		fmt.Println(s.Name, s.URL, s.Disabled)
	}
	fmt.Println(err)
	// Output:
	// forge https://forge.example/mcp false
	// notes  true
	// config: 3:13: server "forge": url: may not be changed here; what may be: enabled
}
