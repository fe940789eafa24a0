package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/oauth"
)

// SignIn signs the user in to a server, and waits until it is connected. open shows the user a URL, in the browser or
// on a screen; the answer is taken on a port of this machine, which is that of the server's configuration, or any. ctx
// bounds all of it, the user has five minutes, and it ends with the host. The error is a [*StateError] if the user is
// signed in and the server is not ready nevertheless.
//
// Applications whose users are elsewhere use the two halves, [Host.StartSignIn] and [Host.CompleteSignIn].
func (h *Host) SignIn(ctx context.Context, server string, open func(url string) error) error {
	return h.all.do(ctx, func(ctx context.Context) error { return h.signIn(ctx, server, open) })
}

func (h *Host) signIn(ctx context.Context, server string, open func(url string) error) error {
	s, _, err := h.authorizer(server)
	if err != nil {
		return wrap(err)
	}
	o, err := loopbackOptions(s.settings())
	if err != nil {
		return s.wrap(err)
	}
	callback, err := oauth.ListenLoopback(o)
	if err != nil {
		return s.wrap(err)
	}
	defer callback.Close()
	signIn, err := h.StartSignIn(ctx, server, &oauth.SignInOptions{RedirectURL: callback.RedirectURL()})
	if err != nil || signIn.Done() {
		return err
	}
	if err := open(signIn.AuthorizationURL); err != nil {
		return s.wrap(err)
	}
	response, err := callback.Wait(ctx, signIn.State)
	if err != nil {
		return s.wrap(err)
	}
	return h.CompleteSignIn(ctx, server, signIn, response)
}

// StartSignIn begins a sign-in to a server, as [oauth.Authorizer.StartSignIn] does. Options without Required are for
// what the server demanded last. If the SignIn is done, there is nothing to complete, and the server connects.
func (h *Host) StartSignIn(ctx context.Context, server string, o *oauth.SignInOptions) (*oauth.SignIn, error) {
	s, a, err := h.authorizer(server)
	if err != nil {
		return nil, wrap(err)
	}
	var options oauth.SignInOptions
	if o != nil {
		options = *o
	}
	if options.Required == nil {
		options.Required = s.snapshot().SignIn
	}
	signIn, err := a.StartSignIn(ctx, &options)
	if err != nil {
		return nil, s.wrap(err)
	}
	if signIn.Done() {
		return signIn, h.signedIn(ctx, server)
	}
	return signIn, nil
}

// CompleteSignIn ends a sign-in to a server, as [oauth.Authorizer.CompleteSignIn] does, and waits until the server is
// connected. The error is a [*StateError] if the user is signed in and the server is not ready nevertheless.
func (h *Host) CompleteSignIn(ctx context.Context, server string, signIn *oauth.SignIn, r *oauth.Response) error {
	s, a, err := h.authorizer(server)
	if err != nil {
		return wrap(err)
	}
	if err := a.CompleteSignIn(ctx, signIn, r); err != nil {
		return s.wrap(err)
	}
	return h.signedIn(ctx, server)
}

// signedIn has a server that is to run connect.
func (h *Host) signedIn(ctx context.Context, name string) error {
	ok := func(s *server) bool { return !s.up || s.isUp() }
	return h.ask(ctx, name, ok, func(s *server) bool {
		if s.conn != nil {
			s.status.SignIn = nil
			s.conn.notice() // the lists may have more by now
		}
		s.now = s.up
		return s.conn == nil // an attempt that is under way was begun without
	})
}

// authorizer finds the authorizer of a server.
func (h *Host) authorizer(name string) (*server, *oauth.Authorizer, error) {
	s := h.server(name)
	switch {
	case h.all.life.Err() != nil:
		return nil, nil, ErrClosed
	case s == nil:
		return nil, nil, &NotFoundError{Server: name, Generation: h.Catalog().Generation}
	}
	s.mu.Lock()
	sp := s.spec
	s.mu.Unlock()
	if !sp.isRemote() || sp.hasCredentials() {
		return nil, nil, fmt.Errorf("there is no sign-in to server %q", name)
	}
	a, err := sp.authorizer()
	return s, a, err
}

func (s *server) settings() *config.OAuth {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spec.config.OAuth
}

// newAuthorizer lays what the configuration says over what the application says.
func (h *Host) newAuthorizer(s *config.Server) (*oauth.Authorizer, error) {
	var c oauth.Config
	if h.options.OAuth != nil {
		c = h.options.OAuth(*s)
	}
	c.Server = s.URL
	if c.Store == nil {
		c.Store = h.store
	}
	if o := s.OAuth; o != nil {
		if err := configure(&c, o); err != nil {
			return nil, err
		}
	}
	return oauth.New(c)
}

func configure(c *oauth.Config, o *config.OAuth) error {
	if o.ClientID != "" {
		c.Client = &oauth.Client{ID: o.ClientID, Secret: o.ClientSecret}
	}
	if o.Scope != "" {
		c.Scopes = strings.Fields(o.Scope)
	}
	if o.ClientName != "" {
		c.Registration.ClientName = o.ClientName
	}
	if o.AuthServerMetadataURL != "" {
		c.ServerMetadataURL = o.AuthServerMetadataURL
	}
	if o.CallbackURL != "" {
		u, err := callbackURL(o)
		if err != nil {
			return err
		}
		c.RedirectURL = u.String()
	}
	switch o.Registration {
	case config.DCR:
		c.Client, c.ClientIDMetadataURL = nil, ""
	case config.CIMD:
		if c.Client = nil; c.ClientIDMetadataURL == "" {
			return errors.New("the application has no Client ID Metadata Document")
		}
	}
	return nil
}

// callbackURL is where the answer to a sign-in is taken, with the port that is set for it.
func callbackURL(o *config.OAuth) (*url.URL, error) {
	u, err := url.Parse(o.CallbackURL)
	if err != nil {
		return nil, errors.New("the callback URL is none")
	}
	if o.CallbackPort != 0 {
		u.Host = net.JoinHostPort(u.Hostname(), strconv.Itoa(o.CallbackPort))
	}
	return u, nil
}

// loopbackOptions are those of who takes the answer to a sign-in on this machine.
func loopbackOptions(o *config.OAuth) (oauth.LoopbackOptions, error) {
	switch {
	case o == nil:
		return oauth.LoopbackOptions{}, nil
	case o.CallbackURL == "":
		return oauth.LoopbackOptions{Port: o.CallbackPort}, nil
	}
	u, err := callbackURL(o)
	if err != nil {
		return oauth.LoopbackOptions{}, err
	}
	l := oauth.LoopbackOptions{Host: u.Hostname(), Path: u.Path}
	if u.Port() != "" {
		l.Port, err = strconv.Atoi(u.Port())
	}
	return l, err
}
