package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// A report is the table of a run.
type report struct {
	drivers  []string
	rounds   int
	scale    float64
	rows     []*row
	parsings []parsing
	binaries []binary
}

// line is a row for whoever watches.
func (r *report) line(row *row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-52s", row.Workload)
	for _, d := range r.drivers {
		m := row.Medians[d]
		switch {
		case m == nil:
			fmt.Fprintf(&b, "  %s fails", d)
		case row.workload.idle:
			fmt.Fprintf(&b, "  %s %.1f kB %.1f g", d, m.Bytes/1000, m.Goroutines)
		case row.workload.soak:
			fmt.Fprintf(&b, "  %s %+.0f kB %+.0f g, a call takes %.2f", d, m.Bytes/1000, m.Goroutines, m.Slower)
		default:
			fmt.Fprintf(&b, "  %s %.2f (%.1f µs, cpu %.1f, %.0f allocs, %.1f kB)", d, row.ratio(d),
				m.Nanoseconds/1000, m.CPU/1000, m.Allocs, m.Bytes/1000)
			if m.Late > 0 {
				fmt.Fprintf(&b, " %d late", m.Late)
			}
		}
	}
	if row.workload.floor > 0 && row.ratio("ours") < row.workload.floor {
		fmt.Fprintf(&b, "  BELOW %.2f", row.workload.floor)
	}
	return b.String()
}

// ratio is the part of the floor's rate that a driver reaches.
func (r *row) ratio(driver string) float64 {
	floor, m := r.Medians["floor"], r.Medians[driver]
	if floor == nil || m == nil {
		return 0
	}
	return floor.Nanoseconds / m.Nanoseconds
}

func (r *report) markdown() string {
	var b strings.Builder
	b.WriteString("# Performance\n\n")
	fmt.Fprintf(&b, "Written by `go run -C internal/bench . -rounds %d -scale %g -write \"$PWD/docs/performance.md\"`: "+
		"medians of the\nrounds, in which the drivers took turns, on %d cores of %s/%s, with %s. Times compare within one "+
		"run and\npromise nothing about another machine. Each driver runs in a process of its own and the server, written "+
		"on the\nstandard library, in another.\n\n", r.rounds, r.scale, runtime.NumCPU(), runtime.GOOS,
		runtime.GOARCH, runtime.Version())
	b.WriteString("`floor` is written by hand for this server: it encodes a line, writes it, reads one, and cuts id and " +
		"result out of it\nwithout validating or decoding either.\n\n")
	for _, d := range r.drivers {
		fmt.Fprintf(&b, "- `%s`: %s\n", d, version(d))
	}
	r.ratios(&b)
	r.costs(&b)
	r.idle(&b)
	r.soak(&b)
	r.parsing(&b)
	r.failures(&b)
	r.sizes(&b)
	b.WriteString(reasons)
	return b.String()
}

func (r *report) ratios(b *strings.Builder) {
	b.WriteString("\n## Rate, as a part of the floor's\n\n| workload |")
	for _, d := range r.drivers {
		fmt.Fprintf(b, " %s |", d)
	}
	b.WriteString(" bar |\n|---|" + strings.Repeat("---:|", len(r.drivers)+1) + "\n")
	for _, row := range r.rows {
		if row.workload.idle || row.workload.soak {
			continue
		}
		fmt.Fprintf(b, "| %s |", row.Workload)
		for _, d := range r.drivers {
			switch {
			case row.Medians[d] == nil:
				b.WriteString(" fails |")
			case d == "floor":
				fmt.Fprintf(b, " %.1f µs |", row.Medians[d].Nanoseconds/1000)
			default:
				fmt.Fprintf(b, " %.2f |", row.ratio(d))
			}
		}
		switch {
		case row.workload.floor == 0:
			b.WriteString(" |\n")
		case row.ratio("ours") < row.workload.floor:
			fmt.Fprintf(b, " %.2f, not reached |\n", row.workload.floor)
		default:
			fmt.Fprintf(b, " %.2f |\n", row.workload.floor)
		}
	}
}

func (r *report) parsing(b *strings.Builder) {
	if len(r.parsings) == 0 {
		return
	}
	b.WriteString("\n## How fast messages are found and checked in what has arrived, beside copying the lines\n\n" +
		"| input | copying | ours |\n|---|---:|---:|\n")
	for _, p := range r.parsings {
		fmt.Fprintf(b, "| %s | %.0f MB/s | %.0f MB/s |\n", p.name, p.floor, p.ours)
	}
}

func (r *report) costs(b *strings.Builder) {
	b.WriteString("\n## What one operation costs the client: CPU time, allocations, memory\n\n| workload |")
	for _, d := range r.drivers {
		fmt.Fprintf(b, " %s |", d)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(r.drivers)) + "\n")
	for _, row := range r.rows {
		if row.workload.idle || row.workload.soak {
			continue
		}
		fmt.Fprintf(b, "| %s |", row.Workload)
		for _, d := range r.drivers {
			m := row.Medians[d]
			if m == nil {
				b.WriteString(" fails |")
				continue
			}
			fmt.Fprintf(b, " %.1f µs, %.0f, %s |", m.CPU/1000, m.Allocs, bytesText(m.Bytes))
		}
		b.WriteString("\n")
	}
}

func (r *report) idle(b *strings.Builder) {
	fmt.Fprintf(b, "\n## What an idle connection holds: heap and stacks, goroutines\n\n| workload |")
	for _, d := range r.drivers {
		fmt.Fprintf(b, " %s |", d)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(r.drivers)) + "\n")
	for _, row := range r.rows {
		if !row.workload.idle {
			continue
		}
		fmt.Fprintf(b, "| %s |", row.Workload)
		for _, d := range r.drivers {
			if m := row.Medians[d]; m != nil {
				fmt.Fprintf(b, " %s, %.1f |", bytesText(m.Bytes), m.Goroutines)
			} else {
				b.WriteString(" fails |")
			}
		}
		b.WriteString("\n")
	}
}

// soak is the table of what many calls leave behind.
func (r *report) soak(b *strings.Builder) {
	for _, row := range r.rows {
		if !row.workload.soak {
			continue
		}
		fmt.Fprintf(b, "\n## What the last nine tenths of %d calls over a byte stream leave behind\n\n"+
			"| driver | memory held | goroutines | time of a call, of that in the first tenth |\n|---|---:|---:|---:|\n",
			row.ops)
		for _, d := range r.drivers {
			if m := row.Medians[d]; m != nil {
				fmt.Fprintf(b, "| %s | %+.0f kB | %+.0f | %.2f |\n", d, m.Bytes/1000, m.Goroutines, m.Slower)
			}
		}
	}
}

// failures says which drivers could not do something, or did it wrong.
func (r *report) failures(b *strings.Builder) {
	var lines []string
	for _, row := range r.rows {
		for _, d := range r.drivers {
			if why := row.Failures[d]; why != "" {
				lines = append(lines, fmt.Sprintf("- `%s`, %s: %s", d, row.Workload, why))
			}
			if m := row.Medians[d]; m != nil && m.Late > 0 {
				lines = append(lines, fmt.Sprintf("- `%s`, %s: up to %d calls of a round returned before all of their "+
					"progress was handled", d, row.Workload, m.Late))
			}
		}
	}
	if len(lines) > 0 {
		b.WriteString("\n## What failed\n\n" + strings.Join(lines, "\n") + "\n")
	}
}

func bytesText(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.2f MB", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", n/1e3)
	}
	return fmt.Sprintf("%.0f B", n)
}

// version says what a driver is made of.
func version(driver string) string {
	path := map[string]string{
		"gosdk": "github.com/modelcontextprotocol/go-sdk",
		"mcpgo": "github.com/mark3labs/mcp-go",
	}[driver]
	switch driver {
	case "floor":
		return "the floor"
	case "ours":
		return "this client"
	}
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Path + " " + m.Version
		}
	}
	return path
}

// reasons are what profiles say (-profile). Whoever changes the client looks again.
const reasons = `
## Where the rest of the time goes

Profiles of the workloads (-profile FOLDER) say:

- Echo over stdio: half is the write and the read. A caller that is alone reads its answer itself, so that it is woken
  once, as the floor is; what is added is encoding the arguments, the pass over the envelope, the result, the clock, and
  watching the caller's context. Where several wait, one goroutine reads for all and wakes them, on both sides.
- Echo over HTTP: net/http is four fifths of it, for the floor too. The client adds a context that ends the exchange
  alone, a copy of the headers, and reading the response to its end so that the connection is used again.
- Large results: copied together once, checked once, decoded once where they lie. The floor does the first only.
- Lists: half is the decoding, a check of the message and a pass that makes tools of it; a quarter is the garbage
  collector.
- Progress: a line, a message and a call of the handler for each notification, in order.
- Connecting over HTTP: two requests that the floor does not make, for the stream of the server's own messages and for
  the end of the session.
`
