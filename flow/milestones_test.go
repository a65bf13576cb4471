package flow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMilestones(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"open and done", "- [ ] a\n- [x] b\n- [X] c", "a +b +c"},
		{"other bullets", "* [ ] a\n+ [x] b\n1. [ ] c\n2) [x] d", "a +b c +d"},
		{"line breaks of Windows", "# Plan\r\n\r\n- [ ] a\r\n- [x] b\r\n", "a +b"},
		{"nested", "- [ ] a\n  - [x] b\n    - [ ] c\n\t\t- [x] d\n", "a +b c +d"},
		{"below a plain element", "- part one\n    - [ ] a\n\n    - [x] b", "a +b"},
		{"code block", "- [ ] a\n```md\n- [ ] code\n```\n- [ ] b", "a b"},
		{"tildes", "~~~\n- [ ] code\n```\n- [ ] code\n~~~\n- [x] a", "+a"},
		{"longer marks", "````\n```\n- [ ] code\n```\n````\n- [x] a", "+a"},
		{"an info string does not close", "```\n- [ ] code\n```go\n- [ ] code\n```\n- [ ] a", "a"},
		{"code in an element", "- [ ] a\n  ```\n  - [ ] code\n  ```\n- [ ] b", "a b"},
		{"a block that stays open", "- [ ] a\n```\n- [ ] code", "a"},
		{"code in a line", "```x``` is code\n- [ ] a", "a"},
		{"indented code", "Text\n\n    - [ ] code\n\n- [ ] a", "a"},
		{"indented code after a list", "- [ ] a\n\nText\n\n    - [ ] code", "a"},
		{"indented code after a heading", "- [ ] a\n# More\n    - [ ] code", "a"},
		{"a link", "- [x](there)\n- [ ]\n- [ ]   \n- []\n- [y] z\n-[ ] a\n[ ] b", ""},
		{"blanks", "-   [ ]   a  \n- [ ]\tb", "a b"},
		{"text around", "Intro\n- [ ] a\ncontinued\n\n## More\n- [x] b", "a +b"},
		{"a rule", "---\n- [ ] a\n***\n", "a"},
	} {
		var got []string
		for _, m := range ReadMilestones(c.text) {
			if m.Done {
				m.Text = "+" + m.Text
			}
			got = append(got, m.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: the milestones are %q, expected %q", c.name, got, c.want)
		}
	}
}

func TestMilestonesReached(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		done, total int
		share       float64
		want        bool
	}{
		{0, 0, 0.1, false}, {0, 1, 0.1, false}, {1, 1, 1, true}, {9, 10, 1, false}, {7, 10, 0.7, true}, {6, 10, 0.7, false}, {1, 10, 0.1, true}, {29, 100, 0.29, true},
	} {
		m := make(Milestones, c.total)
		for i := range c.done {
			m[i].Done = true
		}
		if got := m.reached(c.share); got != c.want {
			t.Errorf("%d of %d reach %g: %t, expected %t", c.done, c.total, c.share, got, c.want)
		}
	}
}

func TestMissingMilestones(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, after, want string }{
		{"the same", "- [ ] a\n- [ ] b", "- [x] b\n- [ ] a", ""},
		{"one more", "- [ ] a", "- [ ] a\n- [ ] b", ""},
		{"one less", "- [ ] a\n- [x] b", "- [x] a", "b"},
		{"only emphasis and blanks differ", "- [ ] The *parser*  works", "* [x] **the parser works**", ""},
		{"two equal ones", "- [ ] a\n- [ ] a", "- [x] a", "a"},
		{"another text", "- [ ] a", "- [x] a, partly", "a"},
	} {
		got := strings.Join(ReadMilestones(c.before).missing(ReadMilestones(c.after)), " ")
		if got != c.want {
			t.Errorf("%s: %q is missing, expected %q", c.name, got, c.want)
		}
	}
}

// A list of milestones that is written in any of the supported forms is read as it
// was meant.
func TestMilestonesInAnyForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want Milestones
		var text strings.Builder
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line break")
		depth := 0
		for i := range rapid.IntRange(0, 12).Draw(t, "milestones") {
			m := Milestone{Text: fmt.Sprintf("milestone %d", i), Done: rapid.Bool().Draw(t, "done")}
			box := "[ ]"
			if m.Done {
				box = rapid.SampledFrom([]string{"[x]", "[X]"}).Draw(t, "box")
			}
			bullet := rapid.SampledFrom([]string{"-", "*", "+", "7."}).Draw(t, "bullet")
			text.WriteString(strings.Repeat("  ", depth) + bullet + " " + box + " " + m.Text + end)
			want = append(want, m)
			depth = rapid.IntRange(0, depth+1).Draw(t, "depth")
			if rapid.Bool().Draw(t, "code") {
				mark := rapid.SampledFrom([]string{"```", "~~~~"}).Draw(t, "mark")
				text.WriteString(mark + "md" + end + "- [x] code" + end + mark + end)
			}
		}
		if got := ReadMilestones(text.String()); !slices.Equal(got, want) {
			t.Fatalf("the milestones are %v, expected %v in:\n%s", got, want, text.String())
		}
	})
}
