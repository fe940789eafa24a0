//go:build !unix

package main

import "os"

var hangups []os.Signal // only the file itself is watched
