package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/skills"
)

// scenarios are those of the suite that the library can play, in the suite's order.
var scenarios = map[string]func(context.Context, *run) error{
	"initialize": session(mcp.Options{}, connectOnly),
	"tools_call": session(mcp.Options{}, addNumbers),
	"elicitation-sep1034-client-defaults": session(mcp.Options{Elicit: accept(nil)},
		callTools("test_client_elicitation_defaults")),
	"sse-retry":        session(mcp.Options{}, callTools("test_reconnection")),
	"request-metadata": session(allCapabilities, callTools("any")),
	"sep-2322-client-request-state": session(mcp.Options{Elicit: accept(map[string]any{"confirmed": true})},
		callTools("test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type")),
	"http-standard-headers":            session(mcp.Options{}, useEverything),
	"http-custom-headers":              session(mcp.Options{}, callsOfContext),
	"http-invalid-tool-headers":        session(mcp.Options{}, callEveryTool),
	"json-schema-ref-no-deref":         session(mcp.Options{}, listTools),
	"json-schema-2020-12-preservation": session(mcp.Options{}, echoSchema),

	"auth/metadata-default":                     authorized(asPublished),
	"auth/metadata-var1":                        authorized(asPublished),
	"auth/metadata-var2":                        authorized(asPublished),
	"auth/metadata-var3":                        authorized(asPublished),
	"auth/basic-cimd":                           authorized(asPublished),
	"auth/scope-from-www-authenticate":          authorized(asPublished),
	"auth/scope-from-scopes-supported":          authorized(asPublished),
	"auth/scope-omitted-when-undefined":         authorized(asPublished),
	"auth/scope-step-up":                        authorized(asPublished),
	"auth/scope-retry-limit":                    refuses[*oauth.RefusedError](authorized(asPublished)),
	"auth/token-endpoint-auth-basic":            authorized(asPublished),
	"auth/token-endpoint-auth-post":             authorized(asPublished),
	"auth/token-endpoint-auth-none":             authorized(asPublished),
	"auth/pre-registration":                     authorized(asRegistered),
	"auth/2025-03-26-oauth-metadata-backcompat": authorized(asPublished),
	"auth/2025-03-26-oauth-endpoint-fallback":   authorized(asPublished),
	"auth/resource-mismatch":                    refuses[*oauth.ResourceError](authorized(asPublished)),
	"auth/offline-access-scope":                 authorized(asPublished),
	"auth/offline-access-not-supported":         authorized(asPublished),
	"auth/authorization-server-migration":       authorized(asPublished),
	"auth/iss-supported":                        authorized(asPublished),
	"auth/iss-not-advertised":                   authorized(asPublished),
	"auth/iss-supported-missing":                refuses[*oauth.IssuerError](authorized(asPublished)),
	"auth/iss-wrong-issuer":                     refuses[*oauth.IssuerError](authorized(asPublished)),
	"auth/iss-unexpected":                       refuses[*oauth.IssuerError](authorized(asPublished)),
	"auth/iss-normalized":                       refuses[*oauth.IssuerError](authorized(asPublished)),
	"auth/metadata-issuer-mismatch":             refuses[*oauth.IssuerError](authorized(asPublished)),
	"auth/client-credentials-jwt":               authorized(withKey),
	"auth/client-credentials-basic":             authorized(withSecret),
	"auth/enterprise-managed-authorization":     authorized(byEnterprise),
	"auth/dpop":                                 authorized(withDPoP),
	"auth/dpop-nonce":                           authorized(withDPoP),
	"auth/wif-jwt-bearer":                       authorized(byWorkload),

	"sep-2640-client-no-prefetch":        session(mcp.Options{}, listSkills),
	"sep-2640-client-verify-digest":      session(mcp.Options{}, loadTampered(skills.CheckDigest)),
	"sep-2640-client-verify-size":        session(mcp.Options{}, loadTampered(skills.CheckSize)),
	"sep-2640-client-verify-frontmatter": session(mcp.Options{}, loadTampered(skills.CheckFrontmatter)),
}

func connectOnly(context.Context, *run, *mcp.Client) error { return nil }

func listTools(ctx context.Context, _ *run, c *mcp.Client) error {
	_, err := c.ListTools(ctx)
	return err
}

func addNumbers(ctx context.Context, _ *run, c *mcp.Client) error {
	if _, err := c.ListTools(ctx); err != nil {
		return err
	}
	return callTool(ctx, c, "add_numbers", map[string]any{"a": 5, "b": 3})
}

// callTools calls tools that take no arguments, one after the other.
func callTools(names ...string) func(context.Context, *run, *mcp.Client) error {
	return func(ctx context.Context, _ *run, c *mcp.Client) error {
		if _, err := c.ListTools(ctx); err != nil {
			return err
		}
		for _, name := range names {
			if err := callTool(ctx, c, name, nil); err != nil {
				return err
			}
		}
		return nil
	}
}

// callEveryTool calls what the list has, with the one argument that one of them wants.
func callEveryTool(ctx context.Context, _ *run, c *mcp.Client) error {
	tools, err := c.ListTools(ctx)
	if err != nil {
		return err
	}
	for _, tool := range tools {
		if err := callTool(ctx, c, tool.Name, map[string]any{"region": "us-west1"}); err != nil {
			return err
		}
	}
	return nil
}

// callsOfContext makes the calls that the suite spells out.
func callsOfContext(ctx context.Context, r *run, c *mcp.Client) error {
	var wanted struct {
		ToolCalls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	if err := json.Unmarshal(r.context, &wanted); err != nil {
		return err
	}
	if _, err := c.ListTools(ctx); err != nil {
		return err
	}
	for _, call := range wanted.ToolCalls {
		if err := callTool(ctx, c, call.Name, call.Arguments); err != nil {
			return err
		}
	}
	return nil
}

// useEverything lists, and uses what is listed: tools, resources and prompts.
func useEverything(ctx context.Context, _ *run, c *mcp.Client) error {
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			return err
		}
		if err := callTool(ctx, c, tool.Name, nil); err != nil {
			return err
		}
	}
	for resource, err := range c.Resources(ctx) {
		if err != nil {
			return err
		}
		if _, err := c.ReadResource(ctx, resource.URI); err != nil {
			return err
		}
	}
	for prompt, err := range c.Prompts(ctx) {
		if err != nil {
			return err
		}
		if _, err := c.GetPrompt(ctx, prompt.Name, nil); err != nil {
			return err
		}
	}
	return nil
}

// echoSchema sends the schema of one tool to another, which shows the suite what the client made of it.
func echoSchema(ctx context.Context, _ *run, c *mcp.Client) error {
	tools, err := c.ListTools(ctx)
	if err != nil {
		return err
	}
	for _, tool := range tools {
		if tool.Name == "json_schema_2020_12_tool" {
			return callTool(ctx, c, "json_schema_echo", map[string]any{"schema": tool.InputSchema})
		}
	}
	return errors.New("the tool with the schema is not listed")
}

// callTool calls a tool, and takes a failure of the tool itself for an error: none of the suite's is meant to fail.
func callTool(ctx context.Context, c *mcp.Client, name string, args any) error {
	result, err := c.CallTool(ctx, name, args)
	if err != nil {
		return err
	}
	if result.IsError {
		return fmt.Errorf("tool %q failed: %s", name, result.Text())
	}
	return nil
}

// allCapabilities has a handler for each request that a server can make.
var allCapabilities = mcp.Options{
	Elicit:    accept(nil),
	ElicitURL: accept(nil),
	CreateMessage: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		return &mcp.CreateMessageResult{Content: []mcp.Content{mcp.Text("nothing to say")}, Model: "none"}, nil
	},
	Roots: func(context.Context) ([]mcp.Root, error) { return nil, nil },
}

// accept is the user who agrees to everything, and fills in content.
func accept(content map[string]any) func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, nil
	}
}
