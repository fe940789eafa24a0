// Providers puts the tools of an MCP server into requests of the official Go SDKs of OpenAI, Anthropic and Google. It
// prints the requests and sends none.
//
//	go run . COMMAND... # starts the server
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/llmcontent"
	"github.com/seed62b61957/mcp/stdio"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: providers command...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "providers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, command string, args []string) error {
	client, err := mcp.Connect(ctx, &stdio.Transport{Command: command, Args: args}, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	tools, err := client.ListTools(ctx)
	if err != nil {
		return err
	}
	return show(out, client.Server().Info.Name, tools)
}

// show writes a request for each API, with the tools of a server.
func show(out io.Writer, server string, tools []*mcp.Tool) error {
	const prompt = "What time is it?"

	functions, _ := llmcontent.Functions(server, tools, llmcontent.OpenAIChatStrict)
	chat, err := openAIChatTools(functions)
	if err != nil {
		return err
	}
	functions, _ = llmcontent.Functions(server, tools, llmcontent.OpenAIResponsesStrict)
	response, err := openAIResponsesTools(functions)
	if err != nil {
		return err
	}
	functions, _ = llmcontent.Functions(server, tools, llmcontent.Anthropic)
	messages, err := anthropicTools(functions)
	if err != nil {
		return err
	}
	functions, _ = llmcontent.Functions(server, tools, llmcontent.Gemini)
	declarations, err := geminiTools(functions)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	for _, request := range []any{
		openai.ChatCompletionNewParams{
			Model:    openai.ChatModelGPT6Sol,
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
			Tools:    chat,
		},
		responses.ResponseNewParams{
			Model: openai.ChatModelGPT6Sol,
			Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(prompt)},
			Tools: response,
		},
		anthropic.MessageNewParams{
			Model:     anthropic.ModelClaudeSonnet5_5,
			MaxTokens: 1024,
			Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
			Tools:     messages,
		},
		genai.GenerateContentConfig{Tools: declarations}, // beside the model and the contents
	} {
		if err := enc.Encode(request); err != nil {
			return err
		}
	}
	return nil
}
