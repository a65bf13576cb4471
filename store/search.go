package store

import (
	"context"
	"strings"
	"time"
	"unicode"

	"coppice"
)

// Searcher finds tasks, pieces of what sessions wrote, and what checks did, by
// their words. It
// follows the store: what was committed a moment ago may not be found yet, and
// SearchPage.Behind then says so.
type Searcher interface {
	// Search returns hits: tasks, then output, then checks, each newest first. No
	// kind takes the place of another before it has its share. It fails
	// with code invalid when the query names nothing to look for.
	Search(ctx context.Context, q SearchQuery) (SearchPage, error)
}

// SearchQuery is what is looked for.
type SearchQuery struct {
	Terms     []Term
	ProjectID int64 // 0 means in all
	Tasks     bool  // in keys, titles and descriptions of tasks
	Output    bool  // in what sessions wrote: all that is text
	Checks    bool  // in commands and logs of checks
	Most      int   // hits, of all kinds together
}

// Term is a part of a query. All that are not Not must be found, and none that
// is.
type Term struct {
	Words []string // one after the other
	Whole bool     // the last is a whole word too; otherwise the beginning of one
	Not   bool
}

// SearchPage is what was found.
type SearchPage struct {
	Hits   []Hit
	More   bool // there is more than was asked for
	Behind bool // not everything committed so far has been looked at
}

// Hit is one place in which everything looked for was found.
type Hit struct {
	Task    string // the task's key
	Title   string
	Session string             // the session's key; empty for a hit in the task itself, or in a check
	Offset  int64              // of the piece of output
	Kind    coppice.OutputKind // of the piece of output
	Check   int64              // 0 for a hit elsewhere
	Command string             // of the check
	At      time.Time
	Text    string   // around the matches, on one line
	Marks   [][2]int // the matches in Text: start and length in bytes
}

// maxTerms and maxWords bound a query; nobody types more.
const (
	maxTerms = 16
	maxWords = 32
)

// ParseSearch reads what a person typed: words, of which the beginning will do,
// "phrases in quotes", and -words that must not be there. Anything goes: what
// holds no letter and no digit is passed over.
func ParseSearch(text string) []Term {
	var terms []Term
	add := func(t Term, s string) {
		if t.Words = Words(s); len(t.Words) > 0 && len(terms) < maxTerms {
			t.Words = t.Words[:min(len(t.Words), maxWords)]
			terms = append(terms, t)
		}
	}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		var t Term
		if rest, not := strings.CutPrefix(text, "-"); not {
			t.Not, text = true, rest
		}
		if rest, quoted := strings.CutPrefix(text, `"`); quoted {
			phrase, after, closed := strings.Cut(rest, `"`)
			t.Whole, text = closed, after // an open one is still being typed
			add(t, phrase)
			continue
		}
		end := strings.IndexFunc(text, unicode.IsSpace)
		if end < 0 {
			end = len(text)
		}
		if t.Not {
			t.Whole = true // -go leaves out go, and nothing else that begins so
		}
		add(t, text[:end])
		text = text[end:]
	}
	return terms
}

// Words cuts a text into words in lower case: runs of letters and digits.
func Words(s string) []string {
	words := strings.FieldsFunc(s, func(r rune) bool { return !InWord(r) })
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	return words
}

// InWord tells whether a character is part of a word.
func InWord(r rune) bool {
	return r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r))
}

// UsageQuery chooses what was used: by sessions that began from one moment to
// before another.
type UsageQuery struct {
	From, To  time.Time
	ProjectID int64          // 0 means all
	Zone      *time.Location // in which days begin; UTC when nil
	ByTask    bool
}

// UsageRow is what one day's sessions of one project, agent and model, and of
// one task where asked for, used.
type UsageRow struct {
	Day       string // 2026-03-04
	ProjectID int64
	TaskID    int64 // 0 unless asked for
	Task      string
	Agent     string
	Model     string
	Sessions  int
	Usage     coppice.Usage
}
