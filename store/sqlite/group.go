package sqlite

import (
	"database/sql"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func groupOf(r dbsqlc.TaskGroup) (coppice.Group, error) {
	return coppice.Group{
		ID: r.ID, ProjectID: r.ProjectID, Name: r.Name, Title: r.Title, Kind: coppice.GroupKind(r.Kind), CreatedBy: r.CreatedBy, CreatedAt: at(r.CreatedAt),
	}, nil
}

func (r groups) Get(id int64) (coppice.Group, error) {
	return one(groupOf, "group", id)(r.q.TaskGroup(r.ctx, id))
}

func (r groups) ByName(project int64, name string) (coppice.Group, error) {
	return one(groupOf, "group", coppice.Quote(name))(r.q.TaskGroupByName(r.ctx, project, name))
}

func (r groups) Some(ids []int64) (map[int64]coppice.Group, error) {
	return keyed(groupOf, func(g coppice.Group) int64 { return g.ID })(ofIDs(r.ctx, r.q.SomeGroups, ids))
}

func (r groups) List(f store.GroupFilter) ([]coppice.Group, error) {
	w := &where{}
	if f.ProjectID != 0 {
		w.and("project_id = ?", f.ProjectID)
	}
	if f.BeforeID != 0 {
		w.and("id < ?", f.BeforeID)
	}
	if f.Open {
		w.and("EXISTS (SELECT 1 FROM tasks t INDEXED BY tasks_of_groups WHERE t.group_id = task_groups.id AND t.group_id IS NOT NULL AND t.stage <> 'ended')")
	}
	return list(r.conn, "SELECT id, project_id, name, title, kind, created_by, created_at FROM task_groups"+w.String()+" ORDER BY id DESC"+limit, append(w.args, f.Most),
		func(rows *sql.Rows) (coppice.Group, error) {
			var g dbsqlc.TaskGroup
			err := rows.Scan(&g.ID, &g.ProjectID, &g.Name, &g.Title, &g.Kind, &g.CreatedBy, &g.CreatedAt)
			if err != nil {
				return coppice.Group{}, err
			}
			return groupOf(g)
		})
}

// ofGroups is a condition on the tasks of groups, whose ids are JSON.
const ofGroups = " WHERE group_id IN (SELECT value FROM json_each(?)) AND group_id IS NOT NULL"

func (r groups) Tasks(ids []int64) ([]store.GroupCount, error) {
	const by = "group_id, stage, outcome, coalesce(waits_on, ''), coalesce(lane_project, 0), coalesce(lane_track, ''), coalesce(lane_agent, '')"
	query := "SELECT " + by + ", count(*) FROM tasks INDEXED BY tasks_of_groups" + ofGroups + " GROUP BY 1, 2, 3, 4, 5, 6, 7"
	return list(r.conn, query, []any{string(coppice.Raw(ids))}, func(rows *sql.Rows) (c store.GroupCount, err error) {
		err = rows.Scan(&c.Group, &c.Stage, &c.Outcome, &c.Wait, &c.Lane.ProjectID, &c.Lane.Track, &c.Lane.Agent, &c.N)
		return c, err
	})
}

func (r groups) Spent(ids []int64) (map[int64]coppice.Usage, error) {
	query := "SELECT t.group_id, sum(s.cost), sum(s.input), sum(s.output), sum(s.cache_read), sum(s.cache_write), sum(s.turns), sum(s.estimated)" +
		" FROM tasks t JOIN spend s ON s.day = '' AND s.scope = 'task/' || t.id" + ofGroups + " GROUP BY t.group_id"
	spent := map[int64]coppice.Usage{}
	_, err := list(r.conn, query, []any{string(coppice.Raw(ids))}, func(rows *sql.Rows) (none struct{}, err error) {
		var group, cost, estimated int64
		var u coppice.Usage
		err = rows.Scan(&group, &cost, &u.InputTokens, &u.OutputTokens, &u.CacheRead, &u.CacheWrite, &u.Turns, &estimated)
		u.CostUSD, u.Estimated = float64(cost)/1e9, estimated > 0
		spent[group] = u
		return none, err
	})
	return spent, err
}

func (t groups) Put(g *coppice.Group) error {
	id, err := t.q.PutGroup(t.ctx, dbsqlc.PutGroupParams{
		ID: rowID(g.ID), ProjectID: g.ProjectID, Name: g.Name, Title: g.Title, Kind: string(g.Kind), CreatedBy: g.CreatedBy, CreatedAt: moment(g.CreatedAt),
	})
	return t.put(&g.ID, id, err)
}

// Labels finds each label by an index, so that its cost does not depend on the
// number of tasks.
func (r groups) Labels(most int) ([]string, error) {
	const query = "WITH RECURSIVE l (label) AS (SELECT min(label) FROM task_labels" +
		" UNION ALL SELECT (SELECT min(label) FROM task_labels t WHERE t.label > l.label) FROM l WHERE l.label IS NOT NULL)" +
		" SELECT label FROM l WHERE label IS NOT NULL" + limit
	return list(r.conn, query, []any{most}, func(rows *sql.Rows) (label string, err error) {
		err = rows.Scan(&label)
		return label, err
	})
}

// unreadTasks selects the tasks that are unread for an actor.
const unreadTasks = " noted n LEFT JOIN seen s ON s.task_id = n.task_id AND s.actor = ? WHERE n.seq > coalesce(s.seq, 0)"

func (r seen) Unread(by coppice.Actor, ids []int64) (map[int64]bool, error) {
	unread := map[int64]bool{}
	if len(ids) == 0 {
		return unread, nil
	}
	_, err := list(r.conn, "SELECT n.task_id FROM"+unreadTasks+" AND n.task_id IN (SELECT value FROM json_each(?))", []any{by.String(), string(coppice.Raw(ids))}, func(rows *sql.Rows) (id int64, err error) {
		err = rows.Scan(&id)
		unread[id] = true
		return id, err
	})
	return unread, err
}

func (t seen) Put(by coppice.Actor, task, seq int64) error {
	return t.q.PutSeen(t.ctx, task, by.String(), seq)
}
