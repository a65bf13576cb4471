package sqlite

import (
	"cmp"
	"database/sql"
	"reflect"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
)

// This file has the queries whose text depends on a filter. The text consists
// only of constants and placeholders. Queries for tasks return ids, and a
// generated query reads the rows.

// limit bounds a list. Without the cast, SQLite prepares a statement again
// whenever the parameter of its LIMIT is bound.
const limit = " LIMIT CAST(? AS INTEGER)"

// where collects conditions and their arguments.
type where struct {
	terms []string
	args  []any
}

func (w *where) and(term string, args ...any) {
	w.terms = append(w.terms, term)
	w.args = append(w.args, args...)
}

// in adds "column IN (…)" unless the list is empty.
func in[T ~string](w *where, column string, list []T) {
	if len(list) == 0 {
		return
	}
	args := make([]any, len(list))
	for i, v := range list {
		args[i] = string(v)
	}
	w.and(column+" IN (?"+strings.Repeat(", ?", len(list)-1)+")", args...)
}

func (w *where) String() string {
	if len(w.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.terms, " AND ")
}

func taskWhere(f store.TaskFilter) *where {
	w := &where{}
	if f.ProjectID != 0 {
		w.and("project_id = ?", f.ProjectID)
	}
	switch { // the planner uses a partial index only if the condition repeats its WHERE
	case ended(f):
		w.and("stage = 'ended'")
	case len(f.Stages) > 0 && !slices.Contains(f.Stages, coppice.StageEnded):
		w.and("stage <> 'ended'")
		fallthrough
	default:
		in(w, "stage", f.Stages)
	}
	in(w, "outcome", f.Outcomes)
	if f.Track != "" {
		w.and("track = ?", f.Track)
	}
	if f.Agent != "" {
		w.and("agent = ?", f.Agent)
	}
	if f.Group != 0 {
		w.and("group_id = ?", f.Group)
	}
	if f.ForkOf != "" {
		w.and("fork_of = ? AND fork_of <> ''", f.ForkOf) // the index has no others
	}
	if f.Parent != 0 {
		w.and("parent = ? AND parent IS NOT NULL", f.Parent)
	}
	if len(f.Flows) > 0 {
		w.and("flow IS NOT NULL")
		in(w, "flow", f.Flows)
	}
	switch f.Pull {
	case store.PullOpen:
		w.and("id IN (SELECT task_id FROM pulls WHERE ended_at IS NULL)")
	case store.PullAny:
		w.and("pull IS NOT NULL")
	}
	if f.Schedule != 0 {
		w.and("schedule = ? AND schedule IS NOT NULL", f.Schedule)
	}
	if f.Label != "" {
		w.and("id IN (SELECT task_id FROM task_labels WHERE label = ?)", f.Label)
	}
	if f.Flagged {
		w.and("flagged") // exactly as in the index
	}
	if f.UnreadBy != (coppice.Actor{}) {
		w.and("id IN (SELECT n.task_id FROM"+unreadTasks+")", f.UnreadBy.String())
	}
	if f.Text != "" {
		w.and("instr(folded, ?) > 0", strings.ToLower(f.Text))
	}
	if f.BeforeID != 0 {
		w.and("id < ?", f.BeforeID)
	}
	switch f.Archived {
	case store.ArchivedNot:
		w.and("archived IS NULL")
	case store.ArchivedOnly:
		w.and("archived IS NOT NULL")
	}
	return w
}

func (r tasks) List(f store.TaskFilter) ([]coppice.Task, error) {
	if f.ByEnd && len(f.Outcomes) > 1 {
		return r.byEnd(f)
	}
	if f.ByArchive {
		f.Archived = store.ArchivedOnly
	}
	w := taskWhere(f)
	query := "SELECT id FROM tasks" + w.String() + " ORDER BY id"
	switch {
	case f.ByArchive:
		query = "SELECT id FROM tasks INDEXED BY tasks_by_archive" + w.String() + " ORDER BY archived DESC, id DESC"
	case f.ByEnd:
		query = "SELECT id FROM tasks" + w.String() + " ORDER BY ended_at DESC, id DESC"
	case !f.OldFirst:
		query += " DESC"
	}
	if f.Most > 0 {
		query += limit
		w.args = append(w.args, f.Most)
	}
	return r.inOrder(r.found(query, w.args...))
}

// byEnd lists tasks of several outcomes by their end. The index has one order for
// each outcome.
func (r tasks) byEnd(f store.TaskFilter) ([]coppice.Task, error) {
	var all []coppice.Task
	for _, o := range f.Outcomes {
		one := f
		one.Outcomes = []coppice.Outcome{o}
		some, err := r.List(one)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b coppice.Task) int { return cmp.Or(b.EndedAt.Compare(a.EndedAt), cmp.Compare(b.ID, a.ID)) })
	if f.Most > 0 {
		all = all[:min(len(all), f.Most)]
	}
	return all, nil
}

// ended reports whether a filter chooses only ended tasks.
func ended(f store.TaskFilter) bool {
	return slices.Equal(f.Stages, []coppice.Stage{coppice.StageEnded})
}

func (r tasks) Count(f store.TaskFilter) (n int, err error) {
	counted := store.TaskFilter{ // all that the counter knows
		ProjectID: f.ProjectID, Stages: f.Stages, Outcomes: f.Outcomes, Archived: f.Archived,
		Most: f.Most, OldFirst: f.OldFirst, ByEnd: f.ByEnd, ByArchive: f.ByArchive,
	}
	if ended(f) && reflect.DeepEqual(f, counted) {
		return r.countEnded(f)
	}
	w := taskWhere(f)
	err = r.QueryRowContext(r.ctx, "SELECT count(*) FROM tasks"+w.String(), w.args...).Scan(&n)
	return n, err
}

// countEnded reads the counter of ended tasks.
func (r tasks) countEnded(f store.TaskFilter) (n int, err error) {
	w := &where{}
	if f.ProjectID != 0 {
		w.and("project_id = ?", f.ProjectID)
	}
	in(w, "outcome", f.Outcomes)
	if f.Archived != store.ArchivedToo {
		w.and("archived = ?", f.Archived == store.ArchivedOnly)
	}
	err = r.QueryRowContext(r.ctx, "SELECT coalesce(sum(n), 0) FROM ended_tasks"+w.String(), w.args...).Scan(&n)
	return n, err
}

func (r log) Events(after int64, most int, f store.EventFilter) ([]coppice.Event, error) {
	w := &where{}
	w.and("seq > ?", after)
	if f.ProjectID != 0 {
		w.and("project_id = ?", f.ProjectID)
	}
	if f.TaskID != 0 {
		w.and("task_id = ? AND task_id <> 0", f.TaskID)
	}
	in(w, "kind", f.Kinds)
	query := "SELECT seq, at, kind, project_id, task_id, session_id, about, subject, actor, reason, data FROM events" +
		w.String() + " ORDER BY seq" + limit
	return list(r.conn, query, append(w.args, most), scanEvent)
}

func scanEvent(rows *sql.Rows) (coppice.Event, error) {
	var e coppice.Event
	var moment sql.NullInt64
	var data sql.NullString
	var about string
	err := rows.Scan(&e.Seq, &moment, &e.Kind, &e.ProjectID, &e.TaskID, &e.SessionID, &about, &e.Subject, &e.By, &e.Reason, &data)
	e.At, e.Data, e.About = at(moment), raw(data), coppice.ParseSubject(about)
	return e, err
}

// lastEvent reads the number of the newest event ever logged. SQLite keeps it
// in its own table, which sqlc does not know.
func (r *tx) lastEvent() (int64, error) {
	var last int64
	err := r.QueryRowContext(r.ctx, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'").Scan(&last)
	return last, err
}

// offered is an item that can be taken. If projects take turns, its turn is the
// number of running and earlier items of its project.
type offered struct{ turn, rank, id int64 }

// before compares the order in which items are taken.
func (a offered) before(b offered) int {
	return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id))
}

// byTurns is the query for checks. Projects take turns: the project with the
// fewest running checks comes first.
const byTurns = `WITH busy AS (
  SELECT project_id, count(*) AS n FROM work WHERE state = 'taken' AND kind = 'check.run' GROUP BY project_id
)
SELECT w.turn + coalesce(b.n, 0) AS turn, w.rank, w.id FROM (
  SELECT id, rank, project_id, row_number() OVER (PARTITION BY project_id ORDER BY rank, id) AS turn
  FROM work WHERE state = 'offered' AND pool = ? AND kind = 'check.run'
) w LEFT JOIN busy b USING (project_id) ORDER BY turn, rank, id` + limit

// takeable returns the offered work of a pool, in the order in which it is taken.
func (r *tx) takeable(pool string, kinds []coppice.WorkKind, most int) ([]offered, error) {
	query, args := byTurns, []any{pool}
	if len(kinds) != 1 || kinds[0] != coppice.WorkCheck {
		w := &where{}
		w.and("state = 'offered' AND pool = ?", pool)
		in(w, "kind", kinds)
		query, args = "SELECT 0, rank, id FROM work"+w.String()+" ORDER BY rank, id"+limit, w.args
	}
	return list(r.conn, query, append(args, most), func(rows *sql.Rows) (o offered, err error) {
		err = rows.Scan(&o.turn, &o.rank, &o.id)
		return o, err
	})
}

func list[T any](c *conn, query string, args []any, scan func(*sql.Rows) (T, error)) ([]T, error) {
	rows, err := c.QueryContext(c.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
