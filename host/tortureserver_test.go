package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// What a tortured server is told in its environment.
const (
	tortureName     = "HOST_TORTURE_NAME"
	tortureRun      = "HOST_TORTURE_RUN"
	tortureRevision = "HOST_TORTURE_REVISION"
	tortureBook     = "HOST_TORTURE_BOOK"     // the file that calls are written down in
	tortureDawdle   = "HOST_TORTURE_DAWDLE"   // not "": it sometimes takes longer to start than callers have
	tortureOffshoot = "HOST_TORTURE_OFFSHOOT" // not "": there is a process that the server has started
)

// A tortured server has tools that change together, all the time, and moods.
type tortured struct {
	name, revision string
	book           *os.File
	set            atomic.Int64
	mood           atomic.Int32
}

const (
	good     = iota
	slowish  // calls take a while
	mute     // and get no answer
	overload // 503, over HTTP
	moods
)

// fixed are the tools that a tortured server always has. Those of a set have its number.
var fixed = []string{"echo", "never", "sleep", "which"}

const setSize = 5

// setTools are all tools of a server with that set.
func setTools(set int64) []string {
	names := slices.Clone(fixed)
	for i := range setSize {
		names = append(names, fmt.Sprintf("set%d-%d", set, i))
	}
	return names
}

// setText is what the description of every tool of a list says, also of those that are always there.
func setText(name string, set int64) string { return fmt.Sprintf("%s with set %d", name, set) }

// A torturedAnswer is what every call is answered with.
type torturedAnswer struct {
	Server, Tool, Text, Revision string
	Set                          int64
}

func newTortured() (*tortured, *mcptest.Server) {
	v := &tortured{name: os.Getenv(tortureName), revision: os.Getenv(tortureRevision)}
	var err error
	if v.book, err = os.OpenFile(os.Getenv(tortureBook), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := era(&mcptest.Server{Capabilities: json.RawMessage(`{"tools":{"listChanged":true}}`)})
	v.set.Store(rand.Int64N(1000))
	s.Handle("tools/list", v.list)
	s.Handle("tools/call", v.call)
	go v.live(s)
	return v, s
}

// live changes what the server offers and how it feels.
func (v *tortured) live(s *mcptest.Server) {
	for {
		time.Sleep(200*time.Millisecond + rand.N(3*time.Second))
		if rand.N(4) > 0 {
			v.set.Add(1 + rand.Int64N(3))
			_ = s.Notify(context.Background(), "notifications/tools/list_changed", nil)
			continue
		}
		v.mood.Store(rand.Int32N(moods))
		time.Sleep(rand.N(1500 * time.Millisecond))
		v.mood.Store(good)
	}
}

// list answers with two pages, both of the set that the first one was of.
func (v *tortured) list(_ context.Context, call *mcptest.Call) (any, error) {
	var params struct{ Cursor string }
	_ = json.Unmarshal(call.Params, &params)
	set := v.set.Load()
	result := map[string]any{"nextCursor": fmt.Sprint(set)}
	names := setTools(set)[:setSize]
	if params.Cursor != "" {
		_, _ = fmt.Sscan(params.Cursor, &set)
		names = setTools(set)[setSize:]
		delete(result, "nextCursor")
	}
	var tools []*mcp.Tool
	for _, name := range names {
		tools = append(tools, &mcp.Tool{
			Name: name, Description: setText(v.name, set), InputSchema: json.RawMessage(`{"type":"object"}`),
		})
	}
	result["tools"] = tools
	return result, nil
}

func (v *tortured) call(ctx context.Context, call *mcptest.Call) (any, error) {
	var args struct {
		Text  string
		Sleep int // milliseconds
	}
	if err := call.Bind(&args); err != nil {
		return nil, err
	}
	answer := torturedAnswer{v.name, call.Name, args.Text, v.revision, v.set.Load()}
	if set, ok := strings.CutPrefix(call.Name, "set"); ok && !strings.HasPrefix(set, fmt.Sprint(answer.Set, "-")) {
		return nil, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "there is no such tool"}
	}
	fmt.Fprintln(v.book, args.Text) // one write, whole or not at all
	pause := time.Duration(args.Sleep) * time.Millisecond
	if call.Name == "never" || v.mood.Load() == mute {
		<-ctx.Done()
		return nil, mcptest.ErrNoAnswer
	}
	if v.mood.Load() == slowish {
		pause += rand.N(500 * time.Millisecond)
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return nil, mcptest.ErrNoAnswer
	}
	text, err := json.Marshal(&answer)
	return mcptest.Text(string(text)), err
}

// playTortured serves over stdio, some with a process of their own that would live on.
func playTortured() {
	if os.Getenv(tortureDawdle) != "" && rand.N(2) == 0 {
		time.Sleep(3500 * time.Millisecond)
	}
	_, s := newTortured()
	if os.Getenv(tortureOffshoot) != "" {
		offshoot := exec.Command(os.Args[0])
		offshoot.Env = append(os.Environ(), playVar+"=hang", tortureName+"=offshoot of "+os.Getenv(tortureName))
		_ = offshoot.Start()
	}
	_ = s.ServeStdio(context.Background())
}

func playTorturedHTTP() {
	v, s := newTortured()
	serveHTTP(s, func() bool { return v.mood.Load() == overload })
}
