package sqlite

import (
	"database/sql"
	"errors"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func promptedSession(r dbsqlc.SessionRow) (coppice.Session, error) {
	s, err := sessionOf(r.Session)
	s.Prompt = r.Text.String
	return s, err
}

func sessionOf(s dbsqlc.Session) (coppice.Session, error) {
	var u unpacker
	c := coppice.Session{
		ID: s.ID, ProjectID: s.ProjectID, TaskID: s.TaskID, N: int(s.N), Key: s.Key, Round: int(s.Round),
		Role: coppice.Role(s.Role), Track: s.Track, Agent: s.Agent, Model: s.Model, Account: s.Account, Resume: s.Resume, Fork: s.Fork, Screen: s.Screen,
		State: coppice.SessionState(s.State), CreatedAt: at(s.CreatedAt), StartedAt: at(s.StartedAt),
		EndedAt: at(s.EndedAt), OutputAt: at(s.OutputAt),
		Conversation: s.Conversation, Signal: s.Signal, Summary: s.Summary, Failure: unpackPtr[coppice.Failure](&u, s.Failure),
		From: s.FromCommit, Head: s.Head, Stat: s.Stat, Usage: unpackValue[coppice.Usage](&u, s.Usage), Budget: coppice.USD(s.Budget), Cursor: s.Cursor,
		StopWhy: coppice.StopReason(s.StopWhy), StopTries: int(s.StopTries), StopAt: at(s.StopAt), Warning: s.Warning, Report: s.Report, Dropped: s.Dropped, Memory: s.Memory,
		Verdict: unpackPtr[coppice.Verdict](&u, s.Verdict), Answer: answerOf(&u, s.Answer), Path: s.Path, Ports: unpackValue[[]int](&u, s.Ports),
		ParkedAt: at(s.ParkedAt), ReadyAt: at(s.ReadyAt), ParkedFor: coppice.Duration(s.ParkedFor), Waits: unpackPtr[coppice.Waits](&u, s.Waits),
	}
	if s.ExitCode.Valid {
		exit := int(s.ExitCode.Int64)
		c.Exit = &exit
	}
	return c, u.err
}

func (r sessions) Get(id int64) (coppice.Session, error) {
	return one(promptedSession, "session", id)(r.q.Session(r.ctx, id))
}

func (r sessions) Caller(id int64) (coppice.Session, error) {
	s, parked := coppice.Session{ID: id}, sql.NullInt64{}
	row := r.conn.QueryRowContext(r.ctx, "SELECT project_id, task_id, n, key, role, path, state, parked_at FROM sessions WHERE id = ?", id)
	if err := row.Scan(&s.ProjectID, &s.TaskID, &s.N, &s.Key, &s.Role, &s.Path, &s.State, &parked); err != nil {
		return coppice.Session{}, lookup(err, "session", id)
	}
	s.ParkedAt = at(parked)
	return s, nil
}

func (r sessions) ByKey(key string) (coppice.Session, error) {
	row, err := r.q.SessionByKey(r.ctx, key)
	if err != nil {
		return coppice.Session{}, lookup(err, "session", coppice.Quote(key))
	}
	return promptedSession(dbsqlc.SessionRow(row))
}

func (r sessions) Of(task int64) ([]coppice.Session, error) {
	return many(sessionOf)(r.q.SessionsOf(r.ctx, task))
}

func (r sessions) OfEach(tasks []int64) (map[int64][]coppice.Session, error) {
	return grouped(sessionOf, func(s coppice.Session) int64 { return s.TaskID })(ofIDs(r.ctx, r.q.SessionsOfEach, tasks))
}

func (r sessions) Since(project int64, from time.Time, most int) ([]coppice.Session, error) {
	return many(sessionOf)(r.q.SessionsSince(r.ctx, moment(from).Int64, project, int64(most)))
}

func (r sessions) Live() ([]coppice.Session, error) {
	return many(sessionOf)(r.q.LiveSessions(r.ctx))
}

func (r sessions) Written() (map[string]store.Written, error) {
	written := map[string]store.Written{}
	_, err := list(r.conn, "SELECT id, key, cursor FROM sessions WHERE live", nil, func(rows *sql.Rows) (w store.Written, err error) {
		var key string
		err = rows.Scan(&w.Session, &key, &w.Cursor)
		written[key] = w
		return w, err
	})
	return written, err
}

func (r sessions) Last(task int64) (*coppice.Session, error) {
	return oneOrNone(sessionOf)(r.q.LastSession(r.ctx, task))
}

func (r lanes) Running() (map[coppice.Lane]int, error) {
	rows, err := r.q.Running(r.ctx)
	if err != nil {
		return nil, err
	}
	running := make(map[coppice.Lane]int, len(rows))
	for _, row := range rows {
		running[coppice.Lane{ProjectID: row.ProjectID, Track: row.Track, Agent: row.Agent}] = int(row.N)
	}
	return running, nil
}

func (r lanes) InFlight() (map[int64]int, error) {
	rows, err := r.q.InFlight(r.ctx)
	flying := make(map[int64]int, len(rows))
	for _, row := range rows {
		flying[row.ProjectID] = int(row.N)
	}
	return flying, err
}

func (t sessions) Put(s *coppice.Session) error {
	var p packer
	row := dbsqlc.PutSessionParams{
		ID: rowID(s.ID), ProjectID: s.ProjectID, TaskID: s.TaskID, N: int64(s.N), Key: s.Key, Round: int64(s.Round),
		Role: string(s.Role), Track: s.Track, Agent: s.Agent, Model: s.Model, Account: s.Account, Resume: s.Resume, Fork: s.Fork, Screen: s.Screen,
		State: string(s.State), Live: s.State.Live(), CreatedAt: moment(s.CreatedAt), StartedAt: moment(s.StartedAt),
		EndedAt: moment(s.EndedAt), OutputAt: moment(s.OutputAt),
		Conversation: s.Conversation, Signal: s.Signal, Summary: s.Summary, Failure: packPtr(&p, s.Failure),
		FromCommit: s.From, Head: s.Head, Stat: s.Stat, Budget: float64(s.Budget), Cursor: s.Cursor,
		StopWhy: string(s.StopWhy), StopTries: int64(s.StopTries), StopAt: moment(s.StopAt), Warning: s.Warning, Report: s.Report, Dropped: s.Dropped, Memory: s.Memory,
		Verdict: packPtr(&p, s.Verdict), Answer: packPtr(&p, s.Answer), Path: s.Path, Ports: packList(&p, s.Ports),
		ParkedAt: moment(s.ParkedAt), ReadyAt: moment(s.ReadyAt), ParkedFor: int64(s.ParkedFor), Waits: packPtr(&p, s.Waits),
	}
	if s.Exit != nil {
		row.ExitCode = sql.NullInt64{Int64: int64(*s.Exit), Valid: true}
	}
	if s.Usage != (coppice.Usage{}) {
		row.Usage = packPtr(&p, &s.Usage)
	}
	if p.err != nil {
		return p.err
	}
	before, err := t.before(s)
	if err != nil {
		return err
	}
	id, err := t.q.PutSession(t.ctx, row)
	if err := t.put(&s.ID, id, err); err != nil {
		return err
	}
	if !s.Parked() {
		t.touch(store.TopicFree(s.ID))
	}
	if !s.State.Live() {
		t.touch(store.TopicSession(s.ID))
		if err := t.q.ForgetCalls(t.ctx, s.ID); err != nil {
			return err
		}
	}
	if err := errors.Join(t.count(before, s), t.learn(before, s)); err != nil {
		return err
	}
	if s.Prompt == "" {
		return nil
	}
	return t.q.PutPrompt(t.ctx, s.ID, s.Prompt)
}

// learn updates MemoryUsed when the memory of a session becomes known.
func (t *tx) learn(before *dbsqlc.UsageBeforeRow, s *coppice.Session) error {
	if s.Memory <= 0 || before != nil && before.Memory == s.Memory {
		return nil
	}
	return t.q.LearnMemory(t.ctx, s.Agent, s.Memory)
}

func (r sessions) MemoryUsed() (map[string]coppice.Bytes, error) {
	rows, err := r.q.MemoryUsed(r.ctx)
	used := make(map[string]coppice.Bytes, len(rows))
	for _, row := range rows {
		used[row.Agent] = coppice.Bytes(row.Bytes)
	}
	return used, err
}
