package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"coppice"
)

// The files of a session's directory.
const (
	lockFile   = "lock"
	startFile  = "starting"
	specFile   = "spec.json"
	promptFile = "prompt"
	stateFile  = "state.json"
	exitFile   = "exit.json"
	socketFile = "sock"
	spoolDir   = "spool"
	logFile    = "host.log"

	reserveFile = "reserve" // reserves the disk space that exit.json will need
	reserveSize = 64 << 10
)

// keepFile makes a file appear whole, readable by its owner only, or not at all,
// also when the machine crashes. Whether it appeared is known then only if
// syncDir followed.
func keepFile(path string, data []byte) error { return appear(path, data, (*os.File).Sync) }

// writeFile does the same for a file that nobody needs after a crash of the
// machine, which ends the session.
func writeFile(path string, data []byte) error {
	return appear(path, data, func(*os.File) error { return nil })
}

func appear(path string, data []byte, keep func(*os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, keep(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// keepJSON is keepFile for a value.
func keepJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return keepFile(path, append(b, '\n'))
}

// readJSON reports whether the file exists.
func readJSON(path string, v any) (bool, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("host: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return false, fmt.Errorf("host: %s: %w", path, err)
	}
	return true, nil
}

var errHeld = errors.New("host: the lock is held")

// tryLock acquires the lock immediately or fails with errHeld. The lock is the open
// file's: it goes when the last copy of the descriptor is closed. A child
// between fork and exec has one, so a lock that is free shows that the
// child is far enough to be found.
func tryLock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errHeld
	}
	return nil, fmt.Errorf("host: lock: %w", err)
}

// waitLock takes the lock exclusively, waiting for it until ctx ends.
func waitLock(ctx context.Context, path string) (*os.File, error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		f, err := tryLock(path, syscall.LOCK_EX)
		if !errors.Is(err, errHeld) {
			return f, err
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, fmt.Errorf("%w: %w", errHeld, context.Cause(ctx))
		case <-t.C:
		}
	}
}

// Inspect returns how far the session in dir has got. Only PhaseEnded has an
// Exit.
func Inspect(dir string) (Phase, State, *Exit, error) {
	var st State
	held, err := locked(dir)
	if err != nil {
		return "", st, nil, err
	}
	// The lock was checked first. A host that has released it does not write
	// again.
	var x Exit
	ended, err := readJSON(filepath.Join(dir, exitFile), &x)
	if err != nil {
		return "", st, nil, err
	}
	began, err := readJSON(filepath.Join(dir, stateFile), &st)
	switch {
	case err != nil:
		return "", st, nil, err
	case ended:
		return PhaseEnded, st, &x, nil
	case held && began:
		return PhaseRunning, st, nil, nil
	case held:
		return PhaseNone, st, nil, nil
	case began:
		return PhaseLost, st, nil, nil
	}
	return PhaseNone, st, nil, nil
}

// locked reports whether a host holds the directory's lock.
func locked(dir string) (bool, error) {
	path := filepath.Join(dir, lockFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	f, err := tryLock(path, syscall.LOCK_SH)
	if errors.Is(err, errHeld) {
		return true, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return false, f.Close()
}

// Clean removes a session's directory and everything in it. It refuses while the
// host runs. Kill needs files of the directory to find the processes of a lost
// host, so call Kill first.
func Clean(dir string) error {
	phase, st, _, err := Inspect(dir)
	if err == nil && phase == PhaseRunning {
		return coppice.Errorf(coppice.EConflict, "the session's host still runs (pid %d)", st.PID).
			WithFix("stop the session first")
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	return nil
}
