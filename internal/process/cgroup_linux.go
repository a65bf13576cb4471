package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Cgroup is a control group (version 2) that holds a session's processes. A
// process cannot leave it without the rights to, whatever it detaches from.
type Cgroup struct {
	Path string
	dir  *os.File
}

// NewCgroup makes a cgroup of that name where this process may make one: below
// the root of the hierarchy, or below the cgroup it lives in itself.
func NewCgroup(name string) (*Cgroup, error) {
	root, err := cgroupRoot()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(root, name)
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("process: cgroup: %w", err)
	}
	dir, err := os.Open(path)
	if err != nil {
		os.Remove(path)
		return nil, fmt.Errorf("process: cgroup: %w", err)
	}
	return &Cgroup{Path: path, dir: dir}, nil
}

// Place makes a process that starts with attr start inside the cgroup.
func (c *Cgroup) Place(attr *syscall.SysProcAttr) {
	attr.UseCgroupFD = true
	attr.CgroupFD = int(c.dir.Fd())
}

// Close lets go of the cgroup without removing it.
func (c *Cgroup) Close() error { return c.dir.Close() }

// RemoveCgroup removes a cgroup and those made inside it, once their processes
// are gone. One that is not there is no error.
func RemoveCgroup(ctx context.Context, path string) error {
	if !ours(path) {
		return fmt.Errorf("process: %s is no cgroup of ours", path)
	}
	for turn := 0; ; turn++ {
		err := removeTree(path)
		if err == nil || !errors.Is(err, syscall.EBUSY) {
			return err
		}
		if ended := pause(ctx, turn); ended != nil {
			return fmt.Errorf("%w: %w", err, ended)
		}
	}
}

func removeTree(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("process: cgroup: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeTree(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := syscall.Rmdir(path); err != nil && !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("process: cgroup: %w", err)
	}
	return nil
}

// folder stands between the hierarchy and the sessions' cgroups.
const folder = "coppice"

// ours tells whether a path names a session's cgroup. It is asked before
// anything is killed by a path that was read from a file.
func ours(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && filepath.Base(filepath.Dir(path)) == folder
}

// killCgroup kills everything in a cgroup and below it.
func killCgroup(path string) error {
	if !ours(path) {
		return fmt.Errorf("process: %s is no cgroup of ours", path)
	}
	// Before Linux 5.14 there is no such file; its members are then killed one
	// by one, like all the other marked processes.
	f, err := os.OpenFile(filepath.Join(path, "cgroup.kill"), os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("process: cgroup: %w", err)
	}
	_, err = f.WriteString("1")
	return errors.Join(err, f.Close())
}

// CgroupEmpty tells for sure that no process is in a cgroup or below it.
func CgroupEmpty(path string) bool {
	b, err := os.ReadFile(filepath.Join(path, "cgroup.events"))
	return err == nil && bytes.Contains(append([]byte("\n"), b...), []byte("\npopulated 0\n"))
}

// cgroupMembers returns the processes in a cgroup and below it.
func cgroupMembers(path string) map[int]bool {
	members := map[int]bool{}
	if path == "" {
		return members
	}
	// What cannot be read is gone, which is what is wanted.
	_ = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil
		}
		b, _ := os.ReadFile(filepath.Join(p, "cgroup.procs"))
		for line := range bytes.FieldsSeq(b) {
			if pid, err := strconv.Atoi(string(line)); err == nil && pid > 0 {
				members[pid] = true
			}
		}
		return nil
	})
	return members
}

// cgroupRoot returns the folder in which session cgroups can be made.
func cgroupRoot() (string, error) {
	own := ""
	if b, err := os.ReadFile("/proc/self/cgroup"); err == nil {
		for line := range strings.Lines(string(b)) {
			if p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/"); ok {
				own = p
			}
		}
	}
	// A host that a session's agent started must not live inside, and die
	// with, that session's cgroup.
	if i := strings.Index(own+"/", "/"+folder+"/"); i >= 0 {
		own = own[:i]
	}
	var errs []error
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(mount, "cgroup.procs")); err != nil {
			errs = append(errs, err)
			continue
		}
		for _, base := range []string{"", own} {
			dir := filepath.Join(mount, base, folder)
			err := writable(dir)
			if err == nil {
				return dir, nil
			}
			errs = append(errs, err)
		}
	}
	return "", fmt.Errorf("process: cgroup: %w", errors.Join(errs...))
}

// writable makes the folder and finds out whether cgroups can be made in it.
func writable(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	const write = 2
	if err := syscall.Access(dir, write); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}
