package mcp

import "encoding/json"

// Progress says how far a call has come.
type Progress struct {
	Progress float64  `json:"progress"`        // grows from one to the next
	Total    *float64 `json:"total,omitempty"` // nil if the server does not know
	Message  string   `json:"message,omitempty"`
	Meta     Meta     `json:"_meta,omitempty"`
}

// UnmarshalJSON reads progress leniently: what is missing or of the wrong type stays empty.
func (p *Progress) UnmarshalJSON(data []byte) error { return unmarshal(data, p) }

func (p *Progress) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "progress":
			if f := d.number(); f != nil {
				p.Progress = *f
			}
		case "total":
			p.Total = d.number()
		case "message":
			p.Message = d.text()
		case "_meta":
			p.Meta = d.objects()
		}
	}
}

// decodeProgress reads the params of notifications/progress. It leaves empty what is wrong: that there was progress
// counts more than how much.
func decodeProgress(params json.RawMessage) Progress {
	var p Progress
	_, _ = decodeInto(params, &p)
	return p
}
