package oauth_test

import (
	"fmt"
	"net/http"

	"github.com/seed62b61957/mcp/oauth"
)

func ExampleParseChallenges() {
	header := http.Header{}
	header.Add("WWW-Authenticate", `Bearer error="insufficient_scope", scope="files:read files:write", DPoP algs="ES256"`)
	for _, c := range oauth.ParseChallenges(header.Values("WWW-Authenticate")) {
		fmt.Println(c.Scheme, c.Params)
	}
	// Output:
	// Bearer map[error:insufficient_scope scope:files:read files:write]
	// DPoP map[algs:ES256]
}
