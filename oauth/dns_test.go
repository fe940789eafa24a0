package oauth

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A nameServer answers over UDP on loopback with the addresses that it is given (RFC 1035).
type nameServer struct {
	mu    sync.Mutex
	addrs map[string][]string // what is answered, one after the other; the last one stays
	asked int                 // questions for an IPv4 address
}

// resolverOf starts a name server, and returns a resolver that asks it.
func resolverOf(t testing.TB, addrs map[string][]string) (*nameServer, *net.Resolver) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &nameServer{addrs: addrs}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.serve(conn)
	}()
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return s, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (s *nameServer) serve(conn net.PacketConn) {
	buf := make([]byte, 512)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if answer := s.answer(buf[:n]); answer != nil {
			_, _ = conn.WriteTo(answer, from)
		}
	}
}

func (s *nameServer) answer(query []byte) []byte {
	const header = 12
	var labels []string
	at := header
	for at < len(query) && query[at] != 0 {
		end := at + 1 + int(query[at])
		labels = append(labels, string(query[at+1:end]))
		at = end
	}
	question := query[header : at+5]
	answer := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
	addr := s.next(strings.Join(labels, "."), binary.BigEndian.Uint16(query[at+1:]))
	if !addr.IsValid() {
		return answer
	}
	answer[7] = 1
	answer = append(answer, 0xc0, header, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4) // name, type, class, time to live, length
	return append(answer, addr.AsSlice()...)
}

func (s *nameServer) next(name string, kind uint16) netip.Addr {
	const ipv4 = 1
	s.mu.Lock()
	defer s.mu.Unlock()
	addrs := s.addrs[name]
	if kind != ipv4 || len(addrs) == 0 {
		return netip.Addr{}
	}
	s.asked++
	if len(addrs) > 1 {
		s.addrs[name] = addrs[1:]
	}
	return netip.MustParseAddr(addrs[0])
}

func (s *nameServer) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}
