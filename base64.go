package mcp

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// decodeMedia decodes base64 in any of its dialects, and data URIs (RFC 2397).
func decodeMedia(s string) ([]byte, error) {
	_, encoding, data, ok := cutDataURI(s)
	if !ok {
		return decodeBase64(s)
	}
	plain, err := url.PathUnescape(data)
	if err != nil {
		return nil, errors.New("mcp: malformed escape in a data URI")
	}
	if encoding != "base64" {
		return []byte(plain), nil
	}
	return decodeBase64(plain)
}

// mediaType is the type that a data URI names, or else the one given.
func mediaType(s, given string) string {
	if uriType, _, _, ok := cutDataURI(s); ok && uriType != "" {
		return uriType
	}
	return given
}

// cutDataURI takes a data URI apart: "data:" [ mediatype ] [ ";base64" ] "," data.
func cutDataURI(s string) (mediaType, encoding, data string, ok bool) {
	const scheme = "data:"
	s = strings.TrimLeft(s, " \t\r\n")
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return "", "", "", false
	}
	head, data, ok := strings.Cut(s[len(scheme):], ",")
	if !ok {
		return "", "", "", false
	}
	if i := strings.LastIndexByte(head, ';'); i >= 0 && strings.EqualFold(strings.TrimSpace(head[i+1:]), "base64") {
		head, encoding = head[:i], "base64"
	}
	return strings.TrimSpace(head), encoding, data, true
}

// decodeBase64 takes both alphabets, with or without padding, with white space in between.
func decodeBase64(s string) ([]byte, error) {
	if data, err := base64.StdEncoding.DecodeString(s); err == nil {
		return data, nil
	}
	digits := make([]byte, 0, len(s))
	padded := false
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case c == '=':
			padded = true
		case padded:
			return nil, fmt.Errorf("mcp: malformed base64: data after the padding at %d", i)
		case c == '-':
			digits = append(digits, '+')
		case c == '_':
			digits = append(digits, '/')
		default:
			digits = append(digits, c)
		}
	}
	data := make([]byte, base64.RawStdEncoding.DecodedLen(len(digits)))
	n, err := base64.RawStdEncoding.Decode(data, digits)
	if err != nil {
		return nil, errors.New("mcp: malformed base64")
	}
	return data[:n], nil
}
