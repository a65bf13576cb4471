package sqlite

import (
	"database/sql"

	"coppice"
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

func (r tasks) Pending(project int64, person bool, most int) ([]coppice.Task, error) {
	w, index := &where{}, "tasks_pending"
	if person { // exactly as in the index
		w.and("waits_on = 'person'")
		index = "tasks_for_person"
	} else {
		w.and("stage IN ('waiting', 'queued')")
		w.and("waits_on IS NOT 'person'")
	}
	if project != 0 {
		w.and("project_id = ?", project)
	}
	query := "SELECT id FROM tasks INDEXED BY " + index + w.String() + " ORDER BY priority DESC, id" + limit
	return r.inOrder(r.found(query, append(w.args, most)...))
}
