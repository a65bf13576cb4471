package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

// outputBatch is the maximum number of rows of output that one call of Forget
// removes. Each can take many pages of the file.
const outputBatch = 128

func (r projects) Busy(project int64) (bool, error) { return r.q.Busy(r.ctx, project, busyStages) }

// busyStages lists, as JSON, the stages of a task that is neither waiting, queued
// nor ended.
var busyStages = string(coppice.Raw(coppice.StagesThat(func(s coppice.Stage) bool {
	return s != coppice.StageWaiting && s != coppice.StageQueued && !s.Ended()
})))

func (r projects) Dependants(project int64, most int) ([]string, error) {
	return r.q.DependantsOfProject(r.ctx, project, int64(most))
}

func (r outputs) Sizes() (map[int64]int64, error) {
	rows, err := r.q.OutputSizes(r.ctx)
	sizes := make(map[int64]int64, len(rows))
	for _, row := range rows {
		sizes[row.ProjectID] = row.Size
	}
	return sizes, err
}

// Forget removes the project's schedules first, so that they create no further
// tasks, then its work, then what was agreed on with the features file, then one
// task after the other, then the project's counters, and last the project. The counters of accounts stay.
func (t projects) Forget(project int64, most int) (more bool, err error) {
	p, err := t.Get(project)
	if err != nil {
		return false, err
	}
	busy, err := t.Busy(project)
	if err != nil {
		return false, err
	}
	if busy {
		return false, coppice.Errorf(coppice.EConflict, "the project %s still has tasks or work that have not ended", p.Prefix).WithFix("wait until its tasks have ended")
	}
	if err := t.q.KeepLastIDs(t.ctx); err != nil {
		return false, err
	}
	for _, forget := range []func() (int64, error){
		func() (int64, error) { return t.q.ForgetSchedules(t.ctx, project, int64(most)) },
		func() (int64, error) { return t.q.ForgetWork(t.ctx, project, int64(most)) },
		func() (int64, error) { return t.q.ForgetFeatures(t.ctx, project, int64(most)) },
		func() (int64, error) { return t.q.ForgetIssuesIn(t.ctx, project, int64(min(most, outputBatch))) },
		func() (int64, error) { return t.q.ForgetNotes(t.ctx, project, int64(min(most, outputBatch))) },
	} {
		if n, err := forget(); err != nil || n > 0 {
			return true, err
		}
	}
	task, err := t.q.FirstTaskOf(t.ctx, project)
	if err == nil {
		_, err := t.forgetTask(project, task, int64(min(most, outputBatch)))
		return true, err
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	if n, err := t.q.ForgetSpend(t.ctx, strconv.FormatInt(project, 10), int64(most)); err != nil || n > 0 {
		return true, err
	}
	for _, prefix := range append(slices.Clone(p.Earlier), p.Prefix) {
		if err := t.q.KeepLast(t.ctx, keysOf(prefix), int64(p.LastTask)); err != nil {
			return false, err
		}
	}
	t.known = known{}
	if err := errors.Join(t.q.ForgetAsks(t.ctx, project), t.q.ForgetQueues(t.ctx, project), t.q.ForgetCounts(t.ctx, project), t.q.ForgetSnoozes(t.ctx, project), t.q.ForgetGroups(t.ctx, project), t.q.ForgetNoteTotals(t.ctx, project),
		t.q.ForgetLocks(t.ctx, project), t.q.ForgetLockRequests(t.ctx, project), t.q.ForgetLockSeq(t.ctx, project), t.q.ForgetHookRunsIn(t.ctx, project),
		t.q.ForgetForge(t.ctx, project), t.q.ForgetTrackers(t.ctx, project), t.q.ForgetReactionsIn(t.ctx, project), t.q.ForgetNoticesIn(t.ctx, project)); err != nil {
		return false, err
	}
	return false, t.q.ForgetProject(t.ctx, project)
}

// keysOf returns the name under which the last task number of a prefix is kept.
func keysOf(prefix string) string { return "keys " + prefix }

// forgetTask removes a part of a task's output or documents, or the task if it has
// none, and reports whether it removed the task. Tasks of other projects than the given
// one no longer depend on it.
func (t *tx) forgetTask(project, id, most int64) (done bool, err error) {
	sessions, err := t.q.SessionsOf(t.ctx, id)
	if err != nil {
		return false, err
	}
	if done, err = t.forgetOutput(sessions, most); err != nil || !done {
		return false, err
	}
	if done, err = t.forgetDocuments(id, most); err != nil || !done {
		return false, err
	}
	for _, s := range sessions {
		if err := t.forgetSession(s); err != nil {
			return false, err
		}
	}
	if err := t.forgetQueue(id); err != nil {
		return false, err
	}
	return true, t.forgetRows(project, id)
}

// forgetQueue removes the queue of the branch on which the steps of a flow landed.
func (t *tx) forgetQueue(id int64) error {
	task, err := tasks{t}.Get(id)
	if err != nil || task.FlowBranch() == "" {
		return err
	}
	q, err := queues{t}.Of(task.ProjectID, task.FlowBranch())
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return nil
	}
	if err != nil {
		return err
	}
	t.known = known{}
	return t.q.ForgetQueue(t.ctx, q.ID)
}

// forgetOutput removes at most most rows of output of sessions, and reports
// whether none is left.
func (t *tx) forgetOutput(sessions []dbsqlc.Session, most int64) (done bool, err error) {
	for _, s := range sessions {
		n, err := t.q.ForgetOutput(t.ctx, s.ID, most)
		if err != nil || n == most {
			return false, err
		}
		most -= n
	}
	return true, nil
}

// forgetRows removes a task whose sessions are removed already.
func (t *tx) forgetRows(project, id int64) error {
	if err := t.releaseDependants(project, id); err != nil {
		return err
	}
	trash, err := t.q.TrashOfTask(t.ctx, id)
	if err != nil {
		return err
	}
	for _, tr := range trash {
		if err := t.q.ForgetTimer(t.ctx, "trash", strconv.FormatInt(tr, 10)); err != nil {
			return err
		}
	}
	if err := t.q.ForgetTimer(t.ctx, "task", strconv.FormatInt(id, 10)); err != nil {
		return err
	}
	for _, forget := range []func(context.Context, int64) error{
		t.q.ForgetTrash, t.q.ForgetQuestions, t.q.ForgetMessages, t.q.ForgetImages, t.q.ForgetComments, t.q.ForgetViewed, t.q.ForgetChecks,
		t.q.ForgetCandidates, t.q.ForgetLandings, t.q.ForgetWorkspaces, t.q.ForgetPreviews, t.q.ForgetDeps, t.q.ForgetHookRuns, t.q.ForgetPulls, t.q.ForgetReactions, t.q.ForgetNotices, t.q.ForgetIssue,
	} {
		if err := forget(t.ctx, id); err != nil {
			return err
		}
	}
	if err := t.forgetNotes(id); err != nil {
		return err
	}
	if err := errors.Join(t.q.ForgetSpendOfTask(t.ctx, coppice.TaskSubject(id).String()), t.q.ForgetSpendOfTask(t.ctx, coppice.FamilySubject(id).String())); err != nil {
		return err
	}
	return t.q.ForgetTask(t.ctx, id)
}

func (t *tx) forgetSession(s dbsqlc.Session) error {
	err := errors.Join(t.q.ForgetPrompt(t.ctx, s.ID), t.q.DropMask(t.ctx, s.ID))
	if err == nil {
		err = t.q.ForgetUsage(t.ctx, s.CreatedAt.Int64, s.ID)
	}
	if err == nil {
		err = t.q.ForgetSession(t.ctx, s.ID)
	}
	t.touch(store.TopicSession(s.ID)) // for its followers and the search index
	return err
}

// releaseDependants removes a task from the dependencies of tasks of other
// projects.
func (t *tx) releaseDependants(project, id int64) error {
	ids, err := t.q.DependantsOf(t.ctx, id)
	if err != nil {
		return err
	}
	for _, other := range ids {
		dependant, err := tasks{t}.Get(other)
		if err != nil {
			return err
		}
		if dependant.ProjectID == project {
			continue
		}
		dependant.After = slices.DeleteFunc(dependant.After, func(after int64) bool { return after == id })
		if err := (tasks{t}).Put(&dependant); err != nil {
			return err
		}
	}
	return nil
}
