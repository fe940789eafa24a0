package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServerCapabilities(t *testing.T) {
	text := `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{},
		"logging":{},"completions":{},
		"experimental":{"x":{"n":1}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	c, notes := read[ServerCapabilities](t, text)
	assert.Empty(t, notes)
	assert.Equal(t, &ServerCapabilities{
		Tools:        &ToolsCapability{ListChanged: true},
		Resources:    &ResourcesCapability{Subscribe: true, ListChanged: true},
		Prompts:      &PromptsCapability{},
		Logging:      true,
		Completions:  true,
		Experimental: map[string]json.RawMessage{"x": json.RawMessage(`{"n":1}`)},
		Extensions:   map[string]json.RawMessage{"io.modelcontextprotocol/tasks": json.RawMessage(`{}`)},
		Raw:          json.RawMessage(text),
	}, c)
	assert.JSONEq(t, text, written(t, c))
	assert.JSONEq(t, `{}`, written(t, ServerCapabilities{}))
}

func TestWhatCountsAsACapability(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `{"junk":[1,
			{"a":null}]}`: true, `true`: true, `[]`: true, `"yes"`: true, `1`: true, `null`: false, `false`: false,
	} {
		c, _ := read[ServerCapabilities](t,
			strings.ReplaceAll(`{"tools":X,"resources":X,"prompts":X,"logging":X,"completions":X}`, "X", text))
		assert.Equal(t, want, c.Tools != nil, text)
		assert.Equal(t, want, c.Resources != nil, text)
		assert.Equal(t, want, c.Prompts != nil, text)
		assert.Equal(t, want, c.Logging, text)
		assert.Equal(t, want, c.Completions, text)
	}
	c, notes := read[ServerCapabilities](t, `{"tools":{"listChanged":"true"},"experimental":[]}`)
	assert.Equal(t, &ToolsCapability{}, c.Tools)
	assert.Equal(t, []string{
		"tools.listChanged: ignored, expected a boolean, found a string",
		"experimental: ignored, expected an object, found an array",
	}, notes)
	c, _ = read[ServerCapabilities](t, `[]`)
	assert.Equal(t, &ServerCapabilities{}, c)
}

func TestClientCapabilities(t *testing.T) {
	assert.JSONEq(t, `{}`, written(t, clientCapabilities{}))
	assert.JSONEq(t, `{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},
		"url":{}},
		"experimental":{"x":{}},"extensions":{"y":{}}}`, written(t, &clientCapabilities{
		Roots:        &rootsCapability{ListChanged: true},
		Sampling:     &samplingCapability{Tools: present(true), Context: present(true)},
		Elicitation:  &elicitationCapability{Form: present(true), URL: present(true)},
		Experimental: map[string]json.RawMessage{"x": json.RawMessage(`{}`)},
		Extensions:   map[string]json.RawMessage{"y": json.RawMessage(`{}`)},
	}))
	assert.JSONEq(t, `{"sampling":{}}`, written(t, clientCapabilities{Sampling: &samplingCapability{}}))
}

func TestInitializeResult(t *testing.T) {
	s, notes, err := decodeResult[ServerInfo]([]byte(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},
		"serverInfo":{"name":"n","version":"1"},"instructions":"i","_meta":{"k":1}}`))
	require.NoError(t, err)
	assert.Empty(t, notes)
	assert.Equal(t, "2025-06-18", s.ProtocolVersion)
	assert.Equal(t, Implementation{Name: "n", Version: "1"}, s.Info)
	assert.NotNil(t, s.Capabilities.Tools)
	assert.Equal(t, "i", s.Instructions)
	assert.Contains(t, s.Meta, "k")

	s, notes, err = decodeResult[ServerInfo]([]byte(`{"protocolVersion":5,"capabilities":[],"serverInfo":"x",
		"instructions":{}}`))
	require.NoError(t, err)
	assert.Equal(t, &ServerInfo{}, s)
	assert.Len(t, notes, 4)
}
