package mcp_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// A server that asks for a model and for the user's folders. What there is a handler for is what the server is told
// that it may ask for.
func ExampleOptions_createMessage() {
	server := &mcptest.Server{}
	server.AddTool(&mcp.Tool{Name: "summarize"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		roots, err := call.Roots()
		if err != nil {
			return nil, err
		}
		answer, err := call.CreateMessage(&mcp.CreateMessageRequest{
			MaxTokens: 100,
			Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{
				&mcp.TextContent{Text: "What is in " + roots[0].Name + "?"},
			}}},
		})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: answer.Content}, nil
	})

	ctx := context.Background()
	client, err := mcp.Connect(ctx, server.Transport(), &mcp.Options{
		Roots: func(context.Context) ([]mcp.Root, error) {
			project, err := mcp.FileRoot("/home/ada/notes")
			return []mcp.Root{project}, err
		},
		CreateMessage: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			question := r.Messages[0].Content[0].(*mcp.TextContent).Text
			fmt.Println("the server asks:", question) // show it to the user, who may refuse
			return &mcp.CreateMessageResult{
				Model:   "my-model",
				Content: []mcp.Content{&mcp.TextContent{Text: "Mostly recipes."}},
			}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	result, err := client.CallTool(ctx, "summarize", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output:
	// the server asks: What is in notes?
	// Mostly recipes.
}

// A server that needs the user to go somewhere. The client never opens the URL by itself.
func ExampleOptions_elicitURL() {
	server := &mcptest.Server{}
	server.AddTool(&mcp.Tool{Name: "pay"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		answer, err := call.Elicit(&mcp.ElicitRequest{
			Mode: mcp.ElicitURL, Message: "Please pay first.", URL: "https://shop.example/pay/7", ElicitationID: "7",
		})
		if err != nil {
			return nil, err
		}
		return mcptest.Text("the user chose to " + string(answer.Action)), nil
	})

	ctx := context.Background()
	client, err := mcp.Connect(ctx, server.Transport(), &mcp.Options{
		ElicitURL: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Printf("%s Open %s?\n", r.Message, r.URL) // all of it, with the host to be seen
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	result, err := client.CallTool(ctx, "pay", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output:
	// Please pay first. Open https://shop.example/pay/7?
	// the user chose to decline
}

// What a server says unasked. The handlers are called one after the other, on a goroutine of their own.
func ExampleNotifications() {
	server := &mcptest.Server{Logging: true}
	server.AddTool(&mcp.Tool{Name: "search"}, func(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		return mcptest.Text("found"), call.Log(ctx, &mcp.LogMessage{Level: mcp.LogWarning, Data: []byte(`"the index is old"`)})
	})

	logged := make(chan string, 1)
	ctx := context.Background()
	client, err := mcp.Connect(ctx, server.Transport(), &mcp.Options{On: mcp.Notifications{
		Log: func(_ context.Context, m *mcp.LogMessage) { logged <- fmt.Sprintf("%s: %s", m.Level, m.Data) },
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := client.SetLogLevel(ctx, mcp.LogInfo); err != nil { // until then a server may say nothing
		log.Fatal(err)
	}

	if _, err := client.CallTool(ctx, "search", nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-logged)
	// Output: warning: "the index is old"
}

// Values for an argument while the user types.
func ExampleClient_Complete() {
	server := &mcptest.Server{
		Complete: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			result := &mcp.CompleteResult{}
			for _, city := range []string{"Lisbon", "Lyon", "Paris"} {
				if strings.HasPrefix(city, r.Value) {
					result.Values = append(result.Values, city)
				}
			}
			return result, nil
		},
	}
	ctx := context.Background()
	client, err := mcp.Connect(ctx, server.Transport(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	result, err := client.Complete(ctx, &mcp.CompleteRequest{
		Ref: mcp.PromptRef("plan_trip"), Argument: "city", Value: "L",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Values)
	// Output: [Lisbon Lyon]
}
