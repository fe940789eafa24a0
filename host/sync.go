package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/llmcontent"
	"github.com/seed62b61957/mcp/streamablehttp"
)

// An offering is what a server has in the catalog: one generation of all its lists. It does not change.
type offering struct {
	server    string
	tools     []*mcp.Tool // by name
	prompts   []*mcp.Prompt
	resources []*mcp.Resource
	templates []*mcp.ResourceTemplate

	functions functionCache
}

// sync fetches what the server offers, and puts it in place of what it offered before, all at once. It reports whether
// that is something else. Of what cannot be fetched, or must not be taken, what was there stays.
func (s *server) sync(sp *spec, conn *connection) (news bool, err error) {
	limit := fmt.Errorf("the lists took longer than %v: %w", sp.options.ListTimeout, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(conn.life, sp.options.ListTimeout, limit)
	defer cancel()
	s.mu.Lock()
	before := s.offering
	s.mu.Unlock()
	fetched, err := fetch(ctx, conn.client, s.name, sp.options.MaxItems, before)
	if fetched != nil {
		fetched.tools = slices.DeleteFunc(fetched.tools, func(t *mcp.Tool) bool { return !sp.permits(t.Name) })
		if wrong := fetched.check(s.host.reserved); wrong != nil {
			fetched, err = nil, wrong
		}
	}
	s.mu.Lock()
	if conn.life.Err() != nil {
		s.mu.Unlock()
		return false, context.Cause(conn.life)
	}
	if news = fetched != nil && !fetched.equal(before); news {
		s.offering = fetched
	}
	s.status.ListErr = err
	if required := stepUpFor(err); required != nil {
		s.status.SignIn = required
	}
	s.announce()
	return news, err
}

// fetch asks for all lists, at the same time. It is all or nothing, but for one thing: a server that answers one of the
// lists with an error, or with too much, has what it had there before, and loses no tools by it. Then there is an
// offering and an error.
func fetch(ctx context.Context, c *mcp.Client, server string, most int, before *offering) (*offering, error) {
	o := &offering{server: server}
	if before != nil {
		o.prompts, o.resources, o.templates = before.prompts, before.resources, before.templates
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var refusals []error
	take := func(required bool, err error) {
		if !required && (refusal(err) || unfit(err)) {
			mu.Lock()
			defer mu.Unlock()
			refusals = append(refusals, err)
		} else if err != nil {
			cancel(err) // the first one counts
		}
	}
	fresh := mcp.WithRefresh()
	var all sync.WaitGroup
	begin := func(required bool, collect func() error) {
		all.Go(func() { take(required, goexit.Run(collect)) })
	}
	begin(true, func() error { return collect(&o.tools, "tools", c.Tools(ctx, fresh), most, toolName) })
	begin(false, func() error { return collect(&o.prompts, "prompts", c.Prompts(ctx, fresh), most, promptName) })
	begin(false, func() error { return collect(&o.resources, "resources", c.Resources(ctx, fresh), most, resourceURI) })
	begin(false, func() error {
		walk := c.ResourceTemplates(ctx, fresh)
		return collect(&o.templates, "resource templates", walk, most, templateURI)
	})
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return o, errors.Join(refusals...)
}

// refusal reports whether an error is about one request, and says nothing about others.
func refusal(err error) bool {
	if _, ok := errors.AsType[*mcp.RPCError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*streamablehttp.StatusError](err); ok {
		return !unreachable(err) && signInFor(err) == nil
	}
	return stepUpFor(err) != nil
}

// unfit reports whether a list was had, and must not be taken. It will not be better until the server changes it.
func unfit(err error) bool {
	var wrong *ListError
	var endless *mcp.PageError
	return errors.As(err, &wrong) || errors.As(err, &endless)
}

func toolName(t *mcp.Tool) string                { return t.Name }
func promptName(p *mcp.Prompt) string            { return p.Name }
func resourceURI(r *mcp.Resource) string         { return r.URI }
func templateURI(t *mcp.ResourceTemplate) string { return t.URITemplate }

// collect reads a list to its end, and puts it there sorted, as some servers list in another order each time.
func collect[T any](list *[]*T, kind string, walk iter.Seq2[*T, error], most int, key func(*T) string) error {
	var all []*T
	for item, err := range walk {
		if err != nil {
			return err
		}
		if len(all) == most {
			return &ListError{Reason: fmt.Sprintf("there are more than %d %s", most, kind)}
		}
		all = append(all, item)
	}
	slices.SortStableFunc(all, func(a, b *T) int { return cmp.Compare(key(a), key(b)) })
	*list = all
	return nil
}

// check finds tools that could be taken for others.
func (o *offering) check(reserved map[string]bool) error {
	known := make(map[string]string, len(o.tools))
	for i, t := range o.tools {
		if i > 0 && t.Name == o.tools[i-1].Name {
			return &ListError{Reason: fmt.Sprintf("the tool %q is there twice", t.Name)}
		}
		name := llmcontent.ToolName(o.server, t.Name)
		if reserved[name] {
			return &ListError{Reason: fmt.Sprintf("the tool %q has the reserved name %q", t.Name, name)}
		}
		// Not by chance: somebody has searched for two tools whose names have the same hash.
		if other, taken := known[name]; taken {
			return &ListError{Reason: fmt.Sprintf("the tools %q and %q have the same name %q", other, t.Name, name)}
		}
		known[name] = t.Name
	}
	return nil
}

func (o *offering) equal(other *offering) bool {
	return other != nil && reflect.DeepEqual(o.tools, other.tools) && reflect.DeepEqual(o.prompts, other.prompts) &&
		reflect.DeepEqual(o.resources, other.resources) && reflect.DeepEqual(o.templates, other.templates)
}

// tool finds a tool by the server's name for it, nil if there is none.
func (o *offering) tool(name string) *mcp.Tool {
	byName := func(t *mcp.Tool, name string) int { return cmp.Compare(t.Name, name) }
	i, ok := slices.BinarySearchFunc(o.tools, name, byName)
	if !ok {
		return nil
	}
	return o.tools[i]
}
