package stdio

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIsBatch(t *testing.T) {
	for path, want := range map[string]bool{
		`C:\npm\npx.cmd`: true, `C:\npm\NPX.CMD`: true, `run.bat`: true, `npx.exe`: false, `npx`: false, `cmd`: false,
	} {
		assert.Equal(t, want, isBatch(path), path)
	}
}

func TestBatchCommandLine(t *testing.T) {
	const begin, end = `cmd.exe /e:on /v:off /d /s /c ""C:\Program Files\nodejs\npx.cmd"`, `"`
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"none", nil, ``},
		{"plain", []string{"-y", "@scope/server"}, ` "-y" "@scope/server"`},
		{"empty", []string{""}, ` ""`},
		{"blanks", []string{"a b\tc"}, " \"a b\tc\""},
		{"operators of the shell", []string{"a&b|c<d>e^f(g)!h!"}, ` "a&b|c<d>e^f(g)!h!"`},
		{"a quote that would end the string", []string{`"&calc.exe`}, ` """&calc.exe"`},
		{"JSON", []string{`{"a":"b c"}`}, ` "{""a"":""b c""}"`},
		{"a variable", []string{"100%PATH%"}, ` "100%%cd:~,%PATH%%cd:~,%"`},
		{"backslashes", []string{`C:\dir\`, `a\\"b`, `\a`}, ` "C:\dir\\" "a\\\\""b" "\a"`},
	} {
		got, err := batchCommandLine(`C:\Program Files\nodejs\npx.cmd`, test.args)
		require.NoError(t, err, test.name)
		assert.Equal(t, begin+test.want+end, got, test.name)
	}
}

func TestBatchCommandLineRefusesLineBreaks(t *testing.T) {
	for _, arg := range []string{"a\nb", "a\rb", "a\x00b"} {
		_, err := batchCommandLine("npx.cmd", []string{arg})
		assert.Error(t, err, "%q", arg)
	}
}
