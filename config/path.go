package config

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

const windows = runtime.GOOS == "windows"

// startsAtHome knows ~ and ~/..., not the ~name of shells.
func startsAtHome(text string) bool {
	return text == "~" || strings.HasPrefix(text, "~/") || windows && strings.HasPrefix(text, `~\`)
}

// isPath reports whether a command is a path, and not a name that is looked up in PATH.
func isPath(command string, windows bool) bool {
	return strings.Contains(command, "/") || windows && strings.ContainsAny(command, `\:`)
}

// resolve makes a relative path absolute. Without a folder it stays what it is.
func resolve(text, dir string, windows bool) string {
	if text == "" || dir == "" {
		return text
	}
	if !windows {
		if path.IsAbs(text) {
			return text
		}
		return path.Join(dir, text)
	}
	text = strings.ReplaceAll(text, "/", `\`)
	switch {
	case strings.HasPrefix(text, `\\`), len(text) > 1 && text[1] == ':':
		return text // a path of a drive's current folder (C:x) is relative to nothing that is known here
	case strings.HasPrefix(text, `\`):
		return filepath.VolumeName(dir) + text
	}
	return strings.TrimSuffix(dir, `\`) + `\` + strings.TrimPrefix(text, `.\`)
}
