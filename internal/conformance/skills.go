package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/skills"
)

func listSkills(ctx context.Context, _ *run, c *mcp.Client) error {
	_, err := skillsOf(ctx, c)
	return err
}

// loadTampered uses every skill that is listed, and wants each to be refused by the check.
func loadTampered(check skills.Check) func(context.Context, *run, *mcp.Client) error {
	return func(ctx context.Context, _ *run, c *mcp.Client) error {
		listed, err := skillsOf(ctx, c)
		if err != nil {
			return err
		}
		for _, skill := range listed {
			var refused *skills.VerifyError
			if err := useSkill(ctx, skill); !errors.As(err, &refused) || refused.What != check {
				return fmt.Errorf("%s: not refused for its %s: %v", skill.URI, check, err)
			}
		}
		return nil
	}
}

// skillsOf lists the skills of a server. There must be some, each sound as far as the list goes.
func skillsOf(ctx context.Context, c *mcp.Client) (listed []*skills.Skill, err error) {
	for skill, err := range skills.List(ctx, c) {
		if err != nil {
			return nil, err
		}
		if skill.Refused != nil {
			return nil, skill.Refused
		}
		listed = append(listed, skill)
	}
	if len(listed) == 0 {
		return nil, errors.New("no skill is listed")
	}
	return listed, nil
}

// useSkill loads a skill, and reads all that it refers to.
func useSkill(ctx context.Context, skill *skills.Skill) error {
	loaded, err := skill.Load(ctx)
	if err != nil {
		return err
	}
	for _, file := range skill.Files {
		if _, err := loaded.Read(ctx, file.Path); err != nil {
			return err
		}
	}
	return nil
}
