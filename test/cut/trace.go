//go:build linux

package cut

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
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
