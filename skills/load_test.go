package skills_test

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/skills"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

var pdfFiles = map[string]string{pdfURI: pdfText, formsURI: forms}

func TestLoadingReadsSKILLmdAndOtherFilesOnDemand(t *testing.T) {
	s := newServer(pdfFiles, pdfEntry())
	loaded, err := load(t, s)
	require.NoError(t, err)
	assert.Equal(t, pdfText, loaded.Text)
	assert.Equal(t, "\nSee [the forms](references/FORMS.md#fill).\n", loaded.Body)
	assert.Equal(t, []string{pdfURI}, reads(t, s))

	content, err := loaded.Read(t.Context(), "references/FORMS.md")
	require.NoError(t, err)
	assert.Equal(t, forms, string(content.Data))
	assert.Equal(t, formsURI, content.URI)
	assert.Equal(t, []string{pdfURI, formsURI}, reads(t, s))
}

func TestReferencesResolveWithinTheSkillOnly(t *testing.T) {
	entry := pdfEntry()
	odd := "skill://pdf-processing/a%20b/50%25%23.md"
	add(file(odd, "odd"))(entry)
	s := newServer(map[string]string{
		pdfURI: pdfText, formsURI: forms, odd: "odd", "skill://pdf-processing/secret": "x", "file:///etc/passwd": "x",
	}, entry)
	loaded, err := load(t, s)
	require.NoError(t, err)
	for ref, want := range map[string]string{
		"references/FORMS.md": forms, "./references/FORMS.md": forms, "references/../references//FORMS.md": forms,
		"references/FORMS.md#fill": forms, "references%2FFORMS.md": forms, formsURI: forms, "SKILL.md": pdfText,
		"a b/50%#.md": "odd", "./a b/50%#.md": "odd", "a%20b/50%25%23.md": "odd", odd: "odd",
	} {
		content, err := loaded.Read(t.Context(), ref)
		if assert.NoError(t, err, ref) {
			assert.Equal(t, want, string(content.Data), ref)
		}
	}
	asked := len(reads(t, s))
	for _, ref := range []string{
		"", ".", "..", "secret", "skill://pdf-processing/secret", "file:///etc/passwd", "/etc/passwd", "../../etc/passwd",
		"/references/FORMS.md", "//pdf-processing/references/FORMS.md", "../pdf-processing/references/FORMS.md",
		"https://pdf-processing/references/FORMS.md", "skill:references/FORMS.md", "references/FORMS.md?x",
		`references\FORMS.md`, "REFERENCES/forms.md", "references", "references/FORMS.md\x00", "%zz",
	} {
		content, err := loaded.Read(t.Context(), ref)
		assert.Nil(t, content)
		refused := refusal(t, err)
		assert.Equal(t, skills.CheckListed, refused.What, ref)
		assert.Equal(t, ref, refused.URI)
	}
	assert.Len(t, reads(t, s), asked, "nothing of that was asked for")
}

// changed is SKILL.md with one text in place of another.
func changed(old, new string) string { return strings.Replace(pdfText, old, new, 1) }

func TestATamperedSKILLmdIsRefused(t *testing.T) {
	matching := func(text string) object { // the entry's digest and size are those of the text
		entry := pdfEntry()
		entry["resources"] = []any{file(pdfURI, text), file(formsURI, forms)}
		return entry
	}
	whole := len(pdfText)
	for name, c := range map[string]struct {
		text  string
		entry object
		want  skills.VerifyError
	}{
		"digest": {changed("See", "Sea"), pdfEntry(), skills.VerifyError{
			What: skills.CheckDigest, Want: digest(pdfText), Got: digest(changed("See", "Sea")),
		}},
		"longer": {pdfText + "x", pdfEntry(), skills.VerifyError{
			What: skills.CheckSize, Want: strconv.Itoa(whole), Got: strconv.Itoa(whole + 1),
		}},
		"shorter": {pdfText[:whole-1], pdfEntry(), skills.VerifyError{
			What: skills.CheckSize, Want: strconv.Itoa(whole), Got: strconv.Itoa(whole - 1),
		}},
		"description": {
			changed("Extract, fill, and assemble", "Steal"), matching(changed("Extract, fill, and assemble", "Steal")),
			skills.VerifyError{
				What: skills.CheckFrontmatter, Field: "description",
				Want: `"Extract, fill, and assemble PDF documents"`, Got: `"Steal PDF documents"`,
			},
		},
		"a field more": {
			changed("name:", "allowed-tools: Bash\nname:"), matching(changed("name:", "allowed-tools: Bash\nname:")),
			skills.VerifyError{What: skills.CheckFrontmatter, Field: "allowed-tools", Want: "nothing", Got: `"Bash"`},
		},
		"a field less": {
			changed("name: pdf-processing\n", ""), matching(changed("name: pdf-processing\n", "")),
			skills.VerifyError{What: skills.CheckFrontmatter, Field: "name", Want: `"pdf-processing"`, Got: "nothing"},
		},
		"no frontmatter": {"# Text", matching("# Text"), skills.VerifyError{
			What: skills.CheckFrontmatter, Reason: "there is none",
		}},
		"not YAML": {changed("name:", "name: &a"), matching(changed("name:", "name: &a")), skills.VerifyError{
			What: skills.CheckFrontmatter, Reason: "line 1: anchors, aliases and tags are not supported",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(map[string]string{pdfURI: c.text, formsURI: forms}, c.entry)
			loaded, err := load(t, s)
			assert.Nil(t, loaded)
			c.want.Skill, c.want.URI = pdfURI, pdfURI
			assert.Equal(t, &c.want, refusal(t, err))
			assert.True(t, strings.HasPrefix(err.Error(), `skills: "skill://pdf-processing/SKILL.md" refused: `), err.Error())
		})
	}
}

// A key of the frontmatter and its value can neither end a line nor speak to a terminal.
func TestRefusalsAreOneLineEach(t *testing.T) {
	const odd = `"a\e[2J\n\u009b\u202e": "\u009b\u2028"`
	text := changed("name:", odd+"\nname:")
	entry := pdfEntry()
	entry["resources"] = []any{file(pdfURI, text)}
	_, err := load(t, newServer(map[string]string{pdfURI: text}, entry))
	assert.Equal(t, "a\x1b[2J\n\u009b\u202e", refusal(t, err).Field)
	assert.ErrorContains(t, err, "frontmatter a [2J : the entry has nothing, the file \" \\u2028\"")
	assert.NotContains(t, err.Error(), "\n")
}

func TestATamperedFileIsRefusedAndTheSkillGoesOn(t *testing.T) {
	s := newServer(map[string]string{pdfURI: pdfText, formsURI: "Fill them up.\n"}, pdfEntry())
	loaded, err := load(t, s)
	require.NoError(t, err)
	content, err := loaded.Read(t.Context(), "references/FORMS.md")
	assert.Nil(t, content)
	assert.Equal(t, &skills.VerifyError{
		Skill: pdfURI, URI: formsURI, What: skills.CheckDigest, Want: digest(forms), Got: digest("Fill them up.\n"),
	}, refusal(t, err))
	_, err = loaded.Read(t.Context(), "SKILL.md")
	assert.NoError(t, err)
}

func TestContentsOfAFile(t *testing.T) {
	text := &mcp.ResourceContents{URI: formsURI, MIMEType: "text/markdown", Text: forms}
	encoded := base64.StdEncoding.EncodeToString([]byte(forms))
	broken := "?"
	for name, c := range map[string]struct {
		contents []*mcp.ResourceContents
		reason   string // "" if there is nothing wrong
	}{
		"text":       {[]*mcp.ResourceContents{text}, ""},
		"a blob":     {[]*mcp.ResourceContents{{URI: formsURI, MIMEType: "text/markdown", Blob: &encoded}}, ""},
		"none":       {nil, "0 contents for one file"},
		"two":        {[]*mcp.ResourceContents{text, text}, "2 contents for one file"},
		"not base64": {[]*mcp.ResourceContents{{URI: formsURI, Blob: &broken}}, "base64"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(map[string]string{pdfURI: pdfText}, pdfEntry())
			s.AddResource(&mcp.Resource{URI: formsURI, Name: "forms"}, contents(c.contents...))
			loaded, err := load(t, s)
			require.NoError(t, err)
			content, err := loaded.Read(t.Context(), "references/FORMS.md")
			if c.reason == "" {
				require.NoError(t, err)
				assert.Equal(t, forms, string(content.Data))
				assert.Equal(t, "text/markdown", content.MIMEType)
				return
			}
			assert.Nil(t, content)
			refused := refusal(t, err)
			assert.Equal(t, skills.CheckContents, refused.What)
			assert.Contains(t, refused.Reason, c.reason)
		})
	}
}

func TestWhatTheServerSaysGetsThrough(t *testing.T) {
	_, err := load(t, newServer(map[string]string{formsURI: forms}, pdfEntry()))
	var rpc *mcp.RPCError
	assert.ErrorAs(t, err, &rpc)
	_, err = (&skills.Skill{URI: pdfURI}).Load(t.Context())
	assert.EqualError(t, err, "skills: the skill does not come from List or Get")
}

func TestFilesComeFromTheServerThatListedTheSkill(t *testing.T) {
	mine, other := newServer(pdfFiles, pdfEntry()), newServer(pdfFiles, pdfEntry())
	skill := list(t, mcptest.Connect(t, mine, nil))[0]
	list(t, mcptest.Connect(t, other, nil))
	_, err := skill.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{pdfURI}, reads(t, mine))
	assert.Empty(t, reads(t, other))
}
