// Agent is a small program in which a language model works with MCP servers: it starts them from a file, gives the
// model their tools, asks you before a tool changes something, and goes on until the model has an answer.
//
//	go run ./examples/agent                                          # two servers and a model that are built in
//	go run ./examples/agent -config mcp.json                         # your servers
//	go run ./examples/agent -config mcp.json -url https://api.openai.com/v1 -model NAME # and a model: OPENAI_API_KEY
//	go run ./examples/agent -config mcp.json -url http://localhost:11434/v1 -model NAME "What is new?"
//
// With a question it answers that one; without, it takes one a line until the input ends. Changes of the file take
// effect at once. Ctrl-C ends the work on a question, and the program if there is none.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
)

type options struct {
	serve    string // be this demo server
	config   string
	url      string
	model    string
	keyName  string // of an environment variable
	yes      bool
	verbose  bool
	question string
}

func main() {
	o := flags()
	signals := watchSignals(context.Background())
	defer signals.stop()

	var err error
	if o.serve != "" {
		err = serveDemo(signals.ctx, o.serve)
	} else {
		err = run(o, newTerminal(os.Stdin, os.Stdout), signals)
	}
	if err != nil {
		fmt.Fprintln(screen{os.Stderr}, "agent:", err)
		os.Exit(1)
	}
}

func flags() options {
	var o options
	flag.StringVar(&o.config, "config", "", "a `file` with mcpServers; two demo servers if there is none")
	flag.StringVar(&o.url, "url", "", "the base `URL` of an API that is compatible with OpenAI's, up to /v1; a script "+
		"plays the model if there is none")
	flag.StringVar(&o.model, "model", "", "the `name` of the model there")
	flag.StringVar(&o.keyName, "key", "OPENAI_API_KEY", "the environment `variable` that has the key for it")
	flag.BoolVar(&o.yes, "yes", false, "approve all calls without a question")
	flag.BoolVar(&o.verbose, "v", false, "log what the servers do, and what they do wrong, on standard error")
	flag.StringVar(&o.serve, "serve", "", "be the demo server of a `name`, on standard input and output")
	flag.Parse()
	o.question = strings.Join(flag.Args(), " ")
	return o
}

func run(o options, t *terminal, signals *signals) (err error) {
	brain, err := chooseModel(o)
	if err != nil {
		return err
	}
	f, err := openFleet(signals.ctx, o, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()

	a := &agent{host: f.host, model: brain, out: t}
	answer := func(question string) error {
		return signals.during(func(ctx context.Context) error { return a.turn(ctx, question) })
	}
	if o.question != "" {
		return answer(o.question)
	}
	if o.config == "" && o.url == "" {
		t.printf("\nyou> %s\n", demoQuestion)
		t.complain(answer(demoQuestion))
	}
	// A question that went wrong is not the end. Ctrl-C is, and the end of the input.
	for {
		question, err := t.question(signals.ctx, "\nyou> ")
		if err != nil {
			return nil
		}
		if strings.TrimSpace(question) != "" {
			t.complain(answer(question))
		}
	}
}

func chooseModel(o options) (model, error) {
	if o.url == "" {
		return script{}, nil
	}
	if o.model == "" {
		return nil, errors.New("-url needs -model")
	}
	return newChatAPI(o.url, o.model, os.Getenv(o.keyName)), nil
}

func logger(o options) *slog.Logger {
	if !o.verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(screen{os.Stderr}, nil))
}
