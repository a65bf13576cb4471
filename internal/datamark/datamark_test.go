package datamark_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice/internal/datamark"
)

// The marks of a text are not in it, even if it contains the fence of another text,
// and the same text has the same marks.
func TestNoTextContainsItsMark(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if rapid.Bool().Draw(t, "nested") {
			text += datamark.Block(text) + datamark.Inline(text)
		}
		for _, fenced := range []string{datamark.Block(text), datamark.Inline(text)} {
			end := strings.TrimSuffix(fenced, "\n")
			end = end[strings.LastIndex(end, "</"):]
			if strings.Contains(text, end) || strings.Contains(text, strings.Replace(end, "/", "", 1)) {
				t.Fatalf("%q contains its own mark %s", text, end)
			}
		}
		if first := datamark.Block(text); first != datamark.Block(text) {
			t.Fatal("the same text has two fences")
		}
	})
}

func TestForms(t *testing.T) {
	t.Parallel()
	if got, want := datamark.Block("red\n\n"), "<data-X>\nred\n</data-X>\n"; marks.ReplaceAllString(got, "data-X") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := datamark.Inline("red"), "<data-X>red</data-X>"; marks.ReplaceAllString(got, "data-X") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

var marks = regexp.MustCompile(`data-[0-9a-f]{16}`)
