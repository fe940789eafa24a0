package mcp

import "github.com/seed62b61957/mcp/internal/jsonscan"

// marshal encodes v without HTML escapes. Every MarshalJSON here goes through it, since an escape made inside cannot be
// taken back by the encoder outside.
func marshal(v any) ([]byte, error) { return jsonscan.AppendValue(nil, v) }

// orEmpty is for lists that the schema requires, which must not go out as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
