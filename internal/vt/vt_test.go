package vt

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestScreen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, want string // want: the lines that hold anything, joined by |, then the cursor
	}{
		{"text", "hello\r\nworld", "hello|world @5,1"},
		{"wrap", "0123456789ab", "0123456789|ab @2,1"},
		{"wrap waits", "0123456789", "0123456789 @9,0"},
		{"no wrap", "\x1b[?7l0123456789ab", "012345678b @9,0"},
		{"scroll", "1\r\n2\r\n3\r\n4\r\n5", "2|3|4|5 @1,3"},
		{"place", "\x1b[3;4Hx\x1b[Hy", "y||   x @1,0"},
		{"clear line", "hello\x1b[3G\x1b[K", "he @2,0"},
		{"clear to cursor", "hello\x1b[3G\x1b[1K", "   lo @2,0"},
		{"clear all", "hello\r\nyou\x1b[2J", " @3,1"},
		{"insert and delete", "abcdef\x1b[2G\x1b[2@\x1b[5G\x1b[1P", "a  bdef @4,0"},
		{"erase", "abcdef\x1b[2G\x1b[2X", "a  def @1,0"},
		{"lines", "1\r\n2\r\n3\x1b[2H\x1b[L", "1||2|3 @0,1"},
		{"region", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3H\n", "1|3||4 @0,2"},
		{"reverse index", "1\r\n2\x1b[H\x1bM", "|1|2 @0,0"},
		{"wide", "a世界b", "a世界b @6,0"},
		{"wide at the border", "012345678世", "012345678|世 @2,1"},
		{"half of a wide one", "世\x1b[2Gx", " x @2,0"},
		{"marks", "e\u0301x", "e\u0301x @2,0"},
		{"line drawing", "\x1b(0qx\x1b(Bq", "─│q @3,0"},
		{"second screen", "main\x1b[?1049halt", "    alt @7,0"},
		{"and back", "main\x1b[?1049h\x1b[Halt\x1b[?1049l", "main @4,0"},
		{"tabs", "a\tb", "a       b @9,0"},
		{"repeat", "a\x1b[3b", "aaaa @4,0"},
		{"cut character", "a\xe4\xb8x", "a\ufffdx @3,0"},
		{"broken sequence", "a\x1b[3\x1b[Cb", "a b @3,0"},
		{"cancelled", "a\x1b[31\x18mb", "amb @3,0"},
		{"string for nobody", "a\x1bPq#0;2;0\x1b\\b", "ab @2,0"},
		{"saved", "ab\x1b7\x1b[4;4Hx\x1b8c", "abc|||   x @3,0"},
		{"backspace", "abc\b\bx", "axc @2,0"},
		{"unknown part of a line", "ab\x1b[G\x1b[9K", "ab @0,0"},
		{"up to the region", "\x1b[2;3r\x1b[4H\x1b[9Ax", "|x @1,1"},
		{"down to the region", "\x1b[2;3r\x1b[H\x1b[9Bx", "||x @1,2"},
		{"filled without a region", "\x1b[2;3r\x1b#8\x1b[3H\n\x1b[2J", " @0,3"},
		{"region on both screens", "\x1b[2;3r\x1b[?1049h\x1b[3Ha\nb", "|a| b @2,2"},
		{"region from the second screen", "\x1b[?1049h\x1b[2;3r\x1b[?1049l\x1b[3Ha\nb", "|a| b @2,2"},
		{"half of a wide one is pushed out", "12345678世\x1b[H\x1b[4hx", "x12345678 @1,0"},
		{"modifiers are not a style", "a\x1b[>4;2mb", "ab @2,0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := NewScreen(10, 4)
			s.Write([]byte(c.in))
			x, y := s.Cursor()
			got := strings.TrimRight(strings.Join(s.Text(), "|"), "|") + " @" + string(rune('0'+x)) + "," + string(rune('0'+y))
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	s := NewScreen(80, 24)
	var got []byte
	s.Reply = func(b []byte) { got = append(got, b...) }
	shown := s.Write([]byte("ab\x1b[6n\x1b[5n\x1b[c\x1b[>c\x1b[?2004$p\x1b[?2004h\x1b[?2004$pz"))
	if want := "\x1b[1;3R\x1b[0n\x1b[?62;22c\x1b[>1;10;0c\x1b[?2004;0$y\x1b[?2004;1$y"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if string(shown) != "ab\x1b[?2004hz" {
		t.Errorf("shown %q", shown)
	}
}

// TestHeldBack shows what an untrusted program cannot do to a person's terminal.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"\x1b]52;c;cm0gLXJmIH4=\x07", "\x1b]52;c;?\x1b\\", "\x1b]4;1;?\x07", "\x1b]10;?\x07", "\x1b]1337;File=:AAAA\x07", "\x1b]7777;{}\x07",
		"\x1b]2;?\x07", "\x1b[21t", "\x1b[8;1;1t", "\x1bP$qm\x1b\\", "\x1b_Gf=24;AAAA\x1b\\", "\x1bZ", "\x05", "\x1b[>q", "\x1b[?u", "\x1b[x",
	} {
		var f Filter
		if got := f.Pass([]byte("a" + bad + "b")); string(got) != "ab" {
			t.Errorf("%q: shown %q", bad, got)
		}
	}
	good := "\x1b[1;31mred\x1b[0m\x1b]2;title\x07\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\\x1b[?1049h\x1b]9;4;1;50\x07\x1b[2 q世"
	var f Filter
	if got := f.Pass([]byte(good)); string(got) != good {
		t.Errorf("shown %q", got)
	}
	lines := Filter{Lines: true}
	if got := lines.Pass([]byte("a\nb")); string(got) != "a\r\nb" {
		t.Errorf("shown %q", got)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	s := NewScreen(20, 3)
	for i := range 5 {
		s.Write([]byte{'\x1b', '[', '3', '1', 'm', 'a' + byte(i), '\x1b', '[', 'm', '\r', '\n'})
	}
	b := s.Draw(true)
	if !bytes.Contains(b, []byte("a\x1b[0m\r\n")) || bytes.Contains(s.Draw(false), []byte("a\x1b[0m\r\n")) {
		t.Errorf("drawn %q", b)
	}
	long := strings.Repeat("x", 20)
	for range 20_000 {
		s.Write([]byte(long + "\r\n"))
	}
	if len(s.history) > historyLines || s.historyBytes > historyBytes {
		t.Errorf("%d lines of %d bytes are kept", len(s.history), s.historyBytes)
	}
}

// stuff is output that is likely to hold sequences.
var stuff = rapid.Custom(func(t *rapid.T) []byte {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"hello", "世界", "e\u0301", "\r\n", "\t", "\b", "\x1b[?1049h", "\x1b[?1049l", "\x1b7", "\x1b8", "\x1bM", "\x1b(0", "\x1b(B", "\x0e", "\x0f",
			"\x1b[?6h", "\x1b[?6l", "\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h", "\x1b[?25l", "\x1b[38;2;1;2;3m", "\x1b[48:5:9m", "\x1b[0m", "\x1b]2;t\x07", "\x1b[!p", "\x1bc", "\x1b#8", "\x1b=", "\x1b[?2004h", "\x1b[?1000h"}),
		rapid.Custom(func(t *rapid.T) string {
			return "\x1b[" + rapid.StringMatching(`[0-9]{0,2}(;[0-9]{0,2}){0,2}`).Draw(t, "params") + string(rapid.SampledFrom([]byte("ABCDEFGHIJKLMPSTXZ@`adefgmrsu")).Draw(t, "final"))
		}),
		rapid.StringN(0, 20, 40),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
	)
	return []byte(strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), ""))
})

// TestCuts shows that it does not matter how the bytes arrive.
func TestCuts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := stuff.Draw(t, "in")
		whole, cut := NewScreen(17, 5), NewScreen(17, 5)
		shown := append([]byte(nil), whole.Write(in)...)
		var pieces []byte
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			pieces = append(pieces, cut.Write(rest[:n])...)
			rest = rest[n:]
		}
		if whole.String() != cut.String() || !bytes.Equal(whole.Draw(true), cut.Draw(true)) || !bytes.Equal(shown, pieces) {
			t.Fatalf("whole:\n%s\ncut:\n%s", whole, cut)
		}
	})
}

// TestDrawn shows that a terminal that is connected later shows the same, and continues
// showing the same.
func TestDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first, second := NewScreen(17, 5), NewScreen(17, 5)
		first.Write(stuff.Draw(t, "before"))
		second.Write(stuff.Draw(t, "whatever"))
		if second.p.pending() {
			second.Write([]byte("\x18"))
		}
		if first.p.pending() {
			first.Write([]byte("\x18")) // a drawing waits until it is
		}
		for round := range 2 {
			second.Write(first.Draw(round == 0))
			if d := cmp.Diff(first.String(), second.String()); d != "" {
				t.Fatalf("drawn:\n%s", d)
			}
			if a, b := first.Draw(false), second.Draw(false); !bytes.Equal(a, b) {
				t.Fatalf("drawn again:\n%q\n%q", a, b)
			}
		}
		after := stuff.Draw(t, "after")
		first.Write(after)
		second.Write(after)
		if d := cmp.Diff(first.String(), second.String()); d != "" {
			t.Fatalf("afterwards:\n%s", d)
		}
	})
}

// Cases that random texts rarely have: what is drawn includes a saved cursor that wraps
// at the next character, character sets of the main screen below the other one, and tab
// stops.
func TestDrawnCases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, whatever, after string }{
		"a saved cursor that wraps":    {before: "0123456789abcdefg\x1b7", after: "\x1b8hello"},
		"after a wide character":       {before: "0123456789abcde\u3006\x1b7", after: "\x1b8hello"},
		"whose line was erased":        {before: "0123456789abcdefg\x1b7\x1b[2J", after: "\x1b8hello"},
		"line drawing, and the other":  {before: "\x1b(0\x1b[?1049h\x1b8hello", after: "q"},
		"tab stops that were cleared":  {whatever: "\x1b[3g", after: "\tx"},
		"tab stops that somebody sets": {before: "\x1b[3g\x1b[4G\x1bH\r", after: "\tx\ty"},
	} {
		first, second := NewScreen(17, 5), NewScreen(17, 5)
		first.Write([]byte(c.before))
		second.Write([]byte(c.whatever))
		second.Write(first.Draw(true))
		if a, b := first.Draw(false), second.Draw(false); first.String() != second.String() || !bytes.Equal(a, b) {
			t.Errorf("%s: drawn\n%q\n%q", name, a, b)
		}
		first.Write([]byte(c.after))
		second.Write([]byte(c.after))
		if d := cmp.Diff(first.String(), second.String()); d != "" {
			t.Errorf("%s: afterwards\n%s", name, d)
		}
	}
}

func FuzzScreen(f *testing.F) {
	f.Add([]byte("\x1b[31mhello\x1b[0m\r\n\x1b]2;x\x07\x1b[?1049h\x1b[2J"), uint16(80), uint16(24))
	f.Add([]byte("世\x1b[2G\x1b[1P\x1b[@\x1b[99b\x1b[r"), uint16(1), uint16(1))
	f.Fuzz(func(t *testing.T, in []byte, columns, rows uint16) {
		columns, rows = columns%300, rows%100
		s := NewScreen(int(columns), int(rows))
		s.Reply = func([]byte) {}
		half := len(in) / 2
		s.Write(in[:half])
		s.Resize(int(rows), int(columns%100))
		s.Write(in[half:])
		c, r := s.Size()
		x, y := s.Cursor()
		if x < 0 || x >= c || y < 0 || y >= r || len(s.Text()) != r {
			t.Fatalf("cursor %d,%d on %dx%d", x, y, c, r)
		}
		if !s.p.pending() {
			again := NewScreen(c, r)
			again.Write(s.Draw(true))
			if again.String() != s.String() {
				t.Fatalf("drawn:\n%s\nwas:\n%s", again, s)
			}
		}
	})
}
