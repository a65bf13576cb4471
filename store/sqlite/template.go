package sqlite

import (
	"database/sql"

	"coppice"
)

// templateTasks selects what the statistics of templates need from each task. The
// index has all its columns.
const templateTasks = `SELECT t.template, t.outcome, t.ended_at - t.created_at AS took,
  coalesce((SELECT s.model FROM sessions s WHERE s.task_id = t.id AND s.role NOT IN ('verify', 'analyze') AND s.model <> '' ORDER BY s.id DESC LIMIT 1), t.model) AS model,
  (SELECT coalesce(sum(c.cost), 0) FROM spend c WHERE c.day = '' AND c.scope IN ('task/' || t.id, 'family/' || t.id)) AS cost,
  (SELECT coalesce(sum(c.turns), 0) FROM spend c WHERE c.day = '' AND c.scope IN ('task/' || t.id, 'family/' || t.id)) AS turns
FROM tasks t INDEXED BY tasks_by_template`

func (r tasks) TemplateStats(project int64) ([]coppice.TemplateStat, error) {
	w := &where{}
	w.and("t.template IS NOT NULL AND t.stage = 'ended'") // exactly as in the index
	if project != 0 {
		w.and("t.project_id = ?", project)
	}
	query := "SELECT template, model, count(*), sum(outcome = 'done'), sum(outcome = 'failed'), avg(cost), avg(turns), CAST(coalesce(avg(took), 0) AS INTEGER)" +
		" FROM (" + templateTasks + w.String() + ") GROUP BY template, model ORDER BY template, model"
	return list(r.conn, query, w.args, func(rows *sql.Rows) (s coppice.TemplateStat, err error) {
		err = rows.Scan(&s.Template, &s.Model, &s.Tasks, &s.Done, &s.Failed, &s.CostUSD, &s.Turns, &s.Took)
		s.CostUSD /= billion
		return s, err
	})
}
