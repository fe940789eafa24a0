package oauth

import (
	"errors"
	"os"
	"syscall"
)

// permissions: the mode of a file says nothing here.
const permissions = false

const errorSharingViolation syscall.Errno = 32

// passing tells whether err may come from a program that looks at new files, such as a virus scanner, and does not let
// others rename or remove what it has open.
func passing(err error) bool {
	return errors.Is(err, errorSharingViolation) || errors.Is(err, syscall.ERROR_ACCESS_DENIED)
}

// syncFolder does nothing: NTFS has its journal, and no way to ask for it.
func syncFolder(*os.Root) error { return nil }
