package sqlite

import (
	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func queueOf(r dbsqlc.Queue) (coppice.Queue, error) {
	var u unpacker
	q := coppice.Queue{
		ID: r.ID, ProjectID: r.ProjectID, Branch: r.Branch, Tip: r.Tip, Needs: unpackValue[coppice.Needs](&u, r.Needs),
	}
	return q, u.err
}

func (r queues) Get(id int64) (coppice.Queue, error) {
	return one(queueOf, "queue", id)(r.q.Queue(r.ctx, id))
}

func (r queues) Of(project int64, name string) (coppice.Queue, error) {
	return one(queueOf, "queue of project", project)(remember(&r.known.queues, branch{project, name}, func() (dbsqlc.Queue, error) { return r.q.QueueOf(r.ctx, project, name) }))
}

func (r queues) In(project int64) ([]coppice.Queue, error) {
	return many(queueOf)(r.q.QueuesIn(r.ctx, project))
}

func (t queues) Put(q *coppice.Queue) error {
	var p packer
	row := dbsqlc.PutQueueParams{ID: rowID(q.ID), ProjectID: q.ProjectID, Branch: q.Branch, Tip: q.Tip, Needs: packList(&p, q.Needs)}
	t.known = known{}
	return stored(t.tx, p, &q.ID, t.q.PutQueue, row)
}
