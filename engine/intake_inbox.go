package engine

import (
	"context"
	"slices"

	"coppice"
	"coppice/store"
)

// Snooze hides an entry of the inbox until a time or an event. It replaces an
// earlier snooze of the entry.
func (i *Intake) Snooze(ctx context.Context, id string, n coppice.NewSnooze) (coppice.InboxEntry, error) {
	return i.changeEntry(ctx, id, coppice.EventInboxSnoozed, func(tx store.Tx, e coppice.InboxEntry) error {
		if !e.Kind.CanSnooze() {
			return coppice.Errorf(coppice.EConflict, "%s cannot be snoozed: an agent waits for the answer", coppice.Quote(id)).
				WithFix("answer it: %s", e.Actions[0].Command)
		}
		s := coppice.Snooze{Entry: e.ID, Mark: e.Mark, ProjectID: e.ProjectID, By: i.by, At: i.now().UTC()}
		if err := ending(tx.Reader(), e, n, &s); err != nil {
			return err
		}
		return tx.Snoozes.Put(s)
	})
}

// ending fills in when a snooze ends.
func ending(r store.Reader, e coppice.InboxEntry, n coppice.NewSnooze, s *coppice.Snooze) (err error) {
	given := 0
	for _, is := range []bool{n.For != 0, !n.Until.IsZero(), n.Event != ""} {
		if is {
			given++
		}
	}
	if given != 1 || n.Task != "" && n.Event == "" {
		return coppice.Errorf(coppice.EInvalid, "the request does not say until when to snooze").
			WithFix("give one of: for (2h), until (a time), event (such as landed, and optionally the task)")
	}
	if n.Event == "" {
		if s.Until = n.Until.UTC(); n.For != 0 {
			s.Until = s.At.Add(n.For.D())
		}
		if d := s.Until.Sub(s.At); d <= 0 || d > coppice.MaxSnooze {
			return coppice.Errorf(coppice.EInvalid, "the snooze would end at %s", s.Until.Format("2006-01-02 15:04 MST")).
				WithFix("choose a time in the future, at most 366 days from now").WithField("until")
		}
		return nil
	}
	if !slices.ContainsFunc(coppice.SnoozeEvents, func(x coppice.SnoozeEvent) bool { return x.Name == n.Event }) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid event", coppice.Quote(n.Event)).
			WithFix("use any, ended, landed, failed, asked or message").WithField("event")
	}
	key := n.Task
	if key == "" {
		key = e.Task
	}
	if key == "" {
		return coppice.Errorf(coppice.EInvalid, "%s is not about one task, so the request must name the task of the event", coppice.Quote(e.ID)).
			WithFix("name a task, or snooze it until a time").WithField("task")
	}
	t, err := knownTask(r, key)
	if err != nil {
		return err
	}
	s.Event, s.TaskID = n.Event, t.ID
	_, s.After, err = r.Log.Bounds()
	return err
}

// Wake shows an entry of the inbox again before its snooze has ended.
func (i *Intake) Wake(ctx context.Context, id string) (coppice.InboxEntry, error) {
	return i.changeEntry(ctx, id, coppice.EventInboxWoken, func(tx store.Tx, e coppice.InboxEntry) error {
		had, err := tx.Snoozes.Drop(id)
		if err == nil && !had {
			return coppice.Errorf(coppice.EConflict, "%s is not snoozed", coppice.Quote(id)).WithFix("see `coppice inbox --all`")
		}
		return err
	})
}

// changeEntry finds an entry, changes its snooze, removes the snoozes whose entries
// are gone, and returns the entry.
func (i *Intake) changeEntry(ctx context.Context, id string, kind coppice.EventKind, f func(store.Tx, coppice.InboxEntry) error) (coppice.InboxEntry, error) {
	var e coppice.InboxEntry
	find := func(list []coppice.InboxEntry) error {
		n := slices.IndexFunc(list, func(x coppice.InboxEntry) bool { return x.ID == id })
		if n < 0 {
			return coppice.Errorf(coppice.ENotFound, "the inbox has no entry %s", coppice.Quote(id)).WithFix("see `coppice inbox --all`")
		}
		e = list[n]
		return nil
	}
	err := i.store.Update(ctx, func(tx store.Tx) error {
		list, err := i.prune(tx)
		if err != nil {
			return err
		}
		if err := find(list); err != nil {
			return err
		}
		if err := f(tx, e); err != nil {
			return err
		}
		event := coppice.Event{At: i.now().UTC(), Kind: kind, ProjectID: e.ProjectID, Subject: id, By: i.by.String()}
		if err := tx.Log.Append(&event); err != nil {
			return err
		}
		if list, err = i.inbox(tx.Reader()); err != nil {
			return err
		}
		return find(list)
	})
	return e, err
}

func (i *Intake) inbox(r store.Reader) ([]coppice.InboxEntry, error) {
	f, err := LoadInbox(r, i.now(), 0)
	return Inbox(f), err
}

// mostSnoozes limits the snoozes that are kept for entries beyond those that the
// inbox lists.
const mostSnoozes = 1000

// prune removes the snoozes whose entries are gone, or happened again, and returns
// the entries.
func (i *Intake) prune(tx store.Tx) ([]coppice.InboxEntry, error) {
	f, err := LoadInbox(tx.Reader(), i.now(), 0)
	if err != nil {
		return nil, err
	}
	list := Inbox(f)
	slices.SortFunc(f.Snoozes, func(a, b coppice.Snooze) int { return b.At.Compare(a.At) })
	for n, s := range f.Snoozes {
		unknown := f.More && n < mostSnoozes // its entry might exist although it is not listed
		if unknown || slices.ContainsFunc(list, func(e coppice.InboxEntry) bool { return e.ID == s.Entry && e.Mark == s.Mark }) {
			continue
		}
		if _, err := tx.Snoozes.Drop(s.Entry); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// PruneSnoozes removes the snoozes whose entries are gone.
func (i *Intake) PruneSnoozes(ctx context.Context) error {
	any := false
	err := i.store.View(ctx, func(r store.Reader) error {
		list, err := r.Snoozes.All()
		any = len(list) > 0
		return err
	})
	if err != nil || !any {
		return err
	}
	return i.store.Update(ctx, func(tx store.Tx) error { _, err := i.prune(tx); return err })
}
