package oauth

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func bearer(nameValue ...string) Challenge {
	c := Challenge{Scheme: "Bearer", Params: map[string]string{}}
	for i := 0; i < len(nameValue); i += 2 {
		c.Params[nameValue[i]] = nameValue[i+1]
	}
	return c
}

func TestParseChallenges(t *testing.T) {
	for name, test := range map[string]struct {
		values []string
		want   []Challenge
	}{
		"none":        {nil, nil},
		"nothing":     {[]string{"", " ,\t, "}, nil},
		"scheme only": {[]string{"Bearer"}, []Challenge{{Scheme: "Bearer"}}},
		"case 133: metadata and scopes": {
			[]string{`Bearer resource_metadata="https://h/.well-known/oauth-protected-resource", scope="a b"`},
			[]Challenge{bearer("resource_metadata", "https://h/.well-known/oauth-protected-resource", "scope", "a b")},
		},
		"names in any case":    {[]string{`Bearer ERROR=x`}, []Challenge{bearer("error", "x")}},
		"scheme as it is sent": {[]string{`bEARER`}, []Challenge{{Scheme: "bEARER"}}},
		"several headers": {
			[]string{`Bearer a=1`, `DPoP algs="ES256"`},
			[]Challenge{bearer("a", "1"), {Scheme: "DPoP", Params: map[string]string{"algs": "ES256"}}},
		},
		"several schemes in a header": {
			[]string{`Bearer a=1, b="2", Negotiate, DPoP algs="ES256",Basic realm=x`},
			[]Challenge{
				bearer("a", "1", "b", "2"),
				{Scheme: "Negotiate"},
				{Scheme: "DPoP", Params: map[string]string{"algs": "ES256"}},
				{Scheme: "Basic", Params: map[string]string{"realm": "x"}},
			},
		},
		"the example of RFC 9110": {
			[]string{`Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\""`},
			[]Challenge{
				{Scheme: "Basic", Params: map[string]string{"realm": "simple"}},
				{Scheme: "Newauth", Params: map[string]string{"realm": "apps", "type": "1", "title": `Login to "apps"`}},
			},
		},
		"token68": {
			[]string{`Negotiate YII-._~+/aG==, Bearer a=1`},
			[]Challenge{{Scheme: "Negotiate", Token68: "YII-._~+/aG=="}, bearer("a", "1")},
		},
		"token68 at the end":     {[]string{"NTLM TlRM"}, []Challenge{{Scheme: "NTLM", Token68: "TlRM"}}},
		"a name is no token68":   {[]string{`Bearer a = "1"`}, []Challenge{bearer("a", "1")}},
		"bad white space":        {[]string{"Bearer\t a =\t1 ,b= \"2\""}, []Challenge{bearer("a", "1", "b", "2")}},
		"comma in quotes":        {[]string{`Bearer a="1, B b=2", c=3`}, []Challenge{bearer("a", "1, B b=2", "c", "3")}},
		"escapes":                {[]string{`Bearer a="\"\\\x"`}, []Challenge{bearer("a", `"\x`)}},
		"empty value":            {[]string{`Bearer a="", b=1`}, []Challenge{bearer("a", "", "b", "1")}},
		"empty elements":         {[]string{`, ,Bearer ,, a=1,,, b=2 ,`}, []Challenge{bearer("a", "1", "b", "2")}},
		"comma after the scheme": {[]string{`Bearer, a=1`}, []Challenge{bearer("a", "1")}},
		"the first of a name":    {[]string{`Bearer a=1, A=2`}, []Challenge{bearer("a", "1")}},
		"no commas":              {[]string{`Bearer a="1" b=2	c="3"`}, []Challenge{bearer("a", "1", "b", "2", "c", "3")}},
		"a URL without quotes": {
			[]string{`Bearer a=https://h/x?y=1, b=2`}, []Challenge{bearer("a", "https://h/x?y=1", "b", "2")},
		},
		"words without quotes":      {[]string{`Bearer a=not for you, b=2`}, []Challenge{bearer("a", "not", "b", "2")}},
		"parameter before a scheme": {[]string{`a=1, Bearer b=2`}, []Challenge{bearer("b", "2")}},
		"parameter of no scheme, after another header": {
			[]string{`Bearer a=1`, `b=2`}, []Challenge{bearer("a", "1")},
		},
		"garbage":           {[]string{`Bearer a=1, (b "c, d=4" e), f=6`}, []Challenge{bearer("a", "1", "f", "6")}},
		"escape in garbage": {[]string{`Bearer a=1, ("\", d=4"), f=6`}, []Challenge{bearer("a", "1", "f", "6")}},
		"a quote that does not end": {
			[]string{`Bearer a=1, b="2, Basic`, `Basic realm=x`},
			[]Challenge{bearer("a", "1"), {Scheme: "Basic", Params: map[string]string{"realm": "x"}}},
		},
		"an escape at the end": {[]string{`Bearer a=1, b="\`}, []Challenge{bearer("a", "1")}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, ParseChallenges(test.values))
		})
	}
}

func TestParseChallengesIsBounded(t *testing.T) {
	long := `Bearer a="` + strings.Repeat("x", maxChallengeBytes/2) + `"`
	assert.Len(t, ParseChallenges([]string{long, long, "Basic"}), 1, "values beyond the bound are not read in part")

	found := ParseChallenges([]string{strings.Repeat("A, ", maxChallenges) + "B realm=x"})
	require.Len(t, found, maxChallenges)
	assert.Equal(t, Challenge{Scheme: "A"}, found[maxChallenges-1], "it takes no parameters of those beyond the bound")

	var many strings.Builder
	for i := range maxChallengeParams + 1 {
		fmt.Fprintf(&many, "p%d=1, ", i)
	}
	found = ParseChallenges([]string{"A " + many.String() + "B x=1"})
	require.Len(t, found, 2)
	assert.Len(t, found[0].Params, maxChallengeParams)
	assert.NotContains(t, found[0].Params, fmt.Sprintf("p%d", maxChallengeParams))
}

// format writes challenges as RFC 9110 has them.
func format(challenges []Challenge) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var elements []string
	for _, c := range challenges {
		text := c.Scheme
		if c.Token68 != "" {
			elements = append(elements, text+" "+c.Token68)
			text = ""
		}
		for _, name := range slices.Sorted(maps.Keys(c.Params)) {
			elements = append(elements, strings.TrimSpace(text+" "+name+`="`+escape.Replace(c.Params[name])+`"`))
			text = ""
		}
		if text != "" {
			elements = append(elements, text)
		}
	}
	return strings.Join(elements, ", ")
}

func FuzzParseChallenges(f *testing.F) {
	f.Add(`Bearer resource_metadata="https://h/x", scope="a b", error=invalid_token`, `Basic realm="\"q\", c"`)
	f.Add(`Negotiate abc==, DPoP algs="ES256 RS256", , x`, "a=1,\tB c = d e")
	f.Add(`Bearer a="1`, `(,) "x, y", Z`)
	f.Fuzz(func(t *testing.T, a, b string) {
		found := ParseChallenges([]string{a, b})
		require.LessOrEqual(t, len(found), maxChallenges)
		for _, c := range found {
			require.NotEmpty(t, c.Scheme)
			for name := range c.Params {
				require.NotEmpty(t, name)
				require.Equal(t, strings.ToLower(name), name)
			}
		}
		// What was understood is understood again when it is written without a fault.
		if text := format(found); len(text) <= maxChallengeBytes {
			require.Equal(t, found, ParseChallenges([]string{text}), text)
		}
	})
}
