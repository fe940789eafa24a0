package config

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strconv"
)

// What may hold a secret formats as a name and what is harmless of it, with every verb, in every log, and as JSON,
// which is how loggers format what is nested. To write a configuration, edit its text.

func (s Server) String() string {
	if s.Type == "" {
		return "config.Server(" + s.Name + ")"
	}
	return "config.Server(" + s.Name + " " + string(s.Type) + ")"
}
func (s Server) Format(f fmt.State, _ rune)   { show(f, s) }
func (s Server) LogValue() slog.Value         { return slog.StringValue(s.String()) }
func (s Server) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

func (o OAuth) String() string               { return "config.OAuth" }
func (o OAuth) Format(f fmt.State, _ rune)   { show(f, o) }
func (o OAuth) LogValue() slog.Value         { return slog.StringValue(o.String()) }
func (o OAuth) MarshalJSON() ([]byte, error) { return json.Marshal(o.String()) }

func (i Input) String() string               { return "config.Input(" + i.ID + ")" }
func (i Input) Format(f fmt.State, _ rune)   { show(f, i) }
func (i Input) LogValue() slog.Value         { return slog.StringValue(i.String()) }
func (i Input) MarshalJSON() ([]byte, error) { return json.Marshal(i.String()) }

func (f File) String() string {
	return "config.File(" + f.Path + " " + strconv.Itoa(len(f.Servers)) + ")"
}
func (f File) Format(s fmt.State, _ rune)   { show(s, f) }
func (f File) LogValue() slog.Value         { return slog.StringValue(f.String()) }
func (f File) MarshalJSON() ([]byte, error) { return json.Marshal(f.String()) }

func show(f fmt.State, v fmt.Stringer) { _, _ = io.WriteString(f, v.String()) }
