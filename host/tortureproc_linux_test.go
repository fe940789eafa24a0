package host_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/stretchr/testify/assert"
)

// A process of a run, in a handle that stays with it, whoever gets its number.
type process struct {
	handle *os.Process
	pid    int
	name   string // of the server
}

type processList []process

func (list processList) signal(s syscall.Signal) {
	for _, p := range list {
		_ = p.handle.Signal(s) // it may be gone
	}
}

func (list processList) release() {
	for _, p := range list {
		_ = p.handle.Release()
	}
}

func (list processList) pids() (all []int) {
	for _, p := range list {
		all = append(all, p.pid)
	}
	return all
}

// find finds the process of a server, if there is one, and asserts that there are no two.
func (r *torture) find(v *victim) processList {
	found := r.processes(func(p process) bool { return p.name == v.name })
	if len(found) > 1 {
		// One may have ended while the others were looked for.
		still := r.processes(func(p process) bool { return p.name == v.name })
		defer still.release()
		assert.NotSubset(r.t, still.pids(), found.pids(), "%s has several processes at once", v.name)
	}
	return found
}

// processes are those of this run that are wanted, offshoots included. A zombie is none: it has no environment.
func (r *torture) processes(wanted func(process) bool) (found processList) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if r.serverOf(file) == "" {
			continue
		}
		handle, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		p := process{handle, pid, r.serverOf(file)} // which may be another one by now
		if p.name != "" && wanted(p) {
			found = append(found, p)
		} else {
			_ = handle.Release()
		}
	}
	return found
}

// serverOf is the name of the server in the environment of a process, "" if that does not belong to the run.
func (r *torture) serverOf(file string) (name string) {
	data, _ := os.ReadFile(file)
	ours := false
	for variable := range strings.SplitSeq(string(data), "\x00") {
		key, value, _ := strings.Cut(variable, "=")
		switch key {
		case tortureName:
			name = value
		case tortureRun:
			ours = value == r.id
		}
	}
	if !ours {
		return ""
	}
	return name
}
