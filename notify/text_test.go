package notify

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A text that was cut fits, is UTF-8, ends with a mark, and no escape is cut.
func FuzzFit(f *testing.F) {
	for _, s := range []string{"", "a", "é<😀", "\\\\", strings.Repeat("@", 300), "a\xff\xfe", "line\nline\n\n\n"} {
		for _, most := range []int{0, 1, 3, 10, 256} {
			f.Add(s, most)
		}
	}
	escape := Escaper(`\`, "\\@<")
	f.Fuzz(func(t *testing.T, s string, most int) {
		if most < 0 || most > 1<<16 {
			return
		}
		for name, l := range map[string]Limit{"runes": {most, Runes}, "bytes": {most, Bytes}, "utf-16": {most, UTF16}} {
			got := l.Fit(s, escape)
			if l.size(got) > most || !utf8.ValidString(got) {
				t.Fatalf("%s: %d of %d: %q", name, l.size(got), most, got)
			}
			if s = strings.ToValidUTF8(s, "\uFFFD"); s == "" {
				continue
			}
			bare := strings.TrimSuffix(got, ellipsis)
			if slashes := len(bare) - len(strings.TrimRight(bare, `\`)); slashes%2 != 0 {
				t.Fatalf("%s: an escape was cut: %q", name, got)
			}
			if whole := l.Fit(s, nil); l.size(s) <= most && whole != s {
				t.Fatalf("%s: %q was changed to %q", name, s, whole)
			}
		}
	})
}

func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		l    Limit
		want string
	}{
		{"abcdef", Limit{6, Runes}, "abcdef"},
		{"abcdef", Limit{5, Runes}, "abcd…"},
		{"abc  def", Limit{6, Runes}, "abc…"},
		{"😀😀", Limit{4, UTF16}, "😀😀"},
		{"😀😀", Limit{3, UTF16}, "😀…"},
		{"ééé", Limit{5, Bytes}, "é…"},
		{"ab", Limit{2, Bytes}, "ab"},
		{"abc", Limit{2, Bytes}, ""},
		{"abc", Limit{0, Bytes}, ""},
	} {
		if got := c.l.Fit(c.text, nil); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	m := Message{Text: strings.Repeat("x", 100), Answer: "http://a.test/1", Link: "http://a.test/2"}
	if got := m.Plain(Limit{80, Runes}, nil); got != strings.Repeat("x", 32)+"…\n\nAnswer: http://a.test/1\nOpen: http://a.test/2" {
		t.Errorf("%q", got)
	}
}

// A message that is sent again has the same mark. It is whole, however long the text is,
// and nothing of it is in the texts of services that have the id.
func TestMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    Message
		want string
	}{
		{Message{ID: "20260301T120000-7-2", Text: "text", Link: "http://a.test/2"}, "text\n\nOpen: http://a.test/2 · #7-2"},
		{Message{ID: "20260301T120000-7-t1", Text: "text"}, "text · #7-t1"},
		{Message{ID: "20260301T120000-7-2", Link: "http://a.test/2"}, "Open: http://a.test/2 · #7-2"},
		{Message{ID: "old"}, "· #old"},
		{Message{ID: "20260301T120000-7-2", Text: strings.Repeat("x", 100)}, strings.Repeat("x", 30) + "… · #7-2"},
	} {
		if got := c.m.Marked(Limit{38, Runes}, nil); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if got := c.m.Plain(Limit{38, Runes}, nil); strings.Contains(got, "#") {
			t.Errorf("%q", got)
		}
	}
}

func TestCleanID(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, id := range []string{"n-1", "20260301T120000-7-phone", "n.1", "n 1", "n/1", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("a", 66), "é", ""} {
		got := Message{ID: id}.Clean().ID
		if len(got) > 64 || strings.Trim(got, "abcdefghijklmnopqrstuvwxyzT0123456789-") != "" || seen[got] != "" || len(id) <= 64 && !strings.ContainsAny(id, ". /é") && got != id {
			t.Errorf("%q becomes %q", id, got)
		}
		if again := (Message{ID: got}).Clean().ID; again != got {
			t.Errorf("%q becomes %q", got, again)
		}
		seen[got] = id
	}
}
