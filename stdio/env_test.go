package stdio

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMergeEnv(t *testing.T) {
	unix := []string{
		"PATH=/bin", "HOME=/h", "LANG=C", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "http_proxy=a", "HTTPS_PROXY=b",
		"AWS_SECRET_ACCESS_KEY=s", "EMPTY=", "TERM=() { :; }; evil", "=odd", "", "bare",
	}
	windows := []string{`=C:=C:\here`, `Path=C:\w`, "SystemRoot=C:\\Windows", "PATHEXT=.EXE;.CMD", "AppData=a", "Token=s"}
	for _, test := range []struct {
		name    string
		host    []string
		extra   map[string]string
		inherit bool
		windows bool
		want    []string
	}{
		{
			name: "the base alone", host: unix,
			want: []string{
				"HOME=/h", "HTTPS_PROXY=b", "LANG=C", "LC_ALL=C", "PATH=/bin", "XDG_RUNTIME_DIR=/run", "http_proxy=a",
			},
		},
		{
			name: "one variable more loses none", host: unix[:2], extra: map[string]string{"TOKEN": "a=b", "NONE": ""},
			want: []string{"HOME=/h", "NONE=", "PATH=/bin", "TOKEN=a=b"},
		},
		{
			name: "the base overridden", host: unix[:2], extra: map[string]string{"PATH": "/opt/bin"},
			want: []string{"HOME=/h", "PATH=/opt/bin"},
		},
		{
			name: "all", host: unix[7:], inherit: true, extra: map[string]string{"X": "1"},
			want: []string{"AWS_SECRET_ACCESS_KEY=s", "EMPTY=", "TERM=() { :; }; evil", "X=1"},
		},
		{name: "names differ in case", host: []string{"path=x", "Home=y"}, want: nil},
		{
			name: "names of Windows do not", host: windows, windows: true, extra: map[string]string{"path": `C:\mine`},
			want: []string{"AppData=a", "PATHEXT=.EXE;.CMD", "SystemRoot=C:\\Windows", `path=C:\mine`},
		},
		{
			name: "all of Windows", host: windows[:2], windows: true, inherit: true,
			want: []string{`=C:=C:\here`, `Path=C:\w`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := mergeEnv(test.host, test.extra, test.inherit, test.windows)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestMergeEnvRefusesWhatIsNoVariable(t *testing.T) {
	for name, value := range map[string]string{"": "secret", "A=B": "secret", "A\x00": "secret", "A": "secret\x00"} {
		_, err := mergeEnv(nil, map[string]string{name: value}, false, false)
		require.Error(t, err, "%q", name)
		assert.NotContains(t, err.Error(), "secret")
	}
}

// Which of the two counted would be up to chance.
func TestMergeEnvRefusesANameThatIsThereTwice(t *testing.T) {
	twice := map[string]string{"Token": "a", "TOKEN": "b"}
	_, err := mergeEnv(nil, twice, false, true)
	assert.EqualError(t, err, `environment: "TOKEN" and "Token" are one name`)
	got, err := mergeEnv(nil, twice, false, false)
	require.NoError(t, err)
	assert.Equal(t, []string{"TOKEN=b", "Token=a"}, got)
}
