package upgrade

import (
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// notifyPolicy has the notifiers of the dump, without hours.
var notifyPolicy = coppice.NotifyPolicy{
	Notifiers: map[string]coppice.Notifier{"phone": {Kind: "program", Run: "true"}, "later": {Kind: "program", Run: "true"}},
	Routes:    []coppice.NotifyRoute{{To: []string{"phone", "later"}, Projects: []string{"notices"}, Kinds: []string{"question"}}},
}

// TestStateMessages continues with a message that was not accepted, and with a notice that
// waits for hours: each is sent one time, with its key.
func TestStateMessages(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	var open []coppice.Notification
	var due time.Time
	m.view(func(r store.Reader) (err error) {
		if due, err = r.Notices.NextDue(); err != nil {
			return err
		}
		open, err = r.Notifications.Open()
		return err
	})
	if len(open) != 1 || open[0].Notifier != "phone" || open[0].Tries == 0 || open[0].Failure == nil || open[0].RetryAt.IsZero() || !due.After(m.now.Add(time.Hour)) {
		t.Fatalf("the dump has these messages, and a notice is due at %v: %+v", due, open)
	}
	m.settle()
	for _, at := range []time.Time{open[0].RetryAt, due, due.Add(time.Hour)} {
		m.now = at
		m.settle()
	}
	if len(m.messages) != 2 || m.messages[0].Key != open[0].Key || m.messages[0].Name != "phone" || m.messages[1].Name != "later" || m.messages[1].Key == m.messages[0].Key {
		t.Fatalf("sent: %+v", m.messages)
	}
	if !strings.Contains(m.messages[1].Text, "Which size?") || m.messages[1].Question == 0 {
		t.Errorf("%+v", m.messages[1])
	}
	m.view(func(r store.Reader) error {
		list, err := r.Notifications.List(store.NotificationFilter{})
		if slices.ContainsFunc(list, func(n coppice.Notification) bool { return n.Outcome != coppice.NotificationSent }) {
			t.Errorf("%+v", list)
		}
		next, err2 := r.Notices.NextDue()
		if !next.IsZero() {
			t.Errorf("a notice is still due at %v", next)
		}
		if err != nil {
			return err
		}
		return err2
	})
}

// TestStateIssues continues with an issue whose task runs, and with one that waits.
func TestStateIssues(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	task := m.look("Do the issue")
	first := m.issueOf(task.ID)
	if first == nil || first.Status != coppice.IssueWorking || first.Shown.Comment == "" {
		t.Fatalf("the task has the issue %+v", first)
	}
	waits := func() (n int) {
		m.view(func(r store.Reader) error {
			list, err := r.Issues.Waiting(first.TrackerID)
			n = len(list)
			return err
		})
		return n
	}
	if n := waits(); n != 1 {
		t.Fatalf("%d issues wait", n)
	}
	m.settle()
	if n := waits(); n != 1 || len(m.writes) > 0 {
		t.Errorf("while the task runs, %d issues wait, and the tracker is changed by %+v", n, m.writes)
	}
	m.endAll()
	m.now = m.now.Add(time.Minute)
	m.settle()
	if i := m.issueOf(task.ID); i == nil || i.Status != coppice.IssueDone || i.EndedAt.IsZero() {
		t.Errorf("the issue is %+v", i)
	}
	i := slices.IndexFunc(m.writes, func(v coppice.TrackerWriteSpec) bool { return v.Edit.Closed != nil && *v.Edit.Closed })
	if i < 0 || m.writes[i].Issue != first.Issue || m.writes[i].Key != task.Key {
		t.Errorf("the issue was not closed: %+v", m.writes)
	}
	if n := waits(); n != 0 || m.look("Do the waiting issue").ID == 0 {
		t.Errorf("%d issues still wait", n)
	}
}

// issueOf returns the issue of a task.
func (m *machine) issueOf(task int64) (i *coppice.Issue) {
	m.t.Helper()
	m.view(func(r store.Reader) (err error) {
		i, err = r.Issues.Of(task)
		return err
	})
	return i
}

// track reads or changes the tracker, which has what the dump says.
func (m *machine) track(l coppice.Lease) {
	m.t.Helper()
	if l.Work.Kind == coppice.WorkTrackerRead {
		v := decoded[coppice.TrackerReadSpec](m.t, l)
		result := coppice.TrackerReadResult{Until: m.now}
		for _, known := range v.Known {
			result.Matching = append(result.Matching, known.ID)
		}
		m.finish(l, result)
		return
	}
	v := decoded[coppice.TrackerWriteSpec](m.t, l)
	m.writes = append(m.writes, v)
	var read coppice.IssueRead
	m.view(func(r store.Reader) error {
		list, err := r.Issues.List(store.IssueFilter{})
		if err != nil {
			return err
		}
		for _, mark := range list {
			if i, err := r.Issues.Named(mark.TrackerID, v.Issue); err != nil {
				return err
			} else if i != nil {
				read = i.Read
			}
		}
		return nil
	})
	if v.Edit.Closed != nil {
		read.Closed = *v.Edit.Closed
	}
	read.Labels = append(slices.DeleteFunc(read.Labels, func(s string) bool { return slices.Contains(v.Edit.Drop, s) }), v.Edit.Add...)
	slices.Sort(read.Labels)
	m.finish(l, coppice.TrackerWriteResult{Issue: read})
}
