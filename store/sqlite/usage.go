package sqlite

import (
	"database/sql"

	"coppice"
	"coppice/store"
)

func (r lanes) Count(project int64) (map[coppice.Lane]int, error) {
	query, args := "SELECT lane_project, lane_track, lane_agent, count(*) FROM tasks WHERE lane_project IS NOT NULL", []any(nil)
	if project != 0 {
		query, args = query+" AND lane_project = ?", []any{project}
	}
	type lane struct {
		coppice.Lane
		n int
	}
	rows, err := list(r.conn, query+" GROUP BY lane_project, lane_track, lane_agent", args, func(rows *sql.Rows) (l lane, err error) {
		err = rows.Scan(&l.ProjectID, &l.Track, &l.Agent, &l.n)
		return l, err
	})
	counts := make(map[coppice.Lane]int, len(rows))
	for _, l := range rows {
		counts[l.Lane] = l.n
	}
	return counts, err
}

func (r tasks) Waits(project int64) (map[coppice.WaitKind]int, error) {
	w := &where{}
	w.and("waits_on IS NOT NULL")
	if project != 0 {
		w.and("project_id = ?", project)
	}
	type wait struct {
		on coppice.WaitKind
		n  int
	}
	rows, err := list(r.conn, "SELECT waits_on, count(*) FROM tasks"+w.String()+" GROUP BY project_id, waits_on", w.args, func(rows *sql.Rows) (x wait, err error) {
		err = rows.Scan(&x.on, &x.n)
		return x, err
	})
	counts := make(map[coppice.WaitKind]int, len(rows))
	for _, x := range rows {
		counts[x.on] += x.n
	}
	return counts, err
}

// pendingTasks selects tasks that wait for a person, or those that wait for
// something else or are queued. The conditions are exactly those of the indexes.
func pendingTasks(what string, f store.TaskFilter, person bool) (query string, w *where) {
	f.Stages, f.Outcomes, f.BeforeID, f.Archived = nil, nil, 0, store.ArchivedToo
	w = taskWhere(f)
	index := "tasks_pending"
	if person {
		w.and("waits_on = 'person'")
		index = "tasks_for_person"
	} else {
		w.and("stage IN ('waiting', 'queued')")
		w.and("waits_on IS NOT 'person'")
	}
	return "SELECT " + what + " FROM tasks INDEXED BY " + index + w.String(), w
}

func (r tasks) Pending(f store.TaskFilter, person bool) ([]coppice.Task, error) {
	query, w := pendingTasks("id", f, person)
	return r.inOrder(r.found(query+" ORDER BY priority DESC, id"+limit, append(w.args, f.Most)...))
}

func (r tasks) CountPending(f store.TaskFilter, person bool) (n int, err error) {
	query, w := pendingTasks("count(*)", f, person)
	err = r.QueryRowContext(r.ctx, query, w.args...).Scan(&n)
	return n, err
}

func (r tasks) Tally() ([]store.Tally, error) {
	return list(r.conn, "SELECT project_id, track, agent, stage, outcome, count(*) FROM tasks GROUP BY project_id, track, agent, stage, outcome", nil, func(rows *sql.Rows) (t store.Tally, err error) {
		err = rows.Scan(&t.ProjectID, &t.Track, &t.Agent, &t.Stage, &t.Outcome, &t.N)
		return t, err
	})
}
