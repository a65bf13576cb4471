//go:build linux

package cut

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// hexed writes a text as strace does with -xx.
func hexed(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%s`, hex.EncodeToString([]byte{s[i]}))
	}
	return b.String()
}

// traceOf replaces 'text' by a quoted text and <path> by a shown path.
func traceOf(lines string) string {
	var b strings.Builder
	for i, part := range strings.Split(lines, "'") {
		if i%2 == 1 {
			b.WriteString(`"` + hexed(part) + `"`)
			continue
		}
		for {
			before, rest, ok := strings.Cut(part, "<")
			b.WriteString(before)
			if !ok {
				break
			}
			path, after, _ := strings.Cut(rest, ">")
			b.WriteString("<" + hexed(path) + ">")
			part = after
		}
	}
	return b.String()
}

func TestParse(t *testing.T) {
	t.Parallel()
	const creat = os.O_EXCL
	for _, tt := range []struct {
		name, lines string
		want        []Op
	}{
		{"write at the offset of the descriptor", `
1 openat(AT_FDCWD</r>, 'a', O_WRONLY|O_CREAT|O_EXCL|O_CLOEXEC, 0666) = 3</r/a>
1 write(3</r/a>, 'hello', 5) = 5
1 write(3</r/a>, 'world', 5) = 3
1 lseek(3</r/a>, 1, SEEK_SET) = 1
1 write(3</r/a>, 'E', 1) = 1
1 pwrite64(3</r/a>, 'P', 1, 9) = 1
1 fsync(3</r/a>) = 0`, []Op{
			{Kind: Create, Path: "a", Mode: 0o666, Flags: creat, PID: 1},
			{Kind: Write, Path: "a", Data: []byte("hello"), PID: 1}, {Kind: Write, Path: "a", Data: []byte("wor"), At: 5, PID: 1},
			{Kind: Write, Path: "a", Data: []byte("E"), At: 1, PID: 1}, {Kind: Write, Path: "a", Data: []byte("P"), At: 9, PID: 1},
			{Kind: Sync, Path: "a", PID: 1},
		}},
		{"append and writev", `
1 openat(AT_FDCWD</r>, '/r/log', O_WRONLY|O_CREAT|O_APPEND, 0644) = 3</r/log>
1 writev(3</r/log>, [{iov_base='ab', iov_len=2}, {iov_base='c', iov_len=1}], 2) = 3`, []Op{
			{Kind: Create, Path: "log", Mode: 0o644, PID: 1}, {Kind: Write, Path: "log", Data: []byte("abc"), At: atEnd, PID: 1},
		}},
		{"a child that is seen before its parent's call returns", `
1 chdir('/r/d') = 0
2 chdir('..') = 0
2 mkdir('e', 0777) = 0
1 clone(child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD) = 2
1 unlink('x') = 0
1 rmdir('/r/y') = 0`, []Op{
			{Kind: Mkdir, Path: "e", Mode: 0o777, PID: 2}, {Kind: Unlink, Path: "d/x", PID: 1}, {Kind: Rmdir, Path: "y", PID: 1},
		}},
		{"threads share what is open, children do not", `
1 openat(AT_FDCWD</r>, 'a', O_RDWR|O_CREAT|O_TRUNC, 0600) = 3</r/a>
1 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, exit_signal=0}, 88) = 2
1 clone(child_stack=NULL, flags=SIGCHLD) = 3
2 write(3</r/a>, 'x', 1) = 1
2 dup2(3</r/a>, 9) = 9</r/a>
1 write(9</r/a>, 'y', 1) = 1
3 openat(AT_FDCWD</r>, 'b', O_WRONLY|O_CREAT, 0600) = 3</r/b>
3 write(3</r/b>, 'z', 1) = 1`, []Op{
			{Kind: Create, Path: "a", Mode: 0o600, Flags: os.O_TRUNC, PID: 1}, {Kind: Write, Path: "a", Data: []byte("x"), PID: 2},
			{Kind: Write, Path: "a", Data: []byte("y"), At: 1, PID: 1}, {Kind: Create, Path: "b", Mode: 0o600, PID: 3},
			{Kind: Write, Path: "b", Data: []byte("z"), PID: 3},
		}},
		{"names", `
1 rename('a', '/r/b') = 0
1 renameat2(AT_FDCWD</r>, 'b', 5</r/d>, 'c', RENAME_NOREPLACE) = 0
1 link('p', 'q') = 0
1 symlink('a,(b]', 's') = 0
1 symlinkat('t', 5</r/d>, 's') = 0
1 unlinkat(5</r/d>, 'u', AT_REMOVEDIR) = 0
1 chmod('c', 0444) = 0
1 utimensat(AT_FDCWD</r>, 'c', [{tv_sec=1, tv_nsec=2} /* 1970 */, UTIME_OMIT], 0) = 0
1 ftruncate(3</r/c>, 7) = 0`, []Op{
			{Kind: Rename, Path: "a", To: "b", PID: 1}, {Kind: Rename, Path: "b", To: "d/c", Flags: unix.RENAME_NOREPLACE, PID: 1},
			{Kind: Link, Path: "p", To: "q", PID: 1}, {Kind: Symlink, Path: "s", To: "a,(b]", PID: 1}, {Kind: Symlink, Path: "d/s", To: "t", PID: 1},
			{Kind: Rmdir, Path: "d/u", PID: 1}, {Kind: Chmod, Path: "c", Mode: 0o444, PID: 1},
			{Kind: Times, Path: "c", Times: []unix.Timespec{{Sec: 1, Nsec: 2}, {Nsec: unix.UTIME_OMIT}}, PID: 1}, {Kind: Truncate, Path: "c", At: 7, PID: 1},
		}},
		{"copies", `
1 openat(AT_FDCWD</r>, 'a', O_RDONLY) = 3</r/a>
1 openat(AT_FDCWD</r>, 'b', O_WRONLY|O_CREAT, 0600) = 4</r/b>
1 copy_file_range(3</r/a>, NULL, 4</r/b>, NULL, 100, 0) = 8
1 sendfile(4</r/b>, 3</r/a>, [2] => [4], 2) = 2
1 ioctl(4</r/b>, BTRFS_IOC_CLONE, 3</r/a>) = 0`, []Op{
			{Kind: Create, Path: "b", Mode: 0o600, PID: 1}, {Kind: Copy, Path: "a", To: "b", Size: 8, PID: 1},
			{Kind: Copy, Path: "a", To: "b", From: 2, At: 8, Size: 2, PID: 1}, {Kind: Copy, Path: "a", To: "b", Size: atEnd, PID: 1},
		}},
		{"what is elsewhere or has no name any more", `
1 openat(AT_FDCWD</r>, '/tmp/a', O_WRONLY|O_CREAT, 0600) = 3</tmp/a>
1 write(3</tmp/a>, 'x', 1) = 1
1 write(1<pipe:[7]>, 'x', 1) = 1
1 openat(AT_FDCWD</r>, 'a', O_WRONLY) = 4</r/a>
1 write(4</r/a>(deleted), 'x', 1) = 1
1 mmap(NULL, 5, PROT_READ|PROT_WRITE, MAP_PRIVATE, 4</r/a>, 0) = 0x7f
1 +++ exited with 0 +++`, nil},
		{"a thread that is killed before its call begins", `
1 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, exit_signal=0}, 88) = 2
2 ???(
2 +++ exited with 0 +++
1 mkdir('e', 0777) = 0`, []Op{{Kind: Mkdir, Path: "e", Mode: 0o777, PID: 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(strings.NewReader(traceOf(strings.TrimPrefix(tt.lines, "\n"))), "/r", "/r")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What the parser does not understand fails the recording: a replay would
// silently be of something else.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ lines, says string }{
		{`1 write(3</r/a>, 'x'..., 9) = 9`, "not seen to be opened"},
		{"1 openat(AT_FDCWD</r>, 'a', O_WRONLY|O_CREAT, 0600) = 3</r/a>\n1 write(3</r/a>, 'x'..., 9) = 9", "shortened"},
		{`1 write(3</r/a>, <unfinished ...>`, "not a whole call"},
		{`1 mmap(NULL, 5, PROT_READ|PROT_WRITE, MAP_SHARED, 4</r/a>, 0) = 0x7f`, "through memory"},
		{`1 mknod('a', S_IFIFO|0600) = 0`, "not understood"},
		{`1 lchown('a', 1, 1) = 0`, "not understood"},
		{`1 rename('a', '/elsewhere') = 0`, "crosses"},
		{"1 chdir('/r') = 0\n2 unlink('a') = 0", "comes from nowhere"},
	} {
		if _, err := Parse(strings.NewReader(traceOf(tt.lines)), "/r", "/r"); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.lines, err, tt.says)
		}
	}
}
