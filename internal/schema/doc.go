// Package schema checks JSON against a JSON Schema that an untrusted server supplied. It is a guard around
// google/jsonschema-go, which does the checking: the schema is translated into a plain form of it first, and what it
// would cost is known before it runs.
//
// Draft 2020-12, which is also the default when $schema is absent (specification, "Schema Dialect"), and draft-07, each
// with or without https and a trailing '#'. Any other dialect is an error of [Compile], as is a schema that its dialect
// does not allow. Definitions may be under $defs or definitions, or wherever a JSON pointer finds them.
//
//   - Schema: 1 MiB of text, 128 levels of JSON (a property is two levels below its object), 10,000 subschemas that
//     can apply; a regular expression has at most 4 KiB, and all of them together about 20,000 instructions.
//
//   - Nothing is ever fetched: a reference that leaves the document is an error of Compile.
//
//   - A schema that comes back to itself on the same value ({"$ref":"#"} and every longer way round) is an error of
//     Compile. Recursion through properties and items is fine.
//
//   - Instance: what the caller read (a transport's message limit). One for which checking could take more than roughly
//     four seconds or 256 MiB is refused with [ErrTooComplex] at once. That is an upper bound over all ways the schema
//     can branch, computed from the schema and from the instance's shape, so what is refused may be harmless. A schema
//     that recurses is followed through 256 levels.
//
//   - Errors have at most about 500 bytes and quote excerpts only.
//
//   - Regular expressions are Go's: one with lookahead or a backreference is an error of Compile.
//
//   - format and the content keywords are not checked.
//
//   - Integers are exact within int64 and uint64; other numbers are float64, and one beyond its range is an error. A
//     minimum or maximum above 2^54 that float64 cannot hold is widened to the next one that it can.
//
//   - multipleOf divides in float64.
//
//   - $dynamicRef is resolved when the document has a single $dynamicAnchor of that name, and refused otherwise.
//
//   - Of members with the same name in one object the last counts.
package schema
