package llmcontent

import "github.com/seed62b61957/mcp"

// A Message is one message of a prompt, for a model.
type Message struct {
	Role   mcp.Role `json:"role"` // user or assistant
	Blocks []Block  `json:"content"`
}

// FromPrompt returns the messages of a prompt, in order, with what [FromResult] makes of content. The limits are those
// of the whole prompt. A role that is not the assistant's is the user's; a message of which nothing is left is left
// out.
func FromPrompt(prompt *mcp.GetPromptResult, options ...ContentOption) []Message {
	r := newReader(options)
	var messages []Message
	for _, m := range prompt.Messages {
		role := mcp.RoleUser
		if m.Role == mcp.RoleAssistant {
			role = m.Role
		}
		b := r.content(m.Content)
		switch last := len(messages) - 1; {
		case b.isBlank():
		case last >= 0 && messages[last].Role == role:
			messages[last].Blocks = append(messages[last].Blocks, b)
		default:
			messages = append(messages, Message{role, []Block{b}})
		}
	}
	for i := range messages {
		messages[i].Blocks = r.joined(messages[i].Blocks)
	}
	return r.cutMessages(messages)
}

// cutMessages applies the limit to all messages together.
func (r *reader) cutMessages(messages []Message) []Message {
	if r.limit == nil {
		return messages
	}
	var pieces []string
	for _, m := range messages {
		for _, b := range m.Blocks {
			pieces = append(pieces, b.Text)
		}
	}
	if !r.limit.cut(pieces) {
		return messages
	}
	kept := messages[:0]
	for _, m := range messages {
		var blocks []Block
		for _, b := range m.Blocks {
			b.Text, pieces = pieces[0], pieces[1:]
			if !b.isBlank() {
				blocks = append(blocks, b)
			}
		}
		if m.Blocks = blocks; blocks != nil {
			kept = append(kept, m)
		}
	}
	return kept
}

// FromResource returns the contents of a resource as context for a model: for each part a line with its URI and type,
// and what [FromResult] makes of it.
func FromResource(resource *mcp.ReadResourceResult, options ...ContentOption) []Block {
	r := newReader(options)
	for _, c := range resource.Contents {
		if c == nil {
			continue
		}
		b := r.resource(c)
		if c.Blob == nil && !isBlank(c.Text) || b.Image != nil { // other blocks name the resource themselves
			r.add(remark("resource", c.URI, c.MediaType()))
		}
		r.add(b)
	}
	return r.done()
}
