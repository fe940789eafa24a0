package mcp

// Resource is something that a server lets clients read.
type Resource struct {
	URI         string       `json:"uri"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	MIMEType    string       `json:"mimeType,omitempty"`
	Size        *int64       `json:"size,omitempty"` // in bytes, before any encoding
	Annotations *Annotations `json:"annotations,omitempty"`
	Icons       []Icon       `json:"icons,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
}

// DisplayName is what to show to people: the title, the name, or else the URI.
func (r *Resource) DisplayName() string { return firstOf(r.Title, r.Name, r.URI) }

// UnmarshalJSON reads a resource leniently; only the URI is required.
func (r *Resource) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

func (r *Resource) decode(d *decoder) {
	for name := range d.members() {
		r.member(d, name)
	}
	r.check(d)
}

func (r *Resource) member(d *decoder, name []byte) {
	switch string(name) {
	case "uri":
		r.URI = d.mustText()
	case "name":
		r.Name = d.text()
	case "title":
		r.Title = d.text()
	case "description":
		r.Description = d.text()
	case "mimeType":
		r.MIMEType = d.text()
	case "size":
		r.Size = d.integer()
	case "annotations":
		r.Annotations = optional[Annotations](d)
	case "icons":
		r.Icons = values[Icon](d)
	case "_meta":
		r.Meta = d.objects()
	}
}

func (r *Resource) check(d *decoder) {
	if r.URI == "" {
		d.reject("has no uri")
	}
}

// ResourceTemplate describes resources whose URIs follow a pattern.
type ResourceTemplate struct {
	URITemplate string       `json:"uriTemplate"` // RFC 6570
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	MIMEType    string       `json:"mimeType,omitempty"` // of all that match
	Annotations *Annotations `json:"annotations,omitempty"`
	Icons       []Icon       `json:"icons,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
}

// DisplayName is what to show to people: the title, the name, or else the template.
func (t *ResourceTemplate) DisplayName() string { return firstOf(t.Title, t.Name, t.URITemplate) }

// UnmarshalJSON reads a template leniently; only uriTemplate is required.
func (t *ResourceTemplate) UnmarshalJSON(data []byte) error { return unmarshal(data, t) }

func (t *ResourceTemplate) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "uriTemplate":
			t.URITemplate = d.mustText()
		case "name":
			t.Name = d.text()
		case "title":
			t.Title = d.text()
		case "description":
			t.Description = d.text()
		case "mimeType":
			t.MIMEType = d.text()
		case "annotations":
			t.Annotations = optional[Annotations](d)
		case "icons":
			t.Icons = values[Icon](d)
		case "_meta":
			t.Meta = d.objects()
		}
	}
	if t.URITemplate == "" {
		d.reject("has no uriTemplate")
	}
}

// ReadResourceResult is what reading a resource gave. A resource may have several parts, each with a URI of its own.
type ReadResourceResult struct {
	Contents []*ResourceContents `json:"contents"`
	Cache    CacheHints          `json:"-"` // written as members of the result
	Meta     Meta                `json:"_meta,omitempty"`
}

// MarshalJSON writes the result as a server sends it.
func (r ReadResourceResult) MarshalJSON() ([]byte, error) {
	type plain ReadResourceResult
	r.Contents = orEmpty(r.Contents)
	return marshal(struct {
		plain
		*CacheHints
	}{plain(r), r.Cache.wire()})
}

// UnmarshalJSON reads a result leniently: no contents are an empty list, and those that are unusable are left out.
func (r *ReadResourceResult) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

func (r *ReadResourceResult) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "contents":
			r.Contents = mustList[ResourceContents](d)
		case "_meta":
			r.Meta = d.objects()
		default:
			r.Cache.member(d, name)
		}
	}
	r.Contents = orEmpty(r.Contents)
}
