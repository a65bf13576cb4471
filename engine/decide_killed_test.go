package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func killed(signal string) coppice.Check {
	return coppice.Check{Exit: 137, Signal: signal, Log: "log\n"}
}

var late = coppice.Check{Exit: 124, TimedOut: true, Log: "log\n"}

// checked is the result of the commands make and lint.
func checked(all ...coppice.Check) coppice.CheckResult {
	r := coppice.CheckResult{Env: "e1"}
	for i, c := range all {
		c.Command = []string{"make", "lint"}[i]
		r.Checks = append(r.Checks, c)
	}
	return r
}

func TestSettleKilledCheck(t *testing.T) {
	t.Parallel()
	of := func(l change, result any, more ...change) *View {
		return viewOf(coppice.StageChecking, append([]change{ran("head1"), space(), l, checkEnv("e1"), finished(coppice.WorkCheck, result)}, more...)...)
	}
	kills := func(n int) change { return candidate(merged, func(l *coppice.Landing) { l.Killed = n }) }
	before := func(at time.Time, command, tree string) change {
		return func(v *View) {
			v.Checks = append(v.Checks, coppice.Check{LandingID: 4, Tree: tree, Command: command, Env: "e1", Exit: 124, TimedOut: true, EndedAt: at})
		}
	}
	signs := policy(func(p *coppice.Policy) { p.Critical = []coppice.FailurePattern{{Match: "log"}} })
	wait := `settle: landing.waits; landing commit1 on base1 green=false; put off `
	often := func(n string) string { return `the command "make" was killed by SIGKILL, ` + n + ` times in a row` }
	refused := "settle: landing.ended; landing refused; "
	slow := `landing commit1 on base1 green=false; put off at once (0): the command "make" took longer than 30m; it runs again; `
	run(t, anySettle, []decision{
		{"killed", of(kills(0), checked(killed("SIGKILL"))),
			`settle: landing.waits; landing commit1 on base1 green=false; put off at once (0): the command "make" was killed by SIGKILL; it runs again; check make on tree1 in e1: 137; settled`},
		{"killed twice", of(kills(1), checked(killed("SIGKILL"))), wait + "5s (0): " + often("2") + "; check make on tree1 in e1: 137; settled"},
		{"killed for long", of(kills(2), checked(killed("SIGKILL"))), wait + "10s (0): " + often("3") + "; settled"},
		{"killed for days", of(kills(99), checked(killed("SIGKILL"))), wait + "10m0s (0): " + often("100") + "; settled"},
		{"by another signal", of(kills(1), checked(killed("SIGTERM"))),
			wait + `5s (0): the command "make" was killed by SIGTERM, 2 times in a row; check make on tree1 in e1: 137; settled`},
		{"in another environment", of(kills(1), checked(killed("SIGKILL")), checkEnv("e0")), wait + "5s (0): " + often("2") + "; check make on tree1 in e1: 137; settled"},
		{"what passed beside it is kept", of(kills(2), checked(killed("SIGKILL"), coppice.Check{})), wait + "10s (0): " + often("3") + "; check lint on tree1 in e1: 0; settled"},
		{"another went against the tree", of(kills(1), checked(killed("SIGKILL"), coppice.Check{Exit: 1})),
			refused + "check make on tree1 in e1: 137; check lint on tree1 in e1: 1; settled"},
		{"its log is like a broken environment's", of(kills(1), checked(killed("SIGKILL")), signs), wait + "5s (0): " + often("2") + "; check make on tree1 in e1: 137; settled"},
		{"put off before for another reason", of(candidate(merged, func(l *coppice.Landing) { l.Tries = 3 }), checked(killed("SIGKILL"))),
			`settle: landing.waits; landing commit1 on base1 green=false; put off at once (3): the command "make" was killed by SIGKILL; it runs again; check make on tree1 in e1: 137; settled`},
		{"another failure after many kills", of(kills(9), broke), wait + "5s (1): it broke; settled"},
		{"lost with its worker", of(kills(0), coppice.Failf(coppice.ClassLost, "never finished", "")), wait + "5s (0): never finished; settled"},
		{"lost for long", of(kills(5), coppice.Failf(coppice.ClassLost, "never finished", ""), signs), wait + "1m20s (0): never finished; settled"},
		{"passes after kills", of(kills(9), checked(coppice.Check{})), "settle: check.ended; landing commit1 on base1 green=false; check make on tree1 in e1: 0; settled"},

		{"out of time", of(kills(0), checked(late)), "settle: landing.waits; " + slow + "check make on tree1 in e1: 124; settled"},
		{"out of time and killed", of(kills(1), checked(late, killed("SIGKILL"))),
			wait + `5s (0): the command "lint" was killed by SIGKILL, 2 times in a row; check make on tree1 in e1: 124; check lint on tree1 in e1: 137; settled`},
		{"out of time twice", of(kills(0), checked(late), before(noon, "make", "tree1")), refused + "check make on tree1 in e1: 124; settled"},
		{"out of time twice, another killed", of(kills(0), checked(late, killed("SIGKILL")), before(noon, "make", "tree1")),
			refused + "check make on tree1 in e1: 124; check lint on tree1 in e1: 137; settled"},
		{"out of time before this landing", of(kills(0), checked(late), before(noon.Add(-1), "make", "tree1")), "settle: landing.waits; " + slow + "check make on tree1 in e1: 124; settled"},
		{"another tree was out of time", of(kills(0), checked(late), before(noon, "make", "tree0")), "settle: landing.waits; " + slow + "check make on tree1 in e1: 124; settled"},
		{"another command was out of time", of(kills(0), checked(late), before(noon, "lint", "tree1")), "settle: landing.waits; " + slow + "check make on tree1 in e1: 124; settled"},
	})
}

// What a person reads names the signal and says what to do.
func TestKilledFailure(t *testing.T) {
	t.Parallel()
	for signal, want := range map[string]string{"SIGKILL": "limits.memory", "SIGTERM": "what sends this signal"} {
		v := viewOf(coppice.StageChecking, candidate(merged, func(l *coppice.Landing) { l.Killed = 1 }), finished(coppice.WorkCheck, checked(killed(signal))))
		f := anySettle(v).Landing.Failure
		if f == nil || f.Class != coppice.ClassEnvironment || !strings.Contains(f.Text, signal) || !strings.Contains(f.Fix, want) || !strings.Contains(f.Fix, "`coppice land app-7`") {
			t.Errorf("%s: %+v", signal, f)
		}
	}
}

// atCheck brings app-1 and app-2 into the queue, moves the base, and has app-1,
// the first, checked again on the new base.
func atCheck(t *testing.T) *bundle {
	b := openApp(t, func(p *coppice.Project) { p.Policy.Land.How, p.Policy.Limits.Sessions = coppice.LandBranch, 2 })
	b.create(coppice.NewTask{Title: "a", Priority: 1}, coppice.NewTask{Title: "b"})
	b.turn()
	for _, key := range []string{"app-1", "app-2"} {
		b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws/" + key, BaseCommit: "base1", Head: "base1"})
		b.finish(key, coppice.WorkRun, coppice.RunResult{Head: "head-" + key})
		b.finish(key, coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-" + key, Commit: "commit-" + key})
		b.finish(key, coppice.WorkCheck, checked(coppice.Check{}))
		_, err := b.Land(t.Context(), key)
		b.must(err)
		b.turn()
		b.clock = b.clock.Add(time.Second)
	}
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "base2"})
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "tree2", Commit: "commit2"})
	return b
}

func (b *bundle) landing(key string) coppice.Landing {
	b.t.Helper()
	id := b.task(key).ID
	return *read(b, func(r store.Reader) (*coppice.Landing, error) { return r.Landings.Last(id) })
}

// A landing whose checks are killed again leaves the queue, so that those behind
// it land. It goes back by itself, without another word of the person's.
func TestKilledLandingLeavesTheQueue(t *testing.T) {
	t.Parallel()
	b := atCheck(t)
	b.finish("app-1", coppice.WorkCheck, checked(killed("SIGKILL")))
	if l := b.landing("app-1"); l.QueuedAt.IsZero() || b.unsettled("app-1").Kind != coppice.WorkCheck {
		t.Fatalf("killed once, it does not run again at once: %+v", l)
	}
	b.finish("app-2", coppice.WorkMerge, coppice.MergeResult{Base: "commit-app-1", Tree: "tree12", Commit: "commit12"}) // begun during the move
	if w := b.unsettled("app-2"); w.Kind != "" {
		t.Fatalf("app-2 is second and has %s to do", w.Kind)
	}
	b.finish("app-1", coppice.WorkCheck, checked(killed("SIGKILL")))
	if s := b.status("app-1"); s.Status != coppice.StatusLanding || !strings.Contains(s.Reason, "SIGKILL") || !strings.Contains(s.Fix, "limits.sessions") {
		t.Errorf("%s: %q, %q", s.Status, s.Reason, s.Fix)
	}
	if w := b.unsettled("app-1"); w.Kind != "" {
		t.Errorf("it waits and has %s to do", w.Kind)
	}
	b.finish("app-2", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "tree3", Commit: "commit3"})
	b.finish("app-2", coppice.WorkCheck, checked(coppice.Check{}))
	b.finish("app-2", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit3"})
	if got := b.task("app-2").Outcome; got != coppice.OutcomeDone {
		t.Fatalf("app-2 is %q", got)
	}

	b.clock = b.clock.Add(5 * time.Second)
	b.turn()
	b.finish("app-1", coppice.WorkCheck, checked(coppice.Check{}))
	if l := b.landing("app-1"); l.QueuedAt.IsZero() || l.Waits != "" || l.Killed != 0 || l.Failure != nil {
		t.Errorf("passed, it is not in the queue: %+v", l)
	}
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "commit3", Tree: "tree4", Commit: "commit4"})
	b.finish("app-1", coppice.WorkCheck, checked(coppice.Check{}))
	b.movesAndEnds("app-1", "commit4", 1)
}

// However often its checks are killed, a landing neither ends nor uses up the
// tries that it has for other failures, and the track gets no strike.
func TestKilledWithoutEnd(t *testing.T) {
	t.Parallel()
	b := atCheck(t)
	b.project(func(p *coppice.Project) { p.Policy.Critical = []coppice.FailurePattern{{Match: "log"}} })
	for range 30 {
		b.finish("app-1", coppice.WorkCheck, checked(killed("SIGKILL")))
		b.clock = b.clock.Add(10 * time.Minute)
		b.turn()
	}
	b.finish("app-1", coppice.WorkCheck, broke)
	l, k := b.landing("app-1"), b.task("app-1")
	if !l.EndedAt.IsZero() || l.Killed != 30 || l.Tries != 1 || k.Sessions != 1 || k.Ended() {
		t.Errorf("landing %+v of %+v", l, k)
	}
	b.view(func(r store.Reader) error {
		all, err := r.Checks.Of(k.ID)
		if n := len(all); n != 3 { // the first tree's, and two that were killed
			t.Errorf("%d checks are kept", n)
		}
		p, perr := r.Projects.Get(k.ProjectID)
		if perr != nil || len(p.PausedTracks) > 0 || p.Strikes["main"] > 1 { // one for what broke in the end
			t.Errorf("project %+v, %v", p, perr)
		}
		return err
	})
}

// A check whose worker is lost runs again. When that happens again and again, it
// counts as killed: the machine may stop because of it.
func TestLostCheck(t *testing.T) {
	t.Parallel()
	b := atCheck(t)
	for n := range mostAttempts {
		if l := b.landing("app-1"); l.Killed != 0 || l.Waits != "" {
			t.Fatalf("lost %d times: %+v", n, l)
		}
		w := b.unsettled("app-1")
		w.State, w.Attempt, w.Worker, w.LeaseUntil = coppice.WorkTaken, n+1, "w1", b.clock.Add(time.Second)
		b.update(func(tx store.Tx) error {
			if err := tx.Work.Put(&w); err != nil {
				return err
			}
			return tx.Timers.Set(store.Timer{Kind: TimerWork, ID: fmt.Sprint(w.ID), At: w.LeaseUntil})
		})
		b.clock = b.clock.Add(time.Second)
		b.turn()
	}
	if l := b.landing("app-1"); !l.EndedAt.IsZero() || l.Killed != 1 || l.Tries != 0 || !l.QueuedAt.IsZero() || l.Failure == nil || !strings.Contains(l.Failure.Text, "never finished") {
		t.Errorf("%+v", l)
	}
	b.clock = b.clock.Add(5 * time.Second)
	b.turn()
	if w := b.unsettled("app-1"); w.Kind != coppice.WorkCheck || w.Attempt != 0 {
		t.Errorf("it has %q to do, attempt %d", w.Kind, w.Attempt)
	}
}

// A person has a landing that waits tried at once, by either word.
func TestTryALandingAtOnce(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(*bundle) (coppice.Task, error){
		"land":  func(b *bundle) (coppice.Task, error) { return b.Land(t.Context(), "app-1") },
		"retry": func(b *bundle) (coppice.Task, error) { return b.Retry(t.Context(), "app-1", "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := atCheck(t)
			if _, err := say(b); coppice.ErrorCode(err) != coppice.EConflict {
				t.Errorf("while its checks run: %v", err)
			}
			b.finish("app-1", coppice.WorkCheck, checked(killed("SIGKILL")))
			b.finish("app-1", coppice.WorkCheck, checked(killed("SIGKILL")))
			if _, err := b.Retry(t.Context(), "app-1", "a note"); coppice.ErrorCode(err) != coppice.EConflict {
				t.Errorf("a note that no session gets: %v", err)
			}
			_, err := say(b)
			b.must(err)
			b.turn()
			if w := b.unsettled("app-1"); w.Kind != coppice.WorkCheck {
				t.Fatalf("it has %q to do", w.Kind)
			}
			if k := b.task("app-1"); len(b.asks(k)) > 0 && b.asks(k)[0].Verb == coppice.VerbRetry || k.Round != 0 {
				t.Errorf("%+v", k)
			}
		})
	}
}

// A landing that waits because its checks were killed forgets that when the same
// tree has passed for another task: with a failure it would look as if its move
// had failed.
func TestProvenInTheMeantime(t *testing.T) {
	t.Parallel()
	waits := func(l *coppice.Landing) {
		merged(l)
		l.Killed, l.RetryAt, l.Waits, l.Failure = 3, noon, "killed", broke
	}
	v := viewOf(coppice.StageLanding, candidate(waits), checkEnv("e1"), proven("make", "e1", 0))
	if l := anyLanding(v).Landing; !l.Green || l.Killed != 0 || l.Waits != "" || l.Failure != nil || !l.RetryAt.IsZero() {
		t.Errorf("%+v", l)
	}
}

// A landing that waits in stage checking is tried at once as well, and a word
// that comes too late changes nothing.
func TestTryCheckingAtOnce(t *testing.T) {
	t.Parallel()
	waits := func(l *coppice.Landing) { merged(l); l.RetryAt = noon.Add(time.Minute) }
	asked := say(coppice.VerbRetry)
	run(t, retryTask, []decision{
		{"put off", viewOf(coppice.StageChecking, candidate(waits), asked), "retry: task.retry_asked; landing commit1 on base1 green=false"},
		{"tried in the meantime", viewOf(coppice.StageChecking, candidate(merged), asked), "retry: task.retry_asked"},
		{"of an earlier round", viewOf(coppice.StageChecking, candidate(waits), asked, task(func(t *coppice.Task) { t.Round = 1 })), "retry: task.retry_asked"},
	})
}
