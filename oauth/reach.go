package oauth

import (
	"net/netip"
	"strings"
)

// A reach says how far inside an address is. Who is outside must not make this process connect to what is farther in
// than they are: that is server-side request forgery (MCP, "Security Best Practices").
type reach int

const (
	reachPublic  reach = iota
	reachPrivate       // of a site: RFC 1918, unique local, behind a carrier's NAT
	reachLocal         // of this machine and its links: loopback, link-local, unspecified, multicast
)

func (r reach) String() string { return [...]string{"public", "private", "local"}[r] }

// The benchmarking addresses 198.18.0.0/15 count as public: proxies that intercept all traffic of a machine resolve
// every name to one of them.
var inside = []struct {
	prefix netip.Prefix
	reach  reach
}{
	{netip.MustParsePrefix("0.0.0.0/8"), reachLocal},          // unspecified, which often is loopback when dialed
	{netip.MustParsePrefix("255.255.255.255/32"), reachLocal}, // broadcast
	{netip.MustParsePrefix("100.64.0.0/10"), reachPrivate},    // carrier-grade NAT, RFC 6598
	{netip.MustParsePrefix("192.0.0.0/24"), reachPrivate},     // protocol assignments, RFC 6890
	{netip.MustParsePrefix("240.0.0.0/4"), reachPrivate},      // reserved
	{netip.MustParsePrefix("fec0::/10"), reachPrivate},        // site-local, RFC 3879
	{netip.MustParsePrefix("64:ff9b:1::/48"), reachPrivate},   // NAT64 within a site, RFC 8215
	{netip.MustParsePrefix("2001::/32"), reachPrivate},        // Teredo, which tunnels to any IPv4 address
}

// embedding are the IPv6 addresses that stand for an IPv4 address, and where it is in them.
var embedding = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64, RFC 6052
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4, RFC 3056
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // translated, RFC 2765
	{netip.MustParsePrefix("::/96"), 12},           // compatible, RFC 4291
}

func reachOf(addr netip.Addr) reach {
	addr = addr.WithZone("").Unmap()
	switch {
	case addr.IsLoopback(), addr.IsLinkLocalUnicast(), addr.IsMulticast():
		return reachLocal
	case addr.IsPrivate():
		return reachPrivate
	}
	for _, in := range inside {
		if in.prefix.Contains(addr) {
			return in.reach
		}
	}
	for _, e := range embedding {
		if e.prefix.Contains(addr) {
			b := addr.As16()
			return reachOf(netip.AddrFrom4([4]byte(b[e.at : e.at+4])))
		}
	}
	return reachPublic
}

// reachOfHost is what the host of a URL says by itself. A name says nothing, but for those of this machine (RFC 6761,
// section 6.3): its addresses are looked at when it is dialed.
func reachOfHost(host string) reach {
	if addr, err := netip.ParseAddr(host); err == nil {
		return reachOf(addr)
	}
	if isLocalhost(host) {
		return reachLocal
	}
	return reachPublic
}

func isLocalhost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || isLocalhost(host)
}
