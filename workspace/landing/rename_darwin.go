package landing

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames a file to a name that must be free.
func renameNew(from, to string) error {
	if err := unix.RenamexNp(from, to, unix.RENAME_EXCL); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
