// Package yaml reads the part of YAML 1.2 in which people write frontmatter: mappings and sequences in block and flow
// style, plain, quoted, literal and folded scalars, comments. Anchors, aliases, tags, complex keys, merge keys and
// directives are errors, and so is a key that comes twice: what is not understood is refused, never guessed at.
//
// Scalars stay text. Whether a plain "yes" or "1.0" is a string is what YAML 1.1 and 1.2 and their libraries disagree
// on, and up to the caller ([Node].Plain).
//
// # Limits
//
// Nesting has at most 32 levels. The caller bounds the length: time and memory are proportional to it.
//
// # Deviations from YAML
//
// The value of a key may hold ": " on the line of the key, as descriptions do that were never read by a YAML parser.
// Flow style has no plain scalars of several lines and no single pairs in sequences ([a: b]). Lines in quotes need no
// indentation.
package yaml
