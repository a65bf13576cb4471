package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
)

// working gives a task a session that runs.
func (b *bundle) working(key string, changes ...func(*coppice.Session)) coppice.Session {
	b.t.Helper()
	var s coppice.Session
	b.turn()
	b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
	id, w := b.task(key).ID, b.unsettled(key)
	w.State, w.Attempt, w.Worker = coppice.WorkTaken, 1, "w"
	b.update(func(tx store.Tx) error {
		last, err := tx.Sessions.Last(id)
		if err != nil {
			return err
		}
		s = *last
		s.State, s.StartedAt, s.Conversation = coppice.SessionWorking, noon, "talk1"
		for _, c := range changes {
			c(&s)
		}
		if err := tx.Work.Put(&w); err != nil {
			return err
		}
		return tx.Sessions.Put(&s)
	})
	return s
}

func TestRememberedRules(t *testing.T) {
	t.Parallel()
	b := open(t)
	own := coppice.Rule{Tool: "run", Match: "git push*", Do: coppice.RuleDeny}
	b.project(func(p *coppice.Project) {
		p.Policy.Permissions = coppice.PermissionPolicy{Rules: []coppice.Rule{own}, Default: coppice.RuleAsk}
		p.Policy.MCP = map[string]coppice.MCPServer{"docs": {URL: "http://127.0.0.1:1/"}}
	})
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"})
	s := b.working("app-1")
	answer := func(kind, match, text string) coppice.Question {
		t.Helper()
		q := coppice.Question{TaskID: s.TaskID, SessionID: s.ID, Ref: match, Kind: kind, Text: "may it run?", Rule: &coppice.Rule{Tool: "run", Match: match, Do: coppice.RuleAllow},
			Options: []string{coppice.AnswerAllow, coppice.AnswerAllowAlways, coppice.AnswerDeny, coppice.AnswerDenyAlways}, AskedAt: noon}
		b.update(func(tx store.Tx) error { return tx.Questions.Put(&q) })
		q, err := b.Answer(t.Context(), "app-1", q.ID, text)
		b.must(err)
		return q
	}
	rules := func() (out []string) {
		for _, r := range b.projectNow().Rules {
			out = append(out, strings.TrimSpace(ruleText(r)+" "+r.Why))
		}
		return out
	}
	answer(coppice.QuestionPermission, "make *", coppice.AnswerAllow)
	answer("", "which way", coppice.AnswerAllowAlways) // no permission was asked
	if got := rules(); got != nil {
		t.Fatalf("remembers %q", got)
	}
	answer(coppice.QuestionPermission, "make *", coppice.AnswerAllowAlways)
	answer(coppice.QuestionPermission, "curl *", "deny always because it is slow")
	answer(coppice.QuestionPermission, "make *", "deny always")
	if q := answer(coppice.QuestionPermission, "npm *", " 2 "); q.Answer != coppice.AnswerAllowAlways {
		t.Errorf("the second option is %q", q.Answer)
	}
	if d := cmp.Diff([]string{"allow run npm *", "deny run make *", "deny run curl * it is slow"}, rules()); d != "" {
		t.Errorf("remembers (-want +got):\n%s", d)
	}
	b.turn() // the second task's session gets them, before the project's own
	b.finish("app-2", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws2", BaseCommit: "base1", Head: "base1"})
	spec := specOf[coppice.RunSpec](b, b.unsettled("app-2"))
	want := coppice.PermissionPolicy{Default: coppice.RuleAsk, Rules: append(b.projectNow().Rules, own)}
	if d := cmp.Diff(want, spec.Permissions); d != "" || spec.MCP["docs"].URL == "" {
		t.Errorf("its session may (-want +got):\n%s\n%v", d, spec.MCP)
	}
	forgotten, err := b.ForgetRule(t.Context(), "app", 2)
	b.must(err)
	if forgotten.Match != "make *" || len(rules()) != 2 {
		t.Errorf("forgot %+v, has %q", forgotten, rules())
	}
	for _, n := range []int{0, 3, -1} {
		if _, err := b.ForgetRule(t.Context(), "app", n); coppice.ErrorCode(err) != coppice.ENotFound {
			t.Errorf("rule %d: %v", n, err)
		}
	}
	for n := range mostRules {
		answer(coppice.QuestionPermission, fmt.Sprintf("tool%d *", n), coppice.AnswerAllowAlways)
	}
	if got := rules(); len(got) != mostRules || got[0] != fmt.Sprintf("allow run tool%d *", mostRules-1) {
		t.Errorf("remembers %d, the newest %s", len(got), got[0])
	}
}

func TestConverseRefusals(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = 2 })
	b.create(coppice.NewTask{Title: "runs"}, coppice.NewTask{Title: "blind", Agent: "blind"}, coppice.NewTask{Title: "waits", After: []string{"app-1"}}, coppice.NewTask{Title: "done"}, coppice.NewTask{Title: "checks"})
	b.working("app-1")
	b.working("app-2")
	b.update(func(tx store.Tx) error {
		for key, f := range map[string]func(*coppice.Task){
			"app-4": func(t *coppice.Task) { t.Stage, t.Outcome, t.Next = coppice.StageEnded, coppice.OutcomeDone, nil },
			"app-5": func(t *coppice.Task) { t.Stage, t.Next = coppice.StageChecking, nil },
		} {
			x, err := tx.Tasks.ByKey(key)
			if err != nil {
				return err
			}
			f(&x)
			if err := tx.Tasks.Put(&x); err != nil {
				return err
			}
		}
		return nil
	})
	big := strings.Repeat("x", coppice.MaxMessage+1)
	for _, c := range []struct {
		name string
		err  error
		code coppice.Code
		says string
	}{
		{"interrupt what does not run", third(b.Interrupt(ctx, "app-3", "")), coppice.EConflict, "nothing to interrupt"},
		{"interrupt with too much", third(b.Interrupt(ctx, "app-1", big)), coppice.ETooLarge, ""},
		{"no model", third(b.Model(ctx, "app-1", "-rf")), coppice.EInvalid, "not a valid model name"},
		{"continue a running task", third(b.Continue(ctx, "app-1", "more")), coppice.EConflict, "coppice send app-1"},
		{"continue what is done without a text", third(b.Continue(ctx, "app-4", " ")), coppice.EInvalid, "say what it should do now"},
		{"retry what is done", third(b.Retry(ctx, "app-4", "")), coppice.EConflict, "coppice continue app-4"},
		{"fork what has not begun", third(b.Fork(ctx, "app-3", "")), coppice.EConflict, "no conversation"},
		{"fork nothing", third(b.Fork(ctx, "app-99", "")), coppice.ENotFound, ""},
		{"take what has no screen", third(b.Take(ctx, "app-2")), coppice.EConflict, "blind has no screen"},
		{"take what has not begun", third(b.Take(ctx, "app-3")), coppice.EConflict, "no session to take over"},
		{"take what has ended", third(b.Take(ctx, "app-4")), coppice.EConflict, "coppice continue app-4"},
		{"take what is checked", third(b.Take(ctx, "app-5")), coppice.EConflict, "no session to take over"},
		{"give what is not taken", third(b.Give(ctx, "app-1", "")), coppice.EConflict, "nothing to give back"},
		{"clear no limit", b.ClearLimit(ctx, "ann"), coppice.ENotFound, "is not limited"},
		{"clear no agent", b.ClearLimit(ctx, "../x"), coppice.EInvalid, "not a valid agent name"},
		{"an empty message", third(b.SendNext(ctx, "app-1", "")), coppice.EInvalid, "empty"},
	} {
		if coppice.ErrorCode(c.err) != c.code || c.err != nil && !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
	if _, err := b.Take(ctx, "app-1"); err != nil {
		t.Error(err)
	}
	if _, err := b.Take(ctx, "app-1"); coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(err.Error(), "coppice attach app-1") {
		t.Errorf("taken twice: %v", err)
	}
}

func third[T any](_ T, err error) error { return err }

// A model can be chosen while nothing runs; then it is the next session's.
func TestModelOfTheNextSession(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.PausedAt = noon })
	b.create(coppice.NewTask{Title: "a"})
	b.turn()
	m, err := b.Model(t.Context(), "app-1", "big")
	b.must(err)
	if m.DeliveredAt.IsZero() || m.Open() {
		t.Errorf("the message is open: %+v", m)
	}
	if x := b.task("app-1"); x.Model != "big" || x.Next.Model != "big" {
		t.Errorf("%+v", x)
	}
}

// One session that is not logged in shuts the agent for all: those that have
// another agent continue with it, the rest wait until a person says so.
func TestShutAgent(t *testing.T) {
	t.Parallel()
	for _, fallback := range [][]string{nil, {"bob"}} {
		for _, how := range []string{"clear", "retry"} {
			t.Run(fmt.Sprint(how, fallback), func(t *testing.T) {
				t.Parallel()
				b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions, p.Policy.Agent.Fallback = 1, fallback })
				b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c"})
				b.turn()
				b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
				b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "base1", Failure: coppice.Failf(coppice.ClassAuth, "not logged in", "")})
				limits := func() []AgentLimit { return read(b, b.Limits) }
				got := limits()
				if len(got) != 1 || got[0].Agent != "ann" || !got[0].Until.IsZero() || got[0].Class != coppice.ClassAuth {
					t.Fatalf("limits %+v", got)
				}
				if fallback != nil {
					for _, key := range []string{"app-2", "app-3"} {
						x := b.task(key)
						if x.Stage == coppice.StageQueued && x.Next.Agent != "bob" {
							t.Errorf("%s waits for %s", key, x.Next.Agent)
						}
					}
					if len(got[0].Tasks) != 0 {
						t.Errorf("%q wait", got[0].Tasks)
					}
					return
				}
				if d := cmp.Diff([]string{"app-1", "app-2", "app-3"}, got[0].Tasks); d != "" {
					t.Errorf("who waits (-want +got):\n%s", d)
				}
				second := b.task("app-2")
				b.view(func(r store.Reader) error {
					st, err := b.engine.Statuses(t.Context(), r, []coppice.Task{second})
					if st[0].Status != coppice.StatusWaiting || !strings.Contains(st[0].Reason, "not logged in") || !strings.Contains(st[0].Fix, "limits clear ann") {
						t.Errorf("app-2 is %+v", st[0])
					}
					return err
				})
				if how == "clear" {
					b.must(b.ClearLimit(t.Context(), "ann"))
				} else {
					_, err := b.Retry(t.Context(), "app-1", "")
					b.must(err)
				}
				b.turn()
				if got := limits(); got != nil {
					t.Errorf("limits %+v", got)
				}
				if x := b.task("app-1"); x.Stage != coppice.StageSession {
					t.Errorf("app-1 is %s", x.Stage)
				}
			})
		}
	}
}
