package mcp

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMediaInEveryDialect(t *testing.T) { // field case 106
	want := []byte{0xfb, 0xff, 0xfe, 0x00}
	for data, mediaType := range map[string]string{
		"+//+AA==":                            "image/gif",
		"+//+AA":                              "image/gif",
		"-__-AA==":                            "image/gif",
		"-__-AA":                              "image/gif",
		"+//+\r\nAA==\n":                      "image/gif",
		" +//+\tAA = = ":                      "image/gif",
		"data:image/png;base64,+//+AA==":      "image/png",
		"DATA:image/png;BASE64,-__-AA":        "image/png",
		"data:;base64,+//+AA==":               "image/gif",
		"data:image/png;a=b;base64,%2B//+AA=": "image/png;a=b",
		"data:image/png,%FB%FF%FE%00":         "image/png",
	} {
		image := ImageContent{Data: data, MIMEType: "image/gif"}
		got, err := image.Bytes()
		require.NoError(t, err, data)
		assert.Equal(t, want, got, data)
		assert.Equal(t, mediaType, image.MediaType(), data)

		audio := AudioContent(image)
		got, err = audio.Bytes()
		require.NoError(t, err, data)
		assert.Equal(t, want, got, data)
		assert.Equal(t, mediaType, audio.MediaType(), data)

		contents := ResourceContents{Blob: &data, MIMEType: "image/gif"}
		got, err = contents.Bytes()
		require.NoError(t, err, data)
		assert.Equal(t, want, got, data)
		assert.Equal(t, mediaType, contents.MediaType(), data)
	}
	text := ResourceContents{Text: "data:,x", MIMEType: "text/plain"}
	got, err := text.Bytes()
	require.NoError(t, err)
	assert.Equal(t, "data:,x", string(got), "text is text")
	assert.Equal(t, "text/plain", text.MediaType())

	for _, bad := range []string{"!", "A", "AA==AA", "data:image/png;base64", "data:x;base64,%zz", "AAAA secret!"} {
		_, err := (&ImageContent{Data: bad}).Bytes()
		require.ErrorContains(t, err, "mcp: ", bad)
		assert.NotContains(t, err.Error(), "secret")
	}
}

func TestTheRawValueIsKept(t *testing.T) {
	roundTrip[CallToolResult](t, `{"content":[{"type":"image","data":"data:image/png;base64,AAAA",
		"mimeType":"image/png"}]}`)
}

func FuzzDecodeMedia(f *testing.F) {
	for _, s := range []string{"", "AA==", "-_", "data:a/b;base64,AAAA", "data:,%41", "data:;;,", "=", "A\n=\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		mediaType(s, "")
		_, _ = decodeMedia(s) // no input makes it panic

		plain := []byte(s)
		std := base64.StdEncoding.EncodeToString(plain)
		for _, spelled := range []string{
			std,
			base64.URLEncoding.EncodeToString(plain),
			base64.RawURLEncoding.EncodeToString(plain),
			strings.Join(strings.Split(std, ""), "\n "),
			"data:image/png;base64," + std,
		} {
			got, err := decodeMedia(spelled)
			if err != nil || !bytes.Equal(got, plain) {
				t.Fatalf("%q: got %q, %v", spelled, got, err)
			}
		}
	})
}
