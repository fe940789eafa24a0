package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed62b61957/mcp/llmcontent"
)

const (
	replyTimeout  = 5 * time.Minute
	maxReplyBytes = 8 << 20
	maxAttempts   = 3
	maxRetryWait  = 30 * time.Second
)

// chatAPI is a model behind the Chat Completions API of OpenAI, or one that is compatible with it.
type chatAPI struct {
	url, model, key string
	client          *http.Client
	wait            time.Duration // before the second attempt; it doubles
}

func newChatAPI(base, model, key string) *chatAPI {
	return &chatAPI{
		url: strings.TrimRight(base, "/") + "/chat/completions", model: model, key: key,
		client: &http.Client{
			Timeout: replyTimeout,
			// An API does not redirect, and the conversation goes nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		wait: time.Second,
	}
}

// statusError is a response other than 200.
type statusError struct {
	status     int
	message    string
	retryAfter time.Duration // 0 if the server did not say
}

func (e *statusError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("the model's API answered %d %s: %s",
		e.status, http.StatusText(e.status), e.message), ": ")
}

func (e *statusError) temporary() bool {
	return e.status == http.StatusTooManyRequests || e.status >= 500
}

// reply asks again, a few times, when the API is busy or broken.
func (c *chatAPI) reply(ctx context.Context, past []message, functions []*llmcontent.Function) (message, error) {
	body, err := json.Marshal(struct {
		Model    string                 `json:"model"`
		Messages []message              `json:"messages"`
		Tools    []*llmcontent.Function `json:"tools,omitempty"` // an empty list is refused
	}{c.model, past, functions})
	if err != nil {
		return message{}, err
	}
	wait := c.wait
	for attempt := 1; ; attempt++ {
		text, err := c.post(ctx, body)
		if err == nil {
			return readReply(text, len(past))
		}
		status, ok := errors.AsType[*statusError](err)
		if !ok || !status.temporary() || attempt == maxAttempts {
			return message{}, err
		}
		select {
		case <-time.After(min(max(wait, status.retryAfter), maxRetryWait)):
		case <-ctx.Done():
			return message{}, context.Cause(ctx)
		}
		wait *= 2
	}
}

func (c *chatAPI) post(ctx context.Context, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReplyBytes+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return nil, c.failure(response, text)
	case err != nil:
		return nil, fmt.Errorf("the model's API: %w", err)
	case len(text) > maxReplyBytes:
		return nil, fmt.Errorf("the model's API answered with more than %d bytes", maxReplyBytes)
	}
	return text, nil
}

func (c *chatAPI) failure(response *http.Response, text []byte) error {
	var body struct {
		Error struct{ Message string }
	}
	json.Unmarshal(text, &body) // best effort: what is not understood is left out
	said := body.Error.Message
	if c.key != "" {
		said = strings.ReplaceAll(said, c.key, "***") // some repeat it
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return &statusError{response.StatusCode, firstLine(said), time.Duration(seconds) * time.Second}
}

// readReply takes the first choice. Calls without an id get one, since their results have to name it.
func readReply(text []byte, turn int) (message, error) {
	var body struct {
		Choices []struct{ Message message }
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return message{}, fmt.Errorf("the model's API answered with something else than a reply: %w", err)
	}
	if len(body.Choices) == 0 {
		return message{}, errors.New("the model's API answered without a choice")
	}
	reply := body.Choices[0].Message
	reply.Role, reply.ToolCallID = "assistant", ""
	for i := range reply.ToolCalls {
		call := &reply.ToolCalls[i]
		call.Type = "function"
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d_%d", turn, i)
		}
	}
	return reply, nil
}
