package mcp

import "encoding/json"

// What a request is answered with, or told by a notification. The notes say what was tolerated. The results share the
// data.

func decodeInitializeResult(data json.RawMessage) (*ServerInfo, []string, error) {
	return decodeResult[ServerInfo](data)
}

func decodeCallToolResult(data json.RawMessage) (*CallToolResult, []string, error) {
	return decodeResult[CallToolResult](data)
}

func decodeReadResourceResult(data json.RawMessage) (*ReadResourceResult, []string, error) {
	return decodeResult[ReadResourceResult](data)
}

func decodeGetPromptResult(data json.RawMessage) (*GetPromptResult, []string, error) {
	return decodeResult[GetPromptResult](data)
}

func decodeCompleteResult(data json.RawMessage) (*CompleteResult, []string, error) {
	return decodeResult[CompleteResult](data)
}

func decodeLogMessage(params json.RawMessage) (*LogMessage, error) {
	m, _, err := decodeResult[LogMessage](params)
	return m, err
}

// decodeProgress leaves empty what is wrong: that there was progress counts more than how much.
func decodeProgress(params json.RawMessage) Progress {
	var p Progress
	_, _ = decodeInto(params, &p)
	return p
}
