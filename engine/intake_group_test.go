package engine

import (
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// groupsOf returns the names of the groups of tasks, with "" for none.
func (b *bundle) groupsOf(keys ...string) (names []string) {
	b.t.Helper()
	for _, key := range keys {
		k, name := b.task(key), ""
		if k.Group != 0 {
			g := read(b, func(r store.Reader) (coppice.Group, error) { return r.Groups.Get(k.Group) })
			name = g.Name + " " + string(g.Kind)
		}
		names = append(names, name)
	}
	return names
}

func TestGroupsOfRequests(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "alone"})
	b.create(coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c", Group: "other", Labels: []string{"ui", "api"}}, coppice.NewTask{Title: "d"})
	b.create(coppice.NewTask{Title: "e", Group: "other"}, coppice.NewTask{Title: "f", Group: "mine"})
	b.create(coppice.NewTask{Title: "g", Group: "by-hand"})
	file := b.As(coppice.Actor{Kind: coppice.ActorFile, Name: "features.json"})
	for _, title := range []string{"h", "i"} {
		_, err := file.CreateTasks(t.Context(), "app", []coppice.NewTask{{Title: title}})
		b.must(err)
	}
	got := b.groupsOf("app-1", "app-2", "app-3", "app-4", "app-5", "app-6", "app-7", "app-8", "app-9")
	want := []string{"", "batch-2 batch", "other batch", "batch-2 batch", "other batch", "mine batch", "by-hand hand", "features import", "features import"}
	if !slices.Equal(got, want) {
		t.Errorf("groups\n%q, want\n%q", got, want)
	}
	if k := b.task("app-3"); !slices.Equal(k.Labels, []string{"api", "ui"}) {
		t.Errorf("labels %v", k.Labels)
	}
	for _, bad := range []coppice.NewTask{{Title: "x", Group: "a b"}, {Title: "x", Group: "12"}, {Title: "x", Labels: []string{"A"}}} {
		if _, err := b.CreateTasks(t.Context(), "app", []coppice.NewTask{bad}); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Labels, group and flag can change when a task has ended. It stays archived. The
// request of a task that landed stays as it is.
func TestMarksOfEndedTasks(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.failedTask("a")
	_, err := b.Archive(t.Context(), "app-1", true)
	b.must(err)
	labels, name, none, flag, title := []string{"later"}, "mine", "", true, "new"
	_, err = b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Labels: &labels, Group: &name, Flagged: &flag})
	b.must(err)
	k := b.task("app-1")
	if !slices.Equal(k.Labels, labels) || !k.Flagged || k.Archived.IsZero() || k.Stage != coppice.StageEnded || b.groupsOf("app-1")[0] != "mine hand" {
		t.Errorf("marked: %+v", k)
	}
	_, err = b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Group: &none})
	b.must(err)
	if k := b.task("app-1"); k.Group != 0 || !k.Flagged {
		t.Errorf("without a group: %+v", k)
	}
	landed := b.task("app-1")
	landed.Outcome, landed.Failure = coppice.OutcomeDone, nil
	b.update(func(tx store.Tx) error { return tx.Tasks.Put(&landed) })
	if _, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Flagged: &flag, Title: &title}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("another title for a task that landed: %v", err)
	}
	b.create(coppice.NewTask{Title: "b"})
	_, err = b.ChangeTask(t.Context(), "app-2", coppice.TaskChange{Flagged: &flag, Title: &title})
	b.must(err)
	if k := b.task("app-2"); !k.Flagged || k.Title != "new" {
		t.Errorf("flagged with a new title: %+v", k)
	}
}

func TestForksInheritGroupAndLabels(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a", Group: "mine", Labels: []string{"ui"}})
	b.prepares("app-1")
	b.update(func(tx store.Tx) error {
		s, err := tx.Sessions.Last(1)
		if err != nil {
			return err
		}
		s.Conversation, s.StartedAt, s.State = "talk", noon, coppice.SessionWorking
		return tx.Sessions.Put(s)
	})
	made, err := b.Fork(t.Context(), "app-1", "differently")
	b.must(err)
	if made.Group != b.task("app-1").Group || made.Group == 0 || !slices.Equal(made.Labels, []string{"ui"}) {
		t.Errorf("forked: %+v", made)
	}
}

func TestSeen(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	k := b.create(coppice.NewTask{Title: "a"})[0]
	unread := func() bool {
		return read(b, func(r store.Reader) (bool, error) {
			list, err := r.Seen.Unread(coppice.Actor{Kind: coppice.ActorPerson}, []int64{k.ID})
			return list[k.ID], err
		})
	}
	_, err := b.Stop(t.Context(), "app-1")
	b.must(err)
	b.turn()
	if b.task("app-1").Stage != coppice.StageEnded || unread() {
		t.Error("a task that a person stopped is unread")
	}
	b.update(func(tx store.Tx) error {
		return tx.Log.Append(&coppice.Event{At: noon.Add(time.Minute), Kind: coppice.EventTaskEnded, TaskID: k.ID, Reason: "done", By: "test"})
	})
	if !unread() {
		t.Error("a task that landed is read")
	}
	_, err = b.Seen(t.Context(), "app-1", 1<<40) // more than there are
	b.must(err)
	if unread() {
		t.Error("a task that the person has seen is unread")
	}
	b.update(func(tx store.Tx) error {
		return tx.Log.Append(&coppice.Event{At: noon.Add(time.Hour), Kind: coppice.EventQuestionAsked, TaskID: k.ID, By: "test"})
	})
	if !unread() {
		t.Error("a question after that is read")
	}
}
