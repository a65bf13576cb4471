package coppice_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

// Whatever happens to a file: a comment whose code is in it exactly one time is
// found there. If the code is there several times, the nearest match is found. If
// it is not there, the comment is outdated.
func TestCommentsAreFound(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom([]string{"", "a", "b", "c", "}", "return"})
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(line, 1, 30).Draw(rt, "file")
		first := rapid.IntRange(1, len(lines)).Draw(rt, "first")
		last := rapid.IntRange(first, len(lines)).Draw(rt, "last")
		c := coppice.Comment{First: first, Last: last, Blob: "1", Code: strings.Join(lines[first-1:last], "\n") + "\n"}
		for range rapid.IntRange(1, 4).Draw(rt, "edits") {
			from := rapid.IntRange(0, len(lines)).Draw(rt, "from")
			to := rapid.IntRange(from, min(len(lines), from+3)).Draw(rt, "to")
			lines = slices.Replace(slices.Clone(lines), from, to, rapid.SliceOfN(line, 0, 4).Draw(rt, "by")...)
		}
		text := strings.Join(append(slices.Clone(lines), ""), "\n") // each line with its end
		code := strings.Split(strings.TrimSuffix(c.Code, "\n"), "\n")
		best := 0
		for at := 1; at+len(code)-1 <= len(lines); at++ {
			if slices.Equal(lines[at-1:at-1+len(code)], code) && (best == 0 || distance(at, first) < distance(best, first)) {
				best = at
			}
		}
		gotFirst, gotLast, ok := c.Find("2", text)
		if ok != (best > 0) || ok && (gotFirst != best || gotLast != best+len(code)-1) {
			rt.Fatalf("found %d to %d (%t), want %d, in\n%s", gotFirst, gotLast, ok, best, text)
		}
		if a, b, ok := c.Find("1", "anything"); !ok || a != first || b != last {
			rt.Fatalf("in the same content: %d to %d, %t", a, b, ok)
		}
	})
}

func distance(a, b int) int {
	if a > b {
		return a - b
	}
	return b - a
}
