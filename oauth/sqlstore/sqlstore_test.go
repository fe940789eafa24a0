package sqlstore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// What needs a database is tested in internal/oauthinterop.
func TestTableName(t *testing.T) {
	long := strings.Repeat("x", 63)
	for _, table := range []string{"", "records", "auth.records", "_R2", "A", long, long + "." + long} {
		_, err := New(nil, Options{Table: table})
		assert.NoError(t, err, table)
	}
	others := []string{"a b", "a;DROP TABLE a", `"a"`, "a.b.c", ".a", "a.", "1a", "a-b", "ä", "a\n", "$1", long + "x"}
	for _, table := range others {
		_, err := New(nil, Options{Table: table})
		assert.ErrorContains(t, err, "sqlstore: ", table)
	}
}
