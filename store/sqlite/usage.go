package sqlite

import (
	"cmp"
	"database/sql"
	"slices"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

// putUsage keeps what a session used where it is summed up.
func (t *tx) putUsage(s *coppice.Session) error {
	return t.q.PutUsage(t.ctx, dbsqlc.PutUsageParams{
		MadeAt: moment(s.CreatedAt).Int64, SessionID: s.ID, ProjectID: s.ProjectID, TaskID: s.TaskID, Agent: s.Agent, Model: s.Model,
		InputTokens: s.Usage.InputTokens, OutputTokens: s.Usage.OutputTokens, CacheRead: s.Usage.CacheRead, CacheWrite: s.Usage.CacheWrite,
		Turns: s.Usage.Turns, CostUsd: s.Usage.CostUSD,
	})
}

const nanosADay = int64(24 * time.Hour)

// Usage implements store.SessionReader. A zone's days are not all equally long: each
// span in which its offset stays the same is summed up by itself.
func (r sessions) Usage(q store.UsageQuery) ([]store.UsageRow, error) {
	zone := q.Zone
	if zone == nil {
		zone = time.UTC
	}
	sums := map[store.UsageRow]*store.UsageRow{}
	for from := q.From; from.Before(q.To); {
		to := q.To
		if _, end := from.In(zone).ZoneBounds(); !end.IsZero() && end.Before(to) {
			to = end
		}
		_, offset := from.In(zone).Zone()
		rows, err := r.usage(q, from, to, offset)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			name := store.UsageRow{Day: row.Day, ProjectID: row.ProjectID, TaskID: row.TaskID, Agent: row.Agent, Model: row.Model}
			if sum := sums[name]; sum != nil {
				sum.Sessions += row.Sessions
				sum.Usage = sum.Usage.Add(row.Usage)
				continue
			}
			sums[name] = &row
		}
		from = to
	}
	all := make([]store.UsageRow, 0, len(sums))
	for _, sum := range sums {
		all = append(all, *sum)
	}
	slices.SortFunc(all, func(a, b store.UsageRow) int {
		return cmp.Or(-cmp.Compare(a.Day, b.Day), cmp.Compare(a.ProjectID, b.ProjectID), -cmp.Compare(a.TaskID, b.TaskID),
			cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	return all, nil
}

// usage sums up a span within which days are offset by as many seconds.
func (r *tx) usage(q store.UsageQuery, from, to time.Time, offset int) ([]store.UsageRow, error) {
	task, key, join := "0", "''", ""
	if q.ByTask {
		task, key, join = "u.task_id", "t.key", " JOIN tasks t ON t.id = u.task_id"
	}
	w := &where{}
	w.and("u.made_at >= ? AND u.made_at < ?", from.UnixNano(), to.UnixNano())
	if q.ProjectID != 0 {
		w.and("u.project_id = ?", q.ProjectID)
	}
	query := "SELECT (u.made_at + ?) / ? AS day, u.project_id, " + task + ", " + key + `, u.agent, u.model, count(*), sum(u.input_tokens),
		sum(u.output_tokens), sum(u.cache_read), sum(u.cache_write), sum(u.turns), sum(u.cost_usd)
		FROM usages u` + join + w.String() + " GROUP BY day, u.project_id, u.agent, u.model"
	if q.ByTask {
		query += ", u.task_id"
	}
	args := append([]any{int64(offset) * int64(time.Second), nanosADay}, w.args...)
	return list(r.conn, query, args, func(rows *sql.Rows) (store.UsageRow, error) {
		var u store.UsageRow
		var day int64
		err := rows.Scan(&day, &u.ProjectID, &u.TaskID, &u.Task, &u.Agent, &u.Model, &u.Sessions, &u.Usage.InputTokens,
			&u.Usage.OutputTokens, &u.Usage.CacheRead, &u.Usage.CacheWrite, &u.Usage.Turns, &u.Usage.CostUSD)
		u.Day = time.Unix(0, day*nanosADay).UTC().Format(time.DateOnly)
		return u, err
	})
}

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
	w := &where{}
	w.and("stage IN ('waiting', 'queued')") // as the index says it
	if project != 0 {
		w.and("project_id = ?", project)
	}
	if person {
		w.and("waits_on = 'person'")
	} else {
		w.and("waits_on IS NOT 'person'")
	}
	query := "SELECT id FROM tasks INDEXED BY tasks_pending" + w.String() + " ORDER BY priority DESC, id" + limit
	return r.inOrder(r.found(query, append(w.args, most)...))
}
