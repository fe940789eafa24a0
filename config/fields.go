package config

import "time"

// A row is a field that an object may have. The decoder and the schema are made from the same rows.
type row[T any] struct {
	name  string // as it is written
	field string // what it is a spelling of
	doc   string // for editors
	// into returns where it goes: what this points to says what is read, and how.
	into func(*T) any
}

// Kinds of fields that need more than their type.
type (
	seconds  struct{ to *time.Duration }
	inverse  struct{ to *bool }
	port     struct{ to *int }
	scopes   struct{ to *string }
	required struct{ to *string }   // a text that is not empty
	labels   struct{ to *[]string } // texts, or objects with a label and a value
)

const (
	docType    = "How to reach the server. Without it, a command means stdio and a url means http."
	docURL     = "The endpoint of the server. References such as ${VAR} are expanded."
	docEnabled = "Whether the server is started."
)

var serverRows = []row[Server]{
	{"type", "type", docType, func(s *Server) any { return &s.Type }},
	{"transport", "type", docType, func(s *Server) any { return &s.Type }},
	{"transportType", "type", docType, func(s *Server) any { return &s.Type }},
	{"command", "command", "The program that is the server, by name or path. References such as ${VAR} are expanded.",
		func(s *Server) any { return required{&s.Command} }},
	{"args", "args", "The arguments of the command. References such as ${VAR} are expanded.",
		func(s *Server) any { return &s.Args }},
	{"env", "env", "Environment variables for the command. References such as ${VAR} are expanded.",
		func(s *Server) any { return &s.Env }},
	{"cwd", "cwd", "The working directory of the command. A relative one is relative to this file.",
		func(s *Server) any { return &s.Cwd }},
	{"url", "url", docURL, func(s *Server) any { return required{&s.URL} }},
	{"serverUrl", "url", docURL, func(s *Server) any { return required{&s.URL} }},
	{"httpUrl", "url", docURL, func(s *Server) any { return required{&s.URL} }},
	{"headers", "headers", "HTTP headers for every request. References such as ${VAR} are expanded.",
		func(s *Server) any { return &s.Headers }},
	{"oauth", "oauth", "How to sign in to the server.", func(s *Server) any { return &s.OAuth }},
	{"enabled", "enabled", docEnabled, func(s *Server) any { return inverse{&s.Disabled} }},
	{"disabled", "enabled", "Whether the server is not started.", func(s *Server) any { return &s.Disabled }},
	{"description", "description", "What the server is for, in a line.", func(s *Server) any { return &s.Description }},
	{"timeout", "timeout", "Seconds that a call may take without progress.",
		func(s *Server) any { return seconds{&s.Timeout} }},
}

var oauthRows = []row[OAuth]{
	{"clientId", "clientId", "The id of a client that is registered already.",
		func(o *OAuth) any { return required{&o.ClientID} }},
	{"clientSecret", "clientSecret", "The secret of that client. Better a reference such as ${VAR} than the secret.",
		func(o *OAuth) any { return required{&o.ClientSecret} }},
	{"callbackPort", "callbackPort", "The port on which the answer to a sign-in is taken.",
		func(o *OAuth) any { return port{&o.CallbackPort} }},
	{"callbackUrl", "callbackUrl", "The redirect URL: http, on localhost, 127.0.0.1 or [::1].",
		func(o *OAuth) any { return required{&o.CallbackURL} }},
	{"scope", "scope", "The scopes to ask for, with spaces between.", func(o *OAuth) any { return scopes{&o.Scope} }},
	{"scopes", "scope", "The scopes to ask for.", func(o *OAuth) any { return scopes{&o.Scope} }},
	{"clientName", "clientName", "The name under which a client is registered dynamically.",
		func(o *OAuth) any { return required{&o.ClientName} }},
	{"clientRegistration", "clientRegistration", "The way to a client id, where there is none.",
		func(o *OAuth) any { return &o.Registration }},
	{"authServerMetadataUrl", "authServerMetadataUrl", "Where the metadata of the authorization server is.",
		func(o *OAuth) any { return required{&o.AuthServerMetadataURL} }},
}

var inputRows = []row[Input]{
	{"id", "id", "What ${input:id} refers to.", func(i *Input) any { return required{&i.ID} }},
	{"type", "type", "How the user is asked.", func(i *Input) any { return &i.Type }},
	{"description", "description", "What the user is asked for.", func(i *Input) any { return &i.Description }},
	{"default", "default", "What is offered to the user.", func(i *Input) any { return &i.Default }},
	{"password", "password", "Whether what the user types is hidden.", func(i *Input) any { return &i.Password }},
	{"options", "options", "What the user can choose.", func(i *Input) any { return labels{&i.Options} }},
}

// find returns the row with the name, nil if there is none.
func find[T any](rows []row[T], name string) *row[T] {
	for i := range rows {
		if rows[i].name == name {
			return &rows[i]
		}
	}
	return nil
}

// types are the spellings.
var types = map[string]Type{
	"stdio": Stdio, "local": Stdio,
	"http": HTTP, "streamable-http": HTTP, "streamable_http": HTTP, "streamableHttp": HTTP, "streamablehttp": HTTP,
	"sse": SSE,
}

var registrations = map[string]Registration{"auto": Auto, "dcr": DCR, "cimd": CIMD}
