package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	toolCount = 1000
	pageSize  = 50
)

// A call is what the server reads of a message.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cursor    string `json:"cursor"`
		Name      string `json:"name"`
		Arguments struct {
			Text string `json:"text"`
			Size int    `json:"size"`
			N    int    `json:"n"`
		} `json:"arguments"`
		Meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// answer returns the result of a call. Notifications that precede it go to notify, each a whole message.
func answer(c *call, notify func([]byte)) []byte {
	switch c.Method {
	case "initialize":
		return []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},` +
			`"serverInfo":{"name":"raw","version":"1"}}`)
	case "server/discover":
		return []byte(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` +
			`"serverInfo":{"name":"raw","version":"1"},"ttlMs":0,"cacheScope":"private"}`)
	case "tools/list":
		return page(c.Params.Cursor)
	case "tools/call":
		return callTool(c, notify)
	}
	return []byte(`{"resultType":"complete"}`)
}

func callTool(c *call, notify func([]byte)) []byte {
	args := &c.Params.Arguments
	switch c.Params.Name {
	case "blob":
		return blob(args.Size)
	case "progress":
		for n := range args.N {
			notify(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":`+
				`{"progressToken":%s,"progress":%d,"total":%d,"message":"step %d"}}`,
				c.Params.Meta.ProgressToken, n+1, args.N, n+1))
		}
	case "wait":
		barrier.wait(args.N)
	}
	return textResult(args.Text)
}

func textResult(text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, `{"resultType":"complete","content":[{"type":"text","text":%s}],"isError":false}`, quoted)
}

// blob is a result of a text with a line break, a quotation mark and a letter beyond ASCII on each line, as logs and
// source files have them.
func blob(size int) []byte {
	blobs.Lock()
	defer blobs.Unlock()
	if blobs.results[size] == nil {
		blobs.results[size] = textResult(blobText(size))
	}
	return blobs.results[size]
}

var blobs = struct {
	sync.Mutex
	results map[int][]byte
}{results: make(map[int][]byte)}

func blobText(size int) string {
	var b strings.Builder
	for line := 0; b.Len() < size; line++ {
		fmt.Fprintf(&b, "%08d a line of a file with \"quoted\" words and an é, as long as lines usually are\n", line)
	}
	text := b.String()[:size]
	return strings.ToValidUTF8(text, "?") // where a letter was cut; it keeps the size, as the last byte alone is bad
}

func page(cursor string) []byte {
	from, _ := strconv.Atoi(cursor)
	var b bytes.Buffer
	b.WriteString(`{"resultType":"complete","tools":[`)
	for n := from; n < from+pageSize; n++ {
		if n > from {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","title":"Tool %d","description":"Looks up the item %d in the index and `+
			`returns what is known about it.","inputSchema":{"type":"object","properties":{"query":{"type":"string",`+
			`"description":"What to look for"},"limit":{"type":"integer","minimum":1,"maximum":100},`+
			`"tags":{"type":"array","items":{"type":"string"}}},"required":["query"]},`+
			`"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, n, n, n)
	}
	b.WriteByte(']')
	if next := from + pageSize; next < toolCount {
		fmt.Fprintf(&b, `,"nextCursor":"%d"`, next)
	}
	b.WriteString(`,"ttlMs":0,"cacheScope":"private"}`)
	return b.Bytes()
}

// A gate lets calls wait for each other.
type gate struct {
	sync.Mutex
	arrived int
	open    chan struct{}
}

var barrier = gate{open: make(chan struct{})}

// wait returns when n calls have arrived.
func (g *gate) wait(n int) {
	g.Lock()
	open := g.open
	if g.arrived++; g.arrived == n {
		close(open)
		g.arrived, g.open = 0, make(chan struct{})
	}
	g.Unlock()
	select {
	case <-open:
	case <-time.After(time.Minute): // a client that has lost calls
	}
}
