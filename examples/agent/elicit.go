package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/seed62b61957/mcp"
)

// elicit lets the user fill in the form of a server.
func (t *terminal) elicit(ctx context.Context, server string, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	schema, err := r.Schema()
	if err != nil {
		return nil, err
	}
	release, err := t.claim(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	yes, err := t.agrees(ctx, fmt.Sprintf("%s asks: %s\nDo you want to answer?", server, quoted(r.Message)))
	if err != nil || !yes {
		return notAccepted(err)
	}
	content := make(map[string]any)
	for i := range schema.Fields {
		field := &schema.Fields[i]
		value, err := t.fillIn(ctx, field)
		if err != nil {
			return notAccepted(err)
		}
		content[field.Name] = value
	}
	return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, nil
}

// elicitURL asks the user to visit a URL, which is not opened here.
func (t *terminal) elicitURL(ctx context.Context, server string, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	release, err := t.claim(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	question := fmt.Sprintf("%s asks you to visit %s\n%s\nWill you?", server, quoted(r.URL), quoted(r.Message))
	yes, err := t.agrees(ctx, question)
	if err != nil || !yes {
		return notAccepted(err)
	}
	return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
}

// notAccepted is what to answer a server when the user said no, or nothing.
func notAccepted(err error) (*mcp.ElicitResult, error) {
	switch err {
	case nil:
		return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
	case io.EOF:
		return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil
	}
	return nil, err
}

// fillIn asks for one field until the answer fits. An empty line stands for the default, or for nothing.
func (t *terminal) fillIn(ctx context.Context, field *mcp.ElicitField) (any, error) {
	form := mcp.ElicitSchema{Fields: []mcp.ElicitField{*field}}
	for {
		text, err := t.ask(ctx, fieldPrompt(field))
		if err != nil {
			return nil, err
		}
		value := fieldValue(field, strings.TrimSpace(text))
		err = form.Validate(form.Fill(map[string]any{field.Name: value}))
		if err == nil {
			return value, nil
		}
		t.printf("%v\n", err)
	}
}

func fieldPrompt(field *mcp.ElicitField) string {
	prompt := quoted(field.Label())
	if field.Description != "" {
		prompt += " (" + quoted(field.Description) + ")"
	}
	for i, option := range field.Options {
		prompt += fmt.Sprintf("\n  %d  %s", i+1, quoted(option.Title))
	}
	if field.Default != nil {
		prompt += fmt.Sprintf(" [%v]", field.Default)
	}
	return prompt + ": "
}

// fieldValue reads what was typed. What makes no sense stays text, with which the form finds fault.
func fieldValue(field *mcp.ElicitField, text string) any {
	if text == "" {
		return nil
	}
	switch field.Type {
	case mcp.FieldBoolean:
		switch strings.ToLower(text) {
		case "y", "yes", "true":
			return true
		case "n", "no", "false":
			return false
		}
	case mcp.FieldNumber, mcp.FieldInteger:
		if json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	case mcp.FieldChoice:
		return chosen(field, text)
	case mcp.FieldChoices:
		var values []string
		for part := range strings.SplitSeq(text, ",") {
			values = append(values, chosen(field, strings.TrimSpace(part)))
		}
		return values
	}
	return text
}

// chosen takes an option by its value, or else by its number in the prompt.
func chosen(field *mcp.ElicitField, text string) string {
	if slices.ContainsFunc(field.Options, func(o mcp.ElicitOption) bool { return o.Value == text }) {
		return text
	}
	if i, err := strconv.Atoi(text); err == nil && i >= 1 && i <= len(field.Options) {
		return field.Options[i-1].Value
	}
	return text
}
