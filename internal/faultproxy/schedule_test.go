package faultproxy_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/internal/faultproxy"
)

func TestSchedulesPrintThemselves(t *testing.T) {
	assert.Equal(t, "no fault", faultproxy.Schedule{}.String())
	assert.Equal(t, "delay 3ms, refuse with 503, hold 1s, status 500, type text/html, duplicate event 2, "+
		"drip 7 bytes, reset after 17 bytes", fmt.Sprint(faultproxy.Schedule{
		Delay: 3 * time.Millisecond, Refuse: 503, Hold: time.Second, Status: 500, Type: "text/html", Duplicate: 2,
		Drip: 7, End: faultproxy.Reset, After: 17,
	}))
	assert.Equal(t, "half-close before the head",
		faultproxy.Schedule{End: faultproxy.HalfClose, After: faultproxy.BeforeHead}.String())
	assert.Equal(t, "cut before the request",
		faultproxy.Schedule{End: faultproxy.Cut, After: faultproxy.BeforeRequest}.String())
}

func TestASeedAlwaysGivesTheSame(t *testing.T) {
	a, b := faultproxy.Random(1), faultproxy.Random(1)
	other := faultproxy.Random(2)
	var same, methods int
	for n := 100; n > 0; n-- { // in any order
		b("GET", n)
		assert.Equal(t, a("POST", n), b("POST", n))
		if a("POST", n) == other("POST", n) {
			same++
		}
		if a("POST", n) == a("GET", n) {
			methods++
		}
	}
	assert.Less(t, same, 50)
	assert.Less(t, methods, 50)
}

func TestRandomHasEveryFault(t *testing.T) {
	plan := faultproxy.Random(3)
	seen := make(map[string]bool)
	for n := range 2000 {
		for part := range strings.SplitSeq(plan("POST", n).String(), ", ") {
			kind, _, _ := strings.Cut(part, " ")
			seen[kind] = true
			for _, place := range []string{"before the request", "before the head"} {
				seen[place] = seen[place] || strings.HasSuffix(part, place)
			}
		}
	}
	for _, kind := range []string{
		"no", "delay", "refuse", "hold", "status", "type", "duplicate", "drip", "cut", "truncate", "half-close",
		"reset", "before the request", "before the head",
	} {
		assert.True(t, seen[kind], kind)
	}
}

func TestRandomExchanges(t *testing.T) {
	const seed = 4
	p := behind(t, faultproxy.Random(seed))
	t.Log("seed", seed)
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for range 50 {
				for path, want := range map[string]string{"/stream": stream, "/reply": reply} {
					resp, body, err := exchange(t, p, path)
					if err != nil || resp.Header.Get("Content-Type") == "text/html" {
						continue
					}
					if len(body) <= len(want) { // else an event came twice
						assert.Equal(t, want[:len(body)], body)
					}
				}
			}
		})
	}
	clients.Wait()
	assert.Len(t, strings.Split(p.String(), "\n"), 400)
}
