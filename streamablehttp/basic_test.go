package streamablehttp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
)

func TestAClientOverHTTP(t *testing.T) {
	f := newFake(t)
	f.on("GET", func(a *arrival) {
		a.stream()
		a.event(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}`)
		a.linger()
	})
	f.on("POST one", func(a *arrival) { a.json(`{"n":1}`) })
	f.on("POST two", func(a *arrival) {
		a.stream()
		a.event(`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + a.msg.ID.String() +
			`,"progress":1}}`)
		a.event(`data: ` + a.answer(`{"n":2}`))
		a.linger()
	})
	client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url}, legacy)
	require.NoError(t, err)
	f.await("GET", 1)
	raw, err := client.Request(t.Context(), "one", nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"n":1}`, string(raw))
	var progress []mcp.Progress
	listen := mcp.WithProgress(func(p mcp.Progress) { progress = append(progress, p) })
	raw, err = client.Request(t.Context(), "two", nil, listen)
	require.NoError(t, err)
	assert.JSONEq(t, `{"n":2}`, string(raw))
	assert.Len(t, progress, 1)
	require.NoError(t, client.Close())
	assert.Equal(t, 1, f.count("DELETE"))
}
