package vt

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	oracleColumns = 20
	oracleRows    = 8
)

// oracle is a real terminal emulator: one pane of a tmux server. What is written
// to in is the output of the program in the pane; what tmux answers to the program
// comes out of replies.
type oracle struct {
	socket      string
	in, replies *os.File
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	dir, err := os.MkdirTemp("", "vt") // the socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	o := &oracle{socket: filepath.Join(dir, "tmux")}
	open := func(name string) *os.File {
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	o.in, o.replies = open("in"), open("replies")
	program := fmt.Sprintf("stty raw -echo; exec 3<&0; cat <&3 >%s/replies & exec cat %s/in", dir, dir)
	if out, err := o.tmux("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(oracleColumns), "-y", strconv.Itoa(oracleRows), program); err != nil {
		t.Fatalf("starting tmux, which this test compares with: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := o.tmux("kill-server"); err != nil {
			t.Errorf("ending tmux: %v: %s", err, out)
		}
	})
	if out, err := o.tmux("set-option", "-g", "status", "off"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := o.tmux("resize-window", "-x", strconv.Itoa(oracleColumns), "-y", strconv.Itoa(oracleRows)); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return o
}

func (o *oracle) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", o.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX=", "SHELL=/bin/sh")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var reportRE = regexp.MustCompile(`\x1b\[\d+;\d+R`)

// show has the program write bytes to a fresh screen, and returns the screen with
// its cursor. tmux reports a place when it has read everything before the request.
func (o *oracle) show(t rapid.TB, written []byte) string {
	if _, err := o.in.Write(slices.Concat([]byte("\x1b[?1049l\x1bc"), written, []byte("\x1b[6n"))); err != nil {
		t.Fatal(err)
	}
	if err := o.replies.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for !reportRE.Match(got) {
		b := make([]byte, 1024)
		n, err := o.replies.Read(b)
		if err != nil {
			t.Fatalf("tmux answered %q: %v", got, err)
		}
		got = append(got, b[:n]...)
	}
	screen, err := o.tmux("capture-pane", "-p", ";", "display-message", "-p", "#{cursor_x} #{cursor_y}")
	if err != nil {
		t.Fatalf("%v: %s", err, screen)
	}
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	if len(lines) != oracleRows+1 {
		t.Fatalf("tmux shows %d lines:\n%s", len(lines), screen)
	}
	var x, y int
	if _, err := fmt.Sscan(lines[oracleRows], &x, &y); err != nil {
		t.Fatalf("%q: %v", lines[oracleRows], err)
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	// The cursor is behind the last column when tmux has just filled that.
	return picture(lines[:oracleRows], min(x, oracleColumns-1), y)
}

func picture(lines []string, x, y int) string {
	return strings.Join(lines, "\n") + fmt.Sprintf("\n(%d,%d)", x, y)
}

// The pieces of what a program writes. A character that was cut off is not among
// them: tmux shows nothing in its place.
var (
	oracleText = rapid.SampledFrom([]string{
		"a", "hello", "0123456789", "the quick brown fox jumps", "\r", "\n", "\r\n", "\b", "\t", "\v", "\f", "\x00", "\x07", "\x7f", "\x0e", "\x0f", "ä", "─",
	})
	oracleWide = rapid.SampledFrom([]string{"世", "界世界世界世界世界世", "e\u0301", "a世b", "x\u0302\u0303", "\r\n", "\r", "ab"})
	oracleCode = rapid.SampledFrom([]string{
		"\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1bD", "\x1bE", "\x1bM", "\x1bH", "\x1b[g", "\x1b[3g", "\x1b[?6h", "\x1b[?6l", "\x1b[?7h", "\x1b[?7l", "\x1b[4h", "\x1b[4l",
		"\x1b[?25l", "\x1b[?25h", "\x1b[?1049h", "\x1b[?1049l", "\x1b[1;31m", "\x1b[0m", "\x1b[38;5;9m", "\x1b[48;2;1;2;3m", "\x1b=", "\x1b>", "\x1b#8", "\x1b[r",
		"\x1b[3;5r", "\x1b[2;7r", "\x1b[7;3H", "\x1b[2;9H", "\x1b[4;1H", "\x1b[9A", "\x1b[9B",
	})
	oracleCSI = rapid.Custom(func(t *rapid.T) string {
		return "\x1b[" + rapid.StringMatching(`([0-9]|1[0-9]|99)?(;([0-9]|1[0-9]|99)?)?`).Draw(t, "params") + string(rapid.SampledFrom([]byte("ABCDEFGHJKLMPSTXZ@`dfr")).Draw(t, "final"))
	})
	oracleMove   = rapid.SampledFrom([]string{"\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[3G", "\x1b[4;6H", "\x1b[2d", "\x1b[19G"})
	oracleBroken = rapid.SampledFrom([]string{
		"\x1b[31\x18x", "\x1b[3\x1a", "\x1b[3\x1b[Cx", "\x1b[\x1b\x1b[Cx", "\x1b[1\r2Cx", "\x1b[>4;2m", "\x1b[?9999h", "\x1b[9999Cx", "\x1b[;;;;;;Hx", "\x1b[=5u", "\x1b[1$y", "\x1b[ x",
		"\x1b]2;title\x07", "\x1b]9999;x\x1b\\", "\x1b]0;broken\x18x", "\x1bPqx\x1b\\", "\x1b_x\x1b\\", "\x1b^x\x1b\\", "\x1b%G", "\x1b!x", "\x1b[?;?h", "\x1b[1;2;3;4;5;6;7;8;9m", "\x1b[38;5m",
	})
)

// ways are where tmux differs, and other terminals do the same as Screen. A
// piece is left out when one of them holds for the screen that it would change.
var ways = []func(s *Screen, p string) bool{
	// A backspace at the first column returns to a line that was wrapped.
	func(s *Screen, p string) bool { return p == "\b" && s.page().cur.x == 0 },
	// Lines are inserted and deleted outside of the region, too.
	func(s *Screen, p string) bool {
		return shifts(p) && (s.page().cur.y < s.page().top || s.page().cur.y > s.page().bottom)
	},
	// When more cells are inserted than are moved, some of those between are kept.
	func(s *Screen, p string) bool {
		n := parseParams([]byte(strings.TrimSuffix(strings.TrimPrefix(p, "\x1b["), "@"))).at(0, 1)
		return strings.HasSuffix(p, "@") && 2*n > oracleColumns-s.page().cur.x
	},
	// The first character of a new line is not inserted but overwrites.
	func(s *Screen, p string) bool {
		return s.insert && p[0] >= ' ' && (s.page().cur.wrap || s.page().cur.x+len(p) > oracleColumns)
	},
	// The second screen shares the saved cursor, and its end restores a cursor even
	// where it was not begun, but not the origin.
	func(s *Screen, p string) bool {
		return s.inAlt && slices.Contains([]string{"\x1b7", "\x1b8", "\x1b[s", "\x1b[u"}, p)
	},
	func(s *Screen, p string) bool { return p == "\x1b[?1049l" && !s.inAlt },
	func(s *Screen, p string) bool { return strings.HasPrefix(p, "\x1b[?1049") && s.page().cur.origin },
	func(s *Screen, p string) bool { return p == "\x1b[?6h" && s.inAlt },
	// A region whose last line is 0 is none.
	func(_ *Screen, p string) bool { return strings.HasSuffix(p, ";0r") },
	// A region begins at the corner of the screen whatever the origin.
	func(s *Screen, p string) bool {
		return strings.HasPrefix(p, "\x1b[") && strings.HasSuffix(p, "r") && s.page().cur.origin
	},
}

// shifts reports whether a sequence inserts or deletes lines.
func shifts(p string) bool {
	return strings.HasPrefix(p, "\x1b[") && strings.ContainsAny(p[len(p)-1:], "LM")
}

// written is what a program writes. s is shown the same.
func written(t *rapid.T, s *Screen) (all []byte) {
	piece := rapid.OneOf(oracleText, oracleText, oracleCode, oracleCSI, oracleCSI, oracleBroken)
	if rapid.Bool().Draw(t, "wide") { // tmux clears halves of wide characters differently
		piece = rapid.OneOf(oracleWide, oracleWide, oracleText, oracleMove)
	}
	add := func(text string) {
		all = append(all, text...)
		s.Write([]byte(text))
	}
	for _, p := range rapid.SliceOfN(piece, 1, 30).Draw(t, "pieces") {
		if s.page().cur.wrap && p[0] < ' ' && p[0] != '\r' {
			add("\r") // tmux has the cursor behind the last column
		}
		if c := s.page().cur; !c.wrap && s.page().lines[c.y][c.x].width == 0 {
			add("\b") // tmux keeps the first half when only the second is overwritten
		}
		if slices.ContainsFunc(ways, func(own func(*Screen, string) bool) bool { return own(s, p) }) {
			continue
		}
		add(p)
		if shifts(p) {
			add("\r") // tmux leaves the cursor in its column
		}
	}
	return all
}

// TestLikeTmux compares our screen with that of a real terminal emulator.
func TestLikeTmux(t *testing.T) {
	t.Parallel()
	o := newOracle(t)
	for _, in := range []string{
		"\x1b[3;5r\x1b[7;3H\x1b[9Ax", "\x1b[3;5r\x1b[1;3H\x1b[9Bx", "\x1b[3;5r\x1b[7;3H\x1b[9Bx", "\x1b[3;5r\x1b[2;3H\x1b[9Ax", // moves stop at the region
		"\x1b[3;5ra\r\nb\r\nc\r\nd\r\ne\r\nf", "\x1b[3;5r\x1b[8Ha\nb\nc", "\x1b[3;5r\x1b#8\x1b[5H\n", "\x1b[3;5r\x1b[?1049h\x1b[5Ha\nb\nc", "\x1b[?1049h\x1b[3;5r\x1b[?1049l\x1b[5Ha\nb\nc",
	} {
		s := NewScreen(oracleColumns, oracleRows)
		s.Write([]byte(in))
		x, y := s.Cursor()
		if d := cmp.Diff(o.show(t, []byte(in)), picture(s.Text(), x, y)); d != "" {
			t.Errorf("after %q (-tmux +ours):\n%s", in, d)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := NewScreen(oracleColumns, oracleRows)
		in := written(t, s)
		x, y := s.Cursor()
		if d := cmp.Diff(o.show(t, in), picture(s.Text(), x, y)); d != "" {
			t.Fatalf("after %q (-tmux +ours):\n%s", in, d)
		}
	})
}
