//go:build !windows

package oauth

import (
	"errors"
	"os"
	"syscall"
)

// permissions: the mode of a file says who may read it.
const permissions = true

// passing is for Windows.
func passing(error) bool { return false }

// syncFolder makes a rename or a removal durable. Some file systems have no such call, and need none.
func syncFolder(folder *os.Root) error {
	f, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
