package sqlite

import (
	"cmp"
	"database/sql"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func noteOf(r dbsqlc.Note) (coppice.Note, error) {
	return coppice.Note{
		ProjectID: r.ProjectID, Scope: coppice.NoteScope(r.Scope), Key: r.Key, Value: r.Value, Version: r.Version, Size: r.Size,
		By: coppice.ParseActor(r.Actor), At: at(r.At),
	}, nil
}

func (r notes) Get(project int64, scope coppice.NoteScope, key string) (coppice.Note, error) {
	return one(noteOf, "note", key)(r.q.Note(r.ctx, project, string(scope), key))
}

// afterKeys is greater than all characters of a key.
const afterKeys = "\x7f"

func (r notes) List(f store.NoteFilter) ([]coppice.Note, error) {
	w := &where{}
	w.and("project_id = ?", f.ProjectID)
	if f.Scope != "" {
		w.and("scope = ?", string(f.Scope))
	}
	if f.Prefix != "" {
		w.and("key >= ? AND key < ?", f.Prefix, f.Prefix+afterKeys)
	}
	if f.After != "" {
		w.and("(scope, key) > (?, ?)", string(cmp.Or(f.AfterScope, f.Scope)), f.After)
	}
	const query = "SELECT project_id, scope, key, version, size, actor, at FROM notes"
	return list(r.conn, query+w.String()+" ORDER BY project_id, scope, key"+limit, append(w.args, f.Most), func(rows *sql.Rows) (coppice.Note, error) {
		var n dbsqlc.Note
		if err := rows.Scan(&n.ProjectID, &n.Scope, &n.Key, &n.Version, &n.Size, &n.Actor, &n.At); err != nil {
			return coppice.Note{}, err
		}
		return noteOf(n)
	})
}

func (r notes) Totals(project int64) (coppice.NoteTotals, error) {
	t, err := r.q.NoteTotals(r.ctx, project)
	return coppice.NoteTotals{Notes: int(t.Notes), Bytes: t.Bytes, Version: t.Version}, ignoreNoRows(err)
}

func (t notes) Put(n *coppice.Note) error {
	totals, err := t.Totals(n.ProjectID)
	if err != nil {
		return err
	}
	n.Version, n.Size = totals.Version+1, int64(len(n.Value))
	t.touch(store.TopicNote(n.ProjectID, n.Scope, n.Key))
	return t.q.PutNote(t.ctx, dbsqlc.PutNoteParams{
		ProjectID: n.ProjectID, Scope: string(n.Scope), Key: n.Key, Version: n.Version, Size: n.Size, Actor: n.By.String(), At: moment(n.At), Value: n.Value,
	})
}

func (t notes) Delete(project int64, scope coppice.NoteScope, key string) error {
	n, err := t.q.DeleteNote(t.ctx, project, string(scope), key)
	if err == nil && n == 0 {
		err = lookup(sql.ErrNoRows, "note", key)
	}
	t.touch(store.TopicNote(project, scope, key))
	return err
}

// forgetNotes removes the notes of a task.
func (t *tx) forgetNotes(task int64) error {
	project, err := t.q.ProjectOfTask(t.ctx, task)
	if err != nil {
		return err
	}
	scope := coppice.NotesOfTask(task)
	keys, err := t.q.NotesOfScope(t.ctx, project, string(scope))
	if err != nil {
		return err
	}
	for _, key := range keys {
		t.touch(store.TopicNote(project, scope, key))
	}
	return t.q.ForgetNotesOfScope(t.ctx, project, string(scope))
}
