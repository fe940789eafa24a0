package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/transport"
)

const (
	startWait = 15 * time.Second // servers that take longer to start do so while others are used
	closeWait = 10 * time.Second
)

// fleet is the servers, together with what runs beside them: the eyes on their states and on their file.
type fleet struct {
	host *host.Host
	stop context.CancelFunc
	wait sync.WaitGroup
}

func openFleet(ctx context.Context, o options, t *terminal) (*fleet, error) {
	before := fileState(o.config)
	servers, err := servers(o.config)
	if err != nil {
		if len(servers) == 0 {
			return nil, err
		}
		t.printf("%v\n", err) // bad entries cost the others nothing
	}

	ctx, stop := context.WithCancel(ctx)
	f := &fleet{host: host.New(hostOptions(o, t)), stop: stop}
	r := newReloader(o.config, before, f.host, t)
	t.printf("Servers to start: %d\n", len(servers))
	if err := apply(ctx, f.host, servers); err != nil {
		return nil, errors.Join(err, f.close())
	}
	w := &watcher{host: f.host, out: t}
	for _, status := range f.host.Status() {
		w.see(status)
	}
	showSkipped(f.host, t)
	f.wait.Go(func() { w.run(ctx) })
	if o.config != "" {
		f.wait.Go(func() { r.run(ctx) })
	}
	return f, nil
}

// close ends the servers, and waits for all that runs beside them.
func (f *fleet) close() error {
	f.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	err := f.host.Close(ctx)
	f.wait.Wait()
	return err
}

// servers reads the file. With an error it has the entries that are good.
func servers(path string) ([]config.Server, error) {
	if path == "" {
		return demoServers()
	}
	file, bad := config.ParseFile(path, nil)
	servers, missing := file.Expand(os.LookupEnv)
	return servers, errors.Join(bad, missing)
}

func apply(ctx context.Context, h *host.Host, servers []config.Server) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	return h.Apply(ctx, servers)
}

func hostOptions(o options, t *terminal) host.Options {
	options := host.Options{
		Client: func(s config.Server) mcp.Options {
			return mcp.Options{
				Info: mcp.Implementation{Name: "agent", Version: "1.0.0"},
				Elicit: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return t.elicit(ctx, s.Name, r)
				},
				ElicitURL: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return t.elicitURL(ctx, s.Name, r)
				},
			}
		},
		Transport: func(s config.Server, way transport.Transport) (transport.Transport, error) {
			if process, ok := way.(*stdio.Transport); ok {
				process.Stderr = &lineWriter{t: t, name: s.Name}
			}
			return way, nil
		},
		// OAuth is where to keep tokens: without it they are gone when the program ends.
		Approve: t.approve,
		Logger:  logger(o),
	}
	if o.yes {
		options.Approve = nil
	}
	return options
}

// showSkipped says which tools the model does not get.
func showSkipped(h *host.Host, t *terminal) {
	_, skipped := functions(h)
	for _, s := range skipped {
		t.printf("A tool is set aside: %v\n", s.Err)
	}
}

// serverLine says what a server is doing.
func serverLine(s host.ServerStatus) string {
	line := fmt.Sprintf("%s: %s", s.Name, s.State)
	err := s.Err
	if s.State == host.Ready {
		line += fmt.Sprintf(", %d tools", s.Tools)
		err = s.ListErr
	}
	if err != nil {
		line += fmt.Sprintf(": %v", err)
	}
	return line
}
