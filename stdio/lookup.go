package stdio

import (
	"errors"
	"fmt"
	"io"
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
		return "", fmt.Errorf("command %q: %w%s", command, exec.ErrNotFound, hint(command))
	case errors.Is(err, fs.ErrNotExist):
		// A path that names nothing is not found either, though package exec keeps the two apart.
		return "", fmt.Errorf("command %q: %w%s", command, &notFoundError{err}, hint(command))
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("command %q is not executable: %w", command, fs.ErrPermission)
	default:
		return "", fmt.Errorf("command %q: %w", command, err)
	}
}

// hint says what is often wrong with a command that is not found.
func hint(command string) string {
	if strings.ContainsAny(command, " \t") {
		return " (arguments belong in Args)"
	}
	return ""
}

// explain adds to the error of a start what the system does not tell: that it is not the program that is missing.
func explain(err error, program string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, missing := os.Open(program)
	if missing != nil {
		return err
	}
	defer file.Close()
	const limit = 256 // of Linux, BINPRM_BUF_SIZE
	head, _ := io.ReadAll(io.LimitReader(file, limit))
	line, _, _ := strings.Cut(string(head), "\n")
	if interpreter, script := strings.CutPrefix(line, "#!"); script {
		return fmt.Errorf("the interpreter in its first line, %q, is missing: %w", interpreter, err)
	}
	return fmt.Errorf("what runs it, such as a dynamic linker, is missing: %w", err)
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
