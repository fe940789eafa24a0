package faultproxy

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// A Plan gives the schedule of the request with the given number among those of its method, from 1. It may be called
// concurrently.
type Plan func(method string, number int) Schedule

// Always does the same to each exchange.
func Always(s Schedule) Plan {
	return func(string, int) Schedule { return s }
}

// Random draws a schedule for each exchange; about every third one has no fault. Delays are some milliseconds. Statuses
// are such as a gateway makes up: none says that a session or an endpoint is gone, which only the server can know.
func Random(seed uint64) Plan {
	return func(method string, number int) Schedule {
		hash := fnv.New64a()
		hash.Write([]byte(method))
		return draw(rand.New(rand.NewPCG(seed, hash.Sum64()+uint64(number))))
	}
}

func draw(random *rand.Rand) (s Schedule) {
	oneIn := func(n int) bool { return random.IntN(n) == 0 }
	if oneIn(4) {
		s.Delay = milliseconds(random)
	}
	if oneIn(4) {
		s.Hold = milliseconds(random)
	}
	if oneIn(4) {
		s.Drip = 5 + random.IntN(50)
	}
	switch gateway := []int{429, 500, 502, 503, 504}; random.IntN(12) {
	case 0:
		s.Refuse = gateway[random.IntN(len(gateway))]
	case 1:
		s.Status = gateway[random.IntN(len(gateway))]
	case 2:
		s.Type = []string{"text/html", "text/plain", "application/octet-stream"}[random.IntN(3)]
	case 3:
		s.Duplicate = 1 + random.IntN(3)
	case 4, 5, 6, 7:
		s.End = Cut + End(random.IntN(int(Reset)))
		s.After = []int{BeforeRequest, BeforeHead, random.IntN(50), random.IntN(500), random.IntN(500)}[random.IntN(5)]
	}
	return s
}

func milliseconds(random *rand.Rand) time.Duration {
	return time.Duration(1+random.IntN(10)) * time.Millisecond
}
