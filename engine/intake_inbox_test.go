package engine

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// failedTask adds a task that failed.
func (b *bundle) failedTask(title string) coppice.Task {
	b.t.Helper()
	k := b.create(coppice.NewTask{Title: title})[0]
	b.failAgain(k.Key)
	return b.task(k.Key)
}

// failAgain ends a task as failed, now.
func (b *bundle) failAgain(key string) {
	b.t.Helper()
	k := b.task(key)
	k.Stage, k.Outcome, k.Wait, k.Next, k.EndedAt, k.StageAt = coppice.StageEnded, coppice.OutcomeFailed, nil, nil, b.clock, b.clock
	k.Failure = &coppice.Failure{Class: coppice.ClassUnknown, Text: "it broke"}
	b.update(func(tx store.Tx) error { return tx.Tasks.Put(&k) })
}

// entry returns an entry of the inbox, or nil.
func (b *bundle) entry(id string) (found *coppice.InboxEntry) {
	b.t.Helper()
	for _, e := range read(b, b.inbox) {
		if e.ID == id {
			found = &e
		}
	}
	return found
}

func (b *bundle) snoozes() []coppice.Snooze {
	b.t.Helper()
	return read(b, func(r store.Reader) ([]coppice.Snooze, error) { return r.Snoozes.All() })
}

func TestSnoozeEndsByTime(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.failedTask("a")
	e, err := b.Snooze(t.Context(), "failed/app-1", coppice.NewSnooze{For: coppice.Duration(2 * time.Hour)})
	b.must(err)
	if !e.Snoozed || !e.SnoozedUntil.Equal(noon.Add(2*time.Hour)) || e.SnoozedBy != "person" {
		t.Errorf("snoozed: %+v", e)
	}
	b.clock = b.clock.Add(2*time.Hour - 1)
	if e := b.entry("failed/app-1"); !e.Snoozed || e.Back {
		t.Errorf("just before its end: %+v", e)
	}
	b.clock = b.clock.Add(1)
	if e := b.entry("failed/app-1"); e.Snoozed || !e.Back {
		t.Errorf("at its end: %+v", e)
	}
	e, err = b.Snooze(t.Context(), "failed/app-1", coppice.NewSnooze{Until: b.clock.Add(time.Hour)})
	b.must(err)
	if !e.Snoozed {
		t.Errorf("snoozed again: %+v", e)
	}
	e, err = b.Wake(t.Context(), "failed/app-1")
	b.must(err)
	if e.Snoozed || e.Back || len(b.snoozes()) != 0 {
		t.Errorf("woken: %+v", e)
	}
}

func TestSnoozeEndsByEvent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event, task string
		kind        coppice.EventKind
		of, reason  string // of the event
		ends        bool
	}{
		{event: "any", kind: coppice.EventTaskChanged, of: "app-1", ends: true},
		{event: "any", kind: coppice.EventTaskChanged, of: "app-2"},
		{event: "landed", task: "app-2", kind: coppice.EventTaskEnded, of: "app-2", reason: "done", ends: true},
		{event: "landed", task: "app-2", kind: coppice.EventTaskEnded, of: "app-2", reason: "failed: it broke"},
		{event: "landed", task: "app-2", kind: coppice.EventTaskEnded, of: "app-1", reason: "done"},
		{event: "failed", task: "app-2", kind: coppice.EventTaskEnded, of: "app-2", reason: "failed: it broke", ends: true},
		{event: "ended", task: "app-2", kind: coppice.EventTaskEnded, of: "app-2", reason: "cancelled", ends: true},
		{event: "asked", task: "app-2", kind: coppice.EventQuestionAsked, of: "app-2", ends: true},
		{event: "message", task: "app-2", kind: coppice.EventMessageSent, of: "app-2", ends: true},
		{event: "message", task: "app-2", kind: coppice.EventQuestionAsked, of: "app-2"},
	} {
		b := openApp(t)
		b.failedTask("a")
		b.create(coppice.NewTask{Title: "b"})
		e, err := b.Snooze(t.Context(), "failed/app-1", coppice.NewSnooze{Event: c.event, Task: c.task})
		b.must(err)
		if !e.Snoozed || e.SnoozedFor != c.event || e.SnoozedTask == "" {
			t.Errorf("%+v: snoozed %+v", c, e)
		}
		event := coppice.Event{At: noon, Kind: c.kind, ProjectID: 1, TaskID: b.task(c.of).ID, Reason: c.reason, By: "test"}
		b.update(func(tx store.Tx) error { return tx.Log.Append(&event) })
		if e := b.entry("failed/app-1"); e.Back != c.ends || e.Snoozed == c.ends {
			t.Errorf("%+v: after the event %+v", c, e)
		}
	}
}

// If the log no longer has the events since a snooze, its event might have
// happened, so the entry comes back.
func TestSnoozeEndsWhenTheLogIsCut(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.failedTask("a")
	_, err := b.Snooze(t.Context(), "failed/app-1", coppice.NewSnooze{Event: "landed"})
	b.must(err)
	b.update(func(tx store.Tx) error {
		for range 3 {
			if err := tx.Log.Append(&coppice.Event{At: noon, Kind: coppice.EventProjectChanged, By: "test"}); err != nil {
				return err
			}
		}
		_, err := tx.Log.Trim(time.Time{}, 1)
		return err
	})
	if e := b.entry("failed/app-1"); !e.Back {
		t.Errorf("after the log was cut: %+v", e)
	}
}

// A snooze is about one time: if the task fails again, the new failure is shown.
// The old snooze is removed.
func TestSnoozeIsForOneTime(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.failedTask("a")
	b.failedTask("b")
	_, err := b.Snooze(t.Context(), "failed/app-1", coppice.NewSnooze{For: coppice.Duration(time.Hour)})
	b.must(err)
	b.must(b.PruneSnoozes(t.Context()))
	if n := len(b.snoozes()); n != 1 {
		t.Errorf("%d snoozes while the entry exists", n)
	}
	b.clock = b.clock.Add(time.Minute)
	b.failAgain("app-1")
	if e := b.entry("failed/app-1"); e.Snoozed || e.Back {
		t.Errorf("failed again: %+v", e)
	}
	b.must(b.PruneSnoozes(t.Context()))
	if n := len(b.snoozes()); n != 0 {
		t.Errorf("%d snoozes of an earlier failure", n)
	}
	_, err = b.Snooze(t.Context(), "failed/app-1", coppice.NewSnooze{For: coppice.Duration(time.Hour)})
	b.must(err)
	_, err = b.Archive(t.Context(), "app-1", true)
	b.must(err)
	if b.entry("failed/app-1") != nil {
		t.Error("an archived task has an entry")
	}
	_, err = b.Snooze(t.Context(), "failed/app-2", coppice.NewSnooze{For: coppice.Duration(time.Hour)})
	b.must(err)
	if list := b.snoozes(); len(list) != 1 || list[0].Entry != "failed/app-2" {
		t.Errorf("snoozes after the next one: %+v", list)
	}
}

func TestSnoozeIsRefused(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) {
		p.Needs = coppice.Needs{{Kind: coppice.NeedPolicy, Text: "changed", Since: noon}}
	})
	b.failedTask("a")
	b.create(coppice.NewTask{Title: "b"})
	b.update(func(tx store.Tx) error {
		k, err := tx.Tasks.ByKey("app-2")
		if err != nil {
			return err
		}
		k.Stage, k.Wait, k.Sessions = coppice.StageSession, nil, 1
		if err := tx.Tasks.Put(&k); err != nil {
			return err
		}
		s := coppice.Session{ProjectID: 1, TaskID: k.ID, N: 1, Key: "app-2.1", Agent: "ann", State: coppice.SessionWaiting}
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		return tx.Questions.Put(&coppice.Question{TaskID: k.ID, SessionID: s.ID, Text: "which?", AskedAt: noon})
	})
	hour := coppice.NewSnooze{For: coppice.Duration(time.Hour)}
	for _, c := range []struct {
		id   string
		n    coppice.NewSnooze
		code coppice.Code
		text string
	}{
		{"question/app-2/1", hour, coppice.EConflict, "an agent waits"},
		{"failed/app-9", hour, coppice.ENotFound, "no entry"},
		{"failed/app-1", coppice.NewSnooze{}, coppice.EInvalid, "until when"},
		{"failed/app-1", coppice.NewSnooze{For: hour.For, Event: "any"}, coppice.EInvalid, "until when"},
		{"failed/app-1", coppice.NewSnooze{For: hour.For, Task: "app-2"}, coppice.EInvalid, "until when"},
		{"failed/app-1", coppice.NewSnooze{Until: noon}, coppice.EInvalid, "in the future"},
		{"failed/app-1", coppice.NewSnooze{Until: noon.AddDate(2, 0, 0)}, coppice.EInvalid, "366 days"},
		{"failed/app-1", coppice.NewSnooze{Event: "sneezed"}, coppice.EInvalid, "landed"},
		{"failed/app-1", coppice.NewSnooze{Event: "any", Task: "app-9"}, coppice.ENotFound, "app-9"},
		{"change/app/policy", coppice.NewSnooze{Event: "any"}, coppice.EInvalid, "name the task"},
	} {
		_, err := b.Snooze(t.Context(), c.id, c.n)
		if coppice.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s %+v: %v", c.id, c.n, err)
		}
	}
	if _, err := b.Wake(t.Context(), "failed/app-1"); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("waking an entry that is not snoozed: %v", err)
	}
	if list := b.snoozes(); len(list) != 0 {
		t.Errorf("refused requests left %+v", list)
	}
	if _, err := b.Snooze(t.Context(), "change/app/policy", coppice.NewSnooze{Event: "landed", Task: "app-2"}); err != nil {
		t.Error(err)
	}
}
