package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// crashing is a store whose writer dies before some commits.
type crashing struct {
	store.Store
	rng *rand.Rand
}

var errCrash = errors.New("crash")

func (c crashing) Update(ctx context.Context, f func(store.Tx) error) error {
	return c.Store.Update(ctx, func(tx store.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		if c.rng.IntN(5) == 0 {
			return errCrash
		}
		return nil
	})
}

// flood is a minute in which much happens, with a server and receivers that fail.
type flood struct {
	*bundle
	rng      *rand.Rand
	policy   coppice.NotifyPolicy
	accepted map[string][]coppice.NotifySpec // by key
	urgent   int                             // reactions that were urgent
	keys     []string                        // of the tasks
}

// A flood of events gives few messages. They have every notice that was not settled,
// each once, whatever fails.
func TestFloodOfNotices(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			f := &flood{rng: rng, accepted: map[string][]coppice.NotifySpec{}, policy: coppice.NotifyPolicy{
				Notifiers: map[string]coppice.Notifier{"phone": {Kind: "desktop"}, "team": {Kind: "desktop"}, "log": {Kind: "program", Run: "cat"}},
				Routes: []coppice.NotifyRoute{
					{To: []string{"phone", "team"}}, {To: []string{"team"}, Projects: []string{"app"}, Priority: []coppice.Priority{coppice.PriorityAction}},
					{To: []string{"log"}, Priority: coppice.Priorities},
				},
			}}
			f.bundle = notified(t, f.policy)
			f.prepare()
			f.engine.cfg.Store = crashing{f.store, rng}
			for range 1000 {
				f.clock = f.clock.Add(60 * time.Millisecond)
				f.happen()
				f.run()
			}
			during := len(f.notifications())
			f.finishAll()
			f.check(during)
		})
	}
}

// prepare creates the tasks of three projects.
func (f *flood) prepare() {
	for _, prefix := range []string{"app", "web", "cli"} {
		p, err := f.AddProject(f.t.Context(), "/src/"+prefix)
		f.must(err)
		p.Prefix, p.PausedAt = prefix, noon
		f.update(func(tx store.Tx) error { return tx.Projects.Put(&p) })
		var list []coppice.NewTask
		for n := range 60 {
			list = append(list, coppice.NewTask{Title: fmt.Sprintf("task %d of %s", n, prefix)})
		}
		tasks, err := f.CreateTasks(f.t.Context(), prefix, list)
		f.must(err)
		for _, task := range tasks {
			f.keys = append(f.keys, task.Key)
		}
	}
	f.turn()
}

// happen changes a random task.
func (f *flood) happen() {
	task := f.task(f.keys[f.rng.IntN(len(f.keys))])
	switch n := f.rng.IntN(10); {
	case n < 5:
		f.needsPerson(task.Key, true)
	case n < 7:
		f.needsPerson(task.Key, false) // settled, perhaps before it was sent
	case n < 9:
		task.Stage, task.Outcome, task.EndedAt, task.Failure = coppice.StageEnded, coppice.OutcomeFailed, f.clock, coppice.Failf(coppice.ClassUnknown, "it broke", "")
		f.wrote(task, coppice.EventTaskEnded)
	default:
		f.urgent++
		e := coppice.Reacted{Key: fmt.Sprint("conflict/", f.urgent)}
		e.Do, e.Priority, e.Text = coppice.ReactNotify, coppice.PriorityUrgent, "conflicts"
		f.update(func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{At: f.clock, Kind: coppice.EventReaction, ProjectID: task.ProjectID, Subject: task.Key, By: "test", Data: coppice.Raw(e)})
		})
	}
}

// run takes turns until nothing is due. The server and the worker die now and then.
func (f *flood) run() {
	for range 50 {
		got, err := f.engine.Turn(f.t.Context())
		if err != nil && !errors.Is(err, errCrash) {
			f.t.Fatal(err)
		}
		if err == nil && !f.work() && (got.Due.IsZero() || got.Due.After(f.clock)) {
			return
		}
	}
}

// work is a worker that sends one message: it might fail, or die after it.
func (f *flood) work() bool {
	for _, w := range f.sending() {
		if !w.Open() {
			continue
		}
		spec, err := coppice.DecodeSpec[coppice.NotifySpec](w)
		f.must(err)
		how := f.rng.IntN(10)
		if how < 2 {
			f.settle(w, coppice.Failf(coppice.ClassEnvironment, "refused", ""))
			return true
		}
		f.accepted[spec.Key] = append(f.accepted[spec.Key], spec)
		if how > 2 {
			f.settle(w, coppice.NotifyResult{})
		}
		return true
	}
	return false
}

// finishAll waits until everything is sent.
func (f *flood) finishAll() {
	for range 500 {
		f.run()
		next := read(f.bundle, func(r store.Reader) (time.Time, error) { return r.Timers.Next() })
		if next.IsZero() || len(f.sending()) == 0 && f.idle() {
			return
		}
		f.clock = later(next, f.clock)
	}
	f.t.Fatal("it does not become quiet")
}

func (f *flood) idle() bool {
	return read(f.bundle, func(r store.Reader) (bool, error) {
		open, err := r.Notifications.Open()
		if err != nil || len(open) > 0 {
			return false, err
		}
		next, err := r.Notices.NextDue()
		return next.IsZero(), err
	})
}

func (f *flood) check(during int) {
	per, count := map[string]int{}, map[string]int{}
	for i, n := range f.notifications() {
		if i < during {
			per[n.Notifier]++
		}
		count[n.Notifier] += n.Count
		if n.Outcome != coppice.NotificationSent || len(f.accepted[n.Key]) == 0 || !keyForm.MatchString(n.Key) || len(n.Text) > 2*mostMessage {
			f.t.Errorf("accepted %d times: %+v", len(f.accepted[n.Key]), n)
		}
		for _, again := range f.accepted[n.Key] {
			if again.Title != n.Title || again.Text != n.Text || again.Count != n.Count {
				f.t.Errorf("a message is repeated with another text: %+v", again)
			}
		}
	}
	for name, n := range per {
		if n > 6 {
			f.t.Errorf("%s gets %d messages in a minute", name, n)
		}
	}
	has := map[string]int{}
	f.view(func(r store.Reader) error {
		for i := range f.urgent {
			found := false
			for _, key := range f.keys {
				n, err := r.Notices.ByKey(fmt.Sprintf("reaction/%s/conflict/%d", key, i+1))
				if err != nil {
					continue
				}
				for _, name := range n.Sent {
					has[name]++
				}
				found = n.Outcome == coppice.NoticeSent && len(n.Sent) == 3
			}
			if !found {
				f.t.Errorf("the urgent notice %d is lost", i+1)
			}
		}
		for _, key := range f.keys {
			task, err := r.Tasks.ByKey(key)
			if err != nil {
				return err
			}
			if task.Wait == nil || task.Wait.On != coppice.WaitPerson || task.Outcome != "" {
				continue
			}
			n, err := r.Notices.ByKey(fmt.Sprintf("waiting/%s %s", key, task.StageAt.UTC().Format(time.RFC3339Nano)))
			if err != nil || n.Outcome != coppice.NoticeSent || !slices.Equal(slices.Sorted(slices.Values(n.Sent)), []string{"log", "phone", "team"}) {
				f.t.Errorf("%s waits for a person, and its notice is %+v (%v)", key, n, err)
			}
		}
		return nil
	})
	stored := f.storedNotices()
	for _, n := range stored {
		if n.Kind != coppice.NoticeReaction {
			for _, name := range n.Sent {
				has[name]++
			}
		}
	}
	for name, n := range count {
		if n != has[name] {
			f.t.Errorf("the messages of %s count %d notices, and %d are in one", name, n, has[name])
		}
	}
	f.t.Logf("messages in the minute: %v; notices in messages: %v", per, count)
}

// storedNotices returns the notices about tasks.
func (f *flood) storedNotices() (list []coppice.Notice) {
	f.view(func(r store.Reader) error {
		events, err := r.Log.Events(0, 10000, store.EventFilter{Kinds: []coppice.EventKind{coppice.EventTaskStage, coppice.EventTaskEnded}})
		seen := map[string]bool{}
		for _, ev := range events {
			for _, kind := range []coppice.InboxKind{coppice.InboxWaiting, coppice.InboxFailed} {
				key := fmt.Sprintf("%s/%s %s", kind, ev.Subject, ev.At.UTC().Format(time.RFC3339Nano))
				if n, err := r.Notices.ByKey(key); err == nil && !seen[key] {
					seen[key] = true
					list = append(list, n)
				}
			}
		}
		return err
	})
	return list
}
