package sqlite

import (
	"database/sql"
	"errors"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func pullOf(r dbsqlc.Pull) (coppice.Pull, error) {
	var u unpacker
	p := coppice.Pull{ID: r.ID, ProjectID: r.ProjectID, TaskID: r.TaskID, Number: int(r.Number), HotUntil: at(r.HotUntil), EndedAt: at(r.EndedAt)}
	u.unpack(r.Details, &p.PullDetails)
	return p, u.err
}

func (r pulls) Of(task int64) (*coppice.Pull, error) {
	row, err := r.q.PullOf(r.ctx, task)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := pullOf(row)
	return &p, err
}

func (r pulls) OfTasks(tasks []int64) (map[int64]coppice.Pull, error) {
	list, err := many(pullOf)(r.q.PullsOf(r.ctx, string(coppice.Raw(tasks))))
	found := make(map[int64]coppice.Pull, len(list))
	for _, p := range list {
		found[p.TaskID] = p
	}
	return found, err
}

func (r pulls) Marks(tasks []int64) (map[int64]coppice.PullMark, error) {
	found := make(map[int64]coppice.PullMark, len(tasks))
	if len(tasks) == 0 {
		return found, nil
	}
	rows, err := r.q.PullMarks(r.ctx, string(coppice.Raw(tasks)))
	var u unpacker
	for _, row := range rows {
		var m coppice.PullMark
		u.unpack(row.Mark, &m)
		found[row.TaskID] = m
	}
	return found, errors.Join(err, u.err)
}

func (r pulls) ByNumber(project int64, number int) (coppice.Pull, error) {
	return one(pullOf, "pull request", number)(r.q.PullByNumber(r.ctx, project, int64(number)))
}

// pullMark is what the column mark has: what is read of many requests at a time.
type pullMark struct {
	coppice.PullMark
	Followed *coppice.FollowedPull `json:"followed,omitempty"` // nil if an earlier version wrote the row
}

func markOf(p coppice.Pull) pullMark {
	if !p.Open() {
		return pullMark{PullMark: p.Mark()}
	}
	followed := p.Followed()
	return pullMark{p.Mark(), &followed}
}

func (r pulls) Followed(project int64) ([]coppice.FollowedPull, error) {
	rows, err := r.q.FollowedPulls(r.ctx, project)
	if err != nil {
		return nil, err
	}
	list := make([]coppice.FollowedPull, 0, len(rows))
	var u unpacker
	for _, row := range rows {
		var m pullMark
		u.unpack(row.Mark, &m)
		if m.Followed == nil {
			p, err := r.Of(row.TaskID)
			if err != nil || p == nil {
				return nil, err
			}
			list = append(list, p.Followed())
			continue
		}
		f := *m.Followed
		f.TaskID, f.Number, f.HotUntil, f.Branch = row.TaskID, int(row.Number), at(row.HotUntil), m.Branch
		list = append(list, f)
	}
	return list, u.err
}

func (t pulls) Put(p *coppice.Pull) error {
	var pack packer
	row := dbsqlc.PutPullParams{
		ID: rowID(p.ID), ProjectID: p.ProjectID, TaskID: p.TaskID, Number: int64(p.Number), HotUntil: moment(p.HotUntil), EndedAt: moment(p.EndedAt),
		Mark: pack.pack(markOf(*p)), Details: pack.pack(p.PullDetails),
	}
	return stored(t.tx, pack, &p.ID, t.q.PutPull, row)
}

func (r forges) Of(project int64) (coppice.ForgeRow, error) {
	f := coppice.ForgeRow{ProjectID: project}
	row, err := r.q.Forge(r.ctx, project)
	if errors.Is(err, sql.ErrNoRows) {
		return f, nil
	}
	var u unpacker
	f.NextAt = at(row.NextAt)
	if err == nil {
		u.unpack(row.Details, &f.ForgeDetails)
		err = u.err
	}
	return f, err
}

func (t forges) Put(f coppice.ForgeRow) error {
	var p packer
	details := p.pack(f.ForgeDetails)
	if p.err != nil {
		return p.err
	}
	return t.q.PutForge(t.ctx, f.ProjectID, moment(f.NextAt), details)
}

func reactedOf(r dbsqlc.Reaction) (coppice.Reacted, error) {
	var u unpacker
	e := coppice.Reacted{ID: r.ID, ProjectID: r.ProjectID, TaskID: r.TaskID, Key: r.EventKey, At: at(r.At)}
	u.unpack(r.Details, &e.ReactedDetails)
	return e, u.err
}

func (r reactions) Of(project, task int64) ([]coppice.Reacted, error) {
	return many(reactedOf)(r.q.ReactionsOf(r.ctx, task, project))
}

func (r reactions) List(f store.ReactionFilter) ([]coppice.Reacted, error) {
	return many(reactedOf)(r.q.Reactions(r.ctx, dbsqlc.ReactionsParams{ProjectID: f.ProjectID, TaskID: f.TaskID, Before: f.BeforeID, Most: int64(f.Most)}))
}

func (t reactions) Put(e *coppice.Reacted) error {
	var p packer
	row := dbsqlc.PutReactionParams{ID: rowID(e.ID), ProjectID: e.ProjectID, TaskID: e.TaskID, EventKey: e.Key, At: moment(e.At), Details: p.pack(e.ReactedDetails)}
	if err := stored(t.tx, p, &e.ID, t.q.PutReaction, row); err != nil {
		return err
	}
	return t.q.TrimReactions(t.ctx, e.TaskID, e.ProjectID, coppice.KeptReactions)
}
