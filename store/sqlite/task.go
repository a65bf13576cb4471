package sqlite

import (
	"database/sql"
	"errors"
	"strings"

	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func taskOf(r dbsqlc.Task) (coppice.Task, error) {
	var u unpacker
	t := coppice.Task{
		ID: r.ID, ProjectID: r.ProjectID, Num: int(r.Num), Key: r.Key,
		Title: r.Title, Body: r.Body, Priority: int(r.Priority), Track: r.Track, Agent: r.Agent, Model: r.Model,
		Checks: unpackValue[[]string](&u, r.Checks), After: unpackValue[[]int64](&u, r.AfterIds),
		NotBefore: at(r.NotBefore), Category: r.Category, Steps: unpackValue[[]string](&u, r.Steps), Feature: r.Feature,
		Budget: coppice.USD(r.Budget), ForkOf: r.ForkOf, CreatedAt: at(r.CreatedAt), CreatedBy: r.CreatedBy,
		Stage: coppice.Stage(r.Stage), Wait: unpackPtr[coppice.Wait](&u, r.Wait), Next: unpackPtr[coppice.Next](&u, r.Next),
		Round: int(r.Round), Sessions: int(r.Sessions), StageAt: at(r.StageAt), Outcome: coppice.Outcome(r.Outcome),
		Failure: unpackPtr[coppice.Failure](&u, r.Failure), Landed: r.Landed, EndedAt: at(r.EndedAt), Warning: r.Warning,
		Level: r.Level, Archived: at(r.Archived), TaskDetails: unpackValue[coppice.TaskDetails](&u, r.Details),
	}
	return t, u.err
}

func (r tasks) Get(id int64) (coppice.Task, error) {
	return one(taskOf, "task", id)(r.q.Task(r.ctx, id))
}

func (r tasks) ByKey(key string) (coppice.Task, error) {
	return one(taskOf, "task", coppice.Quote(key))(r.q.TaskByKey(r.ctx, key))
}

func (r tasks) Keys(ids []int64) (map[int64]string, error) {
	rows, err := ofIDs(r.ctx, r.q.TaskKeys, ids)
	keys := make(map[int64]string, len(rows))
	for _, row := range rows {
		keys[row.ID] = row.Key
	}
	return keys, err
}

func (r tasks) Some(ids []int64) (map[int64]coppice.Task, error) {
	return keyed(taskOf, func(t coppice.Task) int64 { return t.ID })(ofIDs(r.ctx, r.q.SomeTasks, ids))
}

// inOrder returns tasks by their ids, in that order.
func (r tasks) inOrder(ids []int64, err error) ([]coppice.Task, error) {
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	found, err := r.Some(ids)
	return each(ids, err, func(id int64) (coppice.Task, error) { return found[id], nil })
}

func (r tasks) Dependants(task int64) ([]int64, error) { return r.q.Dependants(r.ctx, task) }

func (r tasks) Children(task int64) ([]coppice.Task, error) {
	return many(taskOf)(r.q.Children(r.ctx, sql.NullInt64{Int64: task, Valid: true}))
}

func (r tasks) Steps(flow int64) ([]coppice.Task, error) {
	return many(taskOf)(r.q.Steps(r.ctx, sql.NullInt64{Int64: flow, Valid: true}))
}

func (r tasks) OpenChildren(task int64) ([]int64, error) {
	return r.q.OpenChildren(r.ctx, sql.NullInt64{Int64: task, Valid: true})
}

func (r tasks) Ancestors(task int64) ([]int64, error) { return r.q.Ancestors(r.ctx, task) }

func (r lanes) Next(after coppice.Lane) (coppice.Lane, bool, error) {
	row, err := r.q.NextAgent(r.ctx, after.ProjectID, after.Track, after.Agent)
	if errors.Is(err, sql.ErrNoRows) {
		var next dbsqlc.NextTrackRow
		next, err = r.q.NextTrack(r.ctx, after.ProjectID, after.Track)
		row = dbsqlc.NextAgentRow(next)
	}
	if errors.Is(err, sql.ErrNoRows) {
		var next dbsqlc.NextProjectRow
		next, err = r.q.NextProject(r.ctx, after.ProjectID)
		row = dbsqlc.NextAgentRow(next)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return coppice.Lane{}, false, nil
	}
	if err != nil {
		return coppice.Lane{}, false, err
	}
	return coppice.Lane{ProjectID: row.LaneProject.Int64, Track: row.LaneTrack.String, Agent: row.LaneAgent.String}, true, nil
}

func (r lanes) Heads(lane coppice.Lane, most int) ([]coppice.Task, error) {
	rows, err := r.q.LaneHeads(r.ctx, dbsqlc.LaneHeadsParams{
		Project: lane.ProjectID, Track: lane.Track, Agent: lane.Agent, Most: int64(most),
	})
	return each(rows, err, taskOf)
}

func (t tasks) Put(task *coppice.Task) error {
	row, err := taskRow(task)
	if err != nil {
		return err
	}
	var old sql.NullString
	if task.ID != 0 {
		old, err = t.q.TaskAfter(t.ctx, task.ID)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	id, err := t.q.PutTask(t.ctx, row)
	if err := t.put(&task.ID, id, err); err != nil {
		return err
	}
	if old == row.AfterIds {
		return nil
	}
	if err := t.q.DropDeps(t.ctx, task.ID); err != nil {
		return err
	}
	for _, after := range task.After {
		if err := t.q.AddDep(t.ctx, task.ID, after); err != nil {
			return err
		}
	}
	return nil
}

func taskRow(t *coppice.Task) (dbsqlc.PutTaskParams, error) {
	var p packer
	lane := t.Lane()
	queued := lane != (coppice.Lane{})
	row := dbsqlc.PutTaskParams{
		ID: rowID(t.ID), ProjectID: t.ProjectID, Num: int64(t.Num), Key: t.Key,
		Title: t.Title, Body: t.Body, Priority: int64(t.Priority), Track: t.Track, Agent: t.Agent, Model: t.Model,
		Checks: packList(&p, t.Checks), AfterIds: packList(&p, t.After),
		NotBefore: moment(t.NotBefore), Category: t.Category, Steps: packList(&p, t.Steps), Feature: t.Feature,
		Budget: float64(t.Budget), ForkOf: t.ForkOf, CreatedAt: moment(t.CreatedAt), CreatedBy: t.CreatedBy,
		Stage: string(t.Stage), Wait: packPtr(&p, t.Wait), Next: packPtr(&p, t.Next),
		Round: int64(t.Round), Sessions: int64(t.Sessions), Begun: t.Sessions > 0, StageAt: moment(t.StageAt), Outcome: string(t.Outcome),
		Failure: packPtr(&p, t.Failure), Landed: t.Landed, EndedAt: moment(t.EndedAt), Warning: t.Warning,
		Level: t.Level, Archived: moment(t.Archived), Details: packFields(&p, t.TaskDetails),
		LaneProject: sql.NullInt64{Int64: lane.ProjectID, Valid: queued},
		LaneTrack:   sql.NullString{String: lane.Track, Valid: queued},
		LaneAgent:   sql.NullString{String: lane.Agent, Valid: queued},
		Folded:      strings.ToLower(t.Key + "\n" + t.Title),
		WaitsOn:     sql.NullString{Valid: t.Stage == coppice.StageWaiting},
	}
	if row.WaitsOn.Valid && t.Wait != nil {
		row.WaitsOn.String = string(t.Wait.On)
	}
	return row, p.err
}
