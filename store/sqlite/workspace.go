package sqlite

import (
	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func workspaceOf(r dbsqlc.Workspace) (coppice.Workspace, error) {
	var u unpacker
	w := coppice.Workspace{
		ID: r.ID, ProjectID: r.ProjectID, TaskID: r.TaskID, Kind: r.Kind, Node: r.Node, Path: r.Path, Branch: r.Branch,
		BaseCommit: r.BaseCommit, Ports: unpackValue[[]int](&u, r.Ports),
		CreatedAt: at(r.CreatedAt), ReadyAt: at(r.ReadyAt), RemovedAt: at(r.RemovedAt), TrashID: r.TrashID,
		Kept: r.Kept, Tries: int(r.Tries), RetryAt: at(r.RetryAt),
	}
	return w, u.err
}

func (r workspaces) Of(task int64) (*coppice.Workspace, error) {
	row, err := r.q.WorkspaceOf(r.ctx, task)
	return oneOrNone(row, err, workspaceOf)
}

func (r workspaces) OfEach(tasks []int64) (map[int64]coppice.Workspace, error) {
	rows, err := ofIDs(r.ctx, r.q.LastWorkspaces, tasks)
	return keyed(rows, err, workspaceOf, func(w coppice.Workspace) int64 { return w.TaskID })
}

func (r workspaces) In(project int64) ([]coppice.Workspace, error) {
	rows, err := r.q.Workspaces(r.ctx, project)
	return each(rows, err, workspaceOf)
}

func (t workspaces) Put(w *coppice.Workspace) error {
	var p packer
	row := dbsqlc.PutWorkspaceParams{
		ID: rowID(w.ID), ProjectID: w.ProjectID, TaskID: w.TaskID, Kind: w.Kind, Node: w.Node, Path: w.Path, Branch: w.Branch,
		BaseCommit: w.BaseCommit, Ports: packList(&p, w.Ports),
		CreatedAt: moment(w.CreatedAt), ReadyAt: moment(w.ReadyAt), RemovedAt: moment(w.RemovedAt), TrashID: w.TrashID,
		Kept: w.Kept, Tries: int64(w.Tries), RetryAt: moment(w.RetryAt),
	}
	if p.err != nil {
		return p.err
	}
	id, err := t.q.PutWorkspace(t.ctx, row)
	return t.put(&w.ID, id, err)
}

func trashOf(r dbsqlc.Trash) (coppice.Trash, error) {
	return coppice.Trash{
		ID: r.ID, ProjectID: r.ProjectID, TaskID: r.TaskID, What: r.What, Path: r.Path, Branch: r.Branch,
		Head: r.Head, Ref: r.Ref, Archive: r.Archive, RemovedAt: at(r.RemovedAt), ExpiresAt: at(r.ExpiresAt),
		RestoredAt: at(r.RestoredAt), PurgedAt: at(r.PurgedAt),
	}, nil
}

func (r trash) Get(id int64) (coppice.Trash, error) {
	row, err := r.q.Trash(r.ctx, id)
	return one(row, err, trashOf, "trash", id)
}

func (r trash) Of(task int64) ([]coppice.Trash, error) {
	rows, err := r.q.OpenTrashOf(r.ctx, task)
	return each(rows, err, trashOf)
}

func (r trash) OfEach(tasks []int64) (map[int64][]coppice.Trash, error) {
	rows, err := ofIDs(r.ctx, r.q.OpenTrashOfEach, tasks)
	return grouped(rows, err, trashOf, func(t coppice.Trash) int64 { return t.TaskID })
}

func (r trash) In(project int64) ([]coppice.Trash, error) {
	rows, err := r.q.TrashOf(r.ctx, project)
	return each(rows, err, trashOf)
}

func (t trash) Put(c *coppice.Trash) error {
	id, err := t.q.PutTrash(t.ctx, dbsqlc.PutTrashParams{
		ID: rowID(c.ID), ProjectID: c.ProjectID, TaskID: c.TaskID, What: c.What, Path: c.Path, Branch: c.Branch,
		Head: c.Head, Ref: c.Ref, Archive: c.Archive, RemovedAt: moment(c.RemovedAt), ExpiresAt: moment(c.ExpiresAt),
		RestoredAt: moment(c.RestoredAt), PurgedAt: moment(c.PurgedAt),
	})
	return t.put(&c.ID, id, err)
}
