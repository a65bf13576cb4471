package sqlite

import (
	"database/sql"

	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func scheduleOf(r dbsqlc.Schedule) (coppice.Schedule, error) {
	var u unpacker
	s := coppice.Schedule{ID: r.ID, ProjectID: r.ProjectID, Name: r.Name, NextAt: at(r.NextAt), PausedAt: at(r.PausedAt)}
	u.unpack(r.Details, &s.ScheduleDetails)
	return s, u.err
}

func (r schedules) Get(id int64) (coppice.Schedule, error) {
	return one(scheduleOf, "schedule", id)(r.q.Schedule(r.ctx, id))
}

func (r schedules) ByName(project int64, name string) (coppice.Schedule, error) {
	return one(scheduleOf, "schedule", coppice.Quote(name))(r.q.ScheduleByName(r.ctx, project, name))
}

func (r schedules) In(project int64) ([]coppice.Schedule, error) {
	if project == 0 {
		return many(scheduleOf)(r.q.AllSchedules(r.ctx))
	}
	return many(scheduleOf)(r.q.SchedulesIn(r.ctx, project))
}

func (t schedules) Put(s *coppice.Schedule) error {
	var p packer
	row := dbsqlc.PutScheduleParams{
		ID: rowID(s.ID), ProjectID: s.ProjectID, Name: s.Name, NextAt: moment(s.NextAt), PausedAt: moment(s.PausedAt), Details: p.pack(s.ScheduleDetails),
	}
	return stored(t.tx, p, &s.ID, t.q.PutSchedule, row)
}

func (t schedules) Delete(id int64) error {
	n, err := t.q.DeleteSchedule(t.ctx, id)
	if err == nil && n == 0 {
		err = lookup(sql.ErrNoRows, "schedule", id)
	}
	return err
}
