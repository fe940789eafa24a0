package skills_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/skills"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

const (
	pdfURI   = "skill://pdf-processing/SKILL.md"
	formsURI = "skill://pdf-processing/references/FORMS.md"
	pdfFront = "---\nname: pdf-processing\ndescription: Extract, fill, and assemble PDF documents\n---\n"
	pdfText  = pdfFront + "\nSee [the forms](references/FORMS.md#fill).\n"
	forms    = "Fill them in.\n"
)

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

type object = map[string]any

func file(uri, text string) object {
	return object{"uri": uri, "digest": digest(text), "size": len(text)}
}

// pdfEntry is the entry of a sound skill of two files.
func pdfEntry() object {
	return object{
		"uri":         pdfURI,
		"frontmatter": object{"name": "pdf-processing", "description": "Extract, fill, and assemble PDF documents"},
		"resources":   []any{file(pdfURI, pdfText), file(formsURI, forms)},
	}
}

// newServer serves entries, one on a page, and files by URI.
func newServer(files map[string]string, entries ...any) *mcptest.Server {
	s := &mcptest.Server{Capabilities: json.RawMessage(`{"resources":{},"extensions":{"` + skills.Extension + `":{}}}`)}
	s.Handle("skills/list", func(_ context.Context, call *mcptest.Call) (any, error) {
		var params struct{ Cursor string }
		if err := json.Unmarshal(call.Params, &params); err != nil {
			return nil, err
		}
		at := len(params.Cursor)
		page := object{"skills": entries[at:min(at+1, len(entries))]}
		if at+1 < len(entries) {
			page["nextCursor"] = params.Cursor + "+"
		}
		return page, nil
	})
	for uri, text := range files {
		s.AddResource(&mcp.Resource{URI: uri, Name: uri}, contents(&mcp.ResourceContents{URI: uri, Text: text}))
	}
	return s
}

func contents(all ...*mcp.ResourceContents) mcptest.ResourceHandler {
	return func(context.Context, *mcptest.Call) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: all}, nil
	}
}

// list returns what a server lists.
func list(t *testing.T, c *mcp.Client) (all []*skills.Skill) {
	t.Helper()
	for skill, err := range skills.List(t.Context(), c) {
		require.NoError(t, err)
		all = append(all, skill)
	}
	return all
}

// load loads the one skill of a server.
func load(t *testing.T, s *mcptest.Server) (*skills.Loaded, error) {
	t.Helper()
	all := list(t, mcptest.Connect(t, s, nil))
	require.Len(t, all, 1)
	return all[0].Load(t.Context())
}

// reads are the URIs that a server was asked for.
func reads(t *testing.T, s *mcptest.Server) (uris []string) {
	t.Helper()
	for _, m := range s.Received("resources/read") {
		var params struct{ URI string }
		require.NoError(t, json.Unmarshal(m.Params, &params))
		uris = append(uris, params.URI)
	}
	return uris
}

func refusal(t *testing.T, err error) *skills.VerifyError {
	t.Helper()
	var refused *skills.VerifyError
	require.ErrorAs(t, err, &refused)
	return refused
}
