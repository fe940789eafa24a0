package llmcontent

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

const (
	maxName    = 64 // the least that the large model APIs allow
	prefix     = "mcp__"
	separator  = "__"
	hashDigits = 12

	// What a name with a hash has room for: the names of server and tool together, and the server's in any case.
	maxParts  = maxName - len(prefix) - len(separator) - len("_") - hashDigits
	minServer = 16
)

// ToolName returns the name of a server's tool for a model: mcp__<server>__<tool>, of letters, digits, "_" and "-"
// only, with at most 64 characters. It depends on nothing but the two names, so that no other server, order or restart
// ever renames a tool.
//
// Other characters become "_", and names that are too long are cut. Where that changed anything, or where the name
// could be that of another pair ("a__b" and "c" against "a" and "b__c"), it ends in "_" and 12 hexadecimal digits of a
// hash of the pair. Two tools therefore have the same name only if their hashes are the same by chance, which takes
// millions of tools.
//
// server is the name by which the host knows the server: what a server calls itself may not be unique.
func ToolName(server, tool string) string {
	cleanServer, cleanTool := clean(server), clean(tool)
	name := prefix + cleanServer + separator + cleanTool
	if cleanServer == server && cleanTool == tool && len(name) <= maxName && !ambiguous(server, name, hashDigits) {
		return name
	}
	cleanServer = cleanServer[:min(len(cleanServer), max(maxParts-len(cleanTool), minServer))]
	cleanTool = cleanTool[:min(len(cleanTool), maxParts-len(cleanServer))]
	return prefix + cleanServer + separator + cleanTool + "_" + hash(server, tool)
}

// clean replaces each character that a model API may refuse.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// ambiguous reports whether a name without a hash may be that of another pair. It is not if the first separator in it
// is the one that was put there, and if it does not look like a name with a hash.
func ambiguous(server, name string, digits int) bool {
	return strings.Contains(server, separator) || strings.HasSuffix(server, "_") || endsInHash(name, digits)
}

func endsInHash(name string, digits int) bool {
	i := len(name) - digits - 1
	return i >= 0 && name[i] == '_' && strings.Trim(name[i+1:], "0123456789abcdef") == ""
}

// hash puts the length of the first name in front, so that no two pairs are written the same.
func hash(server, tool string) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(server)) + ":" + server + tool))
	return hex.EncodeToString(sum[:hashDigits/2])
}
