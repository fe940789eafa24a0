package schema

import (
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
)

// patterns bounds the regular expressions before the library compiles them. Matching takes time in proportion to the
// size of the program, so that is part of a node's cost.
func (t *translator) patterns(n *node, keywords object) error {
	if _, ok := keywords["pattern"]; ok {
		size, err := t.program(n.lib.Pattern)
		if err != nil {
			return err
		}
		n.program = size
	}
	byPattern, _ := keywords["patternProperties"].(object)
	for _, pattern := range slices.Sorted(maps.Keys(byPattern)) {
		size, err := t.program(pattern)
		if err != nil {
			return err
		}
		n.namePrograms += size
	}
	return nil
}

func (t *translator) program(pattern string) (int, error) {
	if len(pattern) > maxPattern {
		return 0, fmt.Errorf("a regular expression has %d bytes, at most %d are accepted", len(pattern), maxPattern)
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, fmt.Errorf("regular expression %v: %w", text(pattern), err)
	}
	size := programSize(re)
	if t.programs += size; t.programs > maxProgram {
		return 0, fmt.Errorf("the regular expressions compile to more than %d instructions", maxProgram)
	}
	return size, nil
}

// PatternSize is about how many instructions a regular expression compiles to. One that package regexp cannot compile
// is an error, and so is one that is too long to be looked at.
func PatternSize(pattern string) (int, error) { return new(translator).program(pattern) }

// programSize is about how many instructions re compiles to. A large character class counts for more, since \pL in the
// text becomes a table of 5 KiB.
func programSize(re *syntax.Regexp) int {
	below := 0
	for _, sub := range re.Sub {
		below += programSize(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpRepeat:
		return below * max(re.Max, re.Min+1)
	}
	return 1 + below + len(re.Rune)/64
}
