//go:build linux

package cut

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// traced are the system calls that change files, and those that tell which file
// and where. A question mark is for calls that not every machine has.
const traced = "trace=?open,?openat,?openat2,?creat,?write,?pwrite64,?writev,?pwritev,?pwritev2,?truncate,?ftruncate,?fallocate," +
	"?rename,?renameat,?renameat2,?link,?linkat,?symlink,?symlinkat,?unlink,?unlinkat,?rmdir,?mkdir,?mkdirat,?mknod,?mknodat," +
	"?chmod,?fchmod,?fchmodat,?chown,?fchown,?lchown,?fchownat,?utime,?utimes,?utimensat,?futimesat," +
	"?setxattr,?lsetxattr,?fsetxattr,?removexattr,?fsync,?fdatasync,?sync_file_range,?copy_file_range,?sendfile,?splice,?ioctl," +
	"?mmap,?lseek,?dup,?dup2,?dup3,?fcntl,?chdir,?fchdir,?clone,?clone3,?fork,?vfork"

// Record runs a command under strace and returns what it and its children did
// below root. The command's own failure is an error.
func Record(ctx context.Context, root string, cmd *exec.Cmd) ([]Op, error) {
	if _, err := exec.LookPath("strace"); err != nil {
		return nil, fmt.Errorf("strace is needed to record system calls, `make deps` installs it: %w", err)
	}
	file, err := os.CreateTemp("", "coppice-strace-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	args := []string{"-f", "-z", "-qq", "--seccomp-bpf", "-y", "-xx", "-s", "33554432", "-o", file.Name(), "-e", traced, "-e", "signal=none", "--", cmd.Path}
	under := exec.CommandContext(ctx, "strace", append(args, cmd.Args[1:]...)...)
	under.Dir, under.Env, under.Stdin = cmd.Dir, cmd.Env, cmd.Stdin
	if out, err := under.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("recording %s: %w: %s", cmd, err, out)
	}
	return Parse(file, root, cmd.Dir)
}

// Parse turns a trace into operations below root. The program began in dir.
func Parse(r io.Reader, root, dir string) ([]Op, error) {
	var calls []call
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			c, ok, err := parseLine(line)
			if err != nil {
				return nil, err
			}
			if ok {
				calls = append(calls, c)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	p := &parser{root: root, procs: map[int]*proc{}, born: map[int]birth{}}
	for _, c := range calls {
		if err := p.clone(c); err != nil {
			return nil, err
		}
	}
	if len(calls) > 0 {
		p.procs[calls[0].pid] = &proc{cwd: dir, files: map[int]*file{}}
	}
	for _, c := range calls {
		if err := p.call(c); err != nil {
			return nil, fmt.Errorf("%d %s(%.300s): %w", c.pid, c.name, strings.Join(c.args, ", "), err)
		}
	}
	return p.ops, nil
}

// file is an open file: several descriptors may share it.
type file struct {
	at     int64
	append bool
}

// proc is what threads of one process share.
type proc struct {
	cwd   string
	files map[int]*file
}

// birth tells where a process or thread comes from.
type birth struct {
	parent int
	thread bool
}

type parser struct {
	root  string
	procs map[int]*proc
	born  map[int]birth
	ops   []Op
}

func (p *parser) clone(c call) error {
	switch c.name {
	case "clone", "clone3", "fork", "vfork":
	default:
		return nil
	}
	pid, err := strconv.Atoi(c.result)
	if err != nil {
		return fmt.Errorf("%s answers %s", c.name, c.result)
	}
	p.born[pid] = birth{c.pid, strings.Contains(strings.Join(c.args, ","), "CLONE_FILES")}
	return nil
}

// proc returns the process of a call. A child can be seen before its parent's
// call returns; it has what its parent has at that moment.
func (p *parser) proc(pid int) (*proc, error) {
	if known := p.procs[pid]; known != nil {
		return known, nil
	}
	b, ok := p.born[pid]
	if !ok {
		return nil, fmt.Errorf("the process %d comes from nowhere", pid)
	}
	parent, err := p.proc(b.parent)
	if err != nil {
		return nil, err
	}
	own := parent
	if !b.thread {
		own = &proc{cwd: parent.cwd, files: maps.Clone(parent.files)}
	}
	p.procs[pid] = own
	return own, nil
}

func (p *parser) add(o Op) { p.ops = append(p.ops, o) }

// below returns a path relative to the root. False says that it is elsewhere.
func (p *parser) below(path string) (string, bool) {
	if path == p.root {
		return ".", true
	}
	rel, ok := strings.CutPrefix(path, p.root+"/")
	return rel, ok
}

// at resolves a path argument against the directory of another argument.
func at(dir, arg string) (string, error) {
	name, err := text(arg)
	if err != nil {
		return "", err
	}
	if filepath.IsAbs(string(name)) {
		return filepath.Clean(string(name)), nil
	}
	return filepath.Join(dir, string(name)), nil
}

// dirOf returns the directory that a descriptor argument stands for.
func (pr *proc) dirOf(arg string) (string, error) {
	fd, path, err := descriptor(arg)
	if err == nil && path == "" {
		if fd == -100 {
			return pr.cwd, nil
		}
		err = fmt.Errorf("the directory %s is unknown", arg)
	}
	return path, err
}

// plain maps the calls that take paths to the ones that take directories too.
var plain = map[string]string{
	"open": "openat", "creat": "openat", "rename": "renameat2", "renameat": "renameat2", "link": "linkat", "symlink": "symlinkat",
	"unlink": "unlinkat", "rmdir": "unlinkat", "mkdir": "mkdirat", "chmod": "fchmodat", "mknod": "mknodat",
}

// normal rewrites a call to its general form.
func normal(c call) call {
	const here = "AT_FDCWD"
	name, a := plain[c.name], c.args
	switch c.name {
	case "creat":
		a = []string{here, a[0], "O_WRONLY|O_CREAT|O_TRUNC", a[1]}
	case "rename", "link":
		a = []string{here, a[0], here, a[1], "0"}
	case "renameat":
		a = append(slices.Clone(a), "0")
	case "symlink":
		a = []string{a[0], here, a[1]}
	case "unlink":
		a = []string{here, a[0], "0"}
	case "rmdir":
		a = []string{here, a[0], "AT_REMOVEDIR"}
	case "open", "mkdir", "chmod", "mknod":
		a = append([]string{here}, a...)
	default:
		return c
	}
	c.name, c.args = name, a
	return c
}

func (p *parser) call(c call) error {
	pr, err := p.proc(c.pid)
	if err != nil {
		return err
	}
	c = normal(c)
	switch c.name {
	case "openat":
		return p.open(pr, c)
	case "write", "writev", "pwrite64", "copy_file_range", "sendfile":
		return p.data(pr, c)
	case "renameat2", "linkat", "symlinkat", "unlinkat", "mkdirat", "fchmodat", "utimensat":
		return p.names(pr, c)
	case "ftruncate", "truncate", "fchmod", "fsync", "fdatasync":
		return p.whole(pr, c)
	case "lseek", "dup", "dup2", "dup3", "fcntl":
		return p.descriptors(pr, c)
	case "chdir":
		pr.cwd, err = at(pr.cwd, c.args[0])
	case "fchdir":
		_, pr.cwd, err = descriptor(c.args[0])
	case "mmap":
		return p.mmap(c)
	case "ioctl":
		return p.ioctl(c)
	case "clone", "clone3", "fork", "vfork", "sync_file_range":
	default:
		return p.refuse(pr, c)
	}
	return err
}

// refuse accepts a call that is not understood only when it is about no file
// below the root.
func (p *parser) refuse(pr *proc, c call) error {
	for _, a := range c.args {
		path, err := at(pr.cwd, a)
		if err != nil {
			_, path, _ = descriptor(a)
		}
		if _, ok := p.below(path); ok {
			return errors.New("this call is not understood")
		}
	}
	return nil
}

func (p *parser) mmap(c call) error {
	if len(c.args) < 6 || !strings.Contains(c.args[3], "MAP_SHARED") || !strings.Contains(c.args[2], "PROT_WRITE") || c.args[4] == "-1" {
		return nil
	}
	if _, path, err := descriptor(c.args[4]); err != nil || strings.HasPrefix(path, p.root+"/") {
		return errors.New("the file is written through memory, which a trace does not show")
	}
	return nil
}

func (p *parser) ioctl(c call) error {
	if len(c.args) < 3 || c.args[1] != "FICLONE" && c.args[1] != "BTRFS_IOC_CLONE" {
		return nil
	}
	_, to, err1 := descriptor(c.args[0])
	_, from, err2 := descriptor(c.args[2])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return p.copied(c.pid, from, to, 0, 0, atEnd)
}

func (p *parser) copied(pid int, from, to string, fromAt, toAt, size int64) error {
	rel, ok := p.below(to)
	if !ok || strings.HasSuffix(to, "(deleted)") {
		return nil
	}
	src, ok := p.below(from)
	if !ok {
		return fmt.Errorf("%s is copied from outside of the tree", rel)
	}
	p.add(Op{Kind: Copy, Path: src, To: rel, From: fromAt, At: toAt, Size: size, PID: pid})
	return nil
}

func (p *parser) open(pr *proc, c call) error {
	dir, err := pr.dirOf(c.args[0])
	if err != nil {
		return err
	}
	path, err := at(dir, c.args[1])
	if err != nil {
		return err
	}
	fd, _, err := descriptor(c.result)
	if err != nil {
		return err
	}
	flags := strings.Split(c.args[2], "|")
	has := func(f string) bool { return slices.Contains(flags, f) }
	pr.files[fd] = &file{append: has("O_APPEND")}
	rel, ok := p.below(path)
	if !ok {
		return nil
	}
	if has("O_TMPFILE") {
		return errors.New("a file without a name is not understood")
	}
	o := Op{Kind: Create, Path: rel, PID: c.pid}
	if has("O_EXCL") {
		o.Flags |= os.O_EXCL
	}
	if has("O_TRUNC") {
		o.Flags |= os.O_TRUNC
	}
	switch {
	case has("O_CREAT"):
		mode, err := number(c.args[3])
		if err != nil {
			return err
		}
		o.Mode = uint32(mode)
	case has("O_TRUNC"):
		o.Kind = Truncate
	default:
		return nil
	}
	p.add(o)
	return nil
}

// data reads the calls that write.
func (p *parser) data(pr *proc, c call) error {
	if c.name == "copy_file_range" || c.name == "sendfile" {
		return p.between(pr, c)
	}
	fd, path, err := descriptor(c.args[0])
	if err != nil {
		return err
	}
	rel, ok := p.below(path)
	if !ok || strings.HasSuffix(path, "(deleted)") {
		return nil
	}
	n, err := number(c.result)
	if err != nil {
		return err
	}
	f := pr.files[fd]
	if f == nil {
		return errors.New("the file was not seen to be opened")
	}
	o := Op{Kind: Write, Path: rel, At: f.at, PID: c.pid}
	switch c.name {
	case "writev":
		for _, m := range regexp.MustCompile(`iov_base=("[^"]*"[.]*)`).FindAllStringSubmatch(c.args[1], -1) {
			b, err := text(m[1])
			if err != nil {
				return err
			}
			o.Data = append(o.Data, b...)
		}
	default:
		if o.Data, err = text(c.args[1]); err != nil {
			return err
		}
	}
	if c.name == "pwrite64" {
		o.At, err = number(c.args[3])
	} else {
		f.at += n
	}
	if f.append {
		o.At = atEnd
	}
	if err != nil || int64(len(o.Data)) < n {
		return fmt.Errorf("the data is not complete: %w", err)
	}
	o.Data = o.Data[:n]
	p.add(o)
	return nil
}

// between reads the calls that copy from one file to another.
func (p *parser) between(pr *proc, c call) error {
	in, out, inAt, outAt := c.args[0], c.args[2:3], c.args[1], "NULL"
	if c.name == "sendfile" {
		in, out, inAt = c.args[1], c.args[0:1], c.args[2]
	} else {
		outAt = c.args[3]
	}
	from, fromPath, err1 := descriptor(in)
	to, toPath, err2 := descriptor(out[0])
	n, err3 := number(c.result)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if _, ok := p.below(toPath); !ok {
		return nil
	}
	a, b := pr.files[from], pr.files[to]
	if a == nil || b == nil {
		return errors.New("the file was not seen to be opened")
	}
	offset := func(arg string, f *file) (int64, error) {
		if arg == "NULL" {
			f.at += n
			return f.at - n, nil
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(arg, "["), "]")
		return number(first)
	}
	fromAt, err1 := offset(inAt, a)
	toAt, err2 := offset(outAt, b)
	if err := errors.Join(err1, err2); err != nil || n == 0 {
		return err
	}
	return p.copied(c.pid, fromPath, toPath, fromAt, toAt, n)
}

// names reads the calls that change names and what belongs to them.
func (p *parser) names(pr *proc, c call) error {
	a, o := c.args, Op{PID: c.pid}
	first, firstDir := 1, 0 // where the path stands, and its directory
	if c.name == "symlinkat" {
		first, firstDir = 2, 1
	}
	dir, err := pr.dirOf(a[firstDir])
	if err != nil {
		return err
	}
	path := dir
	if a[first] != "NULL" {
		if path, err = at(dir, a[first]); err != nil {
			return err
		}
	}
	var inside, ok bool
	o.Path, inside = p.below(path)
	switch c.name {
	case "renameat2", "linkat":
		o.Kind = map[string]Kind{"renameat2": Rename, "linkat": Link}[c.name]
		if dir, err = pr.dirOf(a[2]); err != nil {
			return err
		}
		to, err := at(dir, a[3])
		if err != nil {
			return err
		}
		if o.To, ok = p.below(to); ok != inside {
			return errors.New("the name crosses the border of the tree")
		}
		for name, bit := range map[string]int{"RENAME_NOREPLACE": unix.RENAME_NOREPLACE, "RENAME_EXCHANGE": unix.RENAME_EXCHANGE} {
			if strings.Contains(a[4], name) {
				o.Flags |= bit
			}
		}
	case "symlinkat":
		target, err := text(a[0])
		if err != nil {
			return err
		}
		o.Kind, o.To = Symlink, string(target)
	case "unlinkat":
		if o.Kind = Unlink; strings.Contains(a[2], "AT_REMOVEDIR") {
			o.Kind = Rmdir
		}
	case "mkdirat", "fchmodat":
		o.Kind = map[string]Kind{"mkdirat": Mkdir, "fchmodat": Chmod}[c.name]
		mode, err := number(a[2])
		if err != nil {
			return err
		}
		o.Mode = uint32(mode)
	case "utimensat":
		o.Kind = Times
		if o.Times, err = times(a[2]); err != nil {
			return err
		}
		if strings.Contains(strings.Join(a[3:], ""), "AT_SYMLINK_NOFOLLOW") {
			o.Flags = unix.AT_SYMLINK_NOFOLLOW
		}
	}
	if inside && !strings.HasSuffix(path, "(deleted)") {
		p.add(o)
	}
	return nil
}

var timespec = regexp.MustCompile(`tv_sec=(-?\d+), tv_nsec=(\d+)|UTIME_NOW|UTIME_OMIT`)

func times(arg string) ([]unix.Timespec, error) {
	now := unix.Timespec{Nsec: unix.UTIME_NOW}
	if arg == "NULL" {
		return []unix.Timespec{now, now}, nil
	}
	var list []unix.Timespec
	for _, m := range timespec.FindAllStringSubmatch(arg, -1) {
		switch m[0] {
		case "UTIME_NOW":
			list = append(list, now)
		case "UTIME_OMIT":
			list = append(list, unix.Timespec{Nsec: unix.UTIME_OMIT})
		default:
			sec, err1 := strconv.ParseInt(m[1], 10, 64)
			nsec, err2 := strconv.ParseInt(m[2], 10, 64)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			list = append(list, unix.Timespec{Sec: sec, Nsec: nsec})
		}
	}
	if len(list) != 2 {
		return nil, fmt.Errorf("the times %s are not understood", arg)
	}
	return list, nil
}

// whole reads the calls about a file that is open, and truncate.
func (p *parser) whole(pr *proc, c call) error {
	var path string
	var err error
	if c.name == "truncate" {
		path, err = at(pr.cwd, c.args[0])
	} else {
		_, path, err = descriptor(c.args[0])
	}
	if err != nil {
		return err
	}
	rel, ok := p.below(path)
	if !ok || strings.HasSuffix(path, "(deleted)") {
		return nil
	}
	o := Op{Path: rel, PID: c.pid}
	switch c.name {
	case "fchmod":
		mode, merr := number(c.args[1])
		o.Kind, o.Mode, err = Chmod, uint32(mode), merr
	case "truncate", "ftruncate":
		o.Kind = Truncate
		o.At, err = number(c.args[1])
	default:
		o.Kind = Sync
	}
	p.add(o)
	return err
}

// descriptors reads the calls that move or double a descriptor.
func (p *parser) descriptors(pr *proc, c call) error {
	fd, _, err := descriptor(c.args[0])
	if err != nil {
		return err
	}
	if c.name == "lseek" {
		if f := pr.files[fd]; f != nil {
			f.at, err = number(c.result)
		}
		return err
	}
	if c.name == "fcntl" && !strings.HasPrefix(c.args[1], "F_DUPFD") {
		return nil
	}
	to, _, err := descriptor(c.result)
	if err != nil {
		return err
	}
	if f := pr.files[fd]; f != nil {
		pr.files[to] = f
	} else {
		delete(pr.files, to)
	}
	return nil
}
