package sqlite

import (
	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func commentOf(r dbsqlc.Comment) (coppice.Comment, error) {
	return coppice.Comment{
		ID: r.ID, TaskID: r.TaskID, Path: r.Path, Side: coppice.Side(r.Side), First: int(r.FirstLine), Last: int(r.LastLine), Blob: r.Blob, Code: r.Code,
		Text: r.Text, By: r.Author, State: coppice.CommentState(r.State), MessageID: r.MessageID,
		CreatedAt: at(r.CreatedAt), SentAt: at(r.SentAt), ResolvedAt: at(r.ResolvedAt),
	}, nil
}

func (r comments) Get(id int64) (coppice.Comment, error) {
	return one(commentOf, "comment", id)(r.q.Comment(r.ctx, id))
}

func (r comments) Of(task int64) ([]coppice.Comment, error) {
	return many(commentOf)(r.q.CommentsOf(r.ctx, task))
}

func (t comments) Put(c *coppice.Comment) error {
	id, err := t.q.PutComment(t.ctx, dbsqlc.PutCommentParams{
		ID: rowID(c.ID), TaskID: c.TaskID, Path: c.Path, Side: string(c.Side), FirstLine: int64(c.First), LastLine: int64(c.Last), Blob: c.Blob, Code: c.Code,
		Text: c.Text, Author: c.By, State: string(c.State), MessageID: c.MessageID,
		CreatedAt: moment(c.CreatedAt), SentAt: moment(c.SentAt), ResolvedAt: moment(c.ResolvedAt),
	})
	return t.put(&c.ID, id, err)
}

func (t comments) Drop(id int64) error { return t.q.DropComment(t.ctx, id) }

func (r viewed) Of(task int64) ([]coppice.Viewed, error) {
	rows, err := r.q.ViewedOf(r.ctx, task)
	return each(rows, err, func(r dbsqlc.Viewed) (coppice.Viewed, error) {
		return coppice.Viewed{TaskID: r.TaskID, By: r.Author, Path: r.Path, Blob: r.Blob}, nil
	})
}

func (t viewed) Put(v coppice.Viewed) error {
	return t.q.PutViewed(t.ctx, dbsqlc.PutViewedParams{TaskID: v.TaskID, Author: v.By, Path: v.Path, Blob: v.Blob})
}

func (t viewed) Drop(task int64, by, path string) error { return t.q.DropViewed(t.ctx, task, by, path) }
