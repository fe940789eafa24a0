package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// A tool may mark parameters that a binding repeats outside the message, so that what stands between can route by them
// (2026-07-28, basic/transports/streamable-http, Custom Headers from Tool Parameters).

const headerAnnotation = "x-mcp-header"

// maxMirrorDepth is how deep in the arguments a parameter to repeat may be.
const maxMirrorDepth = 32

// mirrored is a parameter to repeat.
type mirrored struct {
	header string   // the name that it goes under
	path   []string // where its value is in the arguments
	kind   string   // string, integer or boolean
}

// mirroredParams reads the annotations of an input schema. The error says why a tool that has them must not be used.
func mirroredParams(schema json.RawMessage) ([]mirrored, error) {
	if !bytes.Contains(schema, []byte(headerAnnotation)) && !bytes.Contains(schema, []byte(`\u`)) {
		return nil, nil // most schemas; those with escapes may have it in another spelling
	}
	var s map[string]any
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, nil // not an object; what is wrong with it is not about annotations
	}
	w := annotationWalk{headers: make(map[string]bool)}
	if err := w.schema(s, nil, true); err != nil {
		return nil, err
	}
	return w.found, nil
}

type annotationWalk struct {
	found   []mirrored
	headers map[string]bool // in lower case
}

// schema walks a schema object. Reachable is whether nothing but properties leads there.
func (w *annotationWalk) schema(s map[string]any, path []string, reachable bool) error {
	if annotation, ok := s[headerAnnotation]; ok {
		if err := w.annotated(s, annotation, path, reachable); err != nil {
			return fmt.Errorf("%s at %q: %w", headerAnnotation, strings.Join(path, "."), err)
		}
	}
	for keyword, value := range s {
		switch keyword {
		case headerAnnotation, "const", "enum", "default", "examples": // values, not schemas
			continue
		case "properties":
			properties, _ := value.(map[string]any)
			for name, property := range properties {
				inner, reachable := path, reachable && len(path) < maxMirrorDepth
				if reachable {
					inner = append(path[:len(path):len(path)], name)
				}
				if err := w.anything(property, inner, reachable); err != nil {
					return err
				}
			}
			continue
		}
		if err := w.anything(value, path, false); err != nil {
			return err
		}
	}
	return nil
}

func (w *annotationWalk) anything(value any, path []string, reachable bool) error {
	switch v := value.(type) {
	case map[string]any:
		return w.schema(v, path, reachable)
	case []any:
		for _, element := range v {
			if err := w.anything(element, path, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *annotationWalk) annotated(s map[string]any, annotation any, path []string, reachable bool) error {
	header, ok := annotation.(string)
	kind, _ := s["type"].(string)
	switch {
	case !ok || !isToken(header):
		return errors.New("not the name of a header")
	case w.headers[strings.ToLower(header)]:
		return errors.New("used twice")
	case !reachable || len(path) == 0:
		return errors.New("not on a property that is reached by properties alone")
	case kind != "string" && kind != "integer" && kind != "boolean":
		return errors.New("not on a string, an integer or a boolean")
	}
	w.headers[strings.ToLower(header)] = true
	w.found = append(w.found, mirrored{header, path, kind})
	return nil
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// mirror returns the values of the parameters to repeat, as text. What is absent or null, or of another type than
// announced, is left out.
func mirror(params []mirrored, arguments json.RawMessage) ([]transport.MirrorParam, error) {
	var out []transport.MirrorParam
	for _, p := range params {
		value, err := p.text(valueAt(arguments, p.path))
		if err != nil {
			return nil, fmt.Errorf("argument %q: %w", strings.Join(p.path, "."), err)
		}
		if value != nil {
			out = append(out, transport.MirrorParam{Name: p.header, Value: *value})
		}
	}
	return out, nil
}

// nameMember is the member of params that a binding repeats as the name of what a request is about (section Standard
// Request Headers, and the tasks extension), by method.
var nameMember = map[string]string{
	"tools/call":     "name",
	"prompts/get":    "name",
	"resources/read": "uri",
	"tasks/get":      "taskId",
	"tasks/update":   "taskId",
	"tasks/cancel":   "taskId",
}

// mirrorRaw fills in what is to be repeated of a request whose params a caller has made.
func (c *Client) mirrorRaw(r *request) (err error) {
	member := nameMember[r.method]
	if member == "" {
		return nil
	}
	if name := jsonscan.New(valueAt(r.params, []string{member})); name.Kind() == jsonscan.String {
		r.mirror.Name = name.Text()
	}
	if tool := c.tools.get().find(r.mirror.Name); r.method == "tools/call" && tool != nil {
		r.mirror.Params, err = mirror(tool.mirrored, valueAt(r.params, []string{"arguments"}))
	}
	return err
}

// valueAt returns the value at a path of members, nil if there is none.
func valueAt(raw json.RawMessage, path []string) json.RawMessage {
	for _, step := range path {
		d := jsonscan.New(raw)
		if d.Kind() != jsonscan.Object {
			return nil
		}
		raw = nil
		for name := range d.Object() {
			if string(name) == step {
				raw = d.Raw()
			}
		}
	}
	return raw
}

func (p *mirrored) text(raw json.RawMessage) (*string, error) {
	d := jsonscan.New(raw)
	switch kind := d.Kind(); {
	case p.kind == "string" && kind == jsonscan.String:
		text := d.Text()
		return &text, nil
	case p.kind == "boolean" && kind == jsonscan.Bool:
		text := strconv.FormatBool(d.Bool())
		return &text, nil
	case p.kind == "integer" && kind == jsonscan.Number:
		n := d.Int64()
		if d.Err() != nil || math.Abs(float64(n)) > 1<<53-1 {
			return nil, errors.New("not an integer that JavaScript can hold, as a mirrored one must be")
		}
		text := strconv.FormatInt(n, 10)
		return &text, nil
	}
	return nil, nil
}
