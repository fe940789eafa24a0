// Package spectest holds tests only: they hold the library against the schemas and the example messages of the
// protocol's own repository. What is in them is read and written again without loss, and every message that the client
// sends fits the schema of its revision. MCP_SPEC_DIR names the folder that has them: <revision>/schema.json, and
// examples/<type>/*.json beside it; without it the tests fail.
package spectest
