package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"coppice"
	"coppice/store"
)

// match writes the terms as a query of the index, or "" when they name nothing
// to look for. Every word stands in quotes, and is made of letters and digits:
// nothing of what a person types is read as syntax.
func match(terms []store.Term, project int64) string {
	var b strings.Builder
	if project != 0 {
		b.WriteString(`scope : "` + scope(project) + `"`)
	}
	wanted := false
	for _, t := range terms {
		if t.Not {
			continue
		}
		if wanted || b.Len() > 0 {
			b.WriteString(" AND ")
		}
		wanted = true
		phrase(&b, t)
	}
	if !wanted {
		return ""
	}
	query := "(" + b.String() + ")"
	b.Reset()
	for _, t := range terms {
		if t.Not {
			b.WriteString(" NOT ")
			phrase(&b, t)
		}
	}
	return query + b.String()
}

func phrase(b *strings.Builder, t store.Term) {
	b.WriteString(`words : "` + strings.Join(t.Words, " ") + `"`)
	if !t.Whole && begins(t.Words[len(t.Words)-1]) {
		b.WriteString(" *")
	}
}

// begins tells whether a word stands for all that begin with it. A single
// letter does not: it would stand for everything.
func begins(word string) bool { return len(word) > 1 }

var errNothing = coppice.Errorf(coppice.EInvalid, "there is nothing to look for").
	WithFix("write at least one word that must be there").WithField("q")

// Search implements store.Searcher.
func (x *Index) Search(ctx context.Context, q store.SearchQuery) (store.SearchPage, error) {
	page := store.SearchPage{Behind: x.behind()}
	query := match(q.Terms, q.ProjectID)
	if query == "" {
		return page, errNothing
	}
	var tasks, pieces []int64
	err := with(ctx, x.readers, func(c *conn) (err error) {
		if err := c.run("BEGIN"); err != nil {
			return err
		}
		defer c.run("ROLLBACK") // nothing was written; this ends the snapshot
		if q.Tasks {
			tasks, err = c.found("SELECT rowid FROM task_words WHERE task_words MATCH ? ORDER BY rowid DESC"+limit, query, q.Most+1)
		}
		if q.Output && err == nil {
			pieces, err = c.foundOutput(query, q.Most+1)
		}
		return err
	})
	if err != nil {
		return page, explain(x.cfg.Path, err)
	}
	// Tasks come first, but leave half of the page to output where that fills it.
	room := max(q.Most-len(pieces), (q.Most+1)/2)
	if len(tasks) > room {
		tasks, page.More = tasks[:room], true
	}
	if room = q.Most - len(tasks); len(pieces) > room {
		pieces, page.More = pieces[:room], true
	}
	err = x.store.View(ctx, func(r store.Reader) error {
		rd := r.(*reader)
		add := func(h *store.Hit, err error) error {
			if h != nil {
				page.Hits = append(page.Hits, *h)
			}
			return err
		}
		for _, id := range tasks {
			if err := add(taskHit(rd, id, q.Terms)); err != nil {
				return err
			}
		}
		for _, row := range pieces {
			session, place := placeOf(row)
			if err := add(pieceHit(rd, session, place, q.Terms)); err != nil {
				return err
			}
		}
		return nil
	})
	return page, err
}

func (c *conn) found(query string, args ...any) ([]int64, error) {
	return list(&reader{ctx: c.ctx, c: c}, query, args, func(rows *sql.Rows) (id int64, err error) {
		err = rows.Scan(&id)
		return id, err
	})
}

// taskHit makes the hit of a task, nil when it is gone.
func taskHit(r *reader, id int64, terms []store.Term) (*store.Hit, error) {
	t, err := r.Task(id)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h := &store.Hit{Task: t.Key, Title: t.Title, At: t.CreatedAt}
	h.Text, h.Marks = snippet(taskText(t), terms)
	return h, nil
}

// pieceHit makes the hit of a piece of output, nil when it is gone.
func pieceHit(r *reader, session, place int64, terms []store.Term) (*store.Hit, error) {
	h := &store.Hit{Offset: place}
	var o coppice.Output
	var written sql.NullInt64
	err := r.c.QueryRowContext(r.ctx, `SELECT o.at, o.kind, o.data, s.key, t.key, t.title FROM outputs o
		JOIN sessions s ON s.id = o.session_id JOIN tasks t ON t.id = s.task_id
		WHERE o.session_id = ? AND o.place = ?`, session, place).Scan(&written, &o.Kind, &o.Data, &h.Session, &h.Task, &h.Title)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, _ := outputText(o)
	h.At = at(written)
	h.Text, h.Marks = snippet(text, terms)
	return h, nil
}

// Bounds of a snippet, in bytes before it is tidied up.
const (
	snippetBefore = 60
	snippetLong   = 240
	maxMarks      = 32
)

// snippet cuts the text around the first match, on one line, and tells where
// the matches are in it.
func snippet(text string, terms []store.Term) (string, [][2]int) {
	marks := matches(text, terms)
	from := 0
	if len(marks) > 0 {
		from = max(0, marks[0][0]-snippetBefore)
	}
	for from > 0 && !wordStart(text, from) && marks[0][0]-from < 2*snippetBefore {
		from--
	}
	to := min(len(text), from+snippetLong)
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	for from < to && !utf8.RuneStart(text[from]) {
		from++
	}
	return tidy(text, from, to, marks)
}

func wordStart(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return utf8.RuneStart(text[i]) && unicode.IsSpace(r)
}

// tidy puts text[from:to] on one line, without control characters, and moves
// the marks along.
func tidy(text string, from, to int, marks [][2]int) (string, [][2]int) {
	var b strings.Builder
	var moved [][2]int
	if from > 0 {
		b.WriteString("…")
	}
	blank := true // nothing but a blank stands before
	next, open := 0, -1
	for next < len(marks) && marks[next][0] < from {
		next++
	}
	closed := func(i int) {
		if open >= 0 && next < len(marks) && i >= marks[next][1] {
			moved = append(moved, [2]int{open, b.Len() - open})
			open = -1
			next++
		}
	}
	for i, r := range text[from:to] {
		i += from
		closed(i)
		if open < 0 && next < len(marks) && i == marks[next][0] && marks[next][1] <= to {
			open = b.Len()
		}
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		}
		blank = false
		b.WriteRune(r)
	}
	closed(to)
	if to < len(text) {
		b.WriteString("…")
	}
	return b.String(), moved
}

// word is one word of a text and where it stands.
type word struct {
	text     string
	from, to int
}

// matches finds where the terms are in a text: start and end of each, in order
// and apart from each other.
func matches(text string, terms []store.Term) (marks [][2]int) {
	words := wordsOf(text)
	for i := 0; i < len(words) && len(marks) < maxMarks; i++ {
		longest := 0
		for _, t := range terms {
			if n := len(t.Words); !t.Not && n > longest && fits(words[i:], t) {
				longest = n
			}
		}
		if longest > 0 {
			marks = append(marks, [2]int{words[i].from, words[i+longest-1].to})
			i += longest - 1
		}
	}
	return marks
}

func fits(words []word, t store.Term) bool {
	if len(words) < len(t.Words) {
		return false
	}
	for i, w := range t.Words {
		last := i == len(t.Words)-1
		if last && !t.Whole && begins(w) {
			return strings.HasPrefix(words[i].text, w)
		}
		if words[i].text != w {
			return false
		}
	}
	return true
}

func wordsOf(text string) []word {
	var words []word
	from := -1
	for i, r := range text {
		switch in := store.InWord(r); {
		case in && from < 0:
			from = i
		case !in && from >= 0:
			words, from = append(words, word{strings.ToLower(text[from:i]), from, i}), -1
		}
	}
	if from >= 0 {
		words = append(words, word{strings.ToLower(text[from:]), from, len(text)})
	}
	return words
}
