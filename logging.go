package mcp

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// LogLevel is the severity of a log message (RFC 5424, section 6.2.1). It is a [slog.Leveler], which also gives the
// order.
type LogLevel string

// The levels, the least severe first.
const (
	LogDebug     LogLevel = "debug"
	LogInfo      LogLevel = "info"
	LogNotice    LogLevel = "notice"
	LogWarning   LogLevel = "warning"
	LogError     LogLevel = "error"
	LogCritical  LogLevel = "critical"
	LogAlert     LogLevel = "alert"
	LogEmergency LogLevel = "emergency"
)

// logLevels are the levels in order. Package slog leaves room between its own for the others.
var logLevels = []struct {
	level LogLevel
	slog  slog.Level
}{
	{LogDebug, slog.LevelDebug},
	{LogInfo, slog.LevelInfo},
	{LogNotice, slog.LevelInfo + 2},
	{LogWarning, slog.LevelWarn},
	{LogError, slog.LevelError},
	{LogCritical, slog.LevelError + 4},
	{LogAlert, slog.LevelError + 8},
	{LogEmergency, slog.LevelError + 12},
}

// Level maps the level to one of package slog; what the protocol does not define counts as info. The more severe level
// is the greater one.
func (l LogLevel) Level() slog.Level {
	for _, known := range logLevels {
		if known.level == l {
			return known.slog
		}
	}
	return slog.LevelInfo
}

// LogLevelOf returns the most severe level that is at most l, and debug for what is below it.
func LogLevelOf(l slog.Level) LogLevel {
	best := LogDebug
	for _, known := range logLevels {
		if known.slog <= l {
			best = known.level
		}
	}
	return best
}

// LogMessage is something that a server logs.
type LogMessage struct {
	Level  LogLevel        `json:"level"`
	Logger string          `json:"logger,omitempty"`
	Data   json.RawMessage `json:"data"` // any JSON value, as it was sent
	Meta   Meta            `json:"_meta,omitempty"`
}

// UnmarshalJSON reads a message leniently: what is missing or of the wrong type stays empty.
func (m *LogMessage) UnmarshalJSON(data []byte) error { return unmarshal(data, m) }

func (m *LogMessage) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "level":
			m.Level = LogLevel(d.text())
		case "logger":
			m.Logger = d.text()
		case "data":
			m.Data = d.Raw()
		case "_meta":
			m.Meta = d.objects()
		}
	}
}

// decodeLogMessage reads the params of notifications/message, which the message shares.
func decodeLogMessage(params json.RawMessage) (*LogMessage, error) {
	m, _, err := decodeResult[LogMessage](params)
	return m, err
}

// SetLogLevel sets the least severe level of log messages that the server sends (see [Notifications]). Until 2025-11-25
// it asks the server, which may refuse, and asks again when the session is renewed; a later revision wants the level
// with each request, so that nothing is sent now.
func (c *Client) SetLogLevel(ctx context.Context, level LogLevel, opts ...CallOption) error {
	o := c.callOptions(opts)
	r := &request{method: "logging/setLevel"}
	if err := c.requires(r, c.Server().Capabilities.Logging, "logging"); err != nil {
		return err
	}
	if !c.session.Load().modern() {
		r.params = levelParams(level)
		if _, err := c.call(ctx, r, &o); err != nil {
			return err
		}
	}
	c.logLevel.Store(&level)
	return nil
}

func levelParams(level LogLevel) json.RawMessage {
	return append(jsonscan.AppendString([]byte(`{"level":`), string(level)), '}')
}

// askForLevelAgain tells a new session of a legacy revision what the one before was told.
func (c *Client) askForLevelAgain(ctx context.Context) error {
	level := c.logLevel.Load()
	if level == nil || c.session.Load().modern() || !c.Server().Capabilities.Logging {
		return nil
	}
	o := c.callOptions(nil)
	_, err := c.call(ctx, &request{method: "logging/setLevel", params: levelParams(*level)}, &o)
	return err
}
