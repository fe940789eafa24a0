package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// Meta is a _meta object: what either side attaches to a message or a part of it, by prefixed name (basic, section
// "General fields"). The values are kept as they were sent.
type Meta map[string]json.RawMessage

// Decode reads the value of a name into v, as [json.Unmarshal] does. It reports whether there is one.
func (m Meta) Decode(name string, v any) (found bool, err error) {
	raw, found := m[name]
	if !found {
		return false, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return true, fmt.Errorf("mcp: _meta %q: %w", name, err)
	}
	return true, nil
}

// Set encodes v as the value of a name. m must not be nil.
func (m Meta) Set(name string, v any) error {
	raw, err := marshal(v)
	if err != nil {
		return fmt.Errorf("mcp: _meta %q: %w", name, err)
	}
	m[name] = raw
	return nil
}

// Implementation introduces a client or a server. What it says is not verified by anyone.
type Implementation struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	WebsiteURL  string `json:"websiteUrl,omitempty"`
	Icons       []Icon `json:"icons,omitempty"`
}

// DisplayName is the title, or else the name.
func (i *Implementation) DisplayName() string { return firstOf(i.Title, i.Name) }

// UnmarshalJSON reads an implementation leniently: what is missing or of the wrong type stays empty.
func (i *Implementation) UnmarshalJSON(data []byte) error { return unmarshal(data, i) }

func (i *Implementation) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "name":
			i.Name = d.text()
		case "title":
			i.Title = d.text()
		case "version":
			i.Version = d.text()
		case "description":
			i.Description = d.text()
		case "websiteUrl":
			i.WebsiteURL = d.text()
		case "icons":
			i.Icons = values[Icon](d)
		}
	}
}

// Icon points to an image. Fetch it only from hosts that you trust, and take care with SVG, which can hold scripts.
type Icon struct {
	Source   string   `json:"src"` // an http, https or data URI
	MIMEType string   `json:"mimeType,omitempty"`
	Sizes    []string `json:"sizes,omitempty"` // "48x48", or "any"; none: any size
	Theme    string   `json:"theme,omitempty"` // "light" or "dark"; "": both
}

// UnmarshalJSON reads an icon leniently; src is required.
func (i *Icon) UnmarshalJSON(data []byte) error { return unmarshal(data, i) }

func (i *Icon) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "src":
			i.Source = d.mustText()
		case "mimeType":
			i.MIMEType = d.text()
		case "sizes":
			i.Sizes = iconSizes(d)
		case "theme":
			i.Theme = d.text()
		}
	}
	if i.Source == "" {
		d.reject("has no src")
	}
}

// iconSizes also takes one string, the form of a draft of the specification.
func iconSizes(d *decoder) []string {
	if d.Kind() != jsonscan.String {
		return texts[string](d)
	}
	d.note("expected an array, took the string")
	return strings.Fields(d.Text())
}

// Role is a side of a conversation.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Annotations are hints on how to use or show something. They come from the server, so trust them as far as you trust
// it.
type Annotations struct {
	Audience     []Role   `json:"audience,omitempty"`
	Priority     *float64 `json:"priority,omitempty"`     // from 0, entirely optional, to 1, required
	LastModified string   `json:"lastModified,omitempty"` // ISO 8601, as it was sent
}

// UnmarshalJSON reads annotations leniently: what is of the wrong type stays empty.
func (a *Annotations) UnmarshalJSON(data []byte) error { return unmarshal(data, a) }

func (a *Annotations) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "audience":
			a.Audience = texts[Role](d)
		case "priority":
			a.Priority = d.number()
		case "lastModified":
			a.LastModified = d.text()
		}
	}
}

// firstOf returns the first string that is not empty.
func firstOf(choices ...string) string {
	for _, s := range choices {
		if s != "" {
			return s
		}
	}
	return ""
}
