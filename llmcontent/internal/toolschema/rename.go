package toolschema

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

const (
	maxKey     = 64
	hashDigits = 8
)

// A keyRule says which names of properties an API takes.
type keyRule struct {
	legal   func(c byte) bool
	letters bool // the first is a letter or "_"
}

var (
	anthropicKeys = keyRule{legal: func(c byte) bool { return isWord(c) || c == '.' || c == '-' }}
	geminiKeys    = keyRule{legal: isWord, letters: true}
)

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

func (r keyRule) accepts(key string) bool {
	if key == "" || len(key) > maxKey || r.letters && '0' <= key[0] && key[0] <= '9' {
		return false
	}
	return strings.IndexFunc(key, func(c rune) bool { return c >= 0x80 || !r.legal(byte(c)) }) < 0
}

// clean makes a legal name with a hash of the original.
func (r keyRule) clean(key, salt string) string {
	sum := sha256.Sum256([]byte(key + salt))
	name := strings.Map(func(c rune) rune {
		if c >= 0x80 || !r.legal(byte(c)) {
			return '_'
		}
		return c
	}, key)
	if r.letters && (name == "" || '0' <= name[0] && name[0] <= '9') {
		name = "_" + name
	}
	return name[:min(len(name), maxKey-hashDigits-1)] + "_" + hex.EncodeToString(sum[:hashDigits/2])
}

// renames returns the names for the properties in a schema that have none that is legal. No two properties get the
// same.
func (r keyRule) renames(root *node) map[string]string {
	keys := map[string]bool{}
	collectKeys(root, keys)
	taken := make(map[string]bool, len(keys))
	for key := range keys {
		if r.accepts(key) {
			taken[key] = true
		}
	}
	names := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if r.accepts(key) {
			continue
		}
		name := r.clean(key, "")
		for salt := "\x00"; taken[name]; salt += "\x00" {
			name = r.clean(key, salt)
		}
		taken[name] = true
		names[key] = name
	}
	return names
}

// collectKeys finds the names of properties wherever a schema has some.
func collectKeys(n *node, keys map[string]bool) {
	for _, m := range n.members {
		switch forms[m.name] {
		case formSchema, formSwitch, formItems:
			collectKeys(m.value, keys)
		case formSchemas:
			for _, e := range m.value.list {
				collectKeys(e, keys)
			}
		case formSchemaMap:
			for _, p := range m.value.members {
				if m.name == "properties" || m.name == "dependentSchemas" {
					keys[p.name] = true
				}
				collectKeys(p.value, keys)
			}
		case formNames:
			for _, name := range stringsOf(m.value) {
				keys[name] = true
			}
		case formNameLists:
			for _, p := range m.value.members {
				keys[p.name] = true
				for _, name := range stringsOf(p.value) {
					keys[name] = true
				}
			}
		}
	}
}
