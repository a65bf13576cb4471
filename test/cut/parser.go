//go:build linux

package cut

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

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

// birth names the parent of a process or thread.
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
