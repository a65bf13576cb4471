package sqlite

import (
	"time"

	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func landingOf(r dbsqlc.CurrentLanding) (coppice.Landing, error) {
	var u unpacker
	l := coppice.Landing{
		ID: r.ID, ProjectID: r.ProjectID, TaskID: r.TaskID, SessionID: r.SessionID, Round: int(r.Round), Head: r.Head,
		CreatedAt: at(r.CreatedAt), Verified: r.Verified, ApprovedBy: r.ApprovedBy, ApprovedAt: at(r.ApprovedAt),
		QueueID: r.QueueID, QueuedAt: at(r.QueuedAt), Waits: r.Waits, Tries: int(r.Tries), Killed: int(r.Killed), RetryAt: at(r.RetryAt), Steps: int(r.Steps), EndedAt: at(r.EndedAt),
		Outcome: coppice.LandingOutcome(r.Outcome), Failure: unpackPtr[coppice.Failure](&u, r.Failure), Evidence: r.Evidence, RedOn: r.RedOn, RedRuns: r.RedRuns, Reverts: r.Reverts,
	}
	if r.CandidateID != 0 {
		l.Candidate = coppice.Candidate{
			ID: r.CandidateID, LandingID: r.ID, Base: r.Base, Tree: r.Tree, Commit: r.CommitHash, Green: r.Green, Pushed: r.Pushed, CreatedAt: at(r.MergedAt),
			Rules: r.Rules, Review: r.Review,
		}
	}
	return l, u.err
}

func (r landings) Get(id int64) (coppice.Landing, error) {
	return one(landingOf, "landing", id)(r.q.Landing(r.ctx, id))
}

func (r landings) Of(task int64) ([]coppice.Landing, error) {
	return many(landingOf)(r.q.LandingsOf(r.ctx, task))
}

func (r landings) Last(task int64) (*coppice.Landing, error) {
	return oneOrNone(landingOf)(r.q.LastLanding(r.ctx, task))
}

func (r landings) LastOfEach(tasks []int64) (map[int64]coppice.Landing, error) {
	return keyed(landingOf, func(l coppice.Landing) int64 { return l.TaskID })(ofIDs(r.ctx, r.q.LastLandings, tasks))
}

func (r landings) Queued(queue int64, most int) ([]coppice.Landing, error) {
	return many(landingOf)(r.q.QueuedLandings(r.ctx, queue, int64(most)))
}

func (r landings) QueuedIDs(queue int64, most int) ([]int64, error) {
	return r.q.QueuedIDs(r.ctx, queue, int64(most))
}

func (r landings) FirstRed(project int64, tree string) (landing, task int64, err error) {
	row, err := r.q.FirstRed(r.ctx, project, tree)
	return row.ID, row.TaskID, ignoreNoRows(err)
}

func (r landings) Blocked(project int64, most int) ([]int64, error) {
	return r.q.BlockedTasks(r.ctx, project, int64(most))
}

func (r landings) Candidates(landing int64) ([]coppice.Candidate, error) {
	rows, err := r.q.CandidatesOf(r.ctx, landing)
	return each(rows, err, func(c dbsqlc.Candidate) (coppice.Candidate, error) {
		return coppice.Candidate{
			ID: c.ID, LandingID: c.LandingID, Base: c.Base, Tree: c.Tree, Commit: c.CommitHash, Green: c.Green, Pushed: c.Pushed, CreatedAt: at(c.CreatedAt),
			Rules: c.Rules, Review: c.Review,
		}, nil
	})
}

func (t landings) Put(l *coppice.Landing) error {
	if l.ID == 0 && l.Candidate != (coppice.Candidate{}) { // a candidate's row needs the landing's id
		bare := *l
		bare.Candidate = coppice.Candidate{}
		if err := t.putRow(&bare); err != nil {
			return err
		}
		l.ID = bare.ID
	}
	if err := t.putCandidate(&l.Candidate, l.ID); err != nil {
		return err
	}
	return t.putRow(l)
}

func (t landings) putRow(l *coppice.Landing) error {
	var p packer
	row := dbsqlc.PutLandingParams{
		ID: rowID(l.ID), ProjectID: l.ProjectID, TaskID: l.TaskID, SessionID: l.SessionID, Round: int64(l.Round), Head: l.Head,
		CreatedAt: moment(l.CreatedAt), CandidateID: l.Candidate.ID, Verified: l.Verified, ApprovedBy: l.ApprovedBy, ApprovedAt: moment(l.ApprovedAt),
		QueueID: l.QueueID, QueuedAt: moment(l.QueuedAt), Waits: l.Waits, Tries: int64(l.Tries), Killed: int64(l.Killed), RetryAt: moment(l.RetryAt), Steps: int64(l.Steps), EndedAt: moment(l.EndedAt),
		Outcome: string(l.Outcome), Failure: packPtr(&p, l.Failure), Evidence: l.Evidence, RedOn: l.RedOn, RedRuns: l.RedRuns, Reverts: l.Reverts,
	}
	return stored(t.tx, p, &l.ID, t.q.PutLanding, row)
}

// putCandidate writes the current candidate, if there is one.
func (t landings) putCandidate(c *coppice.Candidate, landing int64) error {
	if *c == (coppice.Candidate{}) {
		return nil
	}
	c.LandingID = landing
	id, err := t.q.PutCandidate(t.ctx, dbsqlc.PutCandidateParams{
		ID: rowID(c.ID), LandingID: landing, Base: c.Base, Tree: c.Tree, CommitHash: c.Commit, Green: c.Green, Pushed: c.Pushed, CreatedAt: moment(c.CreatedAt),
		Rules: c.Rules, Review: c.Review,
	})
	return t.put(&c.ID, id, err)
}

func checkOf(r dbsqlc.Check) (coppice.Check, error) {
	return coppice.Check{
		ID: r.ID, ProjectID: r.ProjectID, TaskID: r.TaskID, LandingID: r.LandingID, Tree: r.Tree, Command: r.Command,
		Env: r.Env, Exit: int(r.ExitCode), Signal: r.Signal, TimedOut: r.TimedOut, Log: r.Log, ErrorLine: int(r.ErrorLine),
		Took: time.Duration(r.Took), StartedAt: at(r.StartedAt), EndedAt: at(r.EndedAt), OnBase: r.OnBase,
	}, nil
}

func (r checks) Get(id int64) (coppice.Check, error) {
	return one(checkOf, "check", id)(r.q.Check(r.ctx, id))
}

func (r checks) On(project int64, tree string) ([]coppice.Check, error) {
	return many(checkOf)(r.q.ChecksOn(r.ctx, project, tree))
}

func (r checks) Env(project int64) (string, error) {
	env, err := r.q.CheckEnv(r.ctx, project)
	return env, ignoreNoRows(err)
}

func (r checks) Of(task int64) ([]coppice.Check, error) {
	return many(checkOf)(r.q.ChecksOf(r.ctx, task))
}

func (r checks) Since(project int64, from time.Time, most int) ([]coppice.Check, error) {
	rows, err := r.q.ChecksSince(r.ctx, project, int64(most), moment(from).Int64)
	return each(rows, err, func(c dbsqlc.ChecksSinceRow) (coppice.Check, error) {
		took, ended := time.Duration(c.Took), at(c.EndedAt)
		return coppice.Check{
			ID: c.ID, ProjectID: c.ProjectID, TaskID: c.TaskID, LandingID: c.LandingID, Command: c.Command, Exit: int(c.ExitCode),
			Took: took, StartedAt: ended.Add(-took), EndedAt: ended,
		}, nil
	})
}

func (t checks) Put(c *coppice.Check) error {
	id, err := t.q.PutCheck(t.ctx, dbsqlc.PutCheckParams{
		ID: rowID(c.ID), ProjectID: c.ProjectID, TaskID: c.TaskID, LandingID: c.LandingID, Tree: c.Tree, Command: c.Command,
		Env: c.Env, ExitCode: int64(c.Exit), Signal: c.Signal, TimedOut: c.TimedOut, Log: c.Log, ErrorLine: int64(c.ErrorLine),
		Took: int64(c.Took), StartedAt: moment(c.StartedAt), EndedAt: moment(c.EndedAt), OnBase: c.OnBase,
	})
	return t.put(&c.ID, id, err)
}
