module github.com/seed62b61957/mcp/internal/conformance

go 1.26.0

require github.com/seed62b61957/mcp v0.0.0

require (
	github.com/gofrs/flock v0.13.2 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/seed62b61957/mcp => ../..
