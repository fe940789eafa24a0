package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A binary is what importing a client adds to a program that does nothing else.
type binary struct {
	driver          string
	packages, bytes int
}

// measureBinaries builds the programs below size.
func (r *report) measureBinaries(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var none binary
	for _, name := range []string{"none", "ours", "gosdk", "mcpgo"} {
		b, err := build(ctx, name, filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if name == "none" {
			none = b
			continue
		}
		r.binaries = append(r.binaries, binary{name, b.packages - none.packages, b.bytes - none.bytes})
	}
	return nil
}

func build(ctx context.Context, name, out string) (binary, error) {
	path := "./size/" + name
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, path)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return binary{}, fmt.Errorf("build %s: %w", path, err)
	}
	info, err := os.Stat(out)
	if err != nil {
		return binary{}, err
	}
	deps, err := exec.CommandContext(ctx, "go", "list", "-deps", path).Output()
	if err != nil {
		return binary{}, err
	}
	return binary{name, strings.Count(string(deps), "\n"), int(info.Size())}, nil
}

func (r *report) sizes(b *strings.Builder) {
	if len(r.binaries) == 0 {
		return
	}
	b.WriteString("\n## What importing the client and its stdio transport adds to a program\n\n" +
		"| driver | packages | size, stripped |\n|---|---:|---:|\n")
	for _, s := range r.binaries {
		fmt.Fprintf(b, "| %s | %d | %s |\n", s.driver, s.packages, bytesText(float64(s.bytes)))
	}
}
