package process

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB

func convert(k *unix.KinfoProc) proc {
	pid := int(k.Proc.P_pid)
	sid, _ := unix.Getsid(pid)
	return proc{
		pid:   pid,
		ppid:  int(k.Eproc.Ppid),
		pgid:  int(k.Eproc.Pgid),
		sid:   sid,
		start: uint64(k.Proc.P_starttime.Sec)*1_000_000 + uint64(k.Proc.P_starttime.Usec),
		dead:  k.Proc.P_stat == zombie,
	}
}

func lookup(pid int) (proc, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return proc{}, fmt.Errorf("process: %w", err)
	}
	return convert(k), nil
}

func snapshot() ([]proc, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("process: %w", err)
	}
	var all []proc
	for i := range list {
		all = append(all, convert(&list[i]))
	}
	return all, nil
}

// hasEnv reports whether a process was started with the entry in its
// environment. The kernel shows arguments and environment in one piece: their
// count, the program's path, the arguments, the environment. It shows those of
// the user's own processes only, and not those of protected programs.
func hasEnv(p proc, entry []byte) (found, known bool) {
	b, err := unix.SysctlRaw("kern.procargs2", p.pid)
	if err != nil || len(b) < 4 {
		return false, true
	}
	args := int(binary.NativeEndian.Uint32(b))
	for i, v := range bytes.Split(b[4:], []byte{0}) {
		if i > args && bytes.Equal(v, entry) {
			return true, true
		}
	}
	return false, true
}

var errCgroup = errors.New("process: this system has no cgroups")

// Cgroup stands for what Linux has and darwin has not.
type Cgroup struct{ Path string }

// NewCgroup always fails.
func NewCgroup(string) (*Cgroup, error) { return nil, errCgroup }

// Place does nothing.
func (*Cgroup) Place(*syscall.SysProcAttr) {}

// Close does nothing.
func (*Cgroup) Close() error { return nil }

// CgroupEmpty is never sure here.
func CgroupEmpty(string) bool { return false }

// RemoveCgroup does nothing.
func RemoveCgroup(context.Context, string) error { return nil }

func killCgroup(string) error { return errCgroup }

func cgroupMembers(string) map[int]bool { return nil }

// Subreaper fails: orphans go to the machine's first process.
func Subreaper() error { return errors.New("process: this system has no subreaper") }

// Reap does nothing: no orphan comes back.
func Reap(...int) {}

// Abilities finds out what this machine lets us do.
func Abilities() Ability {
	return Ability{Notes: []string{
		"this system has neither cgroups nor subreapers: a process that left its agent's process group, " +
			"cleared its environment and lost its parent cannot be found",
	}}
}
