// Package pty creates pseudo terminals. One side is the terminal of a program. The
// other side reads what the program writes, and writes what the program reads.
package pty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Open creates a pseudo terminal of a size. Ours supports deadlines.
func Open(columns, rows int) (ours, theirs *os.File, err error) {
	ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("pty: %w", err)
	}
	defer func() {
		if err != nil {
			ours.Close()
		}
	}()
	name, err := unlock(ours)
	if err != nil {
		return nil, nil, fmt.Errorf("pty: %w", err)
	}
	if err := Resize(ours, columns, rows); err != nil {
		return nil, nil, err
	}
	theirs, err = os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("pty: %w", err)
	}
	return ours, theirs, nil
}

// Resize changes its size. The program gets a signal.
func Resize(ours *os.File, columns, rows int) error {
	err := control(ours, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: uint16(rows)})
	})
	if err != nil {
		return fmt.Errorf("pty: resize: %w", err)
	}
	return nil
}

// End returns io.EOF for the error of a read that means that the other side is
// closed, and other errors as they are.
func End(err error) error {
	if errors.Is(err, syscall.EIO) {
		return io.EOF
	}
	return err
}

// control calls f with the descriptor. File.Fd would make it blocking and end the
// support of deadlines.
func control(f *os.File, call func(fd int) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := c.Control(func(fd uintptr) { failed = call(int(fd)) }); err != nil {
		return err
	}
	return failed
}
