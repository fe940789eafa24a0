package spectest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// An allowance is a difference that is no loss, and why. Each one has to be needed by something.
type allowance struct {
	// paths are the last elements of the path that differs; ".*" at the end is whatever is in there.
	paths  []string
	before string // JSON, "nothing" for what was not there, "" for whatever it was
	after  string
	until  string // the last revision for which it holds; "" for all
	reason string
}

var allowances = []allowance{
	{
		paths: []string{
			"description", "elicitationId", "includeContext", "instructions", "lastModified", "logger", "message",
			"mimeType", "model", "name", "stopReason", "systemPrompt", "taskSupport", "theme", "title", "version",
			"websiteUrl",
		},
		before: `""`, after: "nothing",
		reason: "an optional text that is empty says as much as none",
	}, {
		paths: []string{
			"arguments", "audience", "hints", "icons", "resourceSubscriptions", "sizes", "stopSequences", "tools",
		},
		before: `[]`, after: "nothing",
		reason: "an optional list that is empty says as much as none",
	}, {
		paths: []string{
			"_meta", "arguments", "context", "experimental", "extensions", "inputRequests", "inputResponses",
		},
		before: `{}`, after: "nothing",
		reason: "an optional object of named values that has none says as much as none",
	}, {
		paths:  []string{"context"},
		before: `{"arguments":{}}`, after: "nothing",
		reason: "as above: this is all that is in a context",
	}, {
		paths: []string{
			"isError", "listChanged", "promptsListChanged", "required", "resourcesListChanged", "subscribe",
			"toolsListChanged",
		},
		before: `false`, after: "nothing",
		reason: "the specification takes these for false where they are not there",
	}, {
		paths:  []string{"nextCursor"},
		before: `""`, after: "nothing", until: "2025-11-25",
		reason: "some servers end a list with an empty cursor; since 2026-07-28 it is one like any other",
	}, {
		paths:  []string{"resultType"},
		before: `"complete"`, after: "nothing",
		reason: "what is returned without an error is complete",
	}, {
		paths:  []string{"logging.*", "completions.*"},
		after:  "nothing",
		reason: "no revision says what is in these; ServerCapabilities.Raw has it",
	}, {
		paths:  []string{"tasks", "task"},
		after:  "nothing",
		reason: "the experimental tasks of 2025-11-25 are not spoken; ServerCapabilities.Raw has them",
	}, {
		paths:  []string{"error.data"},
		before: "null", after: "nothing",
		reason: "null stands for no data, as the other optional members of an envelope",
	}, {
		paths:  []string{"mode"},
		before: "nothing", after: `"form"`,
		reason: "the specification takes it for form where it is not there",
	}, {
		paths:  []string{"arguments"},
		before: "nothing", after: `{}`,
		reason: "the client always sends arguments: some servers cannot do without",
	},
}

// allowed finds what allows a difference, nil if nothing does.
func allowed(revision string, d difference) *allowance {
	for i := range allowances {
		a := &allowances[i]
		if a.until != "" && revision > a.until {
			continue
		}
		if isValue(a.before, d.before) && isValue(a.after, d.after) && slices.ContainsFunc(a.paths, d.isAt) {
			return a
		}
	}
	return nil
}

func isValue(want string, value any) bool { return want == "" || want == shown(value) }

// isAt reports whether the path of a difference ends in these elements.
func (d difference) isAt(end string) bool {
	path := "." + d.path
	if within, inside := strings.CutSuffix(end, "*"); inside {
		return strings.Contains(path, "."+within)
	}
	return strings.HasSuffix(path, "."+end)
}

func TestAllowed(t *testing.T) {
	for _, test := range []struct {
		revision, path string
		before, after  any
		want           bool
	}{
		{"2025-11-25", "tools[].title", "", absent{}, true},
		{"2025-11-25", "tools[].title", "t", absent{}, false},
		{"2025-11-25", "tools[].title", absent{}, "", false},
		{"2025-11-25", "tools[].subtitle", "", absent{}, false},
		{"2025-11-25", "nextCursor", "", absent{}, true},
		{"2026-07-28", "nextCursor", "", absent{}, false},
		{"2026-07-28", "result.capabilities.logging.x", true, absent{}, true},
		{"2026-07-28", "result.capabilities.logging", object{}, absent{}, false},
	} {
		d := difference{test.path, test.before, test.after}
		assert.Equal(t, test.want, allowed(test.revision, d) != nil, fmt.Sprint(test))
	}
}
