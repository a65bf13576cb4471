package engine

import (
	"errors"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

var errUndone = errors.New("undone")

// Every row has an owner, and a decision of any other subject that writes it is
// refused.
func TestRowsHaveOwners(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.queueUp(1)
	b.create(coppice.NewTask{Title: "b"})
	kinds := []coppice.SubjectKind{coppice.SubjectTask, coppice.SubjectQueue, coppice.SubjectProject, coppice.SubjectAccount, coppice.SubjectLocks}
	views := func(turn *turn) map[coppice.SubjectKind]view {
		task, err := turn.view(2)
		b.must(err)
		queue, err := turn.queueView(1)
		b.must(err)
		b.must(queue.load(turn)) // it is busy
		project, err := turn.projectView(1)
		b.must(err)
		account, err := turn.accountView("ann")
		b.must(err)
		locks, err := turn.locksView(1)
		b.must(err)
		return map[coppice.SubjectKind]view{
			coppice.SubjectLocks: locks, coppice.SubjectTask: task, coppice.SubjectQueue: queue, coppice.SubjectProject: project, coppice.SubjectAccount: account,
		}
	}
	for name, c := range map[string]struct {
		owner coppice.SubjectKind
		with  func(*Decision, *View, *QueueView)
	}{
		"task": {coppice.SubjectTask, func(d *Decision, v *View, _ *QueueView) { d.Task = &v.Task }},
		"session": {coppice.SubjectTask, func(d *Decision, v *View, _ *QueueView) {
			d.Session = &coppice.Session{ProjectID: 1, TaskID: 2, Key: "app-2.9"}
		}},
		"workspace": {coppice.SubjectTask, func(d *Decision, v *View, _ *QueueView) { d.Workspace = &coppice.Workspace{ProjectID: 1, TaskID: 2} }},
		"question":  {coppice.SubjectTask, func(d *Decision, v *View, _ *QueueView) { d.Questions = []coppice.Question{{TaskID: 2}} }},
		"message":   {coppice.SubjectTask, func(d *Decision, v *View, _ *QueueView) { d.Messages = []coppice.Message{{TaskID: 2}} }},
		"trash":     {coppice.SubjectTask, func(d *Decision, v *View, _ *QueueView) { d.Trash = &coppice.Trash{ProjectID: 1, TaskID: 2} }},
		"landing and its candidate": {coppice.SubjectTask, func(d *Decision, v *View, _ *QueueView) {
			d.Landing = &coppice.Landing{ProjectID: 1, TaskID: 2, Candidate: coppice.Candidate{Base: "base1"}}
		}},
		"queue":   {coppice.SubjectQueue, func(d *Decision, _ *View, q *QueueView) { d.Queue = &q.Queue }},
		"project": {coppice.SubjectProject, func(d *Decision, v *View, _ *QueueView) { d.Project = &v.Project }},
		"locks": {coppice.SubjectLocks, func(d *Decision, _ *View, _ *QueueView) {
			d.More = []Row{locksRow(lockChange{}, func() {})}
		}},
		"limit": {coppice.SubjectAccount, func(d *Decision, v *View, _ *QueueView) {
			d.Limit = &coppice.AgentLimit{Agent: "ann", Class: coppice.ClassAuth}
		}},
	} {
		for _, kind := range kinds {
			err := b.store.Update(t.Context(), func(tx store.Tx) error {
				turn := &turn{Engine: b.engine, tx: tx, now: noon, dirty: newQueue()}
				all := views(turn)
				d := &Decision{By: "test", Kind: coppice.EventTaskChanged}
				c.with(d, all[coppice.SubjectTask].(*View), all[coppice.SubjectQueue].(*QueueView))
				return errors.Join(turn.apply(all[kind], d), errUndone)
			})
			refused := strings.Contains(err.Error(), "belongs to a "+string(c.owner))
			if refused != (kind != c.owner) || !refused && !errors.Is(err, errUndone) {
				t.Errorf("a %s writes a %s: %v", kind, name, err)
			}
		}
	}
}

// A landing belongs to its task until it is queued, and to the queue until it
// ends.
func TestALandingHasOneOwner(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		landing func(*coppice.Landing)
		task    bool
	}{
		"merged": {merged, true}, "queued": {inQueue, false}, "landed": {func(l *coppice.Landing) { inQueue(l); l.EndedAt = noon }, true},
	} {
		v := viewOf(coppice.StageLanding, candidate(c.landing))
		if owner := landingOwner(v, v.Landing); (owner == coppice.SubjectTask) != c.task {
			t.Errorf("%s: a %s owns it", name, owner)
		}
	}
}
