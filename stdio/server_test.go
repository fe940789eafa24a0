package stdio_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

// playVar makes the test binary play a server instead of running the tests.
const playVar = "STDIO_TEST_PLAY"

func TestMain(m *testing.M) {
	if play, ok := plays[os.Getenv(playVar)]; ok {
		play()
		os.Exit(0)
	}
	leakcheck.Main(m)
}

// plays are the servers, by what they do. Files for one system add theirs.
var plays = map[string]func(){
	"echo": func() { eachLine(echo) },
	"exit 3": func() {
		eachLine(func(string) {
			fmt.Fprintln(os.Stderr, "first line\nboom: no configuration")
			os.Exit(3)
		})
	},
	"exit 3 with noise": func() {
		eachLine(func(string) {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise\n", 50_000)+"boom")
			os.Exit(3)
		})
	},
	"exit 0": func() { eachLine(func(string) { os.Exit(0) }) },
	"last words": func() {
		eachLine(func(line string) {
			for range 100 {
				echo(line)
			}
			os.Exit(3)
		})
	},
	"ignore eof":   func() { hello(); forever() },
	"close stdout": func() { hello(); _ = os.Stdout.Close(); forever() },
	"close stdin":  func() { _ = os.Stdin.Close(); hello(); forever() },
	"ignore eof and term": func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		hello()
		<-signals
		fmt.Fprintln(os.Stderr, "asked to end")
		forever()
	},
	"last words after eof": func() {
		hello()
		eachLine(func(string) {})
		fmt.Println(strings.Repeat("x", 1<<20))
		fmt.Fprintln(os.Stderr, "all written")
	},
	"noisy": func() {
		eachLine(func(line string) {
			fmt.Fprintln(os.Stderr, strings.Repeat("n", 256<<10))
			echo(line)
		})
	},
	"flood": func() {
		for range 1024 {
			fmt.Printf(`{"jsonrpc":"2.0","method":"n","params":{"x":%q}}`+"\n", strings.Repeat("x", 1024))
		}
		eachLine(echo)
	},
	"big": func() {
		eachLine(func(line string) {
			var size int
			_, _ = fmt.Sscan(string(request(line).Params), &size)
			answer(line, `"`+strings.Repeat("x", size-2)+`"`)
		})
	},
	"banner": func() {
		fmt.Print("Server v1.0 starting...\r\n\r\n")
		eachLine(func(line string) {
			fmt.Print("[info] a call\n\n")
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":"ok"}`+"\r\n", request(line).ID)
		})
	},
	"split": func() {
		text := `{"jsonrpc":"2.0","method":"euro","params":{"x":"€"}}` + "\n"
		cut := strings.Index(text, "€") + 1
		fmt.Print(text[:cut])
		eachLine(func(string) { fmt.Print(text[cut:]) })
	},
	"environment": func() {
		text, _ := json.Marshal(os.Environ())
		eachLine(func(line string) { answer(line, string(text)) })
	},
	"folder": func() {
		dir, _ := os.Getwd()
		text, _ := json.Marshal(dir)
		eachLine(func(line string) { answer(line, string(text)) })
	},
}

type call struct{ ID, Params json.RawMessage }

func request(line string) (c call) {
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		panic(err)
	}
	return c
}

func answer(line, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request(line).ID, result)
}

// echo answers a call with its params.
func echo(line string) { answer(line, string(request(line).Params)) }

// hello tells the test that the server is ready, and its pid.
func hello() {
	fmt.Printf(`{"jsonrpc":"2.0","method":"hello","params":{"pid":%d}}`+"\n", os.Getpid())
}

func eachLine(do func(line string)) {
	lines := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		do(line)
	}
}

// forever outlives every test that goes well, and not those that fail by much.
func forever() { time.Sleep(10 * time.Minute) }
