package mcp

import (
	"encoding/json"
	"fmt"
	"unique"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// Names of the members of _meta that the protocol reserves (2026-07-28, basic, General fields).
const (
	metaProgressToken  = "progressToken"
	metaVersion        = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo     = "io.modelcontextprotocol/clientInfo"
	metaCapabilities   = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel       = "io.modelcontextprotocol/logLevel"
	metaServerInfo     = "io.modelcontextprotocol/serverInfo"
	metaSubscriptionID = "io.modelcontextprotocol/subscriptionId"
)

// modernMeta are the members that go with every request of a modern revision.
func (o *Options) modernMeta(version string) (commonMeta, error) {
	meta, err := jsonscan.AppendValue(nil, struct {
		Version      string              `json:"io.modelcontextprotocol/protocolVersion"`
		Info         Implementation      `json:"io.modelcontextprotocol/clientInfo"`
		Capabilities *clientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	}{version, o.Info, o.capabilities(true)})
	if err != nil {
		return commonMeta{}, err
	}
	return unique.Make(string(meta[1 : len(meta)-1])), nil
}

// withMeta returns the params of a request with the _meta that it goes out with, if any: what its revision wants on
// every request (common), a progress token, and what the caller adds.
func (r *request) withMeta(id int64, common string, o *callOptions) (json.RawMessage, error) {
	token := r.renewable || o.progress != nil
	if common == "" && !token && len(o.meta) == 0 {
		return r.params, nil
	}
	b := make([]byte, 0, len(r.params)+len(common)+64)
	b = append(b, `{"_meta":{`...)
	b = append(b, common...)
	if common != "" && o.logLevel != "" {
		b = jsonscan.AppendString(appendMember(b, metaLogLevel), string(o.logLevel))
	}
	if token {
		b = transport.IntID(id).Append(appendMember(b, metaProgressToken))
	}
	for name, value := range o.meta {
		switch name {
		case metaProgressToken:
			if token {
				continue
			}
		case metaVersion, metaClientInfo, metaCapabilities, metaLogLevel:
			if common != "" {
				continue
			}
		}
		var err error
		if b, err = jsonscan.AppendRaw(appendMember(b, name), value); err != nil {
			return nil, fmt.Errorf("_meta %q: %w", name, err)
		}
	}
	b = append(b, '}')
	if len(r.params) <= len("{}") {
		return append(b, '}'), nil
	}
	b = append(b, ',')
	return append(b, r.params[1:]...), nil
}

// appendMember appends the name of a member, and a comma if it is not the first one of its object.
func appendMember(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(jsonscan.AppendString(b, name), ':')
}
