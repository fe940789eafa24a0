package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
)

// profileVariable names the folder for profiles to a measuring child.
const profileVariable = "BENCH_PROFILE"

// profile writes profiles of what happens until stop is called, if they are wanted. They tell where the time goes; the
// figures of such a run are of no use.
func profile(name string) (stop func(), err error) {
	dir := os.Getenv(profileVariable)
	if dir == "" {
		return func() {}, nil
	}
	base := filepath.Join(dir, strings.NewReplacer(" ", "-", ",", "").Replace(name))
	runtime.MemProfileRate = 8 << 10
	cpu, err := os.Create(base + ".cpu")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = cpu.Close()
		if heap, err := os.Create(base + ".allocs"); err == nil {
			_ = pprof.Lookup("allocs").WriteTo(heap, 0)
			_ = heap.Close()
		}
	}, nil
}
