package repo

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"coppice"
	"coppice/workspace/git"
)

func isDiskError(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EDQUOT)
}

// Message returns git's message on one line.
func Message(err error) string {
	var ge *git.Error
	if errors.As(err, &ge) {
		return strings.Join(strings.Fields(strings.TrimPrefix(ge.Stderr, "error: ")), " ")
	}
	return err.Error()
}

// Classify turns an error of git or the file system into a failure, if it is known
// what follows from it.
func Classify(err error) error {
	if err == nil {
		return nil
	}
	var f *coppice.Failure
	if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if DiskFull(err) {
		return coppice.Failf(coppice.ClassDisk, "the disk is full or read-only: "+err.Error(), "free some space, then retry")
	}
	return err
}

// DiskFull reports whether the disk is the cause. Git says that only in its
// message, whose language the runner sets.
func DiskFull(err error) bool {
	if isDiskError(err) {
		return true
	}
	var ge *git.Error
	return errors.As(err, &ge) && (strings.Contains(ge.Stderr, "No space left on device") || strings.Contains(ge.Stderr, "Read-only file system") ||
		strings.Contains(ge.Stderr, "Disk quota exceeded"))
}
