package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
)

func TestAddProject(t *testing.T) {
	t.Parallel()
	b := open(t)
	p := b.project()
	again, err := b.AddProject(t.Context(), "/src/app")
	b.must(err)
	other, err := b.AddProject(t.Context(), "/src/other")
	b.must(err)
	if again.ID != p.ID || other.ID == p.ID || other.Prefix != "app2" {
		t.Errorf("%d %q, again %d, other %d %q", p.ID, p.Prefix, again.ID, other.ID, other.Prefix)
	}
	b.inspect = func(ctx context.Context, dir string) (coppice.Project, error) {
		p, err := inspected(ctx, dir)
		p.Policy.Base, p.BaseCommit = "next", "base9"
		return p, err
	}
	changed, err := b.AddProject(t.Context(), "/src/app")
	b.must(err)
	if changed.ID != p.ID || changed.Policy.Base != "next" || changed.BaseCommit != "base9" {
		t.Errorf("after a change of policy: %+v", changed)
	}
	var kinds []coppice.EventKind
	for _, e := range b.events(store.EventFilter{}) {
		kinds = append(kinds, e.Kind)
	}
	if d := cmp.Diff([]coppice.EventKind{coppice.EventProjectAdded, coppice.EventProjectAdded, coppice.EventProjectChanged}, kinds); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	b.inspect = func(context.Context, string) (coppice.Project, error) {
		return coppice.Project{}, errors.New("no repository")
	}
	if _, err := b.AddProject(t.Context(), "/"); err == nil {
		t.Error("a directory that is not a project was added")
	}
}

func TestFreePrefix(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.inspect = func(ctx context.Context, dir string) (coppice.Project, error) {
		p, err := inspected(ctx, dir)
		p.Prefix = "sixteenletters16"
		return p, err
	}
	var got []string
	for _, dir := range []string{"/a", "/b", "/c"} {
		p, err := b.AddProject(t.Context(), dir)
		b.must(err)
		got = append(got, p.Prefix)
	}
	if d := cmp.Diff([]string{"sixteenletters16", "sixteenletters12", "sixteenletters13"}, got); d != "" {
		t.Errorf("prefixes (-want +got):\n%s", d)
	}
	b.inspect = func(ctx context.Context, dir string) (coppice.Project, error) {
		return coppice.Project{Path: dir, Prefix: "No Prefix"}, nil
	}
	if _, err := b.AddProject(t.Context(), "/d"); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a bad prefix: %v", err)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) {
		p.Strikes = map[string]int{"main": 2}
		p.PausedTracks = map[string]string{"main": "it broke"}
	})
	b.create(coppice.NewTask{Title: "a"})
	b.turn()
	stage := func() coppice.Stage { return b.task("app-1").Stage }
	step := func(track string, on bool, want coppice.Stage) {
		t.Helper()
		p, err := b.Pause(t.Context(), "app", track, on)
		b.must(err)
		if paused(p, track) != on || track != "" && p.Strikes[track] != 0 {
			t.Errorf("pause %q %t: %v %v", track, on, p.PausedTracks, p.Strikes)
		}
		b.turn()
		if stage() != want {
			t.Errorf("pause %q %t: the task is %s, want %s", track, on, stage(), want)
		}
	}
	if stage() != coppice.StageQueued {
		t.Fatalf("started in a paused track: %s", stage())
	}
	step("", true, coppice.StageQueued)
	step("main", false, coppice.StageQueued)
	step("main", true, coppice.StageQueued)
	step("", false, coppice.StageQueued)
	step("main", false, coppice.StageSession)
	for name, f := range map[string]func() error{
		"track":   func() error { _, err := b.Pause(t.Context(), "app", "nope", true); return err },
		"project": func() error { _, err := b.Pause(t.Context(), "nope", "", true); return err },
	} {
		if err := f(); err == nil {
			t.Errorf("an unknown %s was paused", name)
		}
	}
}

// staged puts a task into a state that no turn has made.
func (b *bundle) staged(title string, f func(*coppice.Task)) coppice.Task {
	b.t.Helper()
	made := b.create(coppice.NewTask{Title: title})[0]
	f(&made)
	b.update(func(tx store.Tx) error { return tx.Tasks.Put(&made) })
	return made
}

// A request that does not fit the state is refused with a fix, and changes
// nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	in := func(stage coppice.Stage, o coppice.Outcome) string {
		return b.staged("a", func(t *coppice.Task) { t.Stage, t.Outcome = stage, o }).Key
	}
	fresh, queued, runs := in(coppice.StageWaiting, ""), in(coppice.StageQueued, ""), in(coppice.StageSession, "")
	checks, held, lands := in(coppice.StageChecking, ""), in(coppice.StageHeld, ""), in(coppice.StageLanding, "")
	done, failed := in(coppice.StageEnded, coppice.OutcomeDone), in(coppice.StageEnded, coppice.OutcomeFailed)
	big := strings.Repeat("x", coppice.MaxMessage+1)
	ctx := t.Context()
	stop := func(key string) func() error { return func() error { _, err := b.Stop(ctx, key); return err } }
	retry := func(key, note string) func() error {
		return func() error { _, err := b.Retry(ctx, key, note); return err }
	}
	land := func(key string) func() error { return func() error { _, err := b.Land(ctx, key); return err } }
	send := func(key, text string) func() error {
		return func() error { _, err := b.Send(ctx, key, text); return err }
	}
	answer := func(key string, q int64, text string) func() error {
		return func() error { _, err := b.Answer(ctx, key, q, text); return err }
	}
	undo := func(key, project string) func() error {
		return func() error { _, err := b.Undo(ctx, key, project); return err }
	}
	title := func(key, s string) func() error {
		return func() error { _, err := b.ChangeTask(ctx, key, coppice.TaskChange{Title: &s}); return err }
	}
	for _, c := range []struct {
		name string
		do   func() error
		code coppice.Code
		says string
	}{
		{"stop what is done", stop(done), coppice.EConflict, "has ended already (done)"},
		{"stop what is not there", stop("app-999"), coppice.ENotFound, ""},
		{"retry what is done", retry(done, ""), coppice.EConflict, "create a new task"},
		{"retry a running task", retry(runs, ""), coppice.EConflict, "coppice requeue " + runs},
		{"retry what is queued", retry(queued, ""), coppice.EConflict, "has not ended"},
		{"retry with a huge note", retry(failed, big), coppice.ETooLarge, "note"},
		{"retry with a zero byte", retry(failed, "a\x00b"), coppice.EInvalid, "zero byte"},
		{"land what is done", land(done), coppice.EConflict, "landed already"},
		{"land what lands", land(lands), coppice.EConflict, "is landing already"},
		{"land a running task", land(runs), coppice.EConflict, "nothing to land yet"},
		{"land what waits", land(fresh), coppice.EConflict, "nothing to land yet"},
		{"land without a branch", land(failed), coppice.EConflict, "no branch to land"},
		{"send to what is done", send(done, "hi"), coppice.EConflict, "coppice continue " + done},
		{"send to what is checked", send(checks, "hi"), coppice.EConflict, "no session would get"},
		{"send to what is held", send(held, "hi"), coppice.EConflict, "no session would get"},
		{"send to what lands", send(lands, "hi"), coppice.EConflict, "no session would get"},
		{"send nothing", send(runs, ""), coppice.EInvalid, "empty"},
		{"send too much", send(runs, big), coppice.ETooLarge, "text"},
		{"send no text", send(runs, "\xff"), coppice.EInvalid, "UTF-8"},
		{"answer nothing", answer(runs, 0, ""), coppice.EInvalid, "empty"},
		{"answer too much", answer(runs, 0, big), coppice.ETooLarge, "text"},
		{"answer what has no open question", answer(runs, 0, "yes"), coppice.EConflict, "has no open question"},
		{"answer what was never asked", answer(runs, 99, "yes"), coppice.ENotFound, ""},
		{"undo nothing", undo("", "app"), coppice.ENotFound, "trash.ttl"},
		{"undo of a task", undo(done, ""), coppice.ENotFound, "nothing to undo"},
		{"undo in no project", undo("", "nope"), coppice.ENotFound, ""},
		{"undo of no task", undo("app-999", ""), coppice.ENotFound, ""},
		{"change what is done", title(done, "b"), coppice.EConflict, "has ended (done)"},
		{"change to no title", title(fresh, " "), coppice.EInvalid, "title"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.seq()
			err := c.do()
			if coppice.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q (%s), want %s with %q", err, coppice.ErrorCode(err), c.code, c.says)
			}
			if b.seq() != before {
				t.Error("the log has grown")
			}
		})
	}
}

func (b *bundle) seq() int64 {
	b.t.Helper()
	return read(b, func(r store.Reader) (int64, error) {
		_, last, err := r.Log.Bounds()
		return last, err
	})
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	one := b.staged("a", func(t *coppice.Task) { t.Stage = coppice.StageSession })
	two := b.staged("b", func(t *coppice.Task) { t.Stage = coppice.StageSession })
	s := coppice.Session{ProjectID: one.ProjectID, TaskID: one.ID, N: 1, Key: "app-1.1", State: coppice.SessionWaiting, CreatedAt: noon}
	qs := []coppice.Question{{Ref: "q1", Text: "this?"}, {Ref: "q2", Text: "that?"}}
	b.update(func(tx store.Tx) error {
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		for i := range qs {
			qs[i].TaskID, qs[i].SessionID, qs[i].AskedAt = one.ID, s.ID, noon
			if err := tx.Questions.Put(&qs[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := b.Answer(t.Context(), two.Key, qs[0].ID, "yes"); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("another task's question: %v", err)
	}
	for _, want := range qs { // 0 means the oldest open one
		q, err := b.Answer(t.Context(), one.Key, 0, "yes")
		b.must(err)
		if q.ID != want.ID || q.Answer != "yes" || !q.AnsweredAt.Equal(noon) {
			t.Errorf("answered %+v, want question %d", q, want.ID)
		}
	}
	if _, err := b.Answer(t.Context(), one.Key, qs[0].ID, "no"); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("answered twice: %v", err)
	}
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	ctx := t.Context()
	waits := b.staged("a", func(t *coppice.Task) { t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: "log in"} })
	got, err := b.Retry(ctx, waits.Key, "did it")
	b.must(err)
	if a := b.asks(got); len(a) != 1 || a[0].Verb != coppice.VerbRetry || a[0].Text != "did it" || a[0].By.Kind != coppice.ActorPerson {
		t.Errorf("retry: %+v", a)
	}
	m, err := b.Send(ctx, waits.Key, "hello")
	b.must(err)
	if m.ID == 0 || m.From != "person" || m.TaskID != waits.ID {
		t.Errorf("message: %+v", m)
	}
	held := b.staged("b", func(t *coppice.Task) { t.Stage = coppice.StageHeld })
	got, err = b.Land(ctx, held.Key)
	b.must(err)
	if a := b.asks(got); len(a) != 1 || a[0].Verb != coppice.VerbLand {
		t.Errorf("land: %+v", a)
	}
	got, err = b.Stop(ctx, held.Key)
	b.must(err)
	if a := b.asks(got); len(a) != 1 || a[0].Verb != coppice.VerbStop {
		t.Errorf("stop withdraws land: %+v", a)
	}
}
