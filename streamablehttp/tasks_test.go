package streamablehttp_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
)

const aTask = `"taskId":"größe","createdAt":"","lastUpdatedAt":"","ttlMs":null,"pollIntervalMs":100,`

func TestTasksOverHTTP(t *testing.T) {
	f := newFake(t)
	f.on("POST server/discover", func(a *arrival) { a.json(discovered) })
	f.on("POST tools/call", func(a *arrival) { a.json(`{"resultType":"task",` + aTask + `"status":"working"}`) })
	f.on("POST tasks/get", func(a *arrival) {
		if a.nth == 2 {
			a.status(503) // while the server is replaced, say
			return
		}
		if a.nth == 3 {
			a.json(`{` + aTask + `"status":"completed","result":{"content":[{"type":"text","text":"done"}]}}`)
			return
		}
		a.json(`{` + aTask + `"status":"working"}`)
	})
	f.on("POST tasks/cancel", func(a *arrival) { a.status(401) })
	var credentials = make(chan bool, 100)
	client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{
		URL: f.url,
		Authorizer: &authorizer{
			authorize: func(_ *http.Request, refresh bool) error {
				credentials <- refresh
				return nil
			},
			inspect: func(resp *http.Response) (bool, error) {
				assert.NotEqual(t, http.StatusUnauthorized, resp.StatusCode, "nobody is asked in the background")
				return false, nil
			},
		},
	}, &mcp.Options{Tasks: true})
	require.NoError(t, err)
	defer client.Close()
	res, err := client.CallTool(t.Context(), "t", nil)
	require.NoError(t, err)
	assert.Equal(t, "done", res.Text())
	get := f.await("POST tasks/get", 1)
	assert.Equal(t, "=?base64?Z3LDtsOfZQ==?=", get.got("Mcp-Name"))
	assert.Equal(t, "tasks/get", get.got("Mcp-Method"))

	ctx, cancel := context.WithCancel(t.Context())
	abandoned := make(chan error, 1)
	go func() {
		_, err := client.CallTool(ctx, "t", nil)
		abandoned <- err
	}()
	f.await("POST tasks/get", 4)
	cancel()
	err = <-abandoned
	require.ErrorIs(t, err, context.Canceled)
	var task *mcp.TaskError
	require.True(t, errors.As(err, &task))
	assert.Equal(t, "=?base64?Z3LDtsOfZQ==?=", f.await("POST tasks/cancel", 1).got("Mcp-Name"))
	asked := map[bool]int{}
	for len(credentials) > 0 {
		asked[<-credentials]++
	}
	assert.Equal(t, 1, asked[false])
}
