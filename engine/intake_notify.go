package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coppice"
	"coppice/internal/nearest"
	"coppice/store"
)

// WithNotify makes an Intake know who gets notifications by the user's configuration.
func WithNotify(f func() coppice.NotifyPolicy) Option { return func(i *Intake) { i.notify = f } }

// NotifyPolicy returns who gets notifications by the user's configuration.
func (i *Intake) NotifyPolicy() coppice.NotifyPolicy {
	if i.notify == nil {
		return coppice.NotifyPolicy{}
	}
	return i.notify()
}

// TestNotifiers sends a message by each of the notifiers, or by all, and returns the
// messages. Routes, hours and pauses do not apply to them.
func (i *Intake) TestNotifiers(ctx context.Context, names []string) ([]coppice.Notification, error) {
	policy := i.NotifyPolicy()
	all := slices.Sorted(maps.Keys(policy.Notifiers))
	if len(all) == 0 {
		return nil, coppice.Errorf(coppice.ENotFound, "there are no notifiers").WithFix("write one to notify.notifiers in your configuration; see docs/notifications.md").WithField("notifiers")
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			hint := ""
			if near := nearest.Name(name, all); near != "" {
				hint = ", did you mean " + coppice.Quote(near) + "?"
			}
			return nil, coppice.Errorf(coppice.ENotFound, "there is no notifier %s%s", coppice.Quote(name), hint).WithFix("use one of: %s", strings.Join(all, ", ")).WithField("notifiers")
		}
	}
	if len(names) == 0 {
		names = all
	}
	var list []coppice.Notification
	err := i.store.Update(ctx, func(tx store.Tx) error {
		list = nil
		now := i.now().UTC()
		ev := &coppice.Event{At: now, Kind: coppice.EventNotifyTested, About: coppice.NoticesSubject(), Subject: strings.Join(names, ", "), By: i.by.String()}
		if err := tx.Log.Append(ev); err != nil {
			return err
		}
		for i, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
			n := coppice.Notification{Key: notificationKey(now, ev.Seq, fmt.Sprint("t", i+1)), Notifier: name, At: now}
			n.Kind, n.Test, n.Priority, n.Path = policy.Notifiers[name].KindOf(name), true, coppice.PriorityInfo, "/notifications"
			n.Title, n.Text = "Test message from Coppice", "The notifier "+name+" works."
			if err := tx.Notifications.Put(&n); err != nil {
				return err
			}
			list = append(list, n)
		}
		return nil
	})
	return list, err
}

// Problem is something in Coppice or on the machine that does not work.
type Problem struct {
	Kind string
	Text string
	Fix  string
}

// NoticeProblems stores a notice of each problem. Each is noticed once a day, as long as
// it exists.
func (i *Intake) NoticeProblems(ctx context.Context, problems []Problem) error {
	policy := i.NotifyPolicy()
	if len(problems) == 0 || len(policy.AllRoutes()) == 0 {
		return nil
	}
	return i.store.Update(ctx, func(tx store.Tx) error {
		now, any := i.now().UTC(), false
		for _, p := range problems {
			n := coppice.Notice{Key: fmt.Sprintf("problem/%s/%s/%s", p.Kind, coppice.FirstLine(p.Fix), now.Format("2006-01-02"))}
			n.Kind, n.Title, n.Text = coppice.NoticeProblem, p.Kind, strings.TrimSpace(p.Text+"\n"+p.Fix)
			stored, err := putNotice(tx, policy, coppice.Project{}, n, now)
			if err != nil {
				return err
			}
			any = any || stored
		}
		if !any {
			return nil
		}
		return tx.Log.Append(&coppice.Event{At: now, Kind: coppice.EventNoticesDecided, About: coppice.NoticesSubject(), Subject: "health", By: "health", Reason: "new problems"})
	})
}
