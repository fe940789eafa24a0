package mcp

import (
	"bytes"
	"testing"
)

func FuzzTask(f *testing.F) {
	for _, s := range []string{
		`{"taskId":"a","status":"working","createdAt":"c","lastUpdatedAt":"u","ttlMs":null}`,
		`{"taskId":"a","status":"input_required","ttlMs":1e3,"pollIntervalMs":5,"inputRequests":{"k":{"method":"m","params":{}}}}`,
		`{"taskId":"a","status":"completed","statusMessage":"<\ud800","ttlMs":-1,"result":{"content":[]},"_meta":{"x":1}}`,
		`{"taskId":"a","status":"failed","pollIntervalMs":9223372036854775807,"error":{"code":-1,"message":"m","data":9007199254740993}}`,
		`{"taskId":"a","status":"cancelled","error":5,"result":null,"inputRequests":[],"createdAt":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		task, _, err := decodeResult[Task](data)
		if err != nil {
			return
		}
		if task.TTL < 0 || task.PollInterval < 0 || task.ID == "" {
			t.Fatalf("%q became %+v", data, task)
		}
		first, err := marshal(task)
		if err != nil {
			t.Fatalf("%q was decoded but cannot be encoded: %v", data, err)
		}
		again, _, err := decodeResult[Task](first)
		if err != nil {
			t.Fatalf("%q was encoded as %q: %v", data, first, err)
		}
		if second, err := marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%q became %q and then %q (%v)", data, first, second, err)
		}
	})
}
