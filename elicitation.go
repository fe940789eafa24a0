package mcp

import (
	"bytes"
	"encoding/json"
)

// ElicitRequest asks the user for something on behalf of a server.
type ElicitRequest struct {
	Mode    ElicitMode `json:"mode,omitempty"` // a form if the server did not say
	Message string     `json:"message"`
	// RequestedSchema describes the form, in a small subset of JSON Schema: see [ElicitRequest.Schema].
	RequestedSchema json.RawMessage `json:"requestedSchema,omitempty"`
	// URL is what to visit. Show it in full and ask first; never fetch it.
	URL           string `json:"url,omitempty"`
	ElicitationID string `json:"elicitationId,omitempty"` // 2025-11-25 only
	Meta          Meta   `json:"_meta,omitempty"`
}

// ElicitMode is the way in which the user is asked.
type ElicitMode string

// The modes.
const (
	ElicitForm ElicitMode = "form"
	ElicitURL  ElicitMode = "url" // since 2025-11-25
)

// Schema reads RequestedSchema. A request without one asks for no fields.
func (r *ElicitRequest) Schema() (*ElicitSchema, error) {
	if r.RequestedSchema == nil {
		return &ElicitSchema{}, nil
	}
	return ParseElicitSchema(r.RequestedSchema)
}

// complete returns the content to send for a form that the user accepted: with defaults, and checked.
func (r *ElicitRequest) complete(content map[string]any) (map[string]any, error) {
	schema := &ElicitSchema{}
	if r.RequestedSchema != nil {
		var err error
		if schema, err = parseElicitSchema(r.RequestedSchema); err != nil {
			return nil, err
		}
	}
	content = schema.Fill(content)
	return content, schema.Validate(content)
}

// UnmarshalJSON reads a request leniently: what is missing or of the wrong type stays empty.
func (r *ElicitRequest) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

func (r *ElicitRequest) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "mode":
			r.Mode = ElicitMode(d.mustText()) // to take another mode for a form would ask for the wrong thing
		case "message":
			r.Message = d.text()
		case "requestedSchema":
			r.RequestedSchema = d.object()
		case "url":
			r.URL = d.text()
		case "elicitationId":
			r.ElicitationID = d.text()
		case "_meta":
			r.Meta = d.objects()
		}
	}
	if r.Mode == "" {
		r.Mode = ElicitForm
	}
}

// ElicitAction is what the user did.
type ElicitAction string

// The actions.
const (
	ElicitAccept  ElicitAction = "accept"
	ElicitDecline ElicitAction = "decline" // the user said no
	ElicitCancel  ElicitAction = "cancel"  // the user did not choose
)

// ElicitResult is the user's answer.
type ElicitResult struct {
	Action ElicitAction `json:"action"`
	// Content is what was filled in, by field: strings, numbers, booleans and lists of strings. It is sent only with
	// ElicitAccept, and never as null. What is decoded has its numbers as [json.Number].
	Content map[string]any `json:"content,omitzero"`
	Meta    Meta           `json:"_meta,omitempty"`
}

// MarshalJSON leaves out the content unless the user accepted.
func (r ElicitResult) MarshalJSON() ([]byte, error) {
	type plain ElicitResult
	if r.Action != ElicitAccept {
		r.Content = nil
	}
	return marshal(plain(r))
}

// UnmarshalJSON keeps numbers exact.
func (r *ElicitResult) UnmarshalJSON(data []byte) error {
	type plain ElicitResult
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode((*plain)(r))
}
