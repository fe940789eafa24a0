// Package toolschema turns the input schema of a tool into one that the API of a model accepts, and takes the arguments
// that the model writes back to what the tool expects.
//
// [Parse] reads any JSON Schema that a server may send (drafts 4 to 2020-12, and the words of OpenAPI 3.0) into a tree
// that has no references, no boolean schemas, no keyword of a wrong type and none of a draft before 2020-12; its root
// is an object with properties. [Schema.Convert] makes a [Parameters] of it for a [Target].
//
// The input is untrusted. It has at most 1 MiB and 128 levels, anything else is an error. References are followed while
// the result fits in 64 KiB, or in twice the size of the original if that is more, and 16 references deep at most; a
// schema is entered twice on the way to a value, and no more. What would go beyond that is cut: of the schema that is
// referred to, only its type, title and description are left. What a conversion writes is bounded by 4 MiB.
//
// The order of members is kept, and numbers are passed on digit by digit.
package toolschema
