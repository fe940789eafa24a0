package llmcontent_test

import (
	"encoding/json"
	"fmt"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/llmcontent"
)

func ExampleFunctions() {
	tools := []*mcp.Tool{{
		Name:        "list.files",
		Description: "Lists the files of the project.",
		InputSchema: json.RawMessage(`{"properties":{"$top":{"type":"integer"}},"anyOf":[{"required":["$top"]},{}]}`),
	}}
	functions, skipped := llmcontent.Functions("project", tools, llmcontent.Anthropic)
	definition, err := json.MarshalIndent(functions, "", "  ")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(definition), len(skipped))

	// The model calls the function with the names that it was given; the tool gets its own.
	f := llmcontent.Find(functions, "mcp__project__list_files_82fe4a81c94d")
	args, err := f.Arguments(`{"_top_81bf98e4": 10}`)
	fmt.Println(f.Tool.Name, string(args), err)
	// Output:
	// [
	//   {
	//     "name": "mcp__project__list_files_82fe4a81c94d",
	//     "description": "Lists the files of the project.",
	//     "input_schema": {
	//       "type": "object",
	//       "properties": {
	//         "_top_81bf98e4": {
	//           "type": "integer"
	//         }
	//       }
	//     }
	//   }
	// ] 0
	// list.files {"$top":10} <nil>
}

func ExampleFunction_CheckArguments() {
	tools := []*mcp.Tool{{
		Name:        "sum",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`),
	}}
	functions, _ := llmcontent.Functions("math", tools, llmcontent.OpenAIChat)
	args, err := functions[0].Arguments(`{"a": "two"}`)
	if err == nil {
		err = functions[0].CheckArguments(args)
	}
	if bad, ok := err.(*llmcontent.ArgumentsError); ok {
		fmt.Println(bad.ForModel())
	}
	// Output:
	// The arguments are not valid: They do not fit the schema: a: type: "two" has type "string", want "integer".
	// Call the function again with corrected arguments.
}

func ExampleFromResult() {
	result := &mcp.CallToolResult{Content: []mcp.Content{
		mcp.Text("Sales went up."),
		mcp.Image([]byte("\x89PNG\r\n\x1a\n..."), "image/png"),
		mcp.Audio([]byte("RIFF..."), "audio/wav"),
	}}
	for _, block := range llmcontent.FromResult(result) {
		if block.Image != nil {
			fmt.Println(block.Image.MIMEType, len(block.Image.Data))
			continue
		}
		fmt.Println(block.Text)
	}
	// Output:
	// Sales went up.
	// image/png 11
	// [audio, audio/wav, 7 bytes]
}

func ExampleCatalog_Search() {
	tools := []*mcp.Tool{
		{Name: "create_issue", Description: "Opens an issue."},
		{Name: "list_pulls", Description: "Lists the pull requests."},
	}
	functions, _ := llmcontent.Functions("github", tools, llmcontent.Plain)
	page, err := llmcontent.NewToolCatalog(functions).Search("pull request", 0, 5, llmcontent.Brief)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := json.MarshalIndent(page, "", "  ")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(b))
	// Output:
	// {
	//   "entries": [
	//     {
	//       "name": "mcp__github__list_pulls",
	//       "description": "Lists the pull requests."
	//     }
	//   ],
	//   "total": 1,
	//   "shown": 1,
	//   "truncated": false
	// }
}
