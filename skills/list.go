package skills

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/jsonscan"
)

const maxPages = 1000

// List walks the skills that a server lists, and fetches each page when it is needed, but no file. It ends after the
// first error; pages that do not end are an [*mcp.PageError]. Entries that cannot be used are among the skills and say
// why ([Skill].Refused). A list may be empty or lack some: a server also has the skills that [Get] finds.
func List(ctx context.Context, c *mcp.Client, opts ...mcp.CallOption) iter.Seq2[*Skill, error] {
	return func(yield func(*Skill, error) bool) {
		if declares(c) != nil {
			return
		}
		var cursor *string
		seen := map[[sha256.Size]byte]bool{} // not the cursors, which may be as large as pages, and keep those
		for pages := 1; ; pages++ {
			items, next, err := page(ctx, c, cursor, opts)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range items {
				if !yield(newSkill(c, item), nil) {
					return
				}
			}
			if cursor = next; cursor == nil {
				return
			}
			at := sha256.Sum256([]byte(*cursor))
			if repeated := seen[at]; repeated || pages >= maxPages {
				yield(nil, fmt.Errorf("skills: skills/list: %w", &mcp.PageError{Pages: pages, Repeated: repeated}))
				return
			}
			seen[at] = true
		}
	}
}

// Get asks a server for one skill by the URI of its SKILL.md, whether it is listed or not: to load one that the
// server's instructions name, or to see whether one has changed. A URI that is no skill is an [*mcp.RPCError] with
// [mcp.CodeInvalidParams], a server that does not declare the extension an [*mcp.CapabilityError] without a request. An
// entry that cannot be used says why ([Skill].Refused).
func Get(ctx context.Context, c *mcp.Client, uri string, opts ...mcp.CallOption) (*Skill, error) {
	if err := declares(c); err != nil {
		return nil, fmt.Errorf("skills: skills/get %q: %w", uri, err)
	}
	result, err := c.Request(ctx, "skills/get", map[string]string{"uri": uri}, opts...)
	if err != nil {
		return nil, err
	}
	d := jsonscan.New(result)
	entry, ok := object(&d)["skill"]
	if !ok {
		return nil, fmt.Errorf("skills: skills/get %q: unusable result: it has no skill", uri)
	}
	skill := newSkill(c, entry)
	if skill.URI != uri {
		skill.refuse("the server was asked for another one: " + uri)
	}
	return skill, nil
}

// declares reports nil if the server declares the extension, which is when it may be asked (SEP-2640, Capability
// Negotiation).
func declares(c *mcp.Client) error {
	if _, ok := c.Server().Capabilities.Extensions[Extension]; !ok {
		return &mcp.CapabilityError{Capability: "extensions." + Extension}
	}
	return nil
}

func newSkill(c *mcp.Client, entry json.RawMessage) *Skill {
	s := decodeSkill(entry)
	s.client = c
	return s
}

// page fetches a page of entries, and the cursor of the next one.
func page(
	ctx context.Context, c *mcp.Client, cursor *string, opts []mcp.CallOption,
) (entries []json.RawMessage, next *string, err error) {
	var params any
	if cursor != nil {
		params = map[string]string{"cursor": *cursor}
	}
	result, err := c.Request(ctx, "skills/list", params, opts...)
	if err != nil {
		return nil, nil, err
	}
	if entries, next, err = decodePage(result); err != nil {
		return nil, nil, fmt.Errorf("skills: skills/list: unusable result: %w", err)
	}
	// An empty cursor is one like any other since 2026-07-28, and no more than an odd end before.
	if next != nil && *next == "" && !c.Server().Modern() {
		next = nil
	}
	return entries, next, nil
}

func decodePage(data json.RawMessage) (entries []json.RawMessage, next *string, err error) {
	d := jsonscan.New(data)
	for name := range d.Object() {
		switch string(name) {
		case "skills":
			for range d.Array() {
				entries = append(entries, d.Raw())
			}
		case "nextCursor":
			if d.Kind() != jsonscan.Null {
				cursor := d.Text()
				next = &cursor
			}
		}
	}
	return entries, next, d.End()
}
