package sqlite

import (
	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func previewOf(r dbsqlc.Preview) (coppice.Preview, error) {
	return coppice.Preview{
		ID: r.ID, ProjectID: r.ProjectID, TaskID: r.TaskID, State: coppice.PreviewState(r.State), Port: int(r.Port), Address: r.Address, By: r.StartedBy,
		CreatedAt: at(r.CreatedAt), ReadyAt: at(r.ReadyAt), EndedAt: at(r.EndedAt), Reason: r.Reason, Fix: r.Fix, StopAt: at(r.StopAt), StopTries: int(r.StopTries),
	}, nil
}

func (r previews) Last(task int64) (*coppice.Preview, error) {
	return oneOrNone(previewOf)(r.q.LastPreview(r.ctx, task))
}

func (r previews) Live() ([]coppice.Preview, error) {
	return many(previewOf)(r.q.LivePreviews(r.ctx))
}

func (t previews) Put(p *coppice.Preview) error {
	id, err := t.q.PutPreview(t.ctx, dbsqlc.PutPreviewParams{
		ID: rowID(p.ID), ProjectID: p.ProjectID, TaskID: p.TaskID, State: string(p.State), Port: int64(p.Port), Address: p.Address, StartedBy: p.By,
		CreatedAt: moment(p.CreatedAt), ReadyAt: moment(p.ReadyAt), EndedAt: moment(p.EndedAt), Reason: p.Reason, Fix: p.Fix, StopAt: moment(p.StopAt), StopTries: int64(p.StopTries),
	})
	return t.put(&p.ID, id, err)
}
