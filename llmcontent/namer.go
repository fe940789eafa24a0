package llmcontent

import (
	"strconv"
	"strings"
	"sync"
)

// A Namer gives names to tools for models, and knows what each name that it gave stands for. The zero value gives the
// names of [ToolName]. Its methods may be called concurrently.
type Namer struct {
	// Identifiers asks for names that are identifiers in most languages, for models that write code: <server>__<tool>,
	// of letters, digits and "_" only, not starting with a digit, with at most 64 characters. Where that is not the
	// pair as it is, "_" and 8 hexadecimal digits of a hash of the pair follow.
	Identifiers bool

	// IsTaken reports names that must not be given, such as the keywords of a language; only with Identifiers. A name
	// that is taken gets the hash, and if that is taken as well, a number. A Namer that hears no 1,000 times stops to
	// ask. It is called with the Namer locked.
	IsTaken func(name string) bool

	mu    sync.Mutex
	names map[pair]string
	pairs map[string]pair
}

type pair struct{ server, tool string }

// Name returns the name of a server's tool. It is the same whenever it is asked for, and unless IsTaken changes its
// mind, in every Namer of the kind.
func (n *Namer) Name(server, tool string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := pair{server, tool}
	if name, known := n.names[p]; known {
		return name
	}
	name := ToolName(server, tool)
	if n.Identifiers {
		name = n.identifier(server, tool)
	}
	if n.names == nil {
		n.names, n.pairs = map[pair]string{}, map[string]pair{}
	}
	n.names[p], n.pairs[name] = name, p
	return name
}

// Lookup returns what a name stands for; ok is false for a name that this Namer has not given.
func (n *Namer) Lookup(name string) (server, tool string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, ok := n.pairs[name]
	return p.server, p.tool, ok
}

// Forget drops the names of a server's tools. It is there to free memory: the tools get the same names again.
func (n *Namer) Forget(server string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for p, name := range n.names {
		if p.server == server {
			delete(n.names, p)
			delete(n.pairs, name)
		}
	}
}

func (n *Namer) identifier(server, tool string) string {
	name, exact := identifier(server, tool)
	if exact && !n.taken(name) {
		return name
	}
	suffix := "_" + hash(server, tool)[:identifierDigits]
	name = name[:min(len(name), maxName-len(suffix))] + suffix
	for i := 2; n.given(name) || i < maxAsked && n.taken(name); i++ {
		number := "_" + strconv.Itoa(i)
		base := strings.TrimSuffix(name, "_"+strconv.Itoa(i-1))
		name = base[:min(len(base), maxName-len(number))] + number
	}
	return name
}

func (n *Namer) taken(name string) bool { return n.given(name) || n.IsTaken != nil && n.IsTaken(name) }

func (n *Namer) given(name string) bool {
	_, given := n.pairs[name]
	return given
}

const (
	identifierDigits = 8
	maxAsked         = 1_000 // times for one name
)

// identifier returns the name of a pair; exact is false if it needs a hash to be its own.
func identifier(server, tool string) (name string, exact bool) {
	low := func(s string) string { return strings.ReplaceAll(clean(s), "-", "_") }
	cleanServer, cleanTool := low(server), low(tool)
	name = cleanServer + separator + cleanTool
	exact = cleanServer == server && cleanTool == tool && len(name) <= maxName &&
		!ambiguous(server, name, identifierDigits)
	if name[0] >= '0' && name[0] <= '9' {
		name, exact = "_"+name, false
	}
	return name, exact
}

// Namespace returns a name for all tools of a server, for APIs that group tools: mcp__<server>. It has at most 52
// characters, and depends on the server's name alone.
func Namespace(server string) string {
	name := clean(server)
	if name == server && len(prefix)+len(name) <= maxNamespace && !ambiguous(server, prefix+name, hashDigits) {
		return prefix + name
	}
	name = name[:min(len(name), maxNamespace-len(prefix)-1-hashDigits)]
	return prefix + name + "_" + hash(server, "")
}

const (
	maxNamespace = 52
	maxSummary   = 200
)

// Summary returns one line on what a server is for: its configured description, or else the first line of its
// instructions, with at most 200 characters. It is "" if there is neither.
func Summary(description, instructions string) string {
	for _, text := range []string{description, instructions} {
		for line := range strings.Lines(text) {
			if line = oneLine(line); line != "" {
				return clip(line, maxSummary)
			}
		}
	}
	return ""
}

// clip cuts a text to a number of characters, the mark of the cut included.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return strings.TrimRight(string(runes[:most-1]), " ") + "…"
}
