package llmcontent

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/seed62b61957/mcp"
)

// said reports whether the blocks that are shown say what structured content does. Some servers wrap a result that is
// no object in one with the member "result", and give the result itself as text.
func said(structured json.RawMessage, content []mcp.Content) bool {
	value, ok := valueOf(string(structured))
	if !ok || value == nil {
		return ok // some servers send null for what they have not got
	}
	object, _ := value.(map[string]any)
	inner, wrapped := object["result"]
	wrapped = wrapped && len(object) == 1
	for _, c := range content {
		block, ok := c.(*mcp.TextContent)
		if !ok {
			continue
		}
		if wrapped && inner == block.Text {
			return true
		}
		text, ok := valueOf(block.Text)
		if ok && (reflect.DeepEqual(text, value) || wrapped && reflect.DeepEqual(text, inner)) {
			return true
		}
	}
	return false
}

// valueOf reads JSON text. Numbers keep their digits.
func valueOf(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v) == nil && !d.More()
}
