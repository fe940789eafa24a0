package oauth

import (
	"fmt"
	"io"
	"log/slog"
)

// What holds a secret formats as a name and what is harmless of it, with every verb and in every log. Only its JSON has
// all, where it has a use as JSON.

func (c Client) String() string                  { return "oauth.Client(" + c.ID + ")" }
func (c Client) Format(f fmt.State, _ rune)      { show(f, c) }
func (c Client) LogValue() slog.Value            { return slog.StringValue(c.String()) }
func (s SignIn) String() string                  { return "oauth.SignIn(" + s.Issuer + ")" }
func (s SignIn) Format(f fmt.State, _ rune)      { show(f, s) }
func (s SignIn) LogValue() slog.Value            { return slog.StringValue(s.String()) }
func (t Token) String() string                   { return "oauth.Token(" + t.Type + ")" }
func (t Token) Format(f fmt.State, _ rune)       { show(f, t) }
func (t Token) LogValue() slog.Value             { return slog.StringValue(t.String()) }
func (a *Authorizer) String() string             { return "oauth.Authorizer(" + a.server.Redacted() + ")" }
func (a *Authorizer) LogValue() slog.Value       { return slog.StringValue(a.String()) }
func (a *Authorizer) Format(f fmt.State, _ rune) { show(f, a) }

func (r Response) String() string {
	if r.Error != "" {
		return "oauth.Response(" + excerpt(r.Error) + ")"
	}
	return "oauth.Response"
}
func (r Response) Format(f fmt.State, _ rune) { show(f, r) }
func (r Response) LogValue() slog.Value       { return slog.StringValue(r.String()) }

func show(f fmt.State, v fmt.Stringer) { _, _ = io.WriteString(f, v.String()) }
