package host_test

import (
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/host"
)

func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		log := new(log)
		h := w.host(log.of)
		apply(t, h, "a")
		time.Sleep(time.Minute)
		w.leave("a")
		time.Sleep(2 * time.Second)
		w.comeBack("a")
		until(t, h, "a", host.Ready)
		w.leave("a")
		until(t, h, "a", host.Failed)
		synctest.Wait() // the log comes after the state
		const outage = `(?s)msg=reconnecting server=a attempt=1 in=[^\n]*connection lost.*attempt=2 .*nobody is at home.*`
		assert.Regexp(t, regexp.MustCompile(outage+`msg=recovered server=a after=.*`), log)
		assert.Regexp(t, regexp.MustCompile(`level=ERROR msg=failed server=a error=".*nobody is at home"`), log)
	})
}

func TestSecretsStayWhereTheyAre(t *testing.T) {
	const secret = "hunter2"
	log := new(log)
	away := child("a", "exit")
	away.Env["TOKEN"], away.Args = secret, []string{"--key=" + secret}
	list := remote("http://127.0.0.1:1/mcp?key=" + secret)
	list[0].Name, list[0].Headers = "b", map[string]string{"Authorization": secret, "X-Key": secret}
	h := processes(t, append(list, away), log.of)
	for _, name := range []string{"a", "b"} {
		err := echo(t, h, name)
		require.Error(t, err)
		s := status(t, h, name)
		require.Error(t, s.Err)
		assert.NotContains(t, fmt.Sprintf("%v %+v %v", err, s, s.Err), secret)
	}
	require.Eventually(t, func() bool { return log.has("server=a") && log.has("server=b") }, soon, time.Millisecond)
	assert.NotContains(t, log.String(), secret)
}
