package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
)

// The floor is what no client can be much faster than: it encodes a request by hand, and cuts id and result out of the
// answer by position, as only somebody can who knows how this one server writes. It neither validates nor decodes.
type floor struct{}

func (floor) connect(ctx context.Context, a address) (session, error) {
	var carrier floorCarrier
	var err error
	switch {
	case a.url != "":
		carrier = newFloorHTTP(a)
	default:
		carrier, err = newFloorStream(a)
	}
	if err != nil {
		return nil, err
	}
	s := &floorSession{carrier: carrier}
	if a.modern {
		s.meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"floor","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{}},`
		_, err = s.call(ctx, "server/discover", "", nil)
	} else {
		_, err = s.call(ctx, "initialize", `"protocolVersion":"2025-11-25","capabilities":{},`+
			`"clientInfo":{"name":"floor","version":"1"}`, nil)
		if err == nil {
			err = carrier.notify(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// A floorCarrier brings a request to the server and returns the message that answers it. Notifications before that go
// to on.
type floorCarrier interface {
	roundTrip(ctx context.Context, id int64, method string, request []byte, on func([]byte)) ([]byte, error)
	notify(ctx context.Context, message []byte) error
	close() error
}

type floorSession struct {
	carrier floorCarrier
	ids     atomic.Int64
	meta    string
}

// call returns the result as it came. The buffer of the answer is the caller's.
func (s *floorSession) call(ctx context.Context, method, params string, on func([]byte)) ([]byte, error) {
	id := s.ids.Add(1)
	b := make([]byte, 0, len(s.meta)+len(params)+96)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(append(append(b, `,"method":"`...), method...), `","params":{`...)
	if params == "" && s.meta != "" {
		b = append(b, s.meta[:len(s.meta)-1]...)
	} else {
		b = append(append(b, s.meta...), params...)
	}
	b = append(b, "}}"...)
	message, err := s.carrier.roundTrip(ctx, id, method, b, on)
	if err != nil {
		return nil, err
	}
	_, result, err := cut(message)
	return result, err
}

var (
	idPrefix     = []byte(`{"jsonrpc":"2.0","id":`)
	resultPrefix = []byte(`,"result":`)
)

// cut finds id and result where the raw server puts them. A notification has neither.
func cut(message []byte) (id int64, result []byte, err error) {
	rest, ok := bytes.CutPrefix(message, idPrefix)
	if !ok {
		return 0, nil, nil
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		id = id*10 + int64(rest[n]-'0')
		n++
	}
	rest, ok = bytes.CutPrefix(rest[n:], resultPrefix)
	if !ok || len(rest) == 0 {
		return 0, nil, fmt.Errorf("not an answer: %.80q", message)
	}
	return id, rest[:len(rest)-1], nil
}

func (s *floorSession) tool(ctx context.Context, name, args string, least int) error {
	result, err := s.call(ctx, "tools/call", `"name":"`+name+`","arguments":{`+args+`}`, nil)
	if err == nil && len(result) < least {
		err = fmt.Errorf("a result of %d bytes", len(result))
	}
	return err
}

func (s *floorSession) echo(ctx context.Context) error {
	return s.tool(ctx, "echo", `"text":"`+echoText+`"`, len(echoText))
}

func (s *floorSession) blob(ctx context.Context, size int) error {
	return s.tool(ctx, "blob", `"size":`+strconv.Itoa(size), size)
}

func (s *floorSession) list(ctx context.Context) error {
	params, tools := "", 0
	for {
		result, err := s.call(ctx, "tools/list", params, nil)
		if err != nil {
			return err
		}
		tools += bytes.Count(result, []byte(`"inputSchema"`))
		at := bytes.LastIndex(result, []byte(`"nextCursor":`))
		if at < 0 {
			return listed(tools)
		}
		cursor := result[at+len(`"nextCursor":`):]
		params = `"cursor":` + string(cursor[:bytes.IndexByte(cursor, ',')])
	}
}

func (s *floorSession) progress(ctx context.Context, n int) (int, error) {
	got := 0
	_, err := s.call(ctx, "tools/call",
		`"_meta":{"progressToken":7},"name":"progress","arguments":{"n":`+strconv.Itoa(n)+`}`, func([]byte) { got++ })
	return got, err
}

func (s *floorSession) wait(ctx context.Context, n int) error {
	return s.tool(ctx, "wait", `"n":`+strconv.Itoa(n), 0)
}

func (s *floorSession) close() error { return s.carrier.close() }
