package mcp

import (
	"encoding/json"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// CreateMessageRequest asks the client to have a model continue a conversation. The user should be able to see, change
// and refuse it.
type CreateMessageRequest struct {
	Messages         []SamplingMessage `json:"messages"`
	ModelPreferences *ModelPreferences `json:"modelPreferences,omitempty"`
	SystemPrompt     string            `json:"systemPrompt,omitempty"`
	IncludeContext   string            `json:"includeContext,omitempty"` // "none", "thisServer" or "allServers"
	Temperature      *float64          `json:"temperature,omitempty"`
	MaxTokens        int64             `json:"maxTokens"` // at most so many; 0 if the server did not say
	StopSequences    []string          `json:"stopSequences,omitempty"`
	Metadata         json.RawMessage   `json:"metadata,omitempty"`   // an object for the model's provider
	Tools            []*Tool           `json:"tools,omitempty"`      // 2025-11-25
	ToolChoice       *ToolChoice       `json:"toolChoice,omitempty"` // 2025-11-25
	Meta             Meta              `json:"_meta,omitempty"`
}

// MarshalJSON writes the request as a server sends it.
func (r CreateMessageRequest) MarshalJSON() ([]byte, error) {
	type plain CreateMessageRequest
	r.Messages = orEmpty(r.Messages)
	return marshal(plain(r))
}

// UnmarshalJSON reads a request. It is lenient except for the messages: to leave one out would change the conversation.
func (r *CreateMessageRequest) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

func (r *CreateMessageRequest) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "messages":
			r.Messages = samplingMessages(d)
		case "modelPreferences":
			r.ModelPreferences = optional[ModelPreferences](d)
		case "systemPrompt":
			r.SystemPrompt = d.text()
		case "includeContext":
			r.IncludeContext = d.text()
		case "temperature":
			r.Temperature = d.number()
		case "maxTokens":
			if n := d.integer(); n != nil {
				r.MaxTokens = *n
			}
		case "stopSequences":
			r.StopSequences = texts[string](d)
		case "metadata":
			r.Metadata = d.object()
		case "tools":
			r.Tools = mustList[Tool](d)
		case "toolChoice":
			r.ToolChoice = optional[ToolChoice](d)
		case "_meta":
			r.Meta = d.objects()
		}
	}
	r.Messages = orEmpty(r.Messages)
}

func samplingMessages(d *decoder) []SamplingMessage {
	messages := []SamplingMessage{}
	if !d.must(jsonscan.Array) {
		return messages
	}
	for range d.entries() {
		var m SamplingMessage
		m.decode(d)
		messages = append(messages, m)
	}
	return messages
}

// SamplingMessage is one message of a conversation with a model.
type SamplingMessage struct {
	Role    Role
	Content []Content // more than one block since 2025-11-25
	Meta    Meta
}

type wireSamplingMessage struct {
	Role    Role `json:"role"`
	Content any  `json:"content"`
	Meta    Meta `json:"_meta,omitempty"`
}

// oneOrMore is how blocks are written: one alone as an object, since revisions before 2025-11-25 know no lists here.
func oneOrMore(blocks []Content) any {
	if len(blocks) == 1 {
		return blocks[0]
	}
	return orEmpty(blocks)
}

// MarshalJSON writes content of one block as that block, and else as a list.
func (m SamplingMessage) MarshalJSON() ([]byte, error) {
	return marshal(wireSamplingMessage{m.Role, oneOrMore(m.Content), m.Meta})
}

// UnmarshalJSON reads a message whose content is a block or a list of blocks.
func (m *SamplingMessage) UnmarshalJSON(data []byte) error { return unmarshal(data, m) }

func (m *SamplingMessage) decode(d *decoder) {
	var wire wireMessage
	wire.decode(d)
	*m = SamplingMessage{Role: wire.role, Content: wire.content, Meta: wire.meta}
}

// ModelPreferences are a server's wishes for the model. The client need not follow them. Priorities go from 0, which
// means not important, to 1.
type ModelPreferences struct {
	Hints                []ModelHint `json:"hints,omitempty"` // the most wanted first
	CostPriority         *float64    `json:"costPriority,omitempty"`
	SpeedPriority        *float64    `json:"speedPriority,omitempty"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitempty"`
}

// UnmarshalJSON reads preferences leniently: what is of the wrong type stays empty.
func (p *ModelPreferences) UnmarshalJSON(data []byte) error { return unmarshal(data, p) }

func (p *ModelPreferences) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "hints":
			p.Hints = values[ModelHint](d)
		case "costPriority":
			p.CostPriority = d.number()
		case "speedPriority":
			p.SpeedPriority = d.number()
		case "intelligencePriority":
			p.IntelligencePriority = d.number()
		}
	}
}

// ModelHint is part of the name of a model that the server would like.
type ModelHint struct {
	Name string `json:"name,omitempty"`
}

// UnmarshalJSON reads a hint leniently.
func (h *ModelHint) UnmarshalJSON(data []byte) error { return unmarshal(data, h) }

func (h *ModelHint) decode(d *decoder) {
	for name := range d.members() {
		if string(name) == "name" {
			h.Name = d.text()
		}
	}
}

// ToolChoice says whether the model may, must or must not use tools.
type ToolChoice struct {
	Mode string `json:"mode,omitempty"` // "auto", "required" or "none"; "" is auto
}

// UnmarshalJSON reads a choice leniently.
func (c *ToolChoice) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }

func (c *ToolChoice) decode(d *decoder) {
	for name := range d.members() {
		if string(name) == "mode" {
			c.Mode = d.text()
		}
	}
}

// CreateMessageResult is what the model said.
type CreateMessageResult struct {
	Role       Role      // RoleAssistant if empty
	Content    []Content // more than one block since 2025-11-25
	Model      string    // the name of the model
	StopReason string    // "endTurn", "stopSequence", "maxTokens", "toolUse", or a provider's own; "" if not known
	Meta       Meta
}

// MarshalJSON writes content of one block as that block, and else as a list.
func (r CreateMessageResult) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		wireSamplingMessage
		Model      string `json:"model"`
		StopReason string `json:"stopReason,omitempty"`
	}{
		wireSamplingMessage{Role(firstOf(string(r.Role), string(RoleAssistant))), oneOrMore(r.Content), r.Meta},
		r.Model, r.StopReason,
	})
}

// UnmarshalJSON reads a result whose content is a block or a list of blocks.
func (r *CreateMessageResult) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

func (r *CreateMessageResult) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "role":
			r.Role = Role(d.text())
		case "content":
			r.Content = d.oneOrMore()
		case "model":
			r.Model = d.text()
		case "stopReason":
			r.StopReason = d.text()
		case "_meta":
			r.Meta = d.objects()
		}
	}
	r.Content = orEmpty(r.Content)
}
