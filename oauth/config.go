package oauth

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/sync/singleflight"
)

// Config says how an [Authorizer] gets at tokens. Only Server is needed, and a redirect URL to sign a user in.
type Config struct {
	// Server is the URL of the MCP server, the same as the transport's. Tokens go to its origin and nowhere else.
	Server string

	// Store keeps the tokens and the clients that were registered; nil means a [MemoryStore] of its own.
	Store Store
	// Key tells the records of several users in one Store apart. The key in the Store is that, a space and Server, so
	// that no server gets the tokens of another one; for a Key of "" it is Server.
	Key string

	// Grant is the way to a token without a user: [ClientCredentials], [EnterpriseManaged] or [WorkloadIdentity]. Nil
	// means the authorization code grant, in which the user signs in.
	Grant Grant

	// Client is a client that somebody has registered. It goes before the other ways to a client id.
	Client *Client
	// ClientIDMetadataURL is where the application publishes its Client ID Metadata Document, which is its client id
	// wherever an authorization server takes such. It is an https URL with a path.
	ClientIDMetadataURL string
	// Registration describes the application to authorization servers at which it registers itself.
	Registration Registration
	// NoRegistration keeps it from registering itself. A sign-in for which there is no other client id then fails with
	// a [*RegistrationError]; a client that was registered before is not used for one, but its tokens are still
	// renewed.
	NoRegistration bool

	// RedirectURL is where the authorization server sends the user back to: an https URL, one of a loopback address, or
	// one with a scheme of the application's own. [SignInOptions] may give another one for each sign-in.
	RedirectURL string
	// RedirectURLFor gives the redirect URL for an authorization server that does not say who it is in its answers (RFC
	// 9207). A URL that is its own tells the answers of servers apart nevertheless (RFC 9700, section 4.4.2); the
	// application's metadata document has to list all of them. Nil or "" means RedirectURL for all.
	RedirectURLFor func(issuer string) string

	// Scopes are asked for in place of those that the server names. A step-up still adds to them.
	Scopes []string

	// ResourceMetadataURL and ServerMetadataURL are where the metadata of the MCP server and of its authorization
	// server are, if they are not where the specification looks for them.
	ResourceMetadataURL, ServerMetadataURL string

	// DPoP asks for tokens that are bound to a key (RFC 9449), and takes no others. The key is made for each sign-in,
	// and is kept with the tokens.
	DPoP bool

	// HTTP makes the requests to authorization servers; nil means a client of the package's own. It is copied:
	// redirects follow this package's policy.
	HTTP *http.Client
	// AllowPrivate lets a server that is not itself at a loopback or private address name URLs that are. It is for
	// networks of an organization's own; without it such URLs are refused, since they let a stranger's server reach
	// into the network of its client.
	AllowPrivate bool

	// OnChallenge sees every 401 and 403 of the server, before anything is made of it. It is called on the goroutine of
	// the call, possibly by several at a time, and should return soon.
	OnChallenge func(ctx context.Context, status int, challenges []Challenge)

	// Logger is told what was tolerated, and what failed without failing a call; nil means nobody. No secret goes
	// there.
	Logger *slog.Logger
}

// A Client is an OAuth client that is registered with an authorization server. Nothing that formats it shows the
// secret.
type Client struct {
	ID     string
	Secret string // "" for a public client, and for one with a key

	// Issuer is the authorization server that knows the client, to which its credentials go and to no other. "" means
	// the first one that it is used with, which the record remembers.
	Issuer string

	// AuthMethod is how the client shows at the token endpoint who it is: "none", "client_secret_basic",
	// "client_secret_post" or "private_key_jwt". "" means what fits the server's metadata and what is known here.
	AuthMethod string

	// SigningKey signs assertions (private_key_jwt, RFC 7523): ECDSA on P-256, P-384 or P-521, RSA, or Ed25519.
	SigningKey crypto.Signer
	KeyID      string // "kid" of the assertions, "" for none
}

// Methods of client authentication (RFC 7591, section 2).
const (
	authNone       = "none"
	authBasic      = "client_secret_basic"
	authPost       = "client_secret_post"
	authPrivateKey = "private_key_jwt"
)

func (c *Client) check() error {
	switch {
	case c.ID == "":
		return errors.New("the client has no id")
	case !slices.Contains([]string{"", authNone, authBasic, authPost, authPrivateKey}, c.AuthMethod):
		return fmt.Errorf("client authentication %q is not known", c.AuthMethod)
	case (c.AuthMethod == authBasic || c.AuthMethod == authPost) && c.Secret == "":
		return fmt.Errorf("client authentication %s without a secret", c.AuthMethod)
	case c.AuthMethod == authPrivateKey && c.SigningKey == nil:
		return fmt.Errorf("client authentication %s without a key", c.AuthMethod)
	}
	if c.SigningKey != nil {
		_, err := signingAlg(c.SigningKey)
		return err
	}
	return nil
}

// An Authorizer gets tokens for one MCP server, keeps them fresh, and puts them on requests: it is the Authorizer of
// streamablehttp.Transport. It has nothing to close. All methods may be called concurrently.
type Authorizer struct {
	config     Config
	server     *url.URL
	store      Store
	key        string
	web        *web
	log        *slog.Logger
	nonces     nonces
	discoverer discoverer

	flights singleflight.Group // renewals by the token that they replace
	memory  memory
}

// New checks a configuration. It sends nothing and reads nothing.
func New(c Config) (*Authorizer, error) {
	a, err := newAuthorizer(c)
	return a, boundary(err)
}

func newAuthorizer(c Config) (*Authorizer, error) {
	server, err := checkURL("Server", c.Server)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if g, ok := c.Grant.(*EnterpriseManaged); ok {
		c.Grant = *g // as it is named in namedURLs
	}
	a := &Authorizer{config: c, server: server, store: c.Store, key: storeKey(c), log: c.Logger}
	if a.store == nil {
		a.store = NewMemoryStore()
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	trusted, err := c.namedURLs()
	if err != nil {
		return nil, err
	}
	a.web = newWeb(webOptions{client: c.HTTP, server: server, trusted: trusted, allowPrivate: c.AllowPrivate})
	a.discoverer = discoverer{
		web: a.web, server: server, log: a.log,
		resourceMetadataURL: c.ResourceMetadataURL, serverMetadataURL: c.ServerMetadataURL,
	}
	return a, nil
}

// storeKey is another one for each pair of Key and Server: the last space divides them.
func storeKey(c Config) string {
	if c.Key == "" {
		return c.Server
	}
	return c.Key + " " + c.Server
}

// namedURLs are those that the user vouches for, wherever they lead.
func (c *Config) namedURLs() ([]*url.URL, error) {
	named := map[string]string{"ResourceMetadataURL": c.ResourceMetadataURL, "ServerMetadataURL": c.ServerMetadataURL}
	if c.Client != nil {
		named["Client.Issuer"] = c.Client.Issuer
	}
	if g, ok := c.Grant.(EnterpriseManaged); ok {
		named["EnterpriseManaged.TokenEndpoint"], named["EnterpriseManaged.Issuer"] = g.TokenEndpoint, g.Issuer
	}
	var urls []*url.URL
	for name, text := range named {
		if text == "" {
			continue
		}
		u, err := checkURL(name, text)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, nil
}

func (c *Config) check() error {
	if c.Client != nil {
		if err := c.Client.check(); err != nil {
			return err
		}
	}
	if c.ClientIDMetadataURL != "" {
		if err := checkClientIDURL(c.ClientIDMetadataURL); err != nil {
			return err
		}
	}
	if c.RedirectURL != "" {
		if err := checkRedirectURL(c.RedirectURL); err != nil {
			return err
		}
	}
	if c.Grant != nil {
		return c.Grant.check(c)
	}
	return nil
}

// checkClientIDURL applies the rules for client ids that are URLs (draft-ietf-oauth-client-id-metadata-document,
// section 3): https, a path, neither dot segments nor fragment nor user.
func checkClientIDURL(text string) error {
	u, err := checkURL("ClientIDMetadataURL", text)
	if err != nil {
		return err
	}
	segments := strings.Split(u.Path, "/")
	if u.Scheme != "https" || u.Path == "" || u.Path == "/" || u.User != nil || strings.Contains(text, "#") ||
		slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return errors.New("ClientIDMetadataURL: not an https URL with a path and without dot segments, user or fragment")
	}
	return nil
}

// checkRedirectURL refuses redirect URLs over which a code would travel in the open (MCP, "Communication Security").
func checkRedirectURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme == "" || strings.Contains(text, "#"):
		return errors.New("RedirectURL: not an absolute URL without a fragment")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return errors.New("RedirectURL: http is for loopback addresses only")
	}
	return nil
}

func checkURL(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || strings.Contains(text, " ") || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("%s: not an absolute http or https URL", name)
	}
	return u, nil
}
