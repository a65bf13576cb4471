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

// match returns the terms as a query of the index, or "" if there is no word to
// find. Every word is in quotes and has only letters and digits, so FTS5 never
// reads the text of a person as syntax.
func match(terms []store.Term, project int64) string {
	var b strings.Builder
	if project != 0 {
		b.WriteString(`scope : "` + scope(project) + `"`)
	}
	positive := false
	for _, t := range terms {
		if t.Not {
			continue
		}
		if positive || b.Len() > 0 {
			b.WriteString(" AND ")
		}
		positive = true
		phrase(&b, t)
	}
	if !positive {
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
	if !t.Whole && isPrefix(t.Words[len(t.Words)-1]) {
		b.WriteString(" *")
	}
}

// isPrefix reports whether a word also finds longer words that start with it. A
// single letter does not, because it would find nearly everything.
func isPrefix(word string) bool { return len(word) > 1 }

var errNoWord = coppice.Errorf(coppice.EInvalid, "the query has no word to find").
	WithFix("write at least one word without a minus sign").WithField("q")

// Search implements store.Searcher.
func (x *Index) Search(ctx context.Context, q store.SearchQuery) (store.SearchPage, error) {
	query := match(q.Terms, q.ProjectID)
	if query == "" {
		return store.SearchPage{}, errNoWord
	}
	if q.Fresh > 0 {
		fresh, cancel := context.WithTimeout(ctx, q.Fresh)
		err := x.Wait(fresh)
		cancel()
		if err != nil && ctx.Err() != nil {
			return store.SearchPage{}, err
		}
	}
	page := store.SearchPage{Behind: x.behind()}
	only, err := x.among(ctx, q.Among)
	if err != nil {
		return page, err
	}
	var tasks, pieces, checks []int64
	err = with(ctx, x.readers, func(c *conn) (err error) {
		if err := c.run("BEGIN"); err != nil {
			return err
		}
		defer c.run("ROLLBACK") // nothing was written; this ends the snapshot
		if q.Tasks {
			tasks, err = c.foundIn("task_words", query, 0, only.tasks, q.Most+1)
		}
		if q.Output && err == nil {
			pieces, err = c.foundOutput(query, only.sessions, q.Most+1)
		}
		if q.Checks && err == nil {
			checks, err = c.foundIn("check_words", query, 0, only.checks, q.Most+1)
		}
		return err
	})
	if err != nil {
		return page, explain(x.cfg.Path, err)
	}
	page.More = share(q.Most, &tasks, &pieces, &checks)
	err = x.store.view(ctx, func(t *tx) error {
		add := func(h *store.Hit, err error) error {
			if h != nil {
				page.Hits = append(page.Hits, *h)
			}
			return err
		}
		for _, id := range tasks {
			if err := add(taskHit(t, id, q.Terms)); err != nil {
				return err
			}
		}
		found := &pieceHits{tx: t}
		for _, row := range pieces {
			session, place := placeOf(row)
			if err := add(found.hit(session, place, q.Terms)); err != nil {
				return err
			}
		}
		for _, id := range checks {
			if err := add(checkHit(t, id, q.Terms)); err != nil {
				return err
			}
		}
		return nil
	})
	return page, err
}

// share cuts lists so that they have at most most elements together, and reports
// whether it cut one. Each list gets an equal share, and what it does not need is
// left to the others.
func share(most int, lists ...*[]int64) (cut bool) {
	sizes := make([]int, len(lists))
	for left, given := most, true; left > 0 && given; {
		given = false
		for i, list := range lists {
			if left > 0 && sizes[i] < len(*list) {
				sizes[i]++
				left--
				given = true
			}
		}
	}
	for i, list := range lists {
		cut = cut || sizes[i] < len(*list)
		*list = (*list)[:sizes[i]]
	}
	return cut
}

// chosen has the ids of some tasks, their sessions and their checks, as JSON lists.
// nil means all.
type chosen struct{ tasks, sessions, checks *string }

// among reads the ids of the tasks that a filter chooses.
func (x *Index) among(ctx context.Context, f store.TaskFilter) (c chosen, err error) {
	w := taskWhere(f)
	if len(w.terms) == 0 {
		return c, nil
	}
	err = x.store.view(ctx, func(t *tx) error {
		return t.QueryRowContext(t.ctx, "WITH some AS (SELECT id FROM tasks"+w.String()+`) SELECT (SELECT json_group_array(id) FROM some),
			(SELECT json_group_array(id) FROM sessions WHERE task_id IN some), (SELECT json_group_array(id) FROM checks WHERE task_id IN some)`, w.args...).
			Scan(&c.tasks, &c.sessions, &c.checks)
	})
	return c, err
}

// foundIn returns the newest most rows of a table of words that match a query. With
// a list of ids, it returns only rows whose number without its low bits is in it.
func (c *conn) foundIn(table, query string, low int, ids *string, most int) ([]int64, error) {
	w := &where{}
	w.and(table+" MATCH ?", query)
	if ids != nil { // an expression, so that FTS5 does not look up each id
		w.and("(rowid >> ?) IN (SELECT value FROM json_each(?))", low, *ids)
	}
	return c.found("SELECT rowid FROM "+table+w.String()+" ORDER BY rowid DESC"+limit, append(w.args, most)...)
}

func (c *conn) found(query string, args ...any) ([]int64, error) {
	return list(c, query, args, func(rows *sql.Rows) (id int64, err error) {
		err = rows.Scan(&id)
		return id, err
	})
}

// taskHit returns the hit of a task, or nil if the task was removed.
func taskHit(r *tx, id int64, terms []store.Term) (*store.Hit, error) {
	t, err := tasks{r}.Get(id)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h := &store.Hit{Task: t.Key, Title: t.Title, At: t.CreatedAt}
	path, err := workspacePath(r, id)
	h.Text, h.Marks = snippetIn(path, withoutMarkdown(taskText(t)), terms)
	return h, err
}

// workspacePath returns the path of a workspace of a task; empty if it has had none.
func workspacePath(r *tx, task int64) (path string, err error) {
	err = r.QueryRowContext(r.ctx, "SELECT path FROM sessions WHERE task_id = ? AND path <> '' LIMIT 1", task).Scan(&path)
	return path, ignoreNoRows(err)
}

// pieceHits creates hits of pieces of output. Consecutive hits are often in the
// same row, so it keeps the last row that it read.
type pieceHits struct {
	*tx
	row *coppice.Output
}

// hit returns the hit of a piece of output, or nil if the piece was removed.
func (p *pieceHits) hit(session, place int64, terms []store.Term) (*store.Hit, error) {
	o, err := p.piece(session, place)
	if err != nil || o == nil {
		return nil, err
	}
	h := &store.Hit{Offset: place, At: o.At, Kind: o.Kind}
	path := ""
	err = p.QueryRowContext(p.ctx, `SELECT s.key, s.path, t.key, t.title FROM sessions s JOIN tasks t ON t.id = s.task_id WHERE s.id = ?`, session).
		Scan(&h.Session, &path, &h.Task, &h.Title)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	text, _ := outputText(*o)
	if said, ok := coppice.ReadAgentEvent(o.Data); ok && o.Kind == coppice.OutputEvent && said.Kind.Prose() {
		text = withoutMarkdown(text)
	}
	h.Text, h.Marks = snippetIn(path, text, terms)
	return h, err
}

// piece reads the piece at a place, or returns nil if it was removed.
func (p *pieceHits) piece(session, place int64) (*coppice.Output, error) {
	w := pieceFilter{session: session, after: place - 1, before: place + 1}
	if p.row != nil && p.row.SessionID == session {
		found, err := w.in(*p.row)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return &found[0], nil
		}
	}
	var err error
	if p.row, err = (outputs{p.tx}).rowOf(session, place); err != nil || p.row == nil {
		return nil, err
	}
	found, err := w.in(*p.row)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Limits of a snippet, in bytes of the original text.
const (
	snippetBefore = 60
	snippetLong   = 240
	maxMarks      = 32
)

// snippetIn is snippet with paths relative to the workspace that they are in, unless
// nothing else matches than the part of a path that would be left out. It gets the path
// of one workspace of the project.
func snippetIn(workspace, text string, terms []store.Term) (string, [][2]int) {
	if short, marks := snippet(coppice.RelativePaths(workspace)(text), terms); len(marks) > 0 {
		return short, marks
	}
	return snippet(text, terms)
}

// snippet returns the text around the first match, on one line, and the places of
// the matches in it.
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
	return oneLine(text, from, to, marks)
}

func wordStart(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return utf8.RuneStart(text[i]) && unicode.IsSpace(r)
}

// oneLine returns text[from:to] on one line, without control characters, and the
// new places of the marks.
func oneLine(text string, from, to int, marks [][2]int) (string, [][2]int) {
	var b strings.Builder
	var moved [][2]int
	if from > 0 {
		b.WriteString("…")
	}
	blank := true // the last character was a blank, or there is none
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

// word is a word of a text, and its place.
type word struct {
	text     string
	from, to int
}

// matches returns the start and end of each match of the terms in a text, in order
// and without overlaps. It stops where a snippet would end.
func matches(text string, terms []store.Term) (marks [][2]int) {
	most := 1
	for _, t := range terms {
		most = max(most, len(t.Words))
	}
	var words []word // the next words, as many as the longest term has
	for at := 0; len(marks) < maxMarks; {
		for at < len(text) && len(words) < most {
			w, end := wordAt(text, at)
			if at = end; w.text != "" {
				words = append(words, w)
			}
		}
		if len(words) == 0 || len(marks) > 0 && words[0].from > marks[0][0]+snippetLong {
			break
		}
		longest := 0
		for _, t := range terms {
			if n := len(t.Words); !t.Not && n > longest && fits(words, t) {
				longest = n
			}
		}
		if longest > 0 {
			marks = append(marks, [2]int{words[0].from, words[longest-1].to})
		}
		words = words[max(1, longest):]
	}
	return marks
}

func fits(words []word, t store.Term) bool {
	if len(words) < len(t.Words) {
		return false
	}
	for i, w := range t.Words {
		last := i == len(t.Words)-1
		if last && !t.Whole && isPrefix(w) {
			return strings.HasPrefix(words[i].text, w)
		}
		if words[i].text != w {
			return false
		}
	}
	return true
}

// wordAt returns the first word at or after a place, and its end. The text of the
// word is empty if there is none.
func wordAt(text string, at int) (w word, end int) {
	from := -1
	for i, r := range text[at:] {
		switch in := store.InWord(r); {
		case in && from < 0:
			from = at + i
		case !in && from >= 0:
			return word{strings.ToLower(text[from : at+i]), from, at + i}, at + i
		}
	}
	if from < 0 {
		return word{}, len(text)
	}
	return word{strings.ToLower(text[from:]), from, len(text)}, len(text)
}
