package engine

import (
	"strings"
	"testing"

	"coppice"
)

// answering makes a session one that ended with words.
func answering(words string) func(*coppice.Session) {
	return func(s *coppice.Session) {
		s.Role, s.Path, s.Head, s.From = coppice.RoleAnswer, "/ws/"+s.Key, "base1", "base1"
		endAnswer(&View{}, coppice.RunResult{Summary: words}, s)
	}
}

func wantsAnswer(v *View) { v.Task.Wants = coppice.WantsAnswer }

func TestJudgeAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		view    *View
		stage   coppice.Stage
		outcome coppice.Outcome
		says    string
	}{
		"an answer":           {viewOf(coppice.StageSession, wantsAnswer, ran("base1", answering("In main.go."))), coppice.StageEnded, coppice.OutcomeDone, "done"},
		"nothing":             {viewOf(coppice.StageSession, wantsAnswer, ran("base1", answering(""))), coppice.StageWaiting, "", "ended without an answer"},
		"nothing, once more":  {viewOf(coppice.StageSession, wantsAnswer, ran("base1", answering("")), ran("base1", answering("")), ran("base1", answering(""))), coppice.StageEnded, coppice.OutcomeFailed, "without an answer"},
		"a failure":           {viewOf(coppice.StageSession, wantsAnswer, ran("base1", answering("x"), fails(coppice.ClassTimeout))), coppice.StageWaiting, "", "retries"},
		"a message came late": {viewOf(coppice.StageSession, wantsAnswer, ran("base1", answering("In main.go.")), func(v *View) { v.Messages = []coppice.Message{{ID: 1, Text: "and why?"}} }), coppice.StageQueued, "", "message to deliver"},
		"it was stopped": {viewOf(coppice.StageSession, wantsAnswer, ran("base1", answering(""), func(s *coppice.Session) {
			s.State, s.Failure = coppice.SessionCancelled, coppice.Failf(coppice.ClassCancelled, "was stopped", "")
		})), coppice.StageEnded, coppice.OutcomeCancelled, "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := pipeline(c.view)
			if d == nil || d.Task == nil || d.Task.Stage != c.stage || d.Task.Outcome != c.outcome || !strings.Contains(d.Reason, c.says) {
				t.Fatalf("%+v; want %s, %q and %q", d, c.stage, c.outcome, c.says)
			}
			if d.Landing != nil || d.Workspace != nil {
				t.Errorf("something would land: %+v", d)
			}
			if n := d.Task.Next; n != nil && (n.Role != coppice.RoleAnswer || n.Resume != "") {
				t.Errorf("continues with %+v", n)
			}
		})
	}
}

// A session that answers gets a detached worktree at the tip, and cannot edit.
func TestCarryAnswer(t *testing.T) {
	t.Parallel()
	begun := func(s *coppice.Session) { starting(s); s.Role, s.From = coppice.RoleAnswer, "" }
	v := viewOf(coppice.StageSession, wantsAnswer, ran("", begun), func(v *View) { v.Task.Schema = []byte(`{"type":"integer"}`) })
	d := pipeline(v)
	prepare, err := coppice.DecodeSpec[coppice.PrepareSpec](*d.Offer)
	if err != nil || d.Offer.Kind != coppice.WorkPrepare || !prepare.Detached || prepare.From != "" || prepare.Base != "main" || d.Workspace != nil {
		t.Fatalf("%+v %+v, %v", d.Offer, prepare, err)
	}
	v.Sessions[0].Path = "/ws/own"
	run, err := coppice.DecodeSpec[coppice.RunSpec](*pipeline(v).Offer)
	if err != nil || !run.ReadOnly || run.Path != "/ws/own" || run.Branch != "" || string(run.Schema) != `{"type":"integer"}` || run.Serve.Set() {
		t.Errorf("%+v, %v", run, err)
	}
	if r := run.Permissions.Rules; len(r) == 0 || r[0].Tool != "edit" || r[0].Do != coppice.RuleDeny || !strings.Contains(r[0].Why, "answer") {
		t.Errorf("it may edit: %+v", r)
	}
}

// A further question after an answer goes to a session that knows the answer.
func TestContinueAnAnswer(t *testing.T) {
	t.Parallel()
	v := viewOf(coppice.StageEnded, wantsAnswer, endedAs(coppice.OutcomeDone), ran("base1", answering("In main.go.")), say(coppice.VerbContinue, "and who calls it?"))
	d := continueTask(v)
	if n := d.Task.Next; n == nil || n.Role != coppice.RoleAnswer || n.Note != "and who calls it?" || !strings.Contains(n.Evidence, "In main.go.") || d.Workspace != nil {
		t.Errorf("%+v", d)
	}
}

func TestEveryRoleIsKnown(t *testing.T) {
	t.Parallel()
	for _, r := range coppice.Roles {
		if roles[r.Role].judge == nil {
			t.Errorf("nothing judges a session in the role %s", r.Role)
		}
	}
}
