package engine

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"coppice"
	"coppice/store"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	age := func(d time.Duration) func(*coppice.Session) {
		return func(s *coppice.Session) { s.StartedAt, s.OutputAt = noon.Add(-d), noon }
	}
	quiet := func(d time.Duration) func(*coppice.Session) {
		return func(s *coppice.Session) { s.StartedAt, s.OutputAt = noon.Add(-59*time.Minute), noon.Add(-d) }
	}
	silent := func(s *coppice.Session) { s.StartedAt = noon.Add(-10 * time.Minute) }
	waits := func(s *coppice.Session) { s.State = coppice.SessionWaiting }
	warned := func(text string) change { return task(func(t *coppice.Task) { t.Warning = text }) }
	on := func(changes ...change) *View {
		return viewOf(coppice.StageSession, append([]change{space()}, changes...)...)
	}
	stalled, long := "stalled: no output for 10m", "long-running: more than 1h"
	stopIt := "health: work.offered; session working; stop 1 for timeout; offer session.stop session/11/stop/1 to local"
	run(t, health, []decision{
		{"fine", on(ran("", live, age(time.Minute))), "nothing"},
		{"not up yet", on(ran("", starting)), "nothing"},
		{"over", on(ran("head1", age(5*time.Hour))), "nothing"},
		{"another stage", viewOf(coppice.StageChecking, ran("", live, age(5*time.Hour))), "nothing"},
		{"almost stalled", on(ran("", live, quiet(10*time.Minute-1))), "nothing"},
		{"stalled", on(ran("", live, quiet(10*time.Minute))), `health: session.warned; warns "` + stalled + `"; session working`},
		{"never said a word", on(ran("", live, silent)), `health: session.warned; warns "` + stalled + `"; session working`},
		{"says so once", on(ran("", live, quiet(11*time.Minute)), warned(stalled)), "nothing"},
		{"continues", on(ran("", live, quiet(0)), warned(stalled)), `health: session.warned; warns ""; session working`},
		{"silent while it waits for a person", on(ran("", live, quiet(11*time.Minute), waits)), "nothing"},
		{"long", on(ran("", live, age(time.Hour))), `health: session.warned; warns "` + long + `"; session working`},
		{"stalled, then long", on(ran("", live, age(time.Hour)), warned(stalled)), `health: session.warned; warns "` + long + `"; session working`},
		{"too long", on(ran("", live, age(4*time.Hour)), taken(coppice.WorkRun), warned(long)), stopIt},
		{"too long, its run is offered restarts", on(ran("", live, age(4*time.Hour)), work(coppice.WorkRun, coppice.WorkOffered, 1), warned(long)), stopIt},
		{"too long, asked already", on(ran("", live, age(4*time.Hour)), taken(coppice.WorkRun), offered(coppice.WorkStop), warned(long+"; 80% of its time of 4h is used")), "nothing"},
		{"no bounds", on(ran("", live, age(99*time.Hour)), policy(func(p *coppice.Policy) { p.Health = coppice.HealthPolicy{} })), "nothing"},
	})
}

func TestDue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		view *View
		in   time.Duration
	}{
		{"nothing", viewOf(coppice.StageWaiting), 0},
		{"wait with an end", viewOf(coppice.StageWaiting, waitsOn(coppice.WaitBackoff, "later", noon.Add(3))), 3},
		{"wait without one", viewOf(coppice.StageWaiting, waitsOn(coppice.WaitPerson, "log in", time.Time{})), 0},
		{"landing put off", viewOf(coppice.StageLanding, candidate(func(l *coppice.Landing) { l.RetryAt = noon.Add(4) })), 4},
		{"session stalls first", viewOf(coppice.StageSession, ran("", live)), 9 * time.Minute},
		{"stalled already", viewOf(coppice.StageSession, ran("", live, func(s *coppice.Session) { s.StartedAt = noon.Add(-30 * time.Minute) })), 30 * time.Minute},
		{"asked to stop", viewOf(coppice.StageSession, ran("", live, func(s *coppice.Session) { s.StopAt = noon })), 30 * time.Second},
		{"removal put off", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeDone), space(func(w *coppice.Workspace) { w.RetryAt = noon.Add(5) })), 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var want time.Time
			if c.in != 0 {
				want = noon.Add(c.in)
			}
			if got := c.view.due(); !got.Equal(want) {
				t.Errorf("due %v, want %v", got, want)
			}
		})
	}
}

func TestCleanup(t *testing.T) {
	t.Parallel()
	done := endedAs(coppice.OutcomeDone)
	remove := "cleanup: work.offered; offer workspace.remove workspace/3/remove/1 to local"
	with := func(f func(*coppice.Workspace)) change { return space(f) }
	run(t, cleanup, []decision{
		{"runs", viewOf(coppice.StageSession, space()), "nothing"},
		{"done", viewOf(coppice.StageEnded, done, space()), remove},
		{"cancelled", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeCancelled), space()), remove},
		{"failed", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeFailed), space()), "nothing"},
		{"no workspace", viewOf(coppice.StageEnded, done), "nothing"},
		{"half made", viewOf(coppice.StageEnded, done, with(func(w *coppice.Workspace) { w.ReadyAt, w.Path = time.Time{}, "" })), remove},
		{"gone", viewOf(coppice.StageEnded, done, removed), "nothing"},
		{"kept", viewOf(coppice.StageEnded, done, with(func(w *coppice.Workspace) { w.Kept = true })), "nothing"},
		{"in progress", viewOf(coppice.StageEnded, done, space(), taken(coppice.WorkRemove)), "nothing"},
		{"being made", viewOf(coppice.StageEnded, done, space(), taken(coppice.WorkPrepare)), "nothing"},
		{"put off", viewOf(coppice.StageEnded, done, with(func(w *coppice.Workspace) { w.RetryAt, w.Tries = noon.Add(1), 1 })), "nothing"},
		{"again", viewOf(coppice.StageEnded, done, with(func(w *coppice.Workspace) { w.RetryAt, w.Tries = noon, 3 })),
			"cleanup: work.offered; offer workspace.remove workspace/3/remove/4 to local"},
		{"often enough", viewOf(coppice.StageEnded, done, with(func(w *coppice.Workspace) { w.Tries = 4 })), "nothing"},
		{"a person wants to retry", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeCancelled), space(), say(coppice.VerbRetry)), "nothing"},
		{"a person wants to land", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeCancelled), space(), landAsked), "nothing"},
	})
}

func TestSettleTrash(t *testing.T) {
	t.Parallel()
	trashed := func(v *View) { removed(v); v.Trashed = []coppice.Trash{*v.Trash} }
	purge := func(w *coppice.Work) { w.Key = purgeKey(&View{}, coppice.Trash{ID: 4, ExpiresAt: noon.Add(time.Hour)}) }
	run(t, settle, []decision{
		{"removed", viewOf(coppice.StageEnded, space(), finished(coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: "refs/trash/1"})),
			"settle: workspace.removed; workspace ready=false removed=true kept=false tries=0; trash restored=false purged=false; settled"},
		{"removed, nothing to keep", viewOf(coppice.StageEnded, space(), finished(coppice.WorkRemove, coppice.RemoveResult{})),
			"settle: workspace.removed; workspace ready=false removed=true kept=false tries=0; settled"},
		{"removed before it was created", viewOf(coppice.StageEnded, space(), func(v *View) {
			v.Trashed = []coppice.Trash{{ID: 4, Ref: "refs/trash/1"}} // of the workspace before
		}, finished(coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: "refs/trash/1"})),
			"settle: workspace.removed; workspace ready=false removed=true kept=false tries=0; settled"},
		{"not removed", viewOf(coppice.StageEnded, space(), finished(coppice.WorkRemove, broke)),
			`settle: task.warned; warns "its workspace could not be removed: it broke"; workspace ready=false removed=false kept=false tries=1; settled`},
		{"not removed, and somebody waits", viewOf(coppice.StageSession, ran("", starting), space(doubtful(mostRemovals-1)), finished(coppice.WorkRemove, broke)),
			"settle: session.ended; session failed; session fails: environment; workspace ready=false removed=false kept=false tries=4; settled"},
		{"purged", viewOf(coppice.StageEnded, trashed, finished(coppice.WorkPurge, coppice.PurgeResult{}, purge)), "settle: work.finished; trash restored=false purged=true; settled"},
		{"not purged", viewOf(coppice.StageEnded, trashed, finished(coppice.WorkPurge, broke, purge)), "settle: work.finished; trash restored=false purged=false; settled"},
		{"other trash purged", viewOf(coppice.StageEnded, trashed, finished(coppice.WorkPurge, coppice.PurgeResult{})), "settle: work.finished; settled"},
	})
}

// A lease that runs out makes work takeable again, a few times; then its
// failing is a fact. What must not be forgotten half-way is never given up.
func TestExpire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		kind    coppice.WorkKind
		state   coppice.WorkState
		attempt int
		until   time.Duration
		want    coppice.WorkState
		fails   bool
	}{
		{"over", coppice.WorkMerge, coppice.WorkTaken, 1, 0, coppice.WorkOffered, false},
		{"not over", coppice.WorkMerge, coppice.WorkTaken, 1, time.Second, coppice.WorkTaken, false},
		{"finished in the meantime", coppice.WorkStop, coppice.WorkSettled, 1, 0, coppice.WorkSettled, false},
		{"fourth attempt", coppice.WorkMerge, coppice.WorkTaken, 4, 0, coppice.WorkOffered, false},
		{"fifth attempt", coppice.WorkMerge, coppice.WorkTaken, 5, 0, coppice.WorkSettled, true},
		{"a run", coppice.WorkRun, coppice.WorkTaken, 50, 0, coppice.WorkOffered, false},
		{"a removal", coppice.WorkRemove, coppice.WorkTaken, 50, 0, coppice.WorkOffered, false},
		{"a restoring", coppice.WorkRestore, coppice.WorkTaken, 50, 0, coppice.WorkOffered, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := openApp(t)
			made := b.create(coppice.NewTask{Title: "a", NotBefore: noon.Add(time.Hour)})[0]
			w := coppice.Work{
				Kind: c.kind, Key: "k", Pool: PoolLocal, ProjectID: made.ProjectID, TaskID: made.ID, State: c.state, Attempt: c.attempt,
				Worker: "local", LeaseUntil: noon.Add(c.until), Spec: coppice.Raw(struct{}{}), OfferedAt: noon,
			}
			b.update(func(tx store.Tx) error {
				if err := tx.Work.Put(&w); err != nil {
					return err
				}
				return tx.Timers.Set(store.Timer{Kind: TimerWork, ID: strconv.FormatInt(w.ID, 10), At: noon})
			})
			got := b.turn()
			w = b.work(w.ID)
			if w.State != c.want || (w.Failure != nil) != c.fails || w.Attempt != c.attempt {
				t.Errorf("work %s, attempt %d, failure %v", w.State, w.Attempt, w.Failure)
			}
			if c.want == coppice.WorkTaken && !got.Due.Equal(w.LeaseUntil) {
				t.Errorf("due %v, the lease ends %v", got.Due, w.LeaseUntil)
			}
			if c.want == coppice.WorkOffered && (w.Worker != "" || !w.LeaseUntil.IsZero()) {
				t.Errorf("offered, but held by %q until %v", w.Worker, w.LeaseUntil)
			}
		})
	}
}

func TestLimitEnds(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	limit := coppice.AgentLimit{Agent: "ann", Until: noon.Add(time.Minute), Class: coppice.ClassRateLimit}
	b.update(func(tx store.Tx) error {
		if err := tx.Limits.Put(limit); err != nil {
			return err
		}
		return tx.Timers.Set(store.Timer{Kind: string(coppice.SubjectAccount), ID: "ann", At: noon})
	})
	b.create(coppice.NewTask{Title: "a"})
	if got := b.turn(); !got.Due.Equal(limit.Until) || b.task("app-1").Stage != coppice.StageQueued {
		t.Errorf("due %v, stage %s", got.Due, b.task("app-1").Stage)
	}
	if d := cmp.Diff([]coppice.AgentLimit{limit}, b.agentLimits(), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	b.clock = limit.Until
	b.turn()
	if len(b.agentLimits()) != 0 || b.task("app-1").Stage != coppice.StageSession {
		t.Errorf("limits %v, stage %s", b.agentLimits(), b.task("app-1").Stage)
	}
}

func TestTrashExpires(t *testing.T) {
	t.Parallel()
	b := preparedTask(t)
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true})
	b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: "refs/trash/1"})
	ttl := coppice.DefaultPolicy().Trash.TTL.D()
	b.clock = noon.Add(ttl)
	b.turn()
	b.finish("app-1", coppice.WorkPurge, coppice.PurgeResult{})
	if tr := b.trash(1); !tr.PurgedAt.Equal(b.clock) {
		t.Errorf("trash %+v", tr)
	}
	if got := b.turn(); got.Decisions != 0 || !got.Due.IsZero() {
		t.Errorf("then %+v", got)
	}
}

// The result of a purge counts also when the task has begun again by then: the
// same purge cannot be offered twice.
func TestPurgeOfATaskThatBeganAgain(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a", NotBefore: noon.Add(time.Hour)})
	b.turn()
	tr := coppice.Trash{ProjectID: 1, TaskID: 1, What: "workspace", Ref: "refs/trash/1", RemovedAt: noon, ExpiresAt: noon}
	b.update(func(tx store.Tx) error {
		if err := tx.Trash.Put(&tr); err != nil {
			return err
		}
		w := coppice.Work{
			Kind: coppice.WorkPurge, Key: purgeKey(&View{}, tr), Pool: PoolControl, ProjectID: 1, TaskID: 1, State: coppice.WorkFinished,
			OfferedAt: noon, FinishedAt: noon, Result: coppice.Raw(coppice.PurgeResult{}),
		}
		return errors.Join(tx.Work.Put(&w), tx.Log.Append(&coppice.Event{At: noon, Kind: coppice.EventWorkFinished, ProjectID: 1, TaskID: 1, About: coppice.TaskSubject(1)}))
	})
	b.turn()
	if got := b.trash(tr.ID); got.PurgedAt.IsZero() {
		t.Errorf("%+v, and it is forgotten", got)
	}
}
