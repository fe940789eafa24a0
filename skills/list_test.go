package skills_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/skills"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

func TestListingReadsMetadataOnly(t *testing.T) {
	const refunds = "github://acme/billing/refunds/"
	nested := object{
		"uri":         refunds + "SKILL.md",
		"frontmatter": json.RawMessage(`{"name":"refunds","description":"Refunds","metadata":{"version":1.00}}`),
		"resources":   []any{file(refunds+"SKILL.md", "x"), file(refunds+"a%20b/c", "")},
	}
	s := newServer(nil, pdfEntry(), nested)
	all := list(t, mcptest.Connect(t, s, nil))
	require.Len(t, all, 2)
	for _, skill := range all {
		assert.NoError(t, skill.Refused)
	}
	assert.Equal(t, pdfURI, all[0].URI)
	assert.Equal(t, "pdf-processing", all[0].Name)
	assert.Equal(t, "Extract, fill, and assemble PDF documents", all[0].Description)
	assert.Equal(t, []skills.File{
		{URI: pdfURI, Path: "SKILL.md", Digest: digest(pdfText), Size: int64(len(pdfText))},
		{URI: formsURI, Path: "references/FORMS.md", Digest: digest(forms), Size: int64(len(forms))},
	}, all[0].Files)
	assert.Equal(t, `{"version":1.00}`, string(all[1].Frontmatter["metadata"]))
	assert.Equal(t, "a b/c", all[1].Files[1].Path)
	assert.Empty(t, reads(t, s), "nothing is read ahead")
	assert.Len(t, s.Received("skills/list"), 2, "one for each page")
}

func TestPagesAreFetchedWhenTheyAreNeeded(t *testing.T) {
	s := newServer(nil, pdfEntry(), pdfEntry(), pdfEntry())
	for _, err := range skills.List(t.Context(), mcptest.Connect(t, s, nil)) {
		require.NoError(t, err)
		break
	}
	assert.Len(t, s.Received("skills/list"), 1)
}

func TestListsThatDoNotEnd(t *testing.T) {
	for name, want := range map[string]mcp.PageError{
		"a cursor that comes back": {Pages: 2, Repeated: true},
		"too many pages":           {Pages: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			s, asked := newServer(nil), 0
			s.Handle("skills/list", func(context.Context, *mcptest.Call) (any, error) {
				asked++
				cursor := "same"
				if !want.Repeated {
					cursor = fmt.Sprint(asked)
				}
				return object{"skills": []any{}, "nextCursor": cursor}, nil
			})
			var last error
			for _, err := range skills.List(t.Context(), mcptest.Connect(t, s, nil)) {
				last = err
			}
			var page *mcp.PageError
			require.ErrorAs(t, last, &page)
			assert.Equal(t, want, *page)
			assert.Equal(t, want.Pages, asked)
		})
	}
}

func TestEmptyCursors(t *testing.T) {
	for version, pages := range map[string]int{mcp.Version20260728: 2, mcp.Version20251125: 1} {
		s, asked := newServer(nil), 0
		s.Handle("skills/list", func(context.Context, *mcptest.Call) (any, error) {
			if asked++; asked == 1 {
				return object{"skills": []any{}, "nextCursor": ""}, nil
			}
			return object{"skills": nil}, nil
		})
		assert.Empty(t, list(t, mcptest.Connect(t, s, &mcp.Options{Versions: []string{version}})))
		assert.Equal(t, pages, asked, version)
	}
}

func TestAListThatCannotBeUsed(t *testing.T) {
	for _, result := range []string{`{"skills":{}}`, `{"skills":[],"nextCursor":5}`} {
		s := newServer(nil)
		s.Handle("skills/list", func(context.Context, *mcptest.Call) (any, error) { return json.RawMessage(result), nil })
		var last error
		for _, err := range skills.List(t.Context(), mcptest.Connect(t, s, nil)) {
			last = err
		}
		assert.ErrorContains(t, last, "skills: skills/list: unusable result", result)
	}
}

func TestWithoutTheExtensionNothingIsAsked(t *testing.T) {
	s := &mcptest.Server{Capabilities: json.RawMessage(`{"resources":{}}`)}
	c := mcptest.Connect(t, s, nil)
	assert.Empty(t, list(t, c))
	_, err := skills.Get(t.Context(), c, pdfURI)
	var missing *mcp.CapabilityError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, "extensions.io.modelcontextprotocol/skills", missing.Capability)
	assert.Empty(t, s.Received("skills/list", "skills/get"))
}

func TestGet(t *testing.T) {
	s := newServer(map[string]string{pdfURI: pdfText})
	s.Handle("skills/get", func(_ context.Context, call *mcptest.Call) (any, error) {
		switch call.URI {
		case pdfURI, "skill://other/SKILL.md":
			return object{"skill": pdfEntry()}, nil
		case "skill://nothing/SKILL.md":
			return object{}, nil
		}
		return nil, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "no such skill"}
	})
	c := mcptest.Connect(t, s, nil)

	skill, err := skills.Get(t.Context(), c, pdfURI)
	require.NoError(t, err)
	loaded, err := skill.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, pdfText, loaded.Text)

	another, err := skills.Get(t.Context(), c, "skill://other/SKILL.md")
	require.NoError(t, err)
	assert.Equal(t, skills.CheckEntry, refusal(t, another.Refused).What)

	_, err = skills.Get(t.Context(), c, "skill://nothing/SKILL.md")
	assert.ErrorContains(t, err, "it has no skill")
	_, err = skills.Get(t.Context(), c, "skill://unknown/SKILL.md")
	var rpc *mcp.RPCError
	require.ErrorAs(t, err, &rpc)
	assert.EqualValues(t, mcp.CodeInvalidParams, rpc.Code)
}

// Each entry breaks one rule (SEP-2640, Skill Entries and Limits). It is listed with the reason, and never read.
func TestEntriesThatAreRefused(t *testing.T) {
	many := []any{file(pdfURI, pdfText)}
	for i := range 512 {
		many = append(many, file(fmt.Sprintf("skill://pdf-processing/%d", i), ""))
	}
	big := object{"uri": "skill://pdf-processing/a", "digest": digest(""), "size": 16<<20 + 1}
	for name, c := range map[string]struct {
		change func(entry object)
		reason string
	}{
		"no uri":               {func(e object) { delete(e, "uri") }, "the uri"},
		"not a SKILL.md":       {func(e object) { e["uri"] = "skill://pdf-processing/README.md" }, "the uri"},
		"no directory":         {func(e object) { e["uri"] = "skill:///SKILL.md" }, "the uri"},
		"no scheme":            {func(e object) { e["uri"] = "pdf-processing/SKILL.md" }, "the uri"},
		"an odd scheme":        {func(e object) { e["uri"] = "a/b:pdf-processing/SKILL.md" }, "the uri"},
		"dots in the uri":      {func(e object) { e["uri"] = "skill://x/../pdf-processing/SKILL.md" }, "the uri"},
		"a query in the uri":   {func(e object) { e["uri"] = "skill://x?/pdf-processing/SKILL.md" }, "the uri"},
		"another name":         {func(e object) { e["frontmatter"] = object{"name": "pdf", "description": "x"} }, "the name"},
		"no name":              {func(e object) { e["frontmatter"] = object{"description": "x"} }, "no name"},
		"no description":       {func(e object) { e["frontmatter"] = object{"name": "pdf-processing", "description": ""} }, "no description"},
		"no frontmatter":       {func(e object) { e["frontmatter"] = "name: pdf-processing" }, "no name"},
		"no resources":         {func(e object) { delete(e, "resources") }, "resources"},
		"resources of no kind": {func(e object) { e["resources"] = "static" }, "resources"},
		"no file":              {func(e object) { e["resources"] = []any{} }, "SKILL.md is not listed"},
		"SKILL.md not listed":  {func(e object) { e["resources"] = []any{file(formsURI, forms)} }, "SKILL.md is not listed"},
		"SKILL.md by another uri": {func(e object) {
			e["resources"] = []any{file("skill://pdf-processing/SKILL%2Emd", pdfText)}
		}, "another uri"},
		"too many files":   {func(e object) { e["resources"] = many }, "more than 512 files"},
		"a file too large": {add(big), "file 2 has no size"},
		"a file twice":     {add(file(formsURI, forms)), "file 2 is listed twice"},
		"a file twice, once encoded": {
			add(file("skill://pdf-processing/references/%46ORMS.md", forms)), "file 2 is listed twice",
		},
		"not a file":              {add("x"), "file 2 is not within"},
		"another skill":           {add(file("skill://other/SKILL.md", forms)), "file 2 is not within"},
		"another scheme":          {add(file("other:a/b", forms)), "file 2 is not within"},
		"a longer name":           {add(file("skill://pdf-processing-2/a", forms)), "file 2 is not within"},
		"the directory":           {add(file("skill://pdf-processing/", forms)), "file 2 is not within"},
		"dots":                    {add(file("skill://pdf-processing/a/../../other/b", forms)), "file 2 is not within"},
		"encoded dots":            {add(file("skill://pdf-processing/%2e%2E/other/b", forms)), "file 2 is not within"},
		"an encoded slash":        {add(file("skill://pdf-processing/..%2fother", forms)), "file 2 is not within"},
		"an encoded slash within": {add(file("skill://pdf-processing/a%2Fb", forms)), "file 2 is not within"},
		"a dot":                   {add(file("skill://pdf-processing/.", forms)), "file 2 is not within"},
		"a backslash":             {add(file(`skill://pdf-processing/..\other`, forms)), "file 2 is not within"},
		"a drive":                 {add(file("skill://pdf-processing/C:/windows", forms)), "file 2 is not within"},
		"a stream":                {add(file("skill://pdf-processing/a.txt%3Ahidden", forms)), "file 2 is not within"},
		"an encoded NUL":          {add(file("skill://pdf-processing/a%00", forms)), "file 2 is not within"},
		"a query":                 {add(file("skill://pdf-processing/a?b", forms)), "file 2 is not within"},
		"a bad escape":            {add(file("skill://pdf-processing/a%zz", forms)), "file 2 is not within"},
		"no digest":               {add(object{"uri": "skill://pdf-processing/a", "size": 1}), "file 2 has no digest"},
		"another hash":            {add(digested("sha512:" + strings.Repeat("a", 64))), "file 2 has no digest"},
		"a digest of capitals":    {add(digested("sha256:" + strings.Repeat("A", 64))), "file 2 has no digest"},
		"a short digest":          {add(digested("sha256:" + strings.Repeat("a", 63))), "file 2 has no digest"},
		"no size":                 {add(object{"uri": "skill://pdf-processing/a", "digest": digest("")}), "file 2 has no size"},
		"a size below zero": {
			add(object{"uri": "skill://pdf-processing/a", "digest": digest(""), "size": -1}), "file 2 has no size",
		},
		"half a byte": {
			add(object{"uri": "skill://pdf-processing/a", "digest": digest(""), "size": 0.5}), "file 2 has no size",
		},
	} {
		t.Run(name, func(t *testing.T) {
			entry := pdfEntry()
			c.change(entry)
			s := newServer(map[string]string{pdfURI: pdfText}, entry)
			loaded, err := load(t, s)
			assert.Nil(t, loaded)
			refused := refusal(t, err)
			assert.Equal(t, skills.CheckEntry, refused.What)
			assert.Contains(t, refused.Reason, c.reason)
			assert.Empty(t, reads(t, s))
		})
	}
}

func add(f any) func(object) {
	return func(entry object) { entry["resources"] = append(entry["resources"].([]any), f) }
}

func digested(digest string) object {
	return object{"uri": "skill://pdf-processing/a", "digest": digest, "size": 0}
}

func TestAsManyFilesAndBytesAsAllowed(t *testing.T) {
	entry := pdfEntry()
	files := []any{file(pdfURI, pdfText)}
	for i := range 511 {
		files = append(files, file(fmt.Sprintf("skill://pdf-processing/%d", i), ""))
	}
	files[1].(object)["size"] = 16<<20 - len(pdfText)
	entry["resources"] = files
	all := list(t, mcptest.Connect(t, newServer(nil, entry), nil))
	assert.NoError(t, all[0].Refused)

	files[2].(object)["size"] = 1
	all = list(t, mcptest.Connect(t, newServer(nil, entry), nil))
	assert.Contains(t, refusal(t, all[0].Refused).Reason, "more than 16777216 bytes")
}

func TestOneBadEntryDoesNotCostTheOthers(t *testing.T) {
	all := list(t, mcptest.Connect(t, newServer(nil, nil, 5, pdfEntry()), nil))
	require.Len(t, all, 3)
	assert.Equal(t, "not an object", refusal(t, all[0].Refused).Reason)
	assert.Error(t, all[1].Refused)
	assert.NoError(t, all[2].Refused)
}

func TestGeneratedSkillsAreListedAndNotLoaded(t *testing.T) {
	entry := pdfEntry()
	entry["resources"] = "dynamic"
	s := newServer(map[string]string{pdfURI: pdfText}, entry)
	all := list(t, mcptest.Connect(t, s, nil))
	assert.True(t, all[0].Dynamic)
	assert.Equal(t, "pdf-processing", all[0].Name)
	assert.Empty(t, all[0].Fingerprint())
	_, err := all[0].Load(t.Context())
	assert.ErrorIs(t, err, skills.ErrDynamic)
	assert.Empty(t, reads(t, s))
}

func TestFingerprintsChangeWithContentAndNotWithOrder(t *testing.T) {
	print := func(files ...any) string {
		entry := pdfEntry()
		entry["resources"] = files
		return list(t, mcptest.Connect(t, newServer(nil, entry), nil))[0].Fingerprint()
	}
	skill, other := file(pdfURI, pdfText), file(formsURI, forms)
	both := print(skill, other)
	assert.Equal(t, both, print(other, skill))
	assert.NotEqual(t, both, print(skill), "a file removed")
	assert.NotEqual(t, both, print(skill, file(formsURI, "other")), "a file changed")
	assert.NotEqual(t, both, print(skill, file("skill://pdf-processing/b", forms)), "a file renamed")
}
