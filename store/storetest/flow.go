package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// document returns a version of a document of a flow, by a step.
func document(flow coppice.Task, name, text string) coppice.Document {
	return coppice.Document{TaskID: flow.ID, Name: name, Text: text, By: coppice.Actor{Kind: coppice.ActorSession, Name: "app-2.1"}, Step: "review-1", At: start}
}

func putDocuments(t *testing.T, s store.Store, documents ...coppice.Document) {
	t.Helper()
	update(t, s, func(tx store.Tx) error {
		for _, d := range documents {
			if err := tx.Documents.Put(&d); err != nil {
				return err
			}
		}
		return nil
	})
}

// flow makes a task a flow.
func flow(kind coppice.FlowKind) func(*coppice.Task) {
	return func(k *coppice.Task) { k.Flow = &coppice.Flow{Kind: kind} }
}

// step makes a task a step of a flow.
func step(of coppice.Task, key string) func(*coppice.Task) {
	return func(k *coppice.Task) { k.Parent, k.Step = of.ID, &coppice.Step{Flow: of.ID, Key: key} }
}

// done ends a task.
func done(k *coppice.Task) {
	k.Stage, k.Outcome, k.EndedAt = coppice.StageEnded, coppice.OutcomeDone, start
}

func testDocuments(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k, other := task(t, s, p, 1, flow(coppice.FlowCycle)), task(t, s, p, 2, flow(coppice.FlowGoal))
	newest := func(of coppice.Task) []coppice.Document {
		t.Helper()
		return get(t, s, func(r store.Reader) ([]coppice.Document, error) { return r.Documents.Newest(of.ID) })
	}
	same(t, "documents of a new flow", nil, newest(k))

	ctx := within(t)
	w := s.Watch(store.TopicDocuments(k.ID))
	defer w.Close()
	plan := document(k, "plan", "é first")
	plan.ID, plan.Version, plan.Size = 99, 7, 7 // the store sets these
	update(t, s, func(tx store.Tx) error { return tx.Documents.Put(&plan) })
	same(t, "the version and size of a new document", []int64{1, 8}, []int64{plan.Version, plan.Size})
	same(t, "a touched topic", []string{store.TopicDocuments(k.ID)}, must(w.Wait(ctx)))
	same(t, "the newest", []coppice.Document{plan}, newest(k))

	putDocuments(t, s, document(k, "plan", "second"), document(k, "log", "a"), document(other, "plan", "of another flow"))
	same(t, "newest texts by name", []string{"log 1 a", "plan 2 second"}, ids(newest(k), func(d coppice.Document) string {
		return fmt.Sprint(d.Name, " ", d.Version, " ", d.Text)
	}))
	view(t, s, func(r store.Reader) error {
		same(t, "the first version", plan, must(r.Documents.Get(k.ID, "plan", 1)))
		same(t, "the newest version", "second", must(r.Documents.Get(k.ID, "plan", 0)).Text)
		same(t, "the same name of another flow", "of another flow", must(r.Documents.Get(other.ID, "plan", 0)).Text)
		for what, err := range map[string]error{
			"a version that does not exist": second(r.Documents.Get(k.ID, "plan", 3)),
			"a name that does not exist":    second(r.Documents.Get(k.ID, "none", 0)),
			"a document of another flow":    second(r.Documents.Get(other.ID, "log", 0)),
		} {
			wantCode(t, what, err, coppice.ENotFound)
			if coppice.Public(err).Fix == "" {
				t.Errorf("%s: the error has no fix", what)
			}
		}
		return nil
	})
	d := document(coppice.Task{ID: 77}, "plan", "x")
	err := s.Update(t.Context(), func(tx store.Tx) error { return tx.Documents.Put(&d) })
	wantCode(t, "a document of no task", err, coppice.EInvalid)
}

// testDocumentVersions checks that the newest versions are kept, and that no version
// is used again.
func testDocumentVersions(t *testing.T, open Open) {
	s := open(t)
	k := task(t, s, project(t, s, "app"), 1, flow(coppice.FlowCycle))
	putDocuments(t, s, document(k, "log", "other"))
	const more = 5
	for i := range coppice.MaxVersions + more {
		putDocuments(t, s, document(k, "plan", fmt.Sprint("text ", i+1)))
	}
	view(t, s, func(r store.Reader) error {
		versions := must(r.Documents.Versions(k.ID, "plan"))
		same(t, "kept versions", coppice.MaxVersions, len(versions))
		for i, d := range versions {
			want := document(k, "plan", "")
			want.ID, want.Version, want.Size = d.ID, int64(coppice.MaxVersions+more-i), int64(len(fmt.Sprint("text ", coppice.MaxVersions+more-i)))
			same(t, "a listed version", want, d)
		}
		same(t, "the oldest kept text", fmt.Sprint("text ", more+1), must(r.Documents.Get(k.ID, "plan", more+1)).Text)
		wantCode(t, "a version that was removed", second(r.Documents.Get(k.ID, "plan", more)), coppice.ENotFound)
		same(t, "versions of the other document", 1, len(must(r.Documents.Versions(k.ID, "log"))))
		same(t, "versions of none", nil, must(r.Documents.Versions(k.ID, "none")))
		return nil
	})
}

// testForgetDocuments checks that documents are removed with their flow and their
// project, some at a time.
func testForgetDocuments(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	old, kept := task(t, s, p, 1, func(k *coppice.Task) { flow(coppice.FlowCycle)(k); done(k) }), task(t, s, p, 2, flow(coppice.FlowGoal))
	for i := range 300 {
		putDocuments(t, s, document(old, fmt.Sprint("plan-", i%4), "text"))
	}
	putDocuments(t, s, document(kept, "plan", "text"))
	w := s.Watch(store.TopicDocuments(old.ID))
	defer w.Close()
	steps := 1
	for ; ; steps++ {
		var f store.Forgotten
		update(t, s, func(tx store.Tx) (err error) {
			f, err = tx.History.Forget(store.Keep{Tasks: 1}, start.AddDate(1, 0, 0), 100)
			return err
		})
		if f.Task == nil || f.Done {
			break
		}
	}
	if steps < 3 {
		t.Errorf("300 versions were removed in %d transactions, want at least 3", steps)
	}
	documents := func(of coppice.Task) int {
		return len(get(t, s, func(r store.Reader) ([]coppice.Document, error) { return r.Documents.Newest(of.ID) }))
	}
	same(t, "the topic of a removed flow", 1, len(must(w.Wait(within(t)))))
	same(t, "documents of a removed flow", 0, documents(old))
	same(t, "documents of the other flow", 1, documents(kept))
	done(&kept)
	update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(&kept) })
	forget(t, s, p.ID)
	same(t, "documents of a removed project", 0, documents(kept))
}

// testForgetQueue checks that the queue of a flow's branch is removed with the flow,
// unless it has an open landing, and that other queues stay.
func testForgetQueue(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	over := func(k *coppice.Task) { flow(coppice.FlowCycle)(k); k.Flow.Branch = true; done(k) }
	old, busy := task(t, s, p, 1, over), task(t, s, p, 2, over)
	other := task(t, s, p, 3, func(k *coppice.Task) { flow(coppice.FlowGoal)(k); k.Flow.Branch = true })
	queued := coppice.Landing{ProjectID: p.ID, TaskID: other.ID, Head: "c1", CreatedAt: start, QueuedAt: start}
	update(t, s, func(tx store.Tx) error {
		for _, branch := range []string{old.FlowBranch(), busy.FlowBranch(), other.FlowBranch(), "coppice/app-10"} {
			q := coppice.Queue{ProjectID: p.ID, Branch: branch}
			if err := tx.Queues.Put(&q); err != nil {
				return err
			}
			if branch == busy.FlowBranch() {
				queued.QueueID = q.ID
			}
		}
		return tx.Landings.Put(&queued)
	})
	for done := false; !done; {
		update(t, s, func(tx store.Tx) error {
			f, err := tx.History.Forget(store.Keep{Tasks: 1}, start.AddDate(1, 0, 0), 100)
			done = f.Task == nil
			return err
		})
	}
	var left []string
	for _, q := range get(t, s, func(r store.Reader) ([]coppice.Queue, error) { return r.Queues.In(p.ID) }) {
		left = append(left, q.Branch)
	}
	want := []string{"", "coppice/app-10", busy.FlowBranch(), other.FlowBranch()}
	if slices.Sort(want); !slices.Equal(left, want) {
		t.Errorf("the queues of %q are left, want those of %q", left, want)
	}
}

func testFlows(t *testing.T, open Open) {
	s := open(t)
	p, q := project(t, s, "app"), project(t, s, "web")
	one := task(t, s, p, 1, flow(coppice.FlowCycle))
	two := task(t, s, p, 2, step(one, "assess"))
	three := task(t, s, p, 3, func(k *coppice.Task) { step(one, "review-1")(k); flow(coppice.FlowDebate)(k); done(k) })
	task(t, s, p, 4, func(k *coppice.Task) { k.Parent = one.ID }) // a task below that is not a step
	four := task(t, s, p, 5, step(three, "round-1"))
	five := task(t, s, q, 1, flow(coppice.FlowCycle))
	view(t, s, func(r store.Reader) error {
		same(t, "the steps", []coppice.Task{two, three}, must(r.Families.Steps(one.ID)))
		same(t, "the steps of a step", []coppice.Task{four}, must(r.Families.Steps(three.ID)))
		same(t, "the steps of none", nil, must(r.Families.Steps(two.ID)))
		for _, c := range []struct {
			name   string
			filter store.TaskFilter
			want   []int64
		}{
			{"flows", store.TaskFilter{Flows: coppice.FlowKinds}, []int64{five.ID, three.ID, one.ID}},
			{"flows of a kind", store.TaskFilter{Flows: []coppice.FlowKind{coppice.FlowCycle}}, []int64{five.ID, one.ID}},
			{"flows of a project", store.TaskFilter{ProjectID: p.ID, Flows: coppice.FlowKinds}, []int64{three.ID, one.ID}},
			{"ended flows", store.TaskFilter{Flows: coppice.FlowKinds, Stages: []coppice.Stage{coppice.StageEnded}}, []int64{three.ID}},
			{"the next page", store.TaskFilter{Flows: coppice.FlowKinds, BeforeID: five.ID}, []int64{three.ID, one.ID}},
		} {
			same(t, c.name, c.want, ids(must(r.Tasks.List(c.filter)), func(k coppice.Task) int64 { return k.ID }))
			same(t, c.name+", counted", len(c.want), must(r.Tasks.Count(c.filter)))
		}
		return nil
	})
}

// testKeepSteps checks that the history removes a step only after its flow.
func testKeepSteps(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	one := task(t, s, p, 1, flow(coppice.FlowCycle))
	task(t, s, p, 2, func(k *coppice.Task) { step(one, "assess")(k); done(k) })
	task(t, s, p, 3, func(k *coppice.Task) { k.Parent = one.ID; done(k) })
	removed := func() (keys []string) {
		t.Helper()
		for {
			var f store.Forgotten
			update(t, s, func(tx store.Tx) (err error) {
				f, err = tx.History.Forget(store.Keep{Tasks: 1}, start.AddDate(1, 0, 0), 100)
				return err
			})
			if f.Task == nil {
				return keys
			}
			if f.All && f.Done {
				keys = append(keys, f.Task.Key)
			}
		}
	}
	same(t, "removed while the flow runs", []string{"app-3"}, removed())
	done(&one)
	update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(&one) })
	same(t, "removed after the flow has ended", []string{"app-1", "app-2"}, removed())
}

func schedule(p coppice.Project, name string) coppice.Schedule {
	return coppice.Schedule{ProjectID: p.ID, Name: name, NextAt: start.Add(time.Hour), ScheduleDetails: coppice.ScheduleDetails{
		Task: coppice.NewTask{Title: "Update", Flow: &coppice.NewFlow{Kind: coppice.FlowGoal}}, Every: coppice.Duration(time.Hour), CreatedAt: start,
	}}
}

func testSchedules(t *testing.T, open Open) {
	s := open(t)
	p, q := project(t, s, "app"), project(t, s, "web")
	nightly, audit, other := schedule(p, "nightly"), schedule(p, "audit"), schedule(q, "nightly")
	update(t, s, func(tx store.Tx) error {
		return errors.Join(tx.Schedules.Put(&nightly), tx.Schedules.Put(&audit), tx.Schedules.Put(&other))
	})
	names := func(project int64) []int64 {
		all := get(t, s, func(r store.Reader) ([]coppice.Schedule, error) { return r.Schedules.In(project) })
		return ids(all, func(s coppice.Schedule) int64 { return s.ID })
	}
	same(t, "schedules of a project", []int64{audit.ID, nightly.ID}, names(p.ID))
	same(t, "all schedules", []int64{audit.ID, nightly.ID, other.ID}, names(0))
	view(t, s, func(r store.Reader) error {
		same(t, "by name", nightly, must(r.Schedules.ByName(p.ID, "nightly")))
		same(t, "by the same name", other, must(r.Schedules.ByName(q.ID, "nightly")))
		return nil
	})
	twice := schedule(p, "audit")
	err := s.Update(t.Context(), func(tx store.Tx) error { return tx.Schedules.Put(&twice) })
	wantCode(t, "a name that is in use", err, coppice.EConflict)

	nightly.NextAt, nightly.PausedAt, nightly.Runs, nightly.Problem = time.Time{}, start, 3, "no such agent"
	update(t, s, func(tx store.Tx) error { return tx.Schedules.Put(&nightly) })
	same(t, "a changed schedule", nightly, get(t, s, func(r store.Reader) (coppice.Schedule, error) { return r.Schedules.Get(nightly.ID) }))

	one := task(t, s, p, 1, func(k *coppice.Task) { k.Schedule = audit.ID; done(k) })
	task(t, s, p, 2, func(k *coppice.Task) { k.Schedule = nightly.ID })
	three := task(t, s, p, 3, func(k *coppice.Task) { k.Schedule = audit.ID })
	task(t, s, p, 4, done)
	view(t, s, func(r store.Reader) error {
		same(t, "runs", []coppice.Task{three, one}, must(r.Tasks.List(store.TaskFilter{Schedule: audit.ID})))
		same(t, "ended runs", 1, must(r.Tasks.Count(store.TaskFilter{Schedule: audit.ID, Stages: []coppice.Stage{coppice.StageEnded}})))
		return nil
	})

	update(t, s, func(tx store.Tx) error { return tx.Schedules.Delete(other.ID) })
	same(t, "after a deletion", []int64{audit.ID, nightly.ID}, names(0))
	err = s.Update(t.Context(), func(tx store.Tx) error { return tx.Schedules.Delete(other.ID) })
	wantCode(t, "deleting it again", err, coppice.ENotFound)
	again := schedule(q, "nightly")
	update(t, s, func(tx store.Tx) error { return tx.Schedules.Put(&again) })
	if again.ID <= other.ID {
		t.Errorf("the id %d of a deleted schedule was used again: %d", other.ID, again.ID)
	}
}

// testForgetSchedules checks that the timer of a schedule is removed with it, and the
// schedule with its project.
func testForgetSchedules(t *testing.T, open Open) {
	s := open(t)
	gone, kept := project(t, s, "gone"), project(t, s, "kept")
	a, b, c := schedule(gone, "a"), schedule(gone, "b"), schedule(kept, "c")
	for _, x := range []*coppice.Schedule{&a, &b, &c} {
		update(t, s, func(tx store.Tx) error {
			if err := tx.Schedules.Put(x); err != nil {
				return err
			}
			of := coppice.ScheduleSubject(x.ID)
			return tx.Timers.Set(store.Timer{Kind: string(of.Kind), ID: of.ID, At: x.NextAt})
		})
	}
	timers := func() []string {
		t.Helper()
		due := get(t, s, func(r store.Reader) ([]store.Timer, error) { return r.Timers.Due(start.AddDate(1, 0, 0), 10) })
		return ids(due, func(m store.Timer) string { return m.Kind + "/" + m.ID })
	}
	update(t, s, func(tx store.Tx) error { return tx.Schedules.Delete(a.ID) })
	same(t, "timers after a deletion", []string{coppice.ScheduleSubject(b.ID).String(), coppice.ScheduleSubject(c.ID).String()}, timers())
	forget(t, s, gone.ID)
	same(t, "timers after the removal of the project", []string{coppice.ScheduleSubject(c.ID).String()}, timers())
	left := get(t, s, func(r store.Reader) ([]coppice.Schedule, error) { return r.Schedules.In(0) })
	same(t, "schedules after the removal of the project", []coppice.Schedule{c}, left)
}

func testTemplateStats(t *testing.T, open Open) {
	s := open(t)
	p, q := project(t, s, "app"), project(t, s, "web")
	num := 0
	made := func(p coppice.Project, template string, outcome coppice.Outcome, took time.Duration) coppice.Task {
		num++
		return task(t, s, p, num, func(k *coppice.Task) {
			k.Template, k.Model, k.Stage, k.Outcome, k.EndedAt = template, "small", coppice.StageEnded, outcome, k.CreatedAt.Add(took)
		})
	}
	n := 0
	worked := func(k coppice.Task, role coppice.Role, model string, usd float64, turns int64) {
		n++
		session(t, s, k, n, func(x *coppice.Session) {
			x.Role, x.Model, x.State, x.Usage.CostUSD, x.Usage.Turns = role, model, coppice.SessionDone, usd, turns
		})
	}
	one := made(p, "bug", coppice.OutcomeDone, time.Hour)
	worked(one, coppice.RoleImplement, "small", 1, 10)
	worked(one, coppice.RoleFix, "large", 2, 20)
	worked(one, coppice.RoleVerify, "judge", 1, 2)
	worked(one, coppice.RoleImplement, "", 0, 0) // its agent does not report a model
	two := made(p, "bug", coppice.OutcomeFailed, 2*time.Hour)
	worked(two, coppice.RoleImplement, "large", 1, 3)
	made(p, "bug", coppice.OutcomeCancelled, time.Minute) // without a session
	three := made(p, "audit", coppice.OutcomeDone, time.Hour)
	below := task(t, s, p, 100, step(three, "a"))
	worked(below, coppice.RoleImplement, "large", 0.5, 4)
	four := made(q, "bug", coppice.OutcomeDone, 4*time.Hour)
	worked(four, coppice.RoleAnswer, "large", 6, 6)
	made(p, "", coppice.OutcomeDone, time.Hour)                                        // without a template
	task(t, s, p, 101, func(k *coppice.Task) { k.Template, k.Model = "bug", "large" }) // not ended

	stats := func(project int64) []coppice.TemplateStat {
		return get(t, s, func(r store.Reader) ([]coppice.TemplateStat, error) { return r.Templates.Stats(project) })
	}
	audit := coppice.TemplateStat{Template: "audit", Model: "small", Tasks: 1, Done: 1, CostUSD: 0.5, Turns: 4, Took: coppice.Duration(time.Hour)}
	cancelled := coppice.TemplateStat{Template: "bug", Model: "small", Tasks: 1, Took: coppice.Duration(time.Minute)}
	same(t, "of a project", []coppice.TemplateStat{
		audit,
		{Template: "bug", Model: "large", Tasks: 2, Done: 1, Failed: 1, CostUSD: 2.5, Turns: 17.5, Took: coppice.Duration(90 * time.Minute)},
		cancelled,
	}, stats(p.ID))
	same(t, "of all projects", []coppice.TemplateStat{
		audit,
		{Template: "bug", Model: "large", Tasks: 3, Done: 2, Failed: 1, CostUSD: 11.0 / 3, Turns: 41.0 / 3, Took: coppice.Duration(140 * time.Minute)},
		cancelled,
	}, stats(0))
	same(t, "of a project without one", nil, stats(99))
}
