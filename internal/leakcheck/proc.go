package leakcheck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// children returns the children of this process by their pids, zombies included, with what /proc says of each. It is
// empty where there is no such /proc.
func children() map[string]string {
	found := make(map[string]string)
	lists, _ := filepath.Glob("/proc/self/task/*/children") // children belong to the thread that started them
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread ended, and its children went to another one
		}
		for _, pid := range strings.Fields(string(text)) {
			found[pid] = processState(pid)
		}
	}
	return found
}

func newChildren(base map[string]string) []string {
	var left []string
	for pid, state := range children() {
		if _, ok := base[pid]; !ok {
			left = append(left, fmt.Sprintf("child process %s: %s", pid, state))
		}
	}
	return left
}

// processState is the name and the state of a process as in proc_pid_stat(5): "(sleep) S".
func processState(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "gone"
	}
	text := string(stat)
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open || len(text) < end+3 {
		return text
	}
	return text[open : end+3]
}

// files returns the open files of this process by their descriptors. It is empty where there is no such /proc.
func files() map[string]string {
	found := make(map[string]string)
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range entries {
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err != nil || isRuntimeFile(target) {
			continue // an error is the descriptor that listed the folder, closed since
		}
		found[entry.Name()] = target
	}
	return found
}

// newFiles compares targets as well as numbers, since a number is used again as soon as it is free.
func newFiles(base map[string]string) []string {
	var left []string
	for fd, target := range files() {
		if base[fd] != target {
			left = append(left, fmt.Sprintf("open file %s: %s", fd, target))
		}
	}
	return left
}

// isRuntimeFile knows the network poller's files, which the runtime opens at the first use and keeps.
func isRuntimeFile(target string) bool {
	return target == "anon_inode:[eventpoll]" || target == "anon_inode:[eventfd]"
}
