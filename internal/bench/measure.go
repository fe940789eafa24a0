package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A row has the medians of a workload, by driver.
type row struct {
	Workload string             `json:"workload"`
	Medians  map[string]*sample `json:"medians"`
	Failures map[string]string  `json:"failures,omitempty"`
	workload *workload
	ops      int // of one measurement
}

// measure has the drivers take turns. A peer that fails is left out, and why is said.
func measure(ctx context.Context, w *workload, drivers []string, rounds int, scale float64) (*row, error) {
	samples := make(map[string][]*sample)
	r := &row{
		Workload: w.name, workload: w, ops: w.count(rounds, scale),
		Medians: make(map[string]*sample), Failures: make(map[string]string),
	}
	if w.soak {
		rounds = 1
	}
	for range rounds {
		for _, d := range drivers {
			if r.Failures[d] != "" {
				continue
			}
			s, err := measureOnce(ctx, w, d, r.ops)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil && (d == "floor" || d == "ours"):
				return nil, fmt.Errorf("%s: %w", d, err)
			case err != nil:
				r.Failures[d] = err.Error()
				continue
			}
			samples[d] = append(samples[d], s)
		}
	}
	for d, all := range samples {
		r.Medians[d] = median(all)
	}
	return r, nil
}

// measureOnce starts server and client, and ends both.
func measureOnce(ctx context.Context, w *workload, driver string, ops int) (_ *sample, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{measureArg, w.name, driver, strconv.Itoa(ops)}
	if w.wire != stdioWire && w.wire != memory {
		address, stop, err := startServer(ctx, self, w)
		if err != nil {
			return nil, err
		}
		defer stop()
		args = append(args, address)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	s := new(sample)
	return s, json.Unmarshal(out, s)
}

// startServer starts a server that listens, and returns its address. It ends when stop closes its standard input.
func startServer(ctx context.Context, self string, w *workload) (address string, stop func(), err error) {
	args := []string{serveArg, string(w.wire)}
	dir := ""
	switch {
	case w.wire == unixWire:
		if dir, err = os.MkdirTemp("", "bench"); err != nil {
			return "", nil, err
		}
		args = append(args, filepath.Join(dir, "socket"))
	case w.modern:
		args = append(args, "modern")
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = stdin.Close()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		stop()
		return "", nil, errors.New("the server did not start")
	}
	return lines.Text(), stop, nil
}

func median(all []*sample) *sample {
	of := func(figure func(*sample) float64) float64 {
		values := make([]float64, len(all))
		for i, s := range all {
			values[i] = figure(s)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	late := 0
	for _, s := range all {
		late = max(late, s.Late)
	}
	return &sample{
		Nanoseconds: of(func(s *sample) float64 { return s.Nanoseconds }),
		CPU:         of(func(s *sample) float64 { return s.CPU }),
		Allocs:      of(func(s *sample) float64 { return s.Allocs }),
		Bytes:       of(func(s *sample) float64 { return s.Bytes }),
		Goroutines:  of(func(s *sample) float64 { return s.Goroutines }),
		Slower:      of(func(s *sample) float64 { return s.Slower }),
		Late:        late,
	}
}
