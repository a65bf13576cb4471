package coppice_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"coppice"
)

func TestTitleOf(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                                    "",
		" \n\t\n":                             "",
		"***\n---\n":                          "",
		"Add a --json flag.":                  "Add a --json flag",
		"Add a flag. It prints JSON.":         "Add a flag",
		"\n\n## Rework the parser\nAll of it": "Rework the parser",
		"- drop the column\n- keep the index": "drop the column",
		"The build is\nslow. Fix it.":         "The build is slow",
		"Why does it fail? Find out.":         "Why does it fail?",
		"Use a cache, e.g. Redis, for it. Then measure.": "Use a cache, e.g. Redis, for it",
		"Upgrade to version 1.2.3 of the library":        "Upgrade to version 1.2.3 of the library",
		"a \x1b[31mred\u202e title":                      "a [31mred title",
		"bad \xff bytes":                                 "bad \uFFFD bytes",
		"Rework the parser so that it reports line and column of every mistake in the input, and test it": "Rework the parser so that it reports line and column of every mistake…",
		strings.Repeat("x", 300): strings.Repeat("x", 71) + "…",
	} {
		if got := coppice.TitleOf(body); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a\tb\nc\r\nd": "a\tb\nc\nd", "\x1b[1;31mred\x1b[0m and \x1b[2Jmore": "red and more", "\x1b]0;title\a x": "]0;title x",
		"\x1b[": "", "\x1b[31": "", "cut \xff\x00": "cut \uFFFD", "a\u202eb\u2028c": "abc", "\x1b[\x1b[1mm": "m", "a\x1b\x1b[m[1mx": "ax",
	} {
		if got := coppice.Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestTitleOfIsATitle checks that every title is valid, or empty.
func TestTitleOfIsATitle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.String().Draw(rt, "body") + rapid.StringMatching(`[#>*. \n\xe9a-z\x{202e}\x{2800}!?…]{0,200}`).Draw(rt, "more")
		title := coppice.TitleOf(body)
		if title == "" {
			return
		}
		if err := coppice.ValidTitle(title); err != nil {
			rt.Fatalf("%q from %q: %v", title, body, err)
		}
		if utf8.RuneCountInString(title) > 72 {
			rt.Fatalf("%q is too long", title)
		}
	})
}
