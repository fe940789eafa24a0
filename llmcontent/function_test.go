package llmcontent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

func TestFunctionOf(t *testing.T) {
	tool := &mcp.Tool{
		Name:        "read file",
		Description: "Reads a file.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`),
	}
	b, err := json.Marshal(FunctionOf("files", tool))
	require.NoError(t, err)
	assert.Equal(t, `{"name":"mcp__files__read_file_e8c588a7f0d9","description":"Reads a file.",`+
		`"parameters":{"type":"object","properties":{"z":{},"a":{}}}}`, string(b))

	b, err = json.Marshal(FunctionOf("files", &mcp.Tool{Name: "now"}))
	require.NoError(t, err)
	assert.Equal(t, `{"name":"mcp__files__now","parameters":{"type":"object","properties":{}}}`, string(b))
}
