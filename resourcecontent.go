package mcp

import "github.com/seed62b61957/mcp/internal/jsonscan"

// ResourceLink points to a resource. It need not be in the server's list of resources.
type ResourceLink struct{ Resource }

// MarshalJSON adds the type.
func (c ResourceLink) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Type string `json:"type"`
		Resource
	}{"resource_link", c.Resource})
}

// UnmarshalJSON reads a block of type resource_link.
func (c *ResourceLink) UnmarshalJSON(data []byte) error { return unmarshal(data, block{c}) }

func (*ResourceLink) typeName() string { return "resource_link" }

// EmbeddedResource holds the contents of a resource.
type EmbeddedResource struct {
	Resource    *ResourceContents `json:"resource"`
	Annotations *Annotations      `json:"annotations,omitempty"`
	Meta        Meta              `json:"_meta,omitempty"`
}

// MarshalJSON adds the type.
func (c EmbeddedResource) MarshalJSON() ([]byte, error) {
	type plain EmbeddedResource
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{"resource", plain(c)})
}

// UnmarshalJSON reads a block of type resource.
func (c *EmbeddedResource) UnmarshalJSON(data []byte) error { return unmarshal(data, block{c}) }

func (*EmbeddedResource) typeName() string { return "resource" }

func (c *EmbeddedResource) member(d *decoder, name []byte) {
	switch string(name) {
	case "resource":
		c.Resource = optional[ResourceContents](d)
	case "annotations":
		c.Annotations = optional[Annotations](d)
	case "_meta":
		c.Meta = d.objects()
	}
}

func (c *EmbeddedResource) check(d *decoder) {
	if c.Resource == nil {
		d.reject("has no resource")
	}
}

// ResourceContents is what a resource, or a part of it, holds: text, or bytes if Blob is set.
type ResourceContents struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType,omitempty"`
	Text     string  `json:"text"`
	Blob     *string `json:"blob,omitempty"` // base64 as it was sent
	Meta     Meta    `json:"_meta,omitempty"`
}

// Bytes returns the text, or the decoded blob. Blobs are read as leniently as [ImageContent.Bytes] reads an image.
func (c *ResourceContents) Bytes() ([]byte, error) {
	if c.Blob == nil {
		return []byte(c.Text), nil
	}
	return decodeMedia(*c.Blob)
}

// MediaType is the type of the contents: what a data URI in Blob says, or else MIMEType.
func (c *ResourceContents) MediaType() string {
	if c.Blob == nil {
		return c.MIMEType
	}
	return mediaType(*c.Blob, c.MIMEType)
}

// MarshalJSON writes a text or a blob.
func (c ResourceContents) MarshalJSON() ([]byte, error) {
	type plain ResourceContents
	wire := struct {
		plain
		Text *string `json:"text,omitempty"`
	}{plain: plain(c)}
	if c.Blob == nil || c.Text != "" {
		wire.Text = &c.Text
	}
	return marshal(wire)
}

// UnmarshalJSON reads contents leniently: what is missing or of the wrong type stays empty, except text and blob.
func (c *ResourceContents) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }

func (c *ResourceContents) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "uri":
			c.URI = d.text()
		case "mimeType":
			c.MIMEType = d.text()
		case "text":
			c.Text = d.mustText()
		case "blob":
			if d.must(jsonscan.String) {
				blob := d.Text()
				c.Blob = &blob
			}
		case "_meta":
			c.Meta = d.objects()
		}
	}
	if c.Blob != nil && *c.Blob == "" && c.Text != "" {
		c.Blob = nil // an empty member beside the one that counts
	}
}
