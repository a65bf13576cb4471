//go:build linux

package cut

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

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
	first, firstDir := 1, 0 // the arguments of the path and of its directory
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
