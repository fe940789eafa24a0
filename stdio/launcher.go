package stdio

import (
	"errors"
	"path/filepath"
	"strings"
)

// isBatch reports whether Windows gives the file to cmd.exe, as it does with npx.cmd.
func isBatch(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".cmd" || ext == ".bat"
}

// batchCommandLine returns the command line that makes cmd.exe run a batch file with exactly these arguments. The
// quoting of package syscall is that of C programs, which cmd.exe does not know: it would let an argument such as
// `"&calc` start another program (CVE-2024-24576).
//
// The switches: extensions on, as the quoting of % needs them; no expansion of !; no AutoRun commands of the registry;
// of the text after /c, only the outermost quotes are removed.
func batchCommandLine(path string, args []string) (string, error) {
	var line strings.Builder
	line.WriteString(`cmd.exe /e:on /v:off /d /s /c "`)
	for i, arg := range append([]string{path}, args...) {
		if strings.ContainsAny(arg, "\x00\r\n") {
			return "", errors.New("an argument of a batch file cannot hold a NUL or a line break")
		}
		if i > 0 {
			line.WriteByte(' ')
		}
		quoteForBatch(&line, arg)
	}
	line.WriteByte('"')
	return line.String(), nil
}

// quoteForBatch writes arg in quotes, in which cmd.exe takes every character as it is but two: a quote, written twice,
// and %. There is no escape for % on a command line; but a % before a reference that is always empty, to none of the
// characters of the current folder's name, stays what it is. Backslashes before a quote are doubled for the program at
// the end of the batch file, which reads its arguments as C programs do.
func quoteForBatch(line *strings.Builder, arg string) {
	line.WriteByte('"')
	backslashes := 0
	for i := range len(arg) {
		switch c := arg[i]; c {
		case '\\':
			backslashes++
			line.WriteByte(c)
			continue
		case '"':
			line.WriteString(strings.Repeat(`\`, backslashes) + `""`)
		case '%':
			line.WriteString(`%%cd:~,%`)
		default:
			line.WriteByte(c)
		}
		backslashes = 0
	}
	line.WriteString(strings.Repeat(`\`, backslashes) + `"`)
}
