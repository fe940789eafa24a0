package stdio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// lookUp finds the program and checks dir, since the error of a start in a folder that is missing blames the program.
func lookUp(command, dir string) (path string, err error) {
	if command == "" {
		return "", errors.New("no command")
	}
	if err := checkDir(dir); err != nil {
		return "", err
	}
	path = command
	if dir != "" && strings.ContainsAny(command, pathSeparators) && !filepath.IsAbs(command) {
		if path, err = filepath.Abs(filepath.Join(dir, command)); err != nil {
			return "", err
		}
	}
	path, err = exec.LookPath(path)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("command %q: %w", command, exec.ErrNotFound)
	case errors.Is(err, fs.ErrNotExist):
		// A path that names nothing is not found either, though package exec keeps the two apart.
		return "", fmt.Errorf("command %q: %w", command, &notFoundError{err})
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("command %q is not executable: %w", command, fs.ErrPermission)
	default:
		return "", fmt.Errorf("command %q: %w", command, err)
	}
}

// pathSeparators are those that make a command a path for package exec.
const pathSeparators = `/` + string(filepath.Separator)

func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("working directory: %q is not a directory", dir)
	}
	return nil
}

// notFoundError is both: fs.ErrNotExist by what it wraps, and exec.ErrNotFound.
type notFoundError struct{ err error }

func (e *notFoundError) Error() string        { return "no such file" }
func (e *notFoundError) Unwrap() error        { return e.err }
func (e *notFoundError) Is(target error) bool { return target == exec.ErrNotFound }
