package process

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

const kthreadd = 2 // parent of the kernel's own threads

func lookup(pid int) (proc, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, fmt.Errorf("process: %w", err)
	}
	return parseStat(b)
}

// parseStat reads /proc/<pid>/stat. The second field is the program's name in
// parentheses and may itself hold spaces and parentheses.
func parseStat(b []byte) (proc, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return proc{}, fmt.Errorf("process: stat is not understood: %q", b)
	}
	f := bytes.Fields(b[end+1:])
	if len(f) < 20 {
		return proc{}, fmt.Errorf("process: stat is too short: %q", b)
	}
	p := proc{dead: f[0][0] == 'Z' || f[0][0] == 'X'}
	for _, x := range []struct {
		to   *int
		from []byte
	}{{&p.pid, b[:open]}, {&p.ppid, f[1]}, {&p.pgid, f[2]}, {&p.sid, f[3]}} {
		n, err := strconv.Atoi(string(bytes.TrimSpace(x.from)))
		if err != nil {
			return proc{}, fmt.Errorf("process: stat is not understood: %w", err)
		}
		*x.to = n
	}
	start, err := strconv.ParseUint(string(f[19]), 10, 64)
	if err != nil {
		return proc{}, fmt.Errorf("process: stat is not understood: %w", err)
	}
	p.start = start
	return p, nil
}

func snapshot() ([]proc, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("process: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("process: %w", err)
	}
	var all []proc
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := lookup(pid); err == nil { // otherwise it has ended
			all = append(all, p)
		}
	}
	return all, nil
}

// hasEnv reports whether a process was started with the entry in its
// environment. Known is false while it is too early to say. A process of another
// user cannot be read and does not belong to the session.
func hasEnv(p proc, entry []byte) (found, known bool) {
	if p.pid == kthreadd || p.ppid == kthreadd {
		return false, true
	}
	dir := "/proc/" + strconv.Itoa(p.pid)
	b, err := os.ReadFile(dir + "/environ")
	if err != nil {
		return false, true
	}
	if len(b) == 0 {
		// In the middle of an exec there are neither arguments nor environment.
		args, err := os.ReadFile(dir + "/cmdline")
		return false, err != nil || len(args) > 0
	}
	for v := range bytes.SplitSeq(b, []byte{0}) {
		if bytes.Equal(v, entry) {
			return true, true
		}
	}
	return false, true
}

// Subreaper makes this process the new parent of orphans among its descendants.
func Subreaper() error {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); e != 0 {
		return fmt.Errorf("process: subreaper: %w", e)
	}
	return nil
}

// Reap waits for every child that has ended, except those that another part of this
// process waits for. While such a child is a zombie, others may be left for the next
// call.
func Reap(except ...int) {
	const all, exited, noHang, noWait = 0, 4, 1, 0x01000000
	for {
		// The kernel's siginfo is 128 bytes; the pid follows three ints,
		// aligned as a pointer.
		var info [128]byte
		_, _, e := syscall.Syscall6(syscall.SYS_WAITID, all, 0, uintptr(unsafe.Pointer(&info)), exited|noHang|noWait, 0, 0)
		if e == syscall.EINTR {
			continue
		}
		if e != 0 {
			return
		}
		word := int(unsafe.Sizeof(uintptr(0)))
		at := (12 + word - 1) / word * word
		pid := int(int32(binary.NativeEndian.Uint32(info[at:])))
		if pid == 0 || slices.Contains(except, pid) {
			return
		}
		if _, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); err != nil && err != syscall.EINTR {
			return
		}
	}
}

// Abilities finds out what this machine supports.
func Abilities() Ability {
	a := Ability{Subreaper: true}
	dir, err := cgroupRoot()
	if err != nil {
		a.Notes = append(a.Notes, fmt.Sprintf("no cgroup can be made (%v): after a host was killed, a process that "+
			"cleared its environment and lost its parent cannot be found", err))
		return a
	}
	a.Cgroup = dir
	return a
}
