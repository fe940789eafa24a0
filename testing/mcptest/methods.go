package mcptest

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/seed62b61957/mcp"
)

// The methods that a server knows by itself, by the revisions that have them. What it does not offer it does not know
// either.
var (
	commonMethods = map[string]Handler{
		"tools/list":               listTools,
		"tools/call":               callTool,
		"resources/list":           listResources,
		"resources/templates/list": listTemplates,
		"resources/read":           readResource,
		"prompts/list":             listPrompts,
		"prompts/get":              getPrompt,
		"completion/complete":      complete,
	}
	legacyMethods = map[string]Handler{
		"initialize":            initialize,
		"ping":                  ping,
		"resources/subscribe":   subscribe,
		"resources/unsubscribe": unsubscribe,
		"logging/setLevel":      setLevel,
	}
	modernMethods = map[string]Handler{
		"server/discover":      discover,
		"subscriptions/listen": listen,
	}
	// These have the names of methods of 2025-11-25, so that a request of one may be of either era.
	taskMethods = map[string]Handler{
		"tasks/get":    getTask,
		"tasks/update": updateTask,
		"tasks/cancel": cancelTask,
	}
)

func builtIn(method string, modern bool) Handler {
	if h := commonMethods[method]; h != nil {
		return h
	}
	switch h := modernMethods[method]; {
	case !modern:
		return legacyMethods[method]
	case h != nil:
		return h
	}
	return taskMethods[method]
}

func ping(context.Context, *Call) (any, error) { return nil, nil }

func unknownMethod(call *Call) error {
	return &mcp.RPCError{Code: mcp.CodeMethodNotFound, Message: "unknown method: " + call.Method}
}

func listTools(_ context.Context, call *Call) (any, error) {
	s := call.Session.server
	if !s.tools.offered() {
		return nil, unknownMethod(call)
	}
	return s.tools.page(call, "tools")
}

func callTool(ctx context.Context, call *Call) (any, error) {
	s := call.Session.server
	if !s.tools.offered() {
		return nil, unknownMethod(call)
	}
	h := s.tools.find(equal(call.Name))
	if h == nil {
		return nil, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "unknown tool: " + call.Name}
	}
	return h(ctx, call)
}

func (s *Server) offersResources() bool { return s.resources.offered() || s.templates.offered() }

func listResources(_ context.Context, call *Call) (any, error) {
	s := call.Session.server
	if !s.offersResources() {
		return nil, unknownMethod(call)
	}
	return s.resources.page(call, "resources")
}

func listTemplates(_ context.Context, call *Call) (any, error) {
	s := call.Session.server
	if !s.offersResources() {
		return nil, unknownMethod(call)
	}
	return s.templates.page(call, "resourceTemplates")
}

func readResource(ctx context.Context, call *Call) (any, error) {
	h, err := resourceHandler(call)
	if err != nil {
		return nil, err
	}
	return h(ctx, call)
}

func resourceHandler(call *Call) (Handler, error) {
	s := call.Session.server
	if !s.offersResources() {
		return nil, unknownMethod(call)
	}
	if h := s.findResource(call.URI); h != nil {
		return h, nil
	}
	var code int64 = mcp.CodeResourceNotFound // server/resources, Error Handling
	if call.modern {
		code = mcp.CodeInvalidParams
	}
	data, err := encoded(map[string]string{"uri": call.URI})
	if err != nil {
		return nil, err
	}
	return nil, &mcp.RPCError{Code: code, Message: "resource not found", Data: data}
}

// findResource returns the handler of a resource, nil if there is none.
func (s *Server) findResource(uri string) Handler {
	if h := s.resources.find(equal(uri)); h != nil {
		return h
	}
	return s.templates.find(func(template string) bool { return templateRegexp(template).MatchString(uri) })
}

var expression = regexp.MustCompile(`\{[^{}]*\}`)

// templateRegexp matches what a URI template can expand to, and more.
func templateRegexp(template string) *regexp.Regexp {
	var b strings.Builder
	end := 0
	for _, at := range expression.FindAllStringIndex(template, -1) {
		b.WriteString(regexp.QuoteMeta(template[end:at[0]]))
		if strings.ContainsAny(template[at[0]+1:at[0]+2], "+#./;?&") {
			b.WriteString(".*")
		} else {
			b.WriteString("[^/]*")
		}
		end = at[1]
	}
	b.WriteString(regexp.QuoteMeta(template[end:]))
	return regexp.MustCompile("^(?s:" + b.String() + ")$")
}

func subscribe(_ context.Context, call *Call) (any, error) {
	if _, err := resourceHandler(call); err != nil {
		return nil, err
	}
	call.Session.subscribe(call.URI, true)
	return nil, nil
}

func unsubscribe(_ context.Context, call *Call) (any, error) {
	if !call.Session.server.offersResources() {
		return nil, unknownMethod(call)
	}
	call.Session.subscribe(call.URI, false)
	return nil, nil
}

func listPrompts(_ context.Context, call *Call) (any, error) {
	s := call.Session.server
	if !s.prompts.offered() {
		return nil, unknownMethod(call)
	}
	return s.prompts.page(call, "prompts")
}

func getPrompt(ctx context.Context, call *Call) (any, error) {
	s := call.Session.server
	if !s.prompts.offered() {
		return nil, unknownMethod(call)
	}
	h := s.prompts.find(equal(call.Name))
	if h == nil {
		return nil, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "unknown prompt: " + call.Name}
	}
	return h(ctx, call)
}

func complete(ctx context.Context, call *Call) (any, error) {
	h := call.Session.server.Complete
	if h == nil {
		return nil, unknownMethod(call)
	}
	request := new(mcp.CompleteRequest)
	if err := json.Unmarshal(call.params(), request); err != nil {
		return nil, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: err.Error()}
	}
	return h(ctx, request)
}

func setLevel(_ context.Context, call *Call) (any, error) {
	if !call.Session.server.Logging {
		return nil, unknownMethod(call)
	}
	var params struct {
		Level mcp.LogLevel `json:"level"`
	}
	if err := json.Unmarshal(call.params(), &params); err != nil || params.Level == "" {
		return nil, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "no level"}
	}
	call.Session.setLevel(params.Level)
	return nil, nil
}

func equal(name string) func(string) bool {
	return func(other string) bool { return other == name }
}
