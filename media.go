package mcp

import "encoding/base64"

// ImageContent is an image.
type ImageContent struct {
	Data        string       `json:"data"` // as it was sent: base64, or from some servers a data URI
	MIMEType    string       `json:"mimeType"`
	Annotations *Annotations `json:"annotations,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
}

// Image returns a block that holds an image.
func Image(data []byte, mimeType string) *ImageContent {
	return &ImageContent{Data: base64.StdEncoding.EncodeToString(data), MIMEType: mimeType}
}

// Bytes decodes the image. Data URIs, the URL-safe alphabet, missing padding and line breaks are fine.
func (c *ImageContent) Bytes() ([]byte, error) { return decodeMedia(c.Data) }

// MediaType is the type of the image: what a data URI says, or else MIMEType.
func (c *ImageContent) MediaType() string { return mediaType(c.Data, c.MIMEType) }

// MarshalJSON adds the type.
func (c ImageContent) MarshalJSON() ([]byte, error) {
	type plain ImageContent
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{"image", plain(c)})
}

// UnmarshalJSON reads a block of type image.
func (c *ImageContent) UnmarshalJSON(data []byte) error { return unmarshal(data, block{c}) }

func (*ImageContent) typeName() string { return "image" }

func (c *ImageContent) member(d *decoder, name []byte) {
	switch string(name) {
	case "data":
		c.Data = d.mustText()
	case "mimeType":
		c.MIMEType = d.text()
	case "annotations":
		c.Annotations = optional[Annotations](d)
	case "_meta":
		c.Meta = d.objects()
	}
}

func (c *ImageContent) check(d *decoder) {
	if !d.found {
		d.reject("has no data")
	}
}

// AudioContent is sound.
type AudioContent struct {
	Data        string       `json:"data"` // as it was sent: base64, or from some servers a data URI
	MIMEType    string       `json:"mimeType"`
	Annotations *Annotations `json:"annotations,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
}

// Audio returns a block that holds sound.
func Audio(data []byte, mimeType string) *AudioContent {
	return &AudioContent{Data: base64.StdEncoding.EncodeToString(data), MIMEType: mimeType}
}

// Bytes decodes the sound, as [ImageContent.Bytes] does an image.
func (c *AudioContent) Bytes() ([]byte, error) { return decodeMedia(c.Data) }

// MediaType is the type of the sound: what a data URI says, or else MIMEType.
func (c *AudioContent) MediaType() string { return mediaType(c.Data, c.MIMEType) }

// MarshalJSON adds the type.
func (c AudioContent) MarshalJSON() ([]byte, error) {
	type plain AudioContent
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{"audio", plain(c)})
}

// UnmarshalJSON reads a block of type audio.
func (c *AudioContent) UnmarshalJSON(data []byte) error { return unmarshal(data, block{c}) }

func (*AudioContent) typeName() string                 { return "audio" }
func (c *AudioContent) member(d *decoder, name []byte) { (*ImageContent)(c).member(d, name) }
func (c *AudioContent) check(d *decoder)               { (*ImageContent)(c).check(d) }
