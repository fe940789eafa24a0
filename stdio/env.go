package stdio

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
)

// baseNames are the variables that programs need to find themselves and the world, and that hold no secrets by their
// purpose. Proxies are matched in either case.
var baseNames = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR", "LANG", "LANGUAGE",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
}

var basePrefixes = []string{"LC_", "XDG_"}

var windowsNames = []string{
	"ALLUSERSPROFILE", "APPDATA", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432", "COMPUTERNAME",
	"COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATHEXT",
	"PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "PSMODULEPATH",
	"PUBLIC", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERDOMAIN", "USERNAME", "USERPROFILE", "WINDIR",
}

// environment returns the variables of a server, in order of their names.
func environment(extra map[string]string, inherit bool) ([]string, error) {
	return mergeEnv(os.Environ(), extra, inherit, runtime.GOOS == "windows")
}

func mergeEnv(host []string, extra map[string]string, inherit, windows bool) ([]string, error) {
	merged := make(map[string]string) // from the name as it is compared to the whole entry
	key := func(name string) string { return name }
	if windows {
		key = strings.ToUpper
	}
	for _, entry := range host {
		// Windows has names that begin with "=", the folders of the drives.
		name, value, ok := cutEntry(entry)
		if ok && (inherit || isBase(key(name), windows) && !isShellFunction(value)) {
			merged[key(name)] = entry
		}
	}
	given := make(map[string]string) // the name as it was given, by the name as it is compared
	for name, value := range extra {
		if other, twice := given[key(name)]; twice {
			return nil, fmt.Errorf("environment: %q and %q are one name", min(name, other), max(name, other))
		}
		given[key(name)] = name
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return nil, fmt.Errorf("environment: bad name %q", name)
		}
		if strings.Contains(value, "\x00") {
			return nil, errors.New("environment: the value of " + name + " has a NUL")
		}
		merged[key(name)] = name + "=" + value
	}
	return slices.Sorted(maps.Values(merged)), nil
}

func cutEntry(entry string) (name, value string, ok bool) {
	if entry == "" {
		return "", "", false
	}
	i := strings.IndexByte(entry[1:], '=')
	if i < 0 {
		return "", "", false
	}
	return entry[:i+1], entry[i+2:], true
}

func isBase(name string, windows bool) bool {
	return slices.Contains(baseNames, name) || windows && slices.Contains(windowsNames, name) ||
		slices.ContainsFunc(basePrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// isShellFunction knows a function that bash exports. Nobody means one by a plain variable's name, and shells have
// executed them (CVE-2014-6271).
func isShellFunction(value string) bool { return strings.HasPrefix(value, "()") }
