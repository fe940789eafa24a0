package mcp

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// Root is a directory or file that a server may work on.
type Root struct {
	URI  string `json:"uri"` // a file URI: see [FileRoot]
	Name string `json:"name,omitempty"`
	Meta Meta   `json:"_meta,omitempty"`
}

// FileRoot returns the root for a path of this machine, which need not exist, named by its last element. A relative
// path is taken from the working directory.
func FileRoot(path string) (Root, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Root{}, fmt.Errorf("mcp: root: %w", err)
	}
	return Root{URI: fileURI(absolute, runtime.GOOS == "windows"), Name: filepath.Base(absolute)}, nil
}

// fileURI turns an absolute path into a URI (RFC 8089; appendix E.2 and E.3 for Windows).
func fileURI(path string, windows bool) string {
	u := url.URL{Scheme: "file", Path: path}
	if !windows {
		return u.String()
	}
	path = strings.ReplaceAll(path, `\`, "/")
	if long, ok := strings.CutPrefix(path, "//?/UNC/"); ok {
		path = "//" + long
	} else {
		path = strings.TrimPrefix(path, "//?/")
	}
	u.Path = "/" + path // drive letter: file:///C:/dir
	if share, ok := strings.CutPrefix(path, "//"); ok {
		host, rest, _ := strings.Cut(share, "/")
		u.Host, u.Path = host, "/"+rest
	}
	return u.String()
}

// RootsChanged tells the server that what [Options].Roots returns has changed. Without that handler it is an error.
// Since 2026-07-28 a server asks for roots when it needs them, and there is nothing to tell.
func (c *Client) RootsChanged(ctx context.Context) error {
	const method = "notifications/roots/list_changed"
	if c.opts.Roots == nil {
		return fmt.Errorf("mcp: %s: there is no Options.Roots", method)
	}
	if c.session.Load().modern() {
		return nil
	}
	return c.Notify(ctx, method, nil)
}
