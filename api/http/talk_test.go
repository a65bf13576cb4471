package http_test

import (
	"strings"
	"testing"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

func TestConversations(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	b.Task("app", coppice.NewTask{Title: "first", Body: "all of it", Checks: []string{"make"}})
	s := b.Session("app-1", coppice.SessionWorking, func(s *coppice.Session) { s.Conversation = "talk1" })
	b.Change("app-1", func(t *coppice.Task) { t.Stage, t.Wait, t.Next, t.Sessions = coppice.StageSession, nil, nil, 1 })
	b.Task("app", coppice.NewTask{Title: "second", Agent: "blind"})
	b.Session("app-2", coppice.SessionWorking, nil)
	b.Change("app-2", func(t *coppice.Task) { t.Stage, t.Wait, t.Next, t.Sessions = coppice.StageSession, nil, nil, 1 })

	m, err := b.Client.SendNext(b.Ctx, "app-1", "then this")
	b.Must(err)
	n, err := b.Client.Interrupt(b.Ctx, "app-1", "")
	b.Must(err)
	k, err := b.Client.Model(b.Ctx, "app-1", "big")
	b.Must(err)
	if m.Kind != coppice.MessageNext || n.Kind != coppice.MessageInterrupt || n.Text != "" || k.Kind != coppice.MessageModel || k.Text != "big" {
		t.Errorf("said %+v, %+v, %+v", m, n, k)
	}
	if _, err := b.Client.Model(b.Ctx, "app-1", "--rm"); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("no model: %v", err)
	}
	made, err := b.Client.Fork(b.Ctx, "app-1", "another way")
	b.Must(err)
	if made.Key != "app-3" || made.ForkOf != "app-1" || made.Body != "all of it" || made.Status != coppice.StatusWaiting {
		t.Errorf("forked %+v", made)
	}
	if _, err := b.Client.Ask(b.Ctx, "app-2", coppice.VerbTake, verb.Request{}); coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(err.Error(), "no screen") {
		t.Errorf("taking what has no screen: %v", err)
	}
	x, err := b.Client.Ask(b.Ctx, "app-1", coppice.VerbTake, verb.Request{})
	b.Must(err)
	if !x.Taken {
		t.Errorf("taken %+v", x)
	}
	if _, err := b.Client.Ask(b.Ctx, "app-2", coppice.VerbGive, verb.Request{Text: "continue"}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("giving what is not taken: %v", err)
	}
	s.Screen = true
	b.Update(func(tx store.Tx) error { return tx.Sessions.Put(&s) })
	if _, err := b.Client.Ask(b.Ctx, "app-1", coppice.VerbGive, verb.Request{Text: "continue"}); err != nil {
		t.Error(err)
	}
	if _, err := b.Client.Ask(b.Ctx, "app-1", coppice.VerbContinue, verb.Request{Text: "more"}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("continuing a running task: %v", err)
	}
	b.Change("app-2", func(t *coppice.Task) { t.Stage, t.Outcome = coppice.StageEnded, coppice.OutcomeDone })
	if _, err := b.Client.Ask(b.Ctx, "app-2", coppice.VerbContinue, verb.Request{}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("continuing without a text: %v", err)
	}
	if _, err := b.Client.Ask(b.Ctx, "app-2", coppice.VerbContinue, verb.Request{Text: "more"}); err != nil {
		t.Error(err)
	}
}

func TestRulesAndLimits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.Project("/src/app")
	x := b.Task("app", coppice.NewTask{Title: "first"})
	s := b.Session("app-1", coppice.SessionWaiting, nil)
	b.Change("app-1", func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageSession, nil })
	b.Update(func(tx store.Tx) error {
		return tx.Questions.Put(&coppice.Question{
			TaskID: x.ID, SessionID: s.ID, Ref: "q", Kind: coppice.QuestionPermission, Text: "may it run: make test",
			Rule: &coppice.Rule{Tool: "run", Match: "make *"}, AskedAt: b.Clock.Now(),
		})
	})
	d, err := b.Client.Task(b.Ctx, "app-1")
	b.Must(err)
	if d.Reason != "asks permission: may it run: make test" || d.Question.Kind != coppice.QuestionPermission || d.Question.Rule.Match != "make *" {
		t.Errorf("asks %s, %+v", d.Reason, d.Question)
	}
	_, err = b.Client.Answer(b.Ctx, "app-1", 0, coppice.AnswerAllowAlways)
	b.Must(err)
	rules, err := b.Client.Rules(b.Ctx, "app")
	b.Must(err)
	if len(rules) != 1 || rules[0].Tool != "run" || rules[0].Match != "make *" || rules[0].Do != coppice.RuleAllow {
		t.Errorf("remembers %+v", rules)
	}
	if _, err := b.Client.ForgetRule(b.Ctx, "app", 2); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("no such rule: %v", err)
	}
	r, err := b.Client.ForgetRule(b.Ctx, "app", 1)
	b.Must(err)
	if rules, err = b.Client.Rules(b.Ctx, "app"); err != nil || len(rules) != 0 || r.Match != "make *" {
		t.Errorf("forgot %+v, remembers %v (%v)", r, rules, err)
	}
	if _, err := b.Client.Rules(b.Ctx, "nope"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("rules of nothing: %v", err)
	}

	limits, err := b.Client.Limits(b.Ctx)
	if err != nil || limits == nil || len(limits) != 0 {
		t.Errorf("limits %v (%v)", limits, err)
	}
	b.Task(p.Prefix, coppice.NewTask{Title: "waits"})
	b.Change("app-2", func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageQueued, nil })
	b.Update(func(tx store.Tx) error {
		return tx.Limits.Put(coppice.AgentLimit{Agent: "robot", Class: coppice.ClassAuth, Text: "not logged in"})
	})
	limits, err = b.Client.Limits(b.Ctx)
	b.Must(err)
	if len(limits) != 1 || limits[0].Agent != "robot" || !limits[0].Until.IsZero() || len(limits[0].Tasks) != 1 || limits[0].Tasks[0] != "app-2" {
		t.Errorf("limits %+v", limits)
	}
	if _, err := b.Client.ClearLimit(b.Ctx, "nobody"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("clearing nothing: %v", err)
	}
	if limits, err = b.Client.ClearLimit(b.Ctx, "robot"); err != nil || len(limits) != 0 {
		t.Errorf("cleared: %v (%v)", limits, err)
	}
	// A model has its own limit, whatever its name.
	limited(b, "robot:x/small:1")
	limited(b, "robot")
	for _, wrong := range []string{"robot:", "robot:x/small:2", "robot:x", "robot/x"} {
		if _, err := b.Client.ClearLimit(b.Ctx, wrong); err == nil {
			t.Errorf("%s was cleared", wrong)
		}
	}
	if limits, err = b.Client.ClearLimit(b.Ctx, "robot:x/small:1"); err != nil || len(limits) != 1 || limits[0].Agent != "robot" {
		t.Errorf("cleared: %v (%v)", limits, err)
	}
}
