// Package jsonscan reads JSON in one forward pass, without reflection: the envelope of a message, and the typed results
// inside it; and it appends JSON the way that a client sends it. It accepts exactly what encoding/json accepts (RFC
// 8259, any UTF-8 in strings, at most 10,000 levels), and the two are fuzzed against each other.
//
// A [Decoder] shares the bytes that it reads: what it returns as raw JSON, and long strings, point into them. Whoever
// hands the bytes over gives them away and must not write to them again. This is the only use of package unsafe: a
// string over bytes that nobody writes to. A Decoder that owns the bytes ([NewOwned]) decodes long strings in place.
package jsonscan
