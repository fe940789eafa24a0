package host

import (
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/oauth"
)

// A State is what a server is doing. The package's documentation says what leads from one to another.
type State string

// The states.
const (
	Disabled     State = "disabled"      // by its configuration
	Idle         State = "idle"          // not connected, until it is used
	Connecting   State = "connecting"    // for the first time since it was started
	Ready        State = "ready"         //
	Reconnecting State = "reconnecting"  // lost, or not reached yet
	NeedsSignIn  State = "needs-sign-in" // until [Host.SignIn]
	Stopping     State = "stopping"      // until nothing is left of it, such as its process
	Stopped      State = "stopped"       // until [Host.Start] or [Host.Apply]
	Failed       State = "failed"        // given up, until [Host.Start] or [Host.Apply]
)

// A ServerStatus is what is known about a server at one time.
type ServerStatus struct {
	Name  string
	Type  config.Type
	State State
	Since time.Time // when it came into the state
	// Attempt counts the attempts of an outage to connect again, from 1; 0 if there is none.
	Attempt int
	// Next is when the attempt is made: zero if it is under way. A server at a URL that was lost is tried when it is
	// next used after that.
	Next time.Time
	// Err says why the server is reconnecting, failed or in need of a sign-in.
	Err error
	// SignIn is what a sign-in is needed for. It may be there in the state Ready too: then a call needed more than the
	// user has agreed to so far.
	SignIn *oauth.SignInRequiredError

	// Info is what the server said of itself the last time that it was connected; nil if it never was. It must not be
	// changed.
	Info *mcp.ServerInfo

	// What the server has in the catalog.
	Tools, Prompts, Resources, Templates int
	// ListErr says why what the server offers could not be listed the last time, nil if it could.
	ListErr error
}
