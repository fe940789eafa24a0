package oauth

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
)

// A guard sends requests to addresses up to a reach, and no farther inside. Its fields are constant.
type guard struct {
	limit   reach
	trusted map[string]bool   // hosts with their ports that the user named: no limit there
	plain   http.RoundTripper // the user's or our own
	dialing *http.Transport   // plain with every connection checked; nil if that cannot be made of it
	proxy   func(*http.Request) (*url.URL, error)
	lookup  func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// newGuard returns a guard over base. The addresses of a name are checked where the connection is made, so that a name
// that changes its address between two look-ups gains nothing (DNS rebinding).
func newGuard(base http.RoundTripper, limit reach, resolver *net.Resolver, trusted map[string]bool) *guard {
	g := &guard{limit: limit, trusted: trusted, plain: base, lookup: resolver.LookupNetIP}
	transport, ok := base.(*http.Transport)
	if !ok {
		return g
	}
	g.proxy = transport.Proxy
	//lint:ignore SA1019 somebody may still set them
	if transport.Dial != nil || transport.DialTLS != nil {
		return g
	}
	g.dialing = transport.Clone()
	g.dialing.IdleConnTimeout = idleTimeout
	if transport.DialContext == nil || base == http.DefaultTransport {
		dialer := &net.Dialer{Timeout: requestTimeout, Resolver: resolver, Control: g.control}
		g.dialing.DialContext = dialer.DialContext
	} else {
		g.dialing.DialContext = g.checked(transport.DialContext)
	}
	if transport.DialTLSContext != nil {
		g.dialing.DialTLSContext = g.checked(transport.DialTLSContext)
	}
	return g
}

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if g.trusted[hostPort(req.URL)] {
		return g.plain.RoundTrip(req)
	}
	proxied := false
	if g.proxy != nil {
		proxy, err := g.proxy(req)
		if err != nil {
			return nil, err
		}
		proxied = proxy != nil
	}
	if g.dialing != nil && !proxied {
		return g.dialing.RoundTrip(req)
	}
	if err := g.resolve(req.Context(), req.URL.Hostname()); err != nil {
		return nil, err
	}
	return g.plain.RoundTrip(req)
}

// resolve checks the addresses of a host to which something else will connect: a proxy, a RoundTripper of the user's.
// One that has none here is let pass, since there may be names that only a proxy knows.
func (g *guard) resolve(ctx context.Context, host string) error {
	if g.limit == reachLocal {
		return nil
	}
	addrs, err := g.lookup(ctx, "ip", host)
	if err != nil {
		return ctx.Err()
	}
	for _, addr := range addrs {
		if err := g.check(addr); err != nil {
			return err
		}
	}
	return nil
}

func (g *guard) check(addr netip.Addr) error {
	if r := reachOf(addr); r > g.limit {
		return &refusedError{addr.Unmap(), r}
	}
	return nil
}

// control is a net.Dialer's: it sees the address that is about to be connected to.
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("unexpected address %q", address)
	}
	return g.check(addr.Addr())
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// checked is for a dial function of the user's: it cannot see the address before there is a connection, but nothing is
// sent over one that is refused. (Over TLS of the user's own, only the handshake is.)
func (g *guard) checked(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		remote, ok := conn.RemoteAddr().(*net.TCPAddr)
		if !ok {
			return conn, nil // a Unix socket, a tunnel: no place that a URL could name
		}
		if err := g.check(remote.AddrPort().Addr()); err != nil {
			conn.Close()
			return nil, err
		}
		return conn, nil
	}
}

// refusedError is an address that is farther inside than a guard allows.
type refusedError struct {
	addr  netip.Addr
	reach reach
}

func (e *refusedError) Error() string { return fmt.Sprintf("its address %s is %s", e.addr, e.reach) }
