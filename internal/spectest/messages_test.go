package spectest

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

// notSent are messages that the schema has a client send, and that this client never does.
var notSent = map[string]string{
	"ProgressNotification":   "optional: handlers have nothing to report progress with",
	"TaskStatusNotification": isTask,
	"CancelTaskRequest":      isTask,
	"CancelTaskResult":       isTask,
	"GetTaskPayloadRequest":  isTask,
	"GetTaskPayloadResult":   isTask,
	"GetTaskRequest":         isTask,
	"GetTaskResult":          isTask,
	"ListTasksRequest":       isTask,
	"ListTasksResult":        isTask,
	"Result":                 "EmptyResult, which is the same",
}

// Every message of a client fits the schema of its revision, and a client sends every message that there is.
func TestMessages(t *testing.T) {
	judges := make(map[string]*judge)
	for _, revision := range revisions {
		judges[revision] = newJudge(t, loadSpec(t, revision))
	}
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			for name, versions := range map[string][]string{"pinned": {revision}, "detected": nil} {
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						x := newSession(t, revision, versions)
						x.everything()
						require.NoError(t, x.client.Close())
						require.NoError(t, x.recorder.failure)
						for i := range x.recorder.sent {
							m := &x.recorder.sent[i]
							j := judges[revisionOf(m)]
							require.NotNil(t, j, "%s", m.text)
							if err := j.judge(m); err != nil {
								t.Errorf("%.2000v\n%s", err, m.text)
							}
						}
					})
				})
			}
			j := judges[revision]
			for _, union := range []string{"ClientRequest", "ClientNotification", "ClientResult"} {
				for _, definition := range j.sendable(union) {
					if notSent[definition] == "" {
						assert.True(t, j.used[definition], "nothing was sent that is a %s", definition)
					}
				}
			}
		})
	}
}

// sendable are the members of a union. In 2026-07-28 a client answers nothing but requests for input.
func (j *judge) sendable(union string) []string {
	if union == "ClientResult" && j.revision == mcp.Version20260728 {
		return []string{"ElicitResult", "CreateMessageResult", "ListRootsResult"}
	}
	return j.allowed(union)
}
