package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
)

// renewTimeout bounds a renewal, the requests to servers and the wait for the store included.
const renewTimeout = 15 * time.Second

// errUnknownClient matches the error of a grant whose client is gone: only a sign-in helps.
var errUnknownClient = errors.New("the client is not known any more")

// renewable reports whether a token can be replaced without the user.
func (a *Authorizer) renewable(held *credentials) bool {
	return a.config.Grant != nil || held != nil && held.RefreshToken != ""
}

// renew replaces the token that was used, "" for none, once for all who ask for that at a time. It goes on without the
// caller whose ctx ends, for the others and for the next, so that no refresh token that was used up is lost with it.
// Demand is nil unless the server has asked for the new token.
func (a *Authorizer) renew(ctx context.Context, used string, d *demand) error {
	if err := a.memory.failure(used); err != nil {
		return err
	}
	flight := used
	if d != nil {
		flight += "\n" + joinScopes(d.scopes)
	}
	done := a.flights.DoChan(flight, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTimeout)
		defer cancel()
		err := goexit.Run(func() error { return a.renewOnce(ctx, used, d) })
		if err != nil && !errors.Is(err, ErrNotSaved) {
			a.memory.fail(used, err)
		}
		return nil, err
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *Authorizer) renewOnce(ctx context.Context, used string, d *demand) error {
	source := renewed
	if from, fresh := a.memory.fresh(used); fresh && from == fromUser {
		source = renewedAtOnce
	}
	err := a.obtainAnew(ctx, used, d)
	if err != nil && !final(err) && isStored(err) && a.moved(ctx) {
		err = fmt.Errorf("%w: %w", errMoved, err)
	}
	if held := a.memory.held(); held != nil && held.AccessToken != used {
		a.memory.obtained(held.AccessToken, source)
	}
	return err
}

func (a *Authorizer) obtainAnew(ctx context.Context, used string, d *demand) error {
	if a.config.Grant != nil {
		return a.grant(ctx, used, d)
	}
	return a.refresh(ctx, used)
}

// errMoved matches the error of a renewal where the MCP server names another authorization server now than the one that
// the token is from, which gives none any more: only a sign-in there helps, or a client that is known there.
var errMoved = errors.New("the server has another authorization server now")

// moved reports whether that is so. It asks only when the token is over: while it is good, the server is the one to say
// that it is not.
func (a *Authorizer) moved(ctx context.Context) bool {
	held := a.memory.held()
	if held == nil || !held.over() {
		return false
	}
	found, err := a.discover(ctx, "")
	return err == nil && found.issuer().Issuer != held.Issuer
}

// refresh uses the refresh token (RFC 6749, section 6). The lock of the store is held meanwhile, and the record is read
// again under it, so that of all processes one asks and the others find what it got.
func (a *Authorizer) refresh(ctx context.Context, used string) error {
	var refusal error
	err := a.update(ctx, func(r *record) (changed bool, err error) {
		held := r.Credentials
		if held == nil || held.AccessToken != used && !held.due() || held.RefreshToken == "" {
			return false, nil
		}
		next := *held
		client, err := a.clientAt(held.Issuer, r.BoundIssuer, held.ClientID, held.Client)
		if err == nil {
			err = a.obtain(ctx, &next, client, url.Values{
				"grant_type":    {"refresh_token"},
				"refresh_token": {held.RefreshToken},
			})
		}
		if !a.ended(r, err) {
			r.Credentials = &next
			return err == nil, err
		}
		refusal = err
		next = *held
		next.RefreshToken = "" // used up, or withdrawn: there is no sense in sending it again
		r.Credentials = &next
		return true, nil
	})
	if refusal != nil {
		return refusal
	}
	return err
}

// ended reports whether a refresh was refused for good, and drops a registration that the server does not know. Of
// other errors the cause may be mended, so that the refresh token is kept.
func (a *Authorizer) ended(r *record, err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	held := r.Credentials
	if known := r.Clients[held.Issuer]; e.Code == "invalid_client" && known != nil && known.ID == held.ClientID {
		delete(r.Clients, held.Issuer)
		return true
	}
	return e.Code == "invalid_grant"
}

// grant gets tokens in a way that needs no user.
func (a *Authorizer) grant(ctx context.Context, used string, d *demand) error {
	next, err := a.prepare(ctx, d)
	if err != nil {
		return err
	}
	client, err := a.grantClient(ctx, next.Issuer)
	if err != nil {
		return err
	}
	next.ClientID = client.ID
	return a.update(ctx, func(r *record) (bool, error) {
		if held := r.Credentials; held != nil && held.AccessToken != used && !held.due() {
			return false, nil // another process was faster
		}
		c := *next
		if err := a.config.Grant.obtain(ctx, a, &c, client); err != nil {
			return false, err
		}
		r.Credentials = &c
		return true, nil
	})
}

// prepare says what to ask for, and whom. A token that is over is replaced where it came from; one that was refused, by
// whoever the server names now.
func (a *Authorizer) prepare(ctx context.Context, d *demand) (*credentials, error) {
	held := a.memory.held()
	if d == nil && held != nil {
		next := *held
		next.Scopes = held.Asked
		return &next, nil
	}
	if d == nil {
		d = &demand{}
	}
	found, err := a.discover(ctx, d.resourceMetadata)
	if err != nil {
		return nil, err
	}
	if err := a.proves(found); err != nil {
		return nil, err
	}
	next := &credentials{issuer: found.issuer()}
	if held != nil && held.Issuer == next.Issuer {
		next.DPoPKey = held.DPoPKey
	} else {
		held = nil
	}
	next.Asked = a.scopesFor(d.scopes, found.scopesSupported(), held, d.code == errorScope)
	next.Scopes = next.Asked
	return next, nil
}

// loaded returns the credentials in memory, which are read from the store the first time. What could not be saved is
// saved first.
func (a *Authorizer) loaded(ctx context.Context) (*credentials, error) {
	r, unsaved := a.memory.known()
	if r == nil {
		r, err := a.reload(ctx)
		if err != nil {
			return nil, err
		}
		return r.Credentials, nil
	}
	if unsaved {
		a.saveAgain(ctx)
	}
	return a.memory.held(), nil
}

// saveAgain tries to save what could not be saved. Who asks for a token goes on with or without.
func (a *Authorizer) saveAgain(ctx context.Context) {
	if !a.memory.savesAgain() {
		return
	}
	done := a.flights.DoChan(unsavedFlight, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTimeout)
		defer cancel()
		err := goexit.Run(func() error {
			return a.update(ctx, func(*record) (bool, error) { return false, nil })
		})
		if err != nil {
			a.memory.failSave()
			a.log.WarnContext(ctx, "oauth: the tokens are still not saved", slog.Any("error", err))
		}
		return nil, nil
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

const unsavedFlight = "\n\n" // neither a token nor a scope has a line break

// reload reads the record anew.
func (a *Authorizer) reload(ctx context.Context) (*record, error) {
	since := a.memory.written()
	data, err := a.store.Load(ctx, a.key)
	if err != nil {
		return nil, fmt.Errorf("loading the record: %w", err)
	}
	r, err := decodeRecord(data)
	if err != nil {
		return nil, err
	}
	a.memory.load(r, since)
	r, _ = a.memory.known()
	return r, nil
}

// update changes the record under the lock of the store. The change gets the latest one; what could not be saved before
// is saved with it. When the change was made and not saved, it holds in memory, and the error matches ErrNotSaved.
func (a *Authorizer) update(ctx context.Context, change func(*record) (changed bool, err error)) error {
	var next *record
	var changed bool
	err := a.store.Update(ctx, a.key, func(data []byte) ([]byte, error) {
		r, unsaved, err := a.latest(data)
		if err != nil {
			return nil, err
		}
		if changed, err = change(r); err != nil {
			return nil, err
		}
		if changed = changed || unsaved; changed {
			data, err = r.encode()
		}
		next = r
		a.memory.put(r)
		return data, err
	})
	if err != nil && next != nil && changed {
		a.memory.lost(next)
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	return err
}

// latest is what is stored, or what could not be stored before if that is later: an older record never replaces a newer
// one.
func (a *Authorizer) latest(data []byte) (r *record, unsaved bool, err error) {
	if r, err = decodeRecord(data); err != nil {
		return nil, false, err
	}
	if mine, unsaved := a.memory.known(); unsaved && mine.Generation > r.Generation {
		r, err = mine.clone()
		return r, true, err
	}
	return r, false, nil
}

// keep holds tokens in memory that the store could not even be asked to save.
func (a *Authorizer) keep(c *credentials) {
	next := &record{}
	if known, _ := a.memory.known(); known != nil {
		*next = *known
	}
	next.Credentials = c
	next.touch()
	a.memory.put(next)
	a.memory.lost(next)
}

// isStored reports whether nothing was lost.
func isStored(err error) bool { return !errors.Is(err, ErrNotSaved) }

func (r *record) clone() (*record, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return decodeRecord(data)
}
