// Command bench measures the client against a floor and against its peers, side by side in one run:
//
//	go run . -list                 names the workloads
//	go run . -rounds 7             measures all of them and prints the table
//	go run . -only echo -rounds 3  measures those whose name contains "echo"
//	go run . -rounds 7 -scale 0.25 -write ../../docs/performance.md
//
// The floor is a driver written by hand for this one server: it encodes a line, writes it, reads one, and cuts id and
// result out of it without decoding either. A ratio of 0.5 means that the client needs twice the floor's time.
//
// Each measurement runs in a process of its own, with the server in another, so that no driver pays for the garbage of
// the one before. The drivers take turns in each round, and the medians of the rounds are compared: times mean
// something only as ratios within one run. Whoever wants to believe the figures closes everything else first.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	// The same program is the server and the measuring child, told apart by the first argument.
	if len(os.Args) > 1 && os.Args[1] == serveArg {
		exit(serve(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == measureArg {
		exit(measureChild(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context) error {
	var (
		list   = flag.Bool("list", false, "name the workloads and end")
		only   = flag.String("only", "", "measure the workloads whose name contains this")
		names  = flag.String("drivers", strings.Join(driverNames, ","), "the drivers, separated by commas")
		rounds = flag.Int("rounds", 7, "how often each measurement is made")
		scale  = flag.Float64("scale", 1, "multiplies how long a measurement takes")
		write  = flag.String("write", "", "the file to write the report to")
		into   = flag.String("profile", "", "a folder that each measurement writes profiles of CPU and allocations to")
		asJSON = flag.Bool("json", false, "print the medians as JSON")
	)
	flag.Parse()
	if *list {
		for _, w := range workloads {
			fmt.Println(w.name)
		}
		return nil
	}
	if *into != "" {
		if err := os.MkdirAll(*into, 0o755); err != nil {
			return err
		}
		os.Setenv(profileVariable, *into)
	}
	r := &report{drivers: strings.Split(*names, ","), rounds: *rounds, scale: *scale}
	for _, w := range workloads {
		if !strings.Contains(w.name, *only) {
			continue
		}
		row, err := measure(ctx, w, r.drivers, *rounds, *scale)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		r.rows = append(r.rows, row)
		fmt.Fprintln(os.Stderr, r.line(row))
	}
	if *only == "" {
		var err error
		if r.parsings, err = parsings(*rounds, *scale); err != nil {
			return fmt.Errorf("parsing: %w", err)
		}
		if err := r.measureBinaries(ctx); err != nil {
			return err
		}
	}
	if *asJSON {
		return json.NewEncoder(os.Stdout).Encode(r.rows)
	}
	text := r.markdown()
	if *write == "" {
		fmt.Print(text)
		return nil
	}
	return os.WriteFile(*write, []byte(text), 0o644)
}
