package oauth

import (
	"fmt"
	"io"
	"log/slog"
)

// What holds a secret formats as a name and what is harmless of it, with every verb and in every log. Only its JSON has
// all, where it has a use as JSON.

// String has the client's id.
func (c Client) String() string { return "oauth.Client(" + c.ID + ")" }

// Format writes String, whatever the verb.
func (c Client) Format(f fmt.State, _ rune) { show(f, c) }

// LogValue is String.
func (c Client) LogValue() slog.Value { return slog.StringValue(c.String()) }

// String has the issuer.
func (s SignIn) String() string { return "oauth.SignIn(" + s.Issuer + ")" }

// Format writes String, whatever the verb.
func (s SignIn) Format(f fmt.State, _ rune) { show(f, s) }

// LogValue is String.
func (s SignIn) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String has the type of the token.
func (t Token) String() string { return "oauth.Token(" + t.Type + ")" }

// Format writes String, whatever the verb.
func (t Token) Format(f fmt.State, _ rune) { show(f, t) }

// LogValue is String.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// String has nothing of the response: nobody knows yet who it is from.
func (r Response) String() string { return "oauth.Response" }

// Format writes String, whatever the verb.
func (r Response) Format(f fmt.State, _ rune) { show(f, r) }

// LogValue is String.
func (r Response) LogValue() slog.Value { return slog.StringValue(r.String()) }

// String has the server.
func (a *Authorizer) String() string { return "oauth.Authorizer(" + place(a.server) + ")" }

// Format writes String, whatever the verb.
func (a *Authorizer) Format(f fmt.State, _ rune) { show(f, a) }

// LogValue is String.
func (a *Authorizer) LogValue() slog.Value { return slog.StringValue(a.String()) }

// String has nothing of the records.
func (s *MemoryStore) String() string { return "oauth.MemoryStore" }

// Format writes String, whatever the verb.
func (s *MemoryStore) Format(f fmt.State, _ rune) { show(f, s) }

// String has the redirect URL, and no state of a sign-in.
func (l *Loopback) String() string { return "oauth.Loopback(" + l.RedirectURL() + ")" }

// Format writes String, whatever the verb.
func (l *Loopback) Format(f fmt.State, _ rune) { show(f, l) }

func show(f fmt.State, v fmt.Stringer) { _, _ = io.WriteString(f, v.String()) }
