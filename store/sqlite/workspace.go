package sqlite

import (
	"database/sql"
	"errors"

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
	return oneOrNone(workspaceOf)(r.q.WorkspaceOf(r.ctx, task))
}

func (r workspaces) OfEach(tasks []int64) (map[int64]coppice.Workspace, error) {
	return keyed(workspaceOf, func(w coppice.Workspace) int64 { return w.TaskID })(ofIDs(r.ctx, r.q.LastWorkspaces, tasks))
}

func (r workspaces) In(project int64) ([]coppice.Workspace, error) {
	return many(workspaceOf)(r.q.Workspaces(r.ctx, project))
}

func (t workspaces) Put(w *coppice.Workspace) error {
	var p packer
	row := dbsqlc.PutWorkspaceParams{
		ID: rowID(w.ID), ProjectID: w.ProjectID, TaskID: w.TaskID, Kind: w.Kind, Node: w.Node, Path: w.Path, Branch: w.Branch,
		BaseCommit: w.BaseCommit, Ports: packList(&p, w.Ports),
		CreatedAt: moment(w.CreatedAt), ReadyAt: moment(w.ReadyAt), RemovedAt: moment(w.RemovedAt), TrashID: w.TrashID,
		Kept: w.Kept, Tries: int64(w.Tries), RetryAt: moment(w.RetryAt),
	}
	return stored(t.tx, p, &w.ID, t.q.PutWorkspace, row)
}

func trashOf(r dbsqlc.Trash) (coppice.Trash, error) {
	return coppice.Trash{
		ID: r.ID, ProjectID: r.ProjectID, TaskID: r.TaskID, What: r.What, Path: r.Path, Branch: r.Branch,
		Head: r.Head, Ref: r.Ref, Archive: r.Archive, RemovedAt: at(r.RemovedAt), ExpiresAt: at(r.ExpiresAt),
		RestoredAt: at(r.RestoredAt), PurgedAt: at(r.PurgedAt),
	}, nil
}

func (r trash) Get(id int64) (coppice.Trash, error) {
	return one(trashOf, "trash", id)(r.q.Trash(r.ctx, id))
}

func (r trash) Of(task int64) ([]coppice.Trash, error) {
	return many(trashOf)(r.q.OpenTrashOf(r.ctx, task))
}

func (r trash) OfEach(tasks []int64) (map[int64][]coppice.Trash, error) {
	return grouped(trashOf, func(t coppice.Trash) int64 { return t.TaskID })(ofIDs(r.ctx, r.q.OpenTrashOfEach, tasks))
}

func (r trash) In(project int64) ([]coppice.Trash, error) {
	return many(trashOf)(r.q.TrashOf(r.ctx, project))
}

func (t trash) Put(c *coppice.Trash) error {
	id, err := t.q.PutTrash(t.ctx, dbsqlc.PutTrashParams{
		ID: rowID(c.ID), ProjectID: c.ProjectID, TaskID: c.TaskID, What: c.What, Path: c.Path, Branch: c.Branch,
		Head: c.Head, Ref: c.Ref, Archive: c.Archive, RemovedAt: moment(c.RemovedAt), ExpiresAt: moment(c.ExpiresAt),
		RestoredAt: moment(c.RestoredAt), PurgedAt: moment(c.PurgedAt),
	})
	return t.put(&c.ID, id, err)
}

func (r workspaces) OfBranch(project int64, name string) (string, error) {
	names := string(coppice.Raw(append(coppice.BranchParents(name), name)))
	key, err := r.q.TaskOfBranch(r.ctx, project, names)
	if errors.Is(err, sql.ErrNoRows) {
		key, err = r.q.TaskBelowBranch(r.ctx, project, name+"/", name+"0") // '0' follows '/'
	}
	return key, ignoreNoRows(err)
}

func (r workspaces) InCheckout(project, except int64) (string, error) {
	key, err := r.q.OpenInCheckout(r.ctx, project, except)
	if errors.Is(err, sql.ErrNoRows) {
		key, err = r.q.AskedInCheckout(r.ctx, project, except)
	}
	return key, ignoreNoRows(err)
}
