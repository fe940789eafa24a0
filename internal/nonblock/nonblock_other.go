//go:build !linux

package nonblock

import "errors"

func isNonblocking(uintptr) bool { return false }

func read(uintptr, []byte) (n int, err error) { return 0, errors.ErrUnsupported }

func write(uintptr, []byte) (n int, err error) { return 0, errors.ErrUnsupported }
