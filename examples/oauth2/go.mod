module github.com/seed62b61957/mcp/examples/oauth2

go 1.26.0

replace github.com/seed62b61957/mcp => ../..

require (
	github.com/seed62b61957/mcp v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/oauth2 v0.38.0
)

require (
	github.com/gofrs/flock v0.13.2 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
