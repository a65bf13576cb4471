package engine

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func TestANoteIsNotData(t *testing.T) {
	t.Parallel()
	v := viewOf(coppice.StageEnded, endedAs(coppice.OutcomeFailed), say(coppice.VerbRetry, "use the new API"))
	got := promptFor(v, retryTask(v).Task.Next, nil)
	i, j := strings.Index(got, "use the new API"), strings.Index(got, "</data-")
	if i < j {
		t.Errorf("a person's note is inside the fence of data:\n%s", got)
	}
}

func TestAQueuedTaskCanBePutOff(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.PausedAt = noon })
	b.create(coppice.NewTask{Title: "a"})
	b.turn()
	at := noon.Add(time.Hour)
	_, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{NotBefore: &at})
	b.must(err)
	_, err = b.Pause(t.Context(), "app", "", false)
	b.must(err)
	b.turn()
	if s := b.task("app-1").Stage; s != coppice.StageWaiting {
		t.Errorf("started before its time: %s", s)
	}
}

func TestDependantsSeeThatATaskIsBack(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Retry.Max = 0 })
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b", After: []string{"app-1"}})
	b.prepares("app-1")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1", Failure: coppice.Failf(coppice.ClassUnknown, "x", "")})
	_, err := b.Land(t.Context(), "app-1")
	b.must(err)
	b.turn()
	if w := b.task("app-2").Wait; strings.Contains(w.Text, "failed") {
		t.Errorf("app-1 is %s, yet app-2 %s", b.task("app-1").Stage, w.Text)
	}
}

func TestAnAnswerThatDidNotArriveCanBeGivenAgain(t *testing.T) {
	t.Parallel()
	b := preparedTask(t)
	b.update(func(tx store.Tx) error {
		s, err := tx.Sessions.Get(1)
		if err != nil {
			return err
		}
		s.StartedAt, s.State = noon, coppice.SessionWaiting
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		return tx.Questions.Put(&coppice.Question{TaskID: 1, SessionID: 1, Ref: "q", Text: "?", AskedAt: noon})
	})
	_, err := b.Answer(t.Context(), "app-1", 0, "yes")
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkSend, coppice.Failf(coppice.ClassEnvironment, "socket", ""))
	b.view(func(r store.Reader) error {
		q, err := r.Questions.Get(1)
		s, _ := r.Sessions.Get(1)
		if !q.ClosedAt.IsZero() && s.State.Live() {
			t.Errorf("the answer did not arrive, the session is %s, the question is closed", s.State)
		}
		return err
	})
}
