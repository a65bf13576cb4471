package sqlite

import (
	"cmp"
	"database/sql"
	"errors"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func documentOf(r dbsqlc.Document) (coppice.Document, error) {
	return coppice.Document{
		ID: r.ID, TaskID: r.TaskID, Name: r.Name, Version: r.Version, Text: r.Text, Size: r.Size,
		By: coppice.ParseActor(r.Actor), Step: r.Step, At: at(r.At),
	}, nil
}

func (r documents) Newest(task int64) ([]coppice.Document, error) {
	return many(documentOf)(r.q.NewestDocuments(r.ctx, task))
}

func (r documents) Get(task int64, name string, version int64) (coppice.Document, error) {
	newest, err := r.q.NewestVersion(r.ctx, task, name)
	if err != nil {
		return coppice.Document{}, err
	}
	d, err := r.q.Document(r.ctx, task, name, cmp.Or(version, newest))
	if errors.Is(err, sql.ErrNoRows) && newest > 0 {
		return coppice.Document{}, coppice.Errorf(coppice.ENotFound, "the document %s has no version %d", coppice.Quote(name), version).
			WithField("version").WithFix("read its newest version, which is %d; the last %d versions are kept", newest, coppice.MaxVersions)
	}
	return one(documentOf, "document", coppice.Quote(name))(d, err)
}

func (r documents) Versions(task int64, name string) ([]coppice.Document, error) {
	return many(func(r dbsqlc.DocumentVersionsRow) (coppice.Document, error) {
		return documentOf(dbsqlc.Document{ID: r.ID, TaskID: r.TaskID, Name: r.Name, Version: r.Version, Size: r.Size, Actor: r.Actor, Step: r.Step, At: r.At})
	})(r.q.DocumentVersions(r.ctx, task, name))
}

// Put adds a version. The newest version is never trimmed, so no version is used
// twice.
func (t documents) Put(d *coppice.Document) error {
	newest, err := t.q.NewestVersion(t.ctx, d.TaskID, d.Name)
	if err != nil {
		return err
	}
	id, err := t.q.AddDocument(t.ctx, dbsqlc.AddDocumentParams{
		TaskID: d.TaskID, Name: d.Name, Version: newest + 1, Size: int64(len(d.Text)), Actor: d.By.String(), Step: d.Step, At: moment(d.At), Text: d.Text,
	})
	if err != nil {
		return err
	}
	d.ID, d.Version, d.Size = id, newest+1, int64(len(d.Text))
	t.touch(store.TopicDocuments(d.TaskID))
	return t.q.TrimDocument(t.ctx, d.TaskID, d.Name, d.Version-coppice.MaxVersions)
}

// forgetDocuments removes at most most versions of the documents of a task, and
// reports whether none is left.
func (t *tx) forgetDocuments(task, most int64) (done bool, err error) {
	n, err := t.q.ForgetDocuments(t.ctx, task, most)
	if n > 0 {
		t.touch(store.TopicDocuments(task))
	}
	return n < most, err
}
