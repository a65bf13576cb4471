package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/internal/filelock"
)

// The files of a session's directory.
const (
	lockFile   = "lock"
	stateFile  = "state.json"
	exitFile   = "exit.json"
	socketFile = "sock"
	spoolDir   = "spool"
	logFile    = "host.log"

	specFile   = "spec.json" // written by servers of earlier releases, like promptFile
	promptFile = "prompt"

	reserveFile = "reserve" // reserves the disk space of exit.json, which it becomes
	reserveSize = 64 << 10
)

// keepFile writes a file that its owner alone can read, and that is needed after a
// crash of the machine. After a crash it is known to be there only if syncDir
// followed.
func keepFile(path string, data []byte) error { return atomicfile.Write(path, data, 0o600) }

// writeFile writes a file that nobody needs after a crash of the machine, which
// ends the session.
func writeFile(path string, data []byte) error {
	return atomicfile.Replace(path, atomicfile.Options{NoSync: true}, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
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
	// Closing the file does not release the lock of a child that has a copy of it
	// between fork and exec. So a lock that is free shows that the child is far
	// enough to be found.
	f, err := filelock.Try(path, filelock.Shared)
	if errors.Is(err, filelock.ErrHeld) {
		return true, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("host: %w", err)
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
