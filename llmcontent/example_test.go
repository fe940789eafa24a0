package llmcontent_test

import (
	"encoding/json"
	"fmt"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/llmcontent"
)

func ExampleFunctionOf() {
	tool := &mcp.Tool{Name: "list.files", Description: "Lists the files of the project."}
	definition, err := json.MarshalIndent(llmcontent.FunctionOf("project", tool), "", "  ")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(definition))
	// Output:
	// {
	//   "name": "mcp__project__list_files_82fe4a81c94d",
	//   "description": "Lists the files of the project.",
	//   "parameters": {
	//     "type": "object",
	//     "properties": {}
	//   }
	// }
}

func ExampleFromResult() {
	result := &mcp.CallToolResult{Content: []mcp.Content{
		mcp.Text("Sales went up."),
		mcp.Image([]byte("\x89PNG..."), "image/png"),
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
	// image/png 7
	// [audio, audio/wav, 7 bytes]
}
