package sqlite

import (
	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func (r snoozes) All() ([]coppice.Snooze, error) {
	rows, err := r.q.Snoozes(r.ctx)
	return each(rows, err, func(row dbsqlc.Snooze) (coppice.Snooze, error) {
		return coppice.Snooze{
			Entry: row.Entry, Mark: row.Mark, ProjectID: row.ProjectID, Until: at(row.Until), Event: row.Event,
			TaskID: row.TaskID, After: row.AfterSeq, By: coppice.ParseActor(row.Actor), At: at(row.At),
		}, nil
	})
}

func (t snoozes) Put(s coppice.Snooze) error {
	return t.q.PutSnooze(t.ctx, dbsqlc.PutSnoozeParams{
		Entry: s.Entry, Mark: s.Mark, ProjectID: s.ProjectID, Until: moment(s.Until), Event: s.Event,
		TaskID: s.TaskID, AfterSeq: s.After, Actor: s.By.String(), At: moment(s.At),
	})
}

func (t snoozes) Drop(entry string) (bool, error) {
	n, err := t.q.DropSnooze(t.ctx, entry)
	return n > 0, err
}
