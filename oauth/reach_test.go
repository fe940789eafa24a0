package oauth

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReachOf(t *testing.T) {
	for addr, want := range map[string]reach{
		"93.184.215.14":         reachPublic,
		"2606:2800:21f:cb07::1": reachPublic,
		"198.18.0.7":            reachPublic, // what proxies that intercept everything resolve names to
		"172.32.0.1":            reachPublic,
		"100.128.0.1":           reachPublic,
		"169.253.0.1":           reachPublic,
		"10.0.0.1":              reachPrivate,
		"172.16.0.1":            reachPrivate,
		"172.31.255.255":        reachPrivate,
		"192.168.1.1":           reachPrivate,
		"100.64.0.1":            reachPrivate,
		"100.127.255.255":       reachPrivate,
		"192.0.0.8":             reachPrivate,
		"240.0.0.1":             reachPrivate,
		"fd00::1":               reachPrivate,
		"fec0::1":               reachPrivate,
		"64:ff9b:1::a00:1":      reachPrivate,
		"2001:0:1234::1":        reachPrivate, // Teredo
		"127.0.0.1":             reachLocal,
		"127.255.255.254":       reachLocal,
		"0.0.0.0":               reachLocal,
		"0.1.2.3":               reachLocal,
		"169.254.169.254":       reachLocal,
		"224.0.0.1":             reachLocal,
		"255.255.255.255":       reachLocal,
		"::1":                   reachLocal,
		"::":                    reachLocal,
		"fe80::1":               reachLocal,
		"fe80::1%eth0":          reachLocal,
		"fec0::1%eth0":          reachPrivate,
		"::1%lo":                reachLocal,
		"ff02::1":               reachLocal,
		"::ffff:127.0.0.1":      reachLocal, // mapped
		"::ffff:10.0.0.1":       reachPrivate,
		"::ffff:93.184.215.14":  reachPublic,
		"::ffff:0:127.0.0.1":    reachLocal, // translated
		"::7f00:1":              reachLocal, // compatible
		"64:ff9b::7f00:1":       reachLocal, // NAT64
		"64:ff9b::a9fe:a9fe":    reachLocal,
		"64:ff9b::c0a8:1":       reachPrivate,
		"64:ff9b::5db8:d70e":    reachPublic,
		"2002:7f00:1::":         reachLocal, // 6to4
		"2002:a00:1:ffff::1":    reachPrivate,
		"2002:5db8:d70e::1":     reachPublic,
	} {
		assert.Equal(t, want.String(), reachOf(netip.MustParseAddr(addr)).String(), addr)
	}
}

func TestReachOfHost(t *testing.T) {
	for host, want := range map[string]reach{
		"example.com":       reachPublic,
		"localhost.example": reachPublic,
		"notlocalhost":      reachPublic,
		"93.184.215.14":     reachPublic,
		"192.168.0.1":       reachPrivate,
		"127.0.0.1":         reachLocal,
		"::1":               reachLocal,
		"localhost":         reachLocal,
		"LocalHost.":        reachLocal,
		"a.localhost":       reachLocal,
	} {
		assert.Equal(t, want.String(), reachOfHost(host).String(), host)
	}
}
