package engine

import (
	"time"

	"coppice"
	"coppice/store"
)

// mostNotices limits how many notices one decision is about. The next decision is about
// the rest.
const mostNotices = 1000

// NoticesView is what the deciders of notices see.
type NoticesView struct {
	Common
	Policy  coppice.NotifyPolicy
	Zone    *time.Location // of hours
	Looking time.Time      // until when a person looks at the dashboard
	// Due has the notices that are due, and those that are soon, in the order in which
	// they are due. It is empty if none is due.
	Due      []coppice.Notice
	NextDue  time.Time // zero if no notice is open
	Over     map[string]bool
	Projects map[int64]coppice.Project // of the notices
	Open     []coppice.Notification    // that have not ended, oldest first
	// Recent has the newest notifications of each notifier, the newest first, without
	// tests. It is empty if no notice is due.
	Recent map[string][]coppice.Notification
}

// noticesView loads the view of the notices.
func (t *turn) noticesView() (*NoticesView, error) {
	v := &NoticesView{Policy: t.cfg.Notify(), Zone: t.cfg.Zone, Looking: t.cfg.Looking()}
	if v.Zone == nil {
		v.Zone = time.UTC
	}
	var err error
	if v.Common, err = t.common(coppice.NoticesSubject()); err != nil {
		return nil, err
	}
	return v, v.load(t)
}

func (v *NoticesView) load(t *turn) (err error) {
	v.Due, v.Over, v.Projects, v.Recent = nil, map[string]bool{}, nil, map[string][]coppice.Notification{}
	if v.Open, err = t.tx.Notifications.Open(); err != nil {
		return err
	}
	if err := v.loadRetried(t); err != nil {
		return err
	}
	if v.NextDue, err = t.tx.Notices.NextDue(); err != nil || v.NextDue.IsZero() || v.NextDue.After(v.Now) {
		return err
	}
	if v.Due, err = t.tx.Notices.Due(v.Now.Add(collectTime), mostNotices); err != nil {
		return err
	}
	var projects []int64
	for _, n := range v.Due {
		if n.ProjectID != 0 {
			projects = append(projects, n.ProjectID)
		}
	}
	if v.Projects, err = t.tx.Projects.Some(projects); err != nil {
		return err
	}
	for name := range v.Policy.Notifiers {
		list, err := t.tx.Notifications.List(store.NotificationFilter{Notifier: name, Most: mostRecent})
		if err != nil {
			return err
		}
		for _, n := range list {
			if !n.Test {
				v.Recent[name] = append(v.Recent[name], n)
			}
		}
	}
	return v.loadOver(t, v.Due)
}

// loadRetried finds out whether what a message is about was settled while it could not
// be sent.
func (v *NoticesView) loadRetried(t *turn) error {
	var list []coppice.Notice
	for _, m := range v.Open {
		if m.Notice == "" || m.Tries == 0 || m.RetryAt.After(v.Now) {
			continue
		}
		n, err := t.tx.Notices.ByKey(m.Notice)
		if err == nil {
			list = append(list, n)
		} else if coppice.ErrorCode(err) != coppice.ENotFound {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	return v.loadOver(t, list)
}

// loadOver finds the notices whose entries the inbox no longer has: a person, or an
// agent, has settled them.
func (v *NoticesView) loadOver(t *turn, list []coppice.Notice) error {
	var ids []int64
	limited := false
	for _, n := range list {
		if n.Entry != "" && n.TaskID != 0 {
			ids = append(ids, n.TaskID)
		}
		limited = limited || n.Kind == coppice.NoticeKind(coppice.InboxLimit)
	}
	if limited { // the entry of an account lists the tasks that wait for it
		waiting, err := t.tx.Tasks.Pending(store.TaskFilter{Most: MostEntries}, true)
		if err != nil {
			return err
		}
		for _, task := range waiting {
			ids = append(ids, task.ID)
		}
	}
	tasks, statuses, err := noticedTasks(t.tx.Reader(), ids)
	if err != nil {
		return err
	}
	entries, err := t.entriesOf(&noticing{others: true}, tasks, statuses)
	if err != nil {
		return err
	}
	current := map[string]bool{}
	for _, e := range entries {
		current[EntryKey(e)] = true
	}
	for _, n := range list {
		v.Over[n.Key] = n.Entry != "" && !current[n.Key]
	}
	return nil
}

func (v *NoticesView) due() time.Time {
	due := v.NextDue
	for _, n := range v.Open {
		if n.RetryAt.After(v.Now) && (due.IsZero() || n.RetryAt.Before(due)) {
			due = n.RetryAt
		}
	}
	return due
}

func (v *NoticesView) follow(t *turn, _ *Decision) error { return v.load(t) }
