package sqlite

import (
	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func hookRunOf(r dbsqlc.HookRun) (coppice.HookRun, error) {
	var u unpacker
	h := coppice.HookRun{
		ID: r.ID, Key: r.HookKey, ProjectID: r.ProjectID, TaskID: r.TaskID, LandingID: r.LandingID, Commit: r.CommitHash,
		Event: coppice.HookEvent(r.Event), Lane: r.Lane, Blocks: r.Blocks, OfferedAt: at(r.OfferedAt), EndedAt: at(r.EndedAt),
	}
	u.unpack(r.Details, &h.HookRunDetails)
	return h, u.err
}

func (r hooks) ByKey(key string) (coppice.HookRun, error) {
	return one(hookRunOf, "run of a hook", key)(r.q.HookRunByKey(r.ctx, key))
}

func (r hooks) Offered(project int64) ([]coppice.HookRun, error) {
	return many(hookRunOf)(r.q.OfferedHookRuns(r.ctx, project))
}

func (r hooks) Next(project int64, most int) ([]coppice.HookRun, error) {
	return many(hookRunOf)(r.q.NextHookRuns(r.ctx, project, int64(most)))
}

func (r hooks) Lane(lane string) ([]coppice.HookRun, error) {
	return many(hookRunOf)(r.q.HookRunsInLane(r.ctx, lane))
}

func (r hooks) Before(landing int64, commit string) ([]coppice.HookRun, error) {
	return many(hookRunOf)(r.q.HookRunsBefore(r.ctx, landing, commit))
}

func (r hooks) List(f store.HookFilter) ([]coppice.HookRun, error) {
	return many(hookRunOf)(r.q.HookRuns(r.ctx, dbsqlc.HookRunsParams{
		ProjectID: f.ProjectID, TaskID: f.TaskID, Event: string(f.Event), Before: f.BeforeID, Most: int64(f.Most),
	}))
}

func (t hooks) Put(h *coppice.HookRun) error {
	var p packer
	row := dbsqlc.PutHookRunParams{
		ID: rowID(h.ID), HookKey: h.Key, ProjectID: h.ProjectID, TaskID: h.TaskID, LandingID: h.LandingID, CommitHash: h.Commit,
		Event: string(h.Event), Lane: h.Lane, Blocks: h.Blocks, OfferedAt: moment(h.OfferedAt), EndedAt: moment(h.EndedAt), Details: p.pack(h.HookRunDetails),
	}
	t.touch(store.TopicHooks)
	if err := stored(t.tx, p, &h.ID, t.q.PutHookRun, row); err != nil || h.Open() {
		return err
	}
	_, err := t.q.TrimHookRuns(t.ctx, h.ProjectID, coppice.KeptHookRuns)
	return err
}
