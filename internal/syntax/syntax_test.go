package syntax

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, want string }{
		{"a.go", "package a\n\nvar s = `x\n  func\n` // y\n", "kn:package nx:a||kd:var nx:s p:= s:`x|s:  func|s:` c1:// y"},
		{"a.py", "x = '''a\nif\n'''\n", `n:x o:= s1:'''a|s1:if|s1:'''`},
		{"Makefile", "a: b\n", "nf:a o:: n:b"},
		{"a.unknown", "if x\n\tthen", ":if x|:\tthen"},
		{"a.json", "", ""},
		{"a.json", "{}", "p:{}"},
		{"a.md", "# T\n```go\nfunc x\n```\n", "gh:# T|s:```go|kd:func nx:x|s:```"},
		{"a.html", "<b>\r\n</b>", "p:< nt:b p:> :\r|p:</ nt:b p:>"},
		{"x/Dockerfile", "FROM a\n", "k:FROM s:a"},
	} {
		var lines []string
		for _, line := range Lines(Language(c.file), c.text) {
			var words []string
			for _, token := range line {
				if token[0] != "" || strings.TrimSpace(token[1]) != "" || token[1] == "\r" {
					words = append(words, token[0]+":"+strings.Trim(token[1], map[bool]string{true: " "}[token[0] == ""]))
				}
			}
			lines = append(lines, strings.Join(words, " "))
		}
		if d := cmp.Diff(c.want, strings.Join(lines, "|")); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.file, d)
		}
	}
}

// Every language is readable, and tokens never change a text.
func TestTokensAreTheText(t *testing.T) {
	t.Parallel()
	names := registry().Names(false)
	if len(names) < 50 {
		t.Fatalf("only %d languages: run `go generate ./internal/syntax`", len(names))
	}
	for _, name := range names {
		if out := colour(registry().Get(name), "a b\n", time.Now); out == nil {
			t.Errorf("%s does not work", name)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(names).Draw(rt, "language")
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab1 \n\n\t\"'`{}()<>/*#=\r\\é"))).Draw(rt, "text")
		var lines []string
		for _, line := range Lines(name, text) {
			joined := ""
			for _, token := range line {
				joined += token[1]
			}
			lines = append(lines, joined)
		}
		want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if text == "" {
			want = nil
		}
		if d := cmp.Diff(fmt.Sprintf("%q", want), fmt.Sprintf("%q", lines)); d != "" {
			rt.Fatalf("%s (-want +got):\n%s", name, d)
		}
	})
}

// A file that takes too long is not coloured.
func TestSlowFilesArePlain(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	text := strings.Repeat("func x() {}\n", 100)
	if got := lines("Go", text, clock); len(got) != 100 || len(got[0]) != 1 || got[0][0][0] != "" {
		t.Errorf("%d lines, the first is %q", len(got), got[0])
	}
}
