package sqlite

import (
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func askOf(r dbsqlc.Ask) (coppice.Ask, error) {
	return coppice.Ask{
		ID: r.ID, Subject: coppice.Subject{Kind: coppice.SubjectKind(r.SubjectKind), ID: r.SubjectID}, ProjectID: r.ProjectID,
		Verb: coppice.Verb(r.Verb), Text: r.Text, Args: raw(r.Args), By: coppice.ParseActor(r.Author),
		At: at(r.AskedAt), SettledAt: at(r.SettledAt), Outcome: r.Outcome,
	}, nil
}

func (r asks) Open(s coppice.Subject) ([]coppice.Ask, error) {
	return many(askOf)(r.q.OpenAsks(r.ctx, string(s.Kind), s.ID))
}

func (r asks) AllOpen() ([]coppice.Ask, error) {
	return many(askOf)(r.q.AllOpenAsks(r.ctx))
}

func (r asks) Of(project int64, s coppice.Subject) ([]coppice.Ask, error) {
	return many(askOf)(r.q.AsksOf(r.ctx, project, string(s.Kind), s.ID))
}

func (t asks) Put(a *coppice.Ask) error {
	id, err := t.q.PutAsk(t.ctx, dbsqlc.PutAskParams{
		ID: rowID(a.ID), SubjectKind: string(a.Subject.Kind), SubjectID: a.Subject.ID, ProjectID: a.ProjectID, Verb: string(a.Verb),
		Text: a.Text, Args: text(a.Args), Author: a.By.String(), AskedAt: moment(a.At), SettledAt: moment(a.SettledAt), Outcome: a.Outcome,
	})
	return t.put(&a.ID, id, err)
}

func (t asks) Trim(before time.Time) (int, error) {
	n, err := t.q.TrimAsks(t.ctx, moment(before), store.MostTrimmed)
	return int(n), err
}
