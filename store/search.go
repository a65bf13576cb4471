package store

import (
	"context"
	"strings"
	"time"
	"unicode"

	"coppice"
)

// Searcher finds tasks, pieces of output, and checks by their words. It follows
// the store. SearchPage.Behind reports that it has not read the last commits yet.
type Searcher interface {
	// Search returns hits: tasks, then output, then checks, each newest first. If
	// there are too many, each kind gets an equal share of the page. It fails with
	// code invalid if the query has no word to find.
	Search(ctx context.Context, q SearchQuery) (SearchPage, error)
}

// SearchQuery says what to find, and where.
type SearchQuery struct {
	Terms     []Term
	ProjectID int64      // 0 means all projects
	Tasks     bool       // search keys, titles and descriptions of tasks
	Output    bool       // search all text that sessions wrote
	Checks    bool       // search commands and logs of checks
	Most      int        // maximum number of hits, of all kinds together
	Among     TaskFilter // only hits of these tasks; its order and limit do not matter

	// Fresh waits for the index to read what was committed before the search, at most
	// this long.
	Fresh time.Duration
}

// Term is a part of a query. A hit has all terms, except those with Not.
type Term struct {
	Words []string // one after the other
	Whole bool     // the final word is complete; otherwise it is a prefix
	Not   bool     // a hit must not have the term
}

// SearchPage is the result of a search.
type SearchPage struct {
	Hits   []Hit
	More   bool // there are more hits
	Behind bool // the last commits have not been read yet
}

// Hit is one place that has all terms of a query.
type Hit struct {
	Task    string // the task's key
	Title   string
	Session string             // the session's key; empty for a hit in the task itself, or in a check
	Offset  int64              // of the piece of output
	Kind    coppice.OutputKind // of the piece of output
	Check   int64              // the check's id; 0 for other hits
	Command string             // of the check
	At      time.Time
	Text    string   // the text around the matches, on one line
	Marks   [][2]int // the matches in Text: start and length in bytes
}

// maxTerms and maxWords bound a query.
const (
	maxTerms = 16
	maxWords = 32
)

// ParseSearch reads the query of a person: words or prefixes of words, "phrases
// in quotes", and -words that a hit must not have. Every text is valid.
// ParseSearch skips characters that are neither letters nor digits.
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
			t.Whole, text = closed, after // without the closing quote, the person is still typing
			add(t, phrase)
			continue
		}
		end := strings.IndexFunc(text, unicode.IsSpace)
		if end < 0 {
			end = len(text)
		}
		if t.Not {
			t.Whole = true // -go excludes go, not gopher
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

// InWord reports whether a character is part of a word.
func InWord(r rune) bool {
	return r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r))
}

// UsageQuery chooses sessions that were created at From or later, and before To.
type UsageQuery struct {
	From, To  time.Time
	ProjectID int64          // 0 means all projects
	Zone      *time.Location // the time zone of the days; nil means UTC
	ByTask    bool
	Among     TaskFilter // only sessions of these tasks; its order and limit do not matter
}

// UsageRow is the usage of one day, project, agent and model, and of one task if
// the query has ByTask.
type UsageRow struct {
	Day       string // 2026-03-04
	ProjectID int64
	TaskID    int64 // 0 without ByTask
	Task      string
	Agent     string
	Model     string
	Sessions  int
	Usage     coppice.Usage
}
