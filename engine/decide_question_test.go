package engine

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// answered returns the first question of a task.
func (b *bundle) answered(key string) coppice.Question {
	b.t.Helper()
	id := b.task(key).ID
	return read(b, func(r store.Reader) ([]coppice.Question, error) { return r.Questions.Of(id) })[0]
}

func impatient(p *coppice.Project) { p.Policy.Health.Question = coppice.Duration(10 * time.Minute) }

// A question that nobody answers is answered when its time is over, and not
// before. Without the key it waits.
func TestQuestionsTimeOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		policy  func(*coppice.Project)
		kind    string
		answers string // what the session gets; empty for nothing
	}{
		{"off", func(*coppice.Project) {}, "", ""},
		{"question", impatient, "", "best judgement"},
		{"permission", impatient, coppice.QuestionPermission, "deny Nobody answered in 10m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := oneSession(t, 0, c.policy)
			b.create(coppice.NewTask{Title: "a"})
			b.working("app-1")
			q := coppice.Question{Ref: "q1", Kind: c.kind}
			if c.kind != "" {
				q.Rule = &coppice.Rule{Tool: "run", Match: "make *"}
			}
			b.wonder("app-1", q)
			b.clock = b.clock.Add(10*time.Minute - time.Second)
			b.turn()
			if q := b.answered("app-1"); !q.Open() {
				t.Fatalf("answered too early: %+v", q)
			}
			b.clock = b.clock.Add(time.Second)
			b.turn()
			if c.answers == "" {
				if q := b.answered("app-1"); !q.Open() {
					t.Errorf("answered: %+v", q)
				}
				return
			}
			spec := specOf[coppice.SendSpec](b, b.wantWork("app-1", coppice.WorkSend))
			if spec.Question != "q1" || !strings.Contains(spec.Text, c.answers) {
				t.Errorf("sends %+v", spec)
			}
			// An answer that does not arrive starts the time again.
			b.finish("app-1", coppice.WorkSend, coppice.SendResult{Why: "it does not listen"})
			if q := b.answered("app-1"); !q.Open() || !q.AskedAt.Equal(b.clock) {
				t.Errorf("after a failed delivery: %+v", q)
			}
			if w := b.unsettled("app-1"); w.Kind == coppice.WorkSend {
				t.Error("it is sent again immediately")
			}
			b.clock = b.clock.Add(10 * time.Minute)
			b.turn()
			b.finish("app-1", coppice.WorkSend, coppice.SendResult{Delivered: true})
			if q := b.answered("app-1"); q.ClosedAt.IsZero() {
				t.Errorf("delivered: %+v", q)
			}
			if p := b.projectNow(); len(p.Rules) > 0 {
				t.Errorf("it is remembered: %+v", p.Rules)
			}
		})
	}
}

// A task whose session was stopped while it waited continues, too.
func TestTheQuestionOfAStoppedSessionTimesOut(t *testing.T) {
	t.Parallel()
	b := oneSession(t, 0, func(p *coppice.Project) { p.Policy.Health.Question = coppice.Duration(time.Hour) })
	b.create(coppice.NewTask{Title: "a"})
	b.working("app-1")
	b.rests("app-1")
	b.want("app-1", coppice.StatusNeedsYou, "asks permission: which way?", "done")
	b.clock = b.clock.Add(time.Hour - mostParked)
	b.turn()
	b.want("app-1", coppice.StatusWorking, "", "done", "starting resumes talk1")
	if text := b.prompt(b.lastSession("app-1").ID); !strings.Contains(text, "Nobody answered in 1h") {
		t.Errorf("its prompt is %s", text)
	}
}

// The number of an option means that option for a question, not only for a
// permission.
func TestTheNumberOfAnOption(t *testing.T) {
	t.Parallel()
	b := oneSession(t, 0)
	b.create(coppice.NewTask{Title: "a"})
	b.working("app-1")
	b.wonder("app-1", coppice.Question{Ref: "q1", Options: []string{"JSON", "Text"}, Descriptions: []string{"one object", "a line"}})
	q, err := b.Answer(t.Context(), "app-1", 0, "2")
	b.must(err)
	b.turn()
	spec := specOf[coppice.SendSpec](b, b.wantWork("app-1", coppice.WorkSend))
	if q.Answer != "Text" || spec.Text != "Text" {
		t.Errorf("answered %q, sends %q", q.Answer, spec.Text)
	}
	if kept := b.answered("app-1"); len(kept.Descriptions) != 2 {
		t.Errorf("kept %+v", kept)
	}
}
