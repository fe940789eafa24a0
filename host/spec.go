package host

import (
	"net/http"
	"reflect"
	"slices"
	"sync"

	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/oauth"
)

// A spec is what a server is, and how it is treated. It does not change.
type spec struct {
	config  config.Server
	options ServerOptions
	// slots holds a token for each call that is under way.
	slots chan struct{}
	// replaced is closed when the server has another spec.
	replaced chan struct{}
	// authorizer is the one of a server at a URL, the same for all of its connections.
	authorizer func() (*oauth.Authorizer, error)
}

func (h *Host) newSpec(c config.Server) *spec {
	sp := &spec{config: c, replaced: make(chan struct{})}
	if h.options.Server != nil {
		sp.options = h.options.Server(c)
	}
	sp.options = sp.options.resolved()
	sp.slots = make(chan struct{}, sp.options.MaxCalls)
	sp.authorizer = sync.OnceValues(func() (a *oauth.Authorizer, err error) {
		err = goexit.Run(func() error {
			a, err = h.newAuthorizer(&sp.config)
			return err
		})
		return a, err
	})
	return sp
}

func (sp *spec) equal(other *spec) bool {
	return sp.config.Equal(other.config) && reflect.DeepEqual(sp.options, other.options)
}

// isRemote reports whether the server is at a URL: it has no process that could be watched or started.
func (sp *spec) isRemote() bool { return sp.config.Type == config.HTTP || sp.config.Type == config.SSE }

// hasCredentials reports whether the user has written down what opens the server.
func (sp *spec) hasCredentials() bool {
	for name := range sp.config.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

// permits reports whether a tool may be used.
func (sp *spec) permits(tool string) bool {
	allowed := sp.options.Allow == nil || slices.Contains(sp.options.Allow, tool)
	return allowed && !slices.Contains(sp.options.Deny, tool)
}
