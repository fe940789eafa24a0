package mcp

import (
	"encoding/json"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

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
		p.member(d, name)
	}
}

func (p *Progress) member(d *decoder, name []byte) {
	switch string(name) {
	case "progress":
		p.Progress, _ = d.measure()
	case "total":
		p.Total = d.number()
	case "message":
		p.Message = d.text()
	case "_meta":
		p.Meta = d.objects()
	}
}

// decodeProgress reads the params of notifications/progress, in one pass since there are many. It leaves empty what is
// wrong: that there was progress counts more than how much.
func decodeProgress(params json.RawMessage) (token transport.ID, p Progress) {
	d := openDecoder(jsonscan.NewValid(params))
	defer d.release()
	for name := range d.members() {
		if string(name) == "progressToken" {
			token, _ = transport.ParseID(d.Raw())
		} else {
			p.member(d, name)
		}
	}
	return token, p
}
