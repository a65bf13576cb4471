package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"coppice"
	"coppice/internal/clock"
	"coppice/store"
)

// Limits of one transaction of the index.
const (
	indexPieces = 256     // pieces of output
	indexBytes  = 1 << 20 // bytes of text, after which no more pieces are added
	indexTasks  = 256
)

// indexPause is how long Run waits before it retries after a failure.
const indexPause = 30 * time.Second

// Run follows the store until the context ends. Commits wake it.
func (x *Index) Run(ctx context.Context) error {
	for begun := false; ; {
		err := func() error {
			if !begun {
				if err := x.begin(ctx); err != nil {
					return err
				}
				begun = true
			}
			return x.catchUp(ctx)
		}()
		wait := x.cfg.Gather
		switch {
		case ctx.Err() != nil || errors.Is(err, errClosed):
			return nil
		case err != nil:
			x.log.Error("the search index is behind", "error", err)
			begun, wait = false, indexPause
		default:
			select {
			case <-ctx.Done():
				return nil
			case <-x.news.wake:
			}
		}
		if wait > 0 && clock.Sleep(ctx, clock.Real(), wait) != nil {
			return nil
		}
	}
}

// catchUp reads everything committed so far, in transactions of bounded size.
func (x *Index) catchUp(ctx context.Context) error {
	for {
		committed := x.news.seen()
		for _, topic := range x.news.take() {
			if id := store.SessionOf(topic); id != 0 {
				x.dirty[id] = true
			}
		}
		tasks, err := x.stepTasks(ctx)
		if err != nil {
			return err
		}
		checks, err := x.stepChecks(ctx)
		if err != nil {
			return err
		}
		if len(x.dirty) == 0 && !tasks && !checks {
			x.hasRead(committed)
			return nil
		}
		begun := time.Now()
		if err := x.stepOutput(ctx); err != nil {
			return err
		}
		if x.news.seen() != committed {
			if err := x.yield(ctx, time.Since(begun)); err != nil {
				return err
			}
		}
	}
}

// While others write to the store, the index pauses after each step, so that they
// have the machine.
const (
	indexRest     = 4 // times as long as the step took
	indexRestMost = 2 * time.Second
)

func (x *Index) yield(ctx context.Context, worked time.Duration) error {
	if x.cfg.Gather < 0 {
		return nil
	}
	return clock.Sleep(ctx, clock.Real(), min(indexRest*worked, indexRestMost))
}

// begin compares the index with the store. It empties the index if that belongs to
// another database, and finds the sessions with output that has not been read.
func (x *Index) begin(ctx context.Context) error {
	seq, moment, err := x.anchor(ctx)
	if err != nil {
		return err
	}
	checks, err := x.lastCheck(ctx)
	if err != nil {
		return err
	}
	var cursors map[int64]int64
	var forgotten int64
	same := true
	err = x.store.view(ctx, func(t *tx) error {
		rows, err := list(t.conn, "SELECT id, cursor FROM sessions", nil, scanPair)
		if err != nil {
			return err
		}
		cursors = maps.Collect(pairs(rows))
		if same, err = sameLog(t.parts().Reader(), seq, moment); err != nil {
			return err
		}
		var newest int64
		err = t.QueryRowContext(t.ctx, "SELECT max(coalesce((SELECT max(id) FROM checks), 0), coalesce((SELECT last FROM floors WHERE name = 'checks'), 0))").Scan(&newest)
		same = same && checks <= newest
		if err == nil {
			forgotten, err = t.q.LastKept(t.ctx, "sessions")
		}
		return ignoreNoRows(err)
	})
	if err != nil {
		return err
	}
	read, err := x.progress(ctx)
	if err != nil {
		return err
	}
	for id, cursor := range read {
		now, there := cursors[id]
		switch {
		case !there && id <= forgotten:
			x.dirty[id] = true // it might have been removed while the index was closed
		case now < cursor || !there:
			same = false
		}
	}
	if !same {
		x.log.Info("the search index belongs to another database; it is built again")
		read = nil
		if err := x.forget(ctx); err != nil {
			return err
		}
	}
	for id, cursor := range cursors {
		if read[id] != cursor {
			x.dirty[id] = true
		}
	}
	return nil
}

func scanPair(rows *sql.Rows) (p [2]int64, err error) {
	err = rows.Scan(&p[0], &p[1])
	return p, err
}

func pairs(rows [][2]int64) func(func(int64, int64) bool) {
	return func(yield func(int64, int64) bool) {
		for _, p := range rows {
			if !yield(p[0], p[1]) {
				return
			}
		}
	}
}

// sameLog reports whether the log has, or might have had, the event at that time.
func sameLog(r store.Reader, seq, moment int64) (bool, error) {
	first, last, err := r.Log.Bounds()
	if err != nil || seq < first || seq == 0 { // nothing was read yet
		return err == nil, err
	}
	if seq > last {
		return false, nil
	}
	events, err := r.Log.Events(seq-1, 1, store.EventFilter{})
	return err == nil && len(events) == 1 && events[0].At.UnixNano() == moment, err
}

func (x *Index) anchor(ctx context.Context) (seq, at int64, err error) {
	err = with(ctx, x.writer, func(c *conn) error {
		return c.QueryRowContext(c.ctx, "SELECT seq, at FROM anchor").Scan(&seq, &at)
	})
	return seq, at, err
}

// progress returns the cursors up to which sessions have been read.
func (x *Index) progress(ctx context.Context) (map[int64]int64, error) {
	var rows [][2]int64
	err := with(ctx, x.writer, func(c *conn) (err error) {
		rows, err = list(c, "SELECT session_id, cursor FROM progress", nil, scanPair)
		return err
	})
	return maps.Collect(pairs(rows)), err
}

// forget empties the index.
func (x *Index) forget(ctx context.Context) error {
	return x.change(ctx, func(c *conn) error {
		shards, err := c.shards()
		if err != nil {
			return err
		}
		for _, sh := range shards {
			if err := c.all("DROP TABLE " + sh.table()); err != nil {
				return err
			}
		}
		err = c.all("DELETE FROM shards", "INSERT INTO task_words (task_words) VALUES ('delete-all')", "INSERT INTO check_words (check_words) VALUES ('delete-all')",
			"DELETE FROM progress", "UPDATE anchor SET seq = 0, at = 0, checks = 0")
		if err != nil {
			return err
		}
		return c.addShard(1, 0)
	})
}

// taskKinds are the events after which a task's words might have changed.
var taskKinds = []coppice.EventKind{coppice.EventTaskCreated, coppice.EventTaskChanged, coppice.EventTaskForgotten, coppice.EventProjectRemoved}

// taskScan reads all tasks, newest first. Before is the id of the last task that
// was read. To is the newest event when the scan started.
type taskScan struct{ before, to int64 }

// stepTasks reads the next changes of tasks and reports whether there are more.
func (x *Index) stepTasks(ctx context.Context) (more bool, err error) {
	seq, _, err := x.anchor(ctx)
	if err != nil {
		return false, err
	}
	var tasks []coppice.Task
	var gone vanished
	to, moment, scan := seq, int64(0), x.scan
	err = x.store.View(ctx, func(r store.Reader) error {
		first, last, err := r.Log.Bounds()
		if err != nil || last == seq {
			return err
		}
		if scan == nil && (first > seq+1 || seq == 0) { // events are missing: any task might have changed
			scan = &taskScan{to: last}
		}
		if scan != nil {
			tasks, err = r.Tasks.List(store.TaskFilter{BeforeID: scan.before, Most: indexTasks})
			to, more = scan.to, true // newer events are read after the scan
		} else {
			tasks, gone, to, more, err = changedTasks(r, seq, last)
		}
		if err != nil {
			return err
		}
		events, err := r.Log.Events(to-1, 1, store.EventFilter{})
		if err == nil && len(events) == 1 {
			moment = events[0].At.UnixNano()
		}
		return err
	})
	if err != nil || to == seq {
		return false, err
	}
	ended := scan == nil || len(tasks) < indexTasks
	err = x.change(ctx, func(c *conn) error {
		for _, t := range tasks {
			if _, err := c.ExecContext(c.ctx, "INSERT OR REPLACE INTO task_words (rowid, scope, words) VALUES (?, ?, ?)", t.ID, scope(t.ProjectID), taskText(t)); err != nil {
				return err
			}
		}
		if err := c.forgetVanished(gone); err != nil {
			return err
		}
		if !ended {
			return nil
		}
		_, err := c.ExecContext(c.ctx, "UPDATE anchor SET seq = ?, at = ?", to, moment)
		return err
	})
	if x.scan = nil; err == nil && !ended {
		x.scan = &taskScan{before: tasks[len(tasks)-1].ID, to: scan.to}
	}
	return more, err
}

// vanished lists what was removed from the store.
type vanished struct{ projects, tasks, checks []int64 }

// changedTasks reads the tasks that changed or vanished after an event.
func changedTasks(r store.Reader, seq, last int64) (tasks []coppice.Task, gone vanished, to int64, more bool, err error) {
	events, err := r.Log.Events(seq, indexTasks, store.EventFilter{Kinds: taskKinds})
	if err != nil {
		return nil, gone, seq, false, err
	}
	to = last
	if more = len(events) == indexTasks; more {
		to = events[len(events)-1].Seq
	}
	seen := map[int64]bool{}
	for _, e := range events {
		switch e.Kind {
		case coppice.EventProjectRemoved:
			gone.projects = append(gone.projects, e.ProjectID)
			continue
		case coppice.EventTaskForgotten:
			var f coppice.Forgotten
			if err := json.Unmarshal(e.Data, &f); err != nil {
				return nil, gone, seq, false, err
			}
			gone.checks = append(gone.checks, f.Checks...)
		}
		if seen[e.TaskID] {
			continue
		}
		seen[e.TaskID] = true
		t, err := r.Tasks.Get(e.TaskID)
		if coppice.ErrorCode(err) == coppice.ENotFound {
			gone.tasks = append(gone.tasks, e.TaskID)
			continue
		}
		if err != nil {
			return nil, gone, seq, false, err
		}
		tasks = append(tasks, t)
	}
	return tasks, gone, to, more, nil
}

// forgetVanished removes words from the index.
func (c *conn) forgetVanished(gone vanished) error {
	for _, id := range gone.projects {
		if err := c.forgetProject(id); err != nil {
			return err
		}
	}
	for table, ids := range map[string][]int64{"task_words": gone.tasks, "check_words": gone.checks} {
		for _, id := range ids {
			if _, err := c.ExecContext(c.ctx, "DELETE FROM "+table+" WHERE rowid = ?", id); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetProject removes the words of a project's tasks and checks.
func (c *conn) forgetProject(project int64) error {
	for _, table := range []string{"task_words", "check_words"} {
		query := "DELETE FROM " + table + " WHERE rowid IN (SELECT rowid FROM " + table + " WHERE " + table + " MATCH ?)"
		if _, err := c.ExecContext(c.ctx, query, `scope : "`+scope(project)+`"`); err != nil {
			return err
		}
	}
	return nil
}

// stepOutput reads the next pieces of the sessions that wrote something, in the
// order of their rows, because that is the fastest order to write the index.
func (x *Index) stepOutput(ctx context.Context) error {
	ids := slices.Sorted(maps.Keys(x.dirty))
	var done []int64
	err := x.change(ctx, func(c *conn) error {
		shards, err := c.shards()
		if err != nil {
			return err
		}
		pieces, bytes := 0, 0
		for _, id := range ids {
			if pieces >= indexPieces || bytes >= indexBytes {
				break
			}
			all, n, size, err := x.readSession(ctx, c, shards, id, indexPieces-pieces)
			if err != nil {
				return err
			}
			if pieces, bytes = pieces+n, bytes+size; all {
				done = append(done, id)
			}
		}
		return c.keepShards(shards, x.full)
	})
	if err != nil {
		return err
	}
	for _, id := range done {
		delete(x.dirty, id)
	}
	return nil
}

// readSession indexes the next pieces of a session. It reports whether none are
// left, how many it read, and their size.
func (x *Index) readSession(ctx context.Context, c *conn, shards []shard, id int64, most int) (all bool, n, size int, err error) {
	place, talks := int64(-1), false
	err = c.QueryRowContext(c.ctx, "SELECT place, talks FROM progress WHERE session_id = ?", id).Scan(&place, &talks)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, 0, 0, err
	}
	var out []coppice.Output
	var cursor, project int64
	again := false
	err = x.store.view(ctx, func(t *tx) error {
		emptied := false
		err := t.QueryRowContext(t.ctx, "SELECT cursor, project_id, emptied_at IS NOT NULL FROM sessions WHERE id = ?", id).Scan(&cursor, &project, &emptied)
		if again = emptied && place < cursor-1; again { // the pieces that were read are removed
			place = -1
		}
		if err == nil {
			out, err = outputs{t}.After(id, place, most, textKinds(talks)...)
		}
		return err
	})
	if errors.Is(err, sql.ErrNoRows) { // the session was removed
		if err = c.forgetWords(shards, id); err == nil {
			_, err = c.ExecContext(c.ctx, "DELETE FROM progress WHERE session_id = ?", id)
		}
		return true, 1, 0, err
	}
	if err != nil || id > maxRowSession {
		return err == nil, 0, 0, err
	}
	if again {
		if err := c.forgetWords(shards, id); err != nil {
			return false, 0, 0, err
		}
	}
	all = !store.Full(out, most)
	for _, o := range out {
		text, complete := outputText(o)
		if complete && !talks {
			// The agent's events have everything that is in its stdout. Remove the words
			// and read the session again without stdout.
			if err := c.forgetWords(shards, id); err != nil {
				return false, 0, 0, err
			}
			return false, n, size, c.putProgress(id, -1, 0, true)
		}
		place = o.Offset
		if n, size = n+1, size+len(text); text == "" || o.Offset > maxRowPlace {
			continue
		}
		row := rowOf(id, o.Offset)
		sh := shardOf(shards, row)
		if _, err := c.ExecContext(c.ctx, "INSERT OR REPLACE INTO "+sh.table()+" (rowid, scope, words) VALUES (?, ?, ?)", row, scope(project), text); err != nil {
			return false, 0, 0, err
		}
		sh.pieces++
	}
	if !all {
		cursor = 0
	}
	return all, n, size, c.putProgress(id, place, cursor, talks)
}

func (c *conn) putProgress(session, place, cursor int64, talks bool) error {
	_, err := c.ExecContext(c.ctx, "INSERT OR REPLACE INTO progress (session_id, place, cursor, talks) VALUES (?, ?, ?, ?)", session, place, cursor, talks)
	return err
}
