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

// Cgroup is a control group (version 2) with a session's processes. A process cannot
// leave it without permission, also if it detaches from its parent and terminal.
type Cgroup struct {
	Path string
	dir  *os.File
}

// NewCgroup creates a cgroup where this process is allowed to: below the root of the
// hierarchy, or below its own cgroup.
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

// Place starts the process of attr inside the cgroup.
func (c *Cgroup) Place(attr *syscall.SysProcAttr) {
	attr.UseCgroupFD = true
	attr.CgroupFD = int(c.dir.Fd())
}

// Close closes the cgroup without removing it.
func (c *Cgroup) Close() error { return c.dir.Close() }

// RemoveCgroup removes a cgroup and those inside it, after their processes have
// ended. It is not an error if it does not exist.
func RemoveCgroup(ctx context.Context, path string) error {
	if !ours(path) {
		return fmt.Errorf("process: %s is not a cgroup of Coppice", path)
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

// folder is the parent of the sessions' cgroups.
const folder = "coppice"

// ours reports whether a path names a session's cgroup. The path was read from a
// file, so it is checked before anything is killed.
func ours(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && filepath.Base(filepath.Dir(path)) == folder
}

// killCgroup kills everything in a cgroup and below it.
func killCgroup(path string) error {
	if !ours(path) {
		return fmt.Errorf("process: %s is not a cgroup of Coppice", path)
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

// CgroupEmpty reports whether it is certain that no process is in a cgroup or below
// it.
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
	// A cgroup that cannot be read is gone, and has no members.
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

// cgroupRoot returns the folder in which session cgroups can be created.
func cgroupRoot() (string, error) {
	own := ""
	if b, err := os.ReadFile("/proc/self/cgroup"); err == nil {
		for line := range strings.Lines(string(b)) {
			if p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/"); ok {
				own = p
			}
		}
	}
	// A host that a session's agent started must not be inside that session's
	// cgroup, or it would be killed with it.
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

// writable creates the folder and checks that cgroups can be created in it.
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
