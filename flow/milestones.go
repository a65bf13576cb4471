package flow

import (
	"regexp"
	"strings"
	"sync"

	"coppice"
)

// Milestone is an element of a task list in a Markdown text: `- [ ] text`, or
// `- [x] text` if it is done.
type Milestone struct {
	Text string
	Done bool
}

// Milestones are the milestones of a plan, in the order of the text.
type Milestones []Milestone

// listRE finds the start of an element of a list, up to its text. A box must be
// followed by a blank, so `- [x](link)` is an element without a box.
var listRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+\[([ xX])\][ \t]+|[ \t]|$)`)
})

// ReadMilestones returns the milestones of a Markdown text, with those of nested
// lists. Text in code blocks does not count.
func ReadMilestones(text string) Milestones {
	var all Milestones
	var fenced string            // what closes the current code block; empty outside of one
	inList, blank := false, true // the last line was blank
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		mark := codeMark(bare)
		switch {
		case fenced != "":
			if mark == bare && strings.HasPrefix(mark, fenced) {
				fenced = ""
			}
			continue
		case mark != "":
			fenced = mark
			continue
		case bare == "":
			blank = true
			continue
		}
		deep := indent(line)
		box := listRE().FindStringSubmatch(bare)
		switch {
		case deep >= 4 && !inList: // an indented code block
		case box != nil:
			inList = true
			if text := bare[len(box[0]):]; box[1] != "" && coppice.Visible(text) {
				all = append(all, Milestone{Text: strings.TrimSpace(text), Done: box[1] != " "})
			}
		case deep == 0 && (blank || strings.HasPrefix(bare, "#")):
			inList = false // a heading or a paragraph after the list
		}
		blank = false
	}
	return all
}

// codeMark returns the backquotes or tildes with which a line starts or ends a code
// block; empty for another line.
func codeMark(line string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, c)) {
			return line[:n]
		}
	}
	return ""
}

// indent returns the column in which a line starts.
func indent(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// Done returns how many are done.
func (m Milestones) Done() int { return len(m) - len(m.Unchecked()) }

// Unchecked returns the texts of those that are not done.
func (m Milestones) Unchecked() []string {
	var texts []string
	for _, one := range m {
		if !one.Done {
			texts = append(texts, one.Text)
		}
	}
	return texts
}

// checked returns those that are done.
func (m Milestones) checked() (done Milestones) {
	for _, one := range m {
		if one.Done {
			done = append(done, one)
		}
	}
	return done
}

// reached reports whether a share of them is done. No milestones reach nothing.
func (m Milestones) reached(share float64) bool {
	const rounding = 1e-9 // 0.7 × 10 is a little more than 7
	return len(m) > 0 && float64(m.Done()) >= share*float64(len(m))-rounding
}

// missing returns the texts that are not in a later plan. Blanks, upper case and
// emphasis do not matter. Of two equal ones, the later plan must have two.
func (m Milestones) missing(later Milestones) []string {
	left := map[string]int{}
	for _, one := range later {
		left[sameText(one.Text)]++
	}
	var texts []string
	for _, one := range m {
		if key := sameText(one.Text); left[key] > 0 {
			left[key]--
		} else {
			texts = append(texts, one.Text)
		}
	}
	return texts
}

var emphasis = strings.NewReplacer("*", "", "_", "", "`", "", "~", "")

func sameText(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(emphasis.Replace(s))), " ")
}
