package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

const (
	// urgentBurst is how many urgent messages a notifier sends without a pause. After
	// that they wait for the end of the pause, like others.
	urgentBurst = 3
	mostRecent  = urgentBurst + 5 // further ones can be tests
	// mostSending limits how many messages are being sent at the same time. A notifier
	// sends one at a time.
	mostSending = 16
	// sendTime is how long notices wait for the message before them, at a time.
	sendTime = 5 * time.Second
	// A message that cannot be sent is tried again, with pauses from firstRetry to
	// lastRetry, and given up after giveUp.
	firstRetry = 10 * time.Second
	lastRetry  = 30 * time.Minute
	giveUp     = 6 * time.Hour
)

// decide stores the results of messages, composes messages about notices that are due,
// and sends those that can be sent.
func (v *NoticesView) decide() *Decision {
	for _, w := range v.Work {
		if w.State == coppice.WorkFinished {
			d := v.settle(w)
			d.By, d.Settle = "notify", &w
			return d
		}
	}
	if len(v.Due) > 0 {
		return v.deliver()
	}
	return v.send()
}

// about returns what the event of a decision names.
func (v *NoticesView) about(d *Decision) string {
	for _, w := range []*coppice.Work{d.Settle, d.Offer} {
		if w != nil {
			if spec, err := coppice.DecodeSpec[coppice.NotifySpec](*w); err == nil {
				return spec.Name
			}
		}
	}
	return string(coppice.SubjectNotices)
}

// gets reports whether a notifier gets the notices of a project.
func gets(p coppice.Project, name string) bool {
	return len(p.Policy.Notify) == 0 || slices.Contains(p.Policy.Notify, name)
}

// routesTo returns the routes that send a notice.
func routesTo(policy coppice.NotifyPolicy, p coppice.Project, n *coppice.Notice) (list []coppice.NotifyRoute) {
	for _, r := range policy.AllRoutes() {
		if slices.Contains(r.Priorities(), n.Priority) && (len(r.Projects) == 0 || slices.Contains(r.Projects, p.Prefix)) &&
			(len(r.Kinds) == 0 || slices.Contains(r.Kinds, string(n.Kind))) {
			list = append(list, r)
		}
	}
	return list
}

// receivers returns the notifiers that get a notice, by the time from which they can get
// it, as far as the hours of routes say.
func receivers(policy coppice.NotifyPolicy, p coppice.Project, n *coppice.Notice) []string {
	return slices.Sorted(maps.Keys(receiversAt(policy, p, n, time.Time{})))
}

func receiversAt(policy coppice.NotifyPolicy, p coppice.Project, n *coppice.Notice, now time.Time) map[string]time.Time {
	found := map[string]time.Time{}
	for _, r := range routesTo(policy, p, n) {
		from := now
		if n.Priority != coppice.PriorityUrgent {
			from = opens(r.Hours, now)
		}
		for _, name := range r.To {
			if _, exists := policy.Notifiers[name]; !exists || !gets(p, name) {
				continue
			}
			if at, ok := found[name]; !ok || from.Before(at) {
				found[name] = from
			}
		}
	}
	return found
}

// opens returns the first time from now on that is within hours.
func opens(hours string, now time.Time) time.Time {
	h, err := coppice.ParseHours(hours)
	if hours == "" || err != nil || h.Has(now) {
		return now
	}
	y, m, d := now.Date()
	at := func(day int) time.Time { return time.Date(y, m, day, 0, 0, int(h.From.Seconds()), 0, now.Location()) }
	if start := at(d); start.After(now) {
		return start
	}
	return at(d + 1)
}

// delivery is a decision about the notices that are due.
type delivery struct {
	*NoticesView
	waits    map[int64]map[string]time.Time // by notice and notifier: from when it can be sent
	messages []coppice.Notification
	count    map[string]int // notices by what became of them
}

// deliver decides about all notices that are due: each is part of a message of each of
// its notifiers, or it waits, or it ends.
func (v *NoticesView) deliver() *Decision {
	d, list := v.delivery()
	var changed []coppice.Notice
	for i, n := range list {
		if n.Outcome != "" || !n.DueAt.Equal(v.Due[i].DueAt) || len(n.Sent) > len(v.Due[i].Sent) {
			changed = append(changed, n)
		}
	}
	return &Decision{By: "notify", Kind: coppice.EventNoticesDecided, Reason: d.text(), More: []Row{d.row(changed)}}
}

// delivery returns the messages, and the notices as they are afterwards.
func (v *NoticesView) delivery() (*delivery, []coppice.Notice) {
	d := &delivery{NoticesView: v, waits: map[int64]map[string]time.Time{}, count: map[string]int{}}
	list := slices.Clone(v.Due)
	names := map[string]bool{}
	for i := range list {
		n := &list[i]
		if n.Outcome = d.without(*n); n.Outcome != "" {
			continue
		}
		d.waits[n.ID] = receiversAt(v.Policy, v.Projects[n.ProjectID], n, v.Now.In(v.Zone))
		for _, name := range n.Sent {
			delete(d.waits[n.ID], name)
		}
		for name := range d.waits[n.ID] {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d.compose(name, list)
	}
	for i := range list {
		d.end(&list[i])
	}
	return d, list
}

// without returns the outcome of a notice that nobody has to get, or "".
func (d *delivery) without(n coppice.Notice) string {
	switch {
	case d.Over[n.Key]:
		return coppice.NoticeOver
	case d.Looking.After(d.Now):
		return coppice.NoticeSeen
	}
	return ""
}

// compose creates the message of a notifier about all notices that it can get now, or
// says when that is possible.
func (d *delivery) compose(name string, list []coppice.Notice) {
	var now []*coppice.Notice
	due, urgent := false, false
	for i := range list {
		n := &list[i]
		if from, waits := d.waits[n.ID][name]; !waits || from.After(d.Now) || n.Outcome != "" {
			continue
		}
		now = append(now, n)
		due = due || !n.DueAt.After(d.Now)
		urgent = urgent || n.Priority == coppice.PriorityUrgent
	}
	if len(now) == 0 || !due {
		return
	}
	if from := d.from(name, urgent); from.After(d.Now) {
		for _, n := range now {
			d.waits[n.ID][name] = from
			if urgent && n.Priority != coppice.PriorityUrgent {
				d.waits[n.ID][name] = d.from(name, false)
			}
		}
		return
	}
	d.messages = append(d.messages, message(d.NoticesView, name, now))
	for _, n := range now {
		n.Sent = append(slices.Clone(n.Sent), name)
		delete(d.waits[n.ID], name)
	}
}

// from returns when the next message of a notifier can be sent.
func (d *delivery) from(name string, urgent bool) time.Time {
	for _, n := range d.Open {
		if n.Notifier == name && !n.Test {
			return later(d.Now.Add(sendTime), n.RetryAt)
		}
	}
	recent := d.Recent[name]
	since := d.Now.Add(-d.Policy.MinPause().D())
	if len(recent) == 0 || !recent[0].At.After(since) {
		return d.Now
	}
	if !urgent {
		return recent[0].At.Add(d.Policy.MinPause().D())
	}
	burst := slices.DeleteFunc(slices.Clone(recent), func(n coppice.Notification) bool {
		return n.Priority != coppice.PriorityUrgent || !n.At.After(since)
	})
	if len(burst) < urgentBurst {
		return d.Now
	}
	return burst[urgentBurst-1].At.Add(d.Policy.MinPause().D())
}

// end ends a notice for which nothing is left to do, or sets when the next decision
// about it is due.
func (d *delivery) end(n *coppice.Notice) {
	waits := d.waits[n.ID]
	switch {
	case n.Outcome != "":
	case len(waits) == 0 && len(n.Sent) == 0:
		n.Outcome = coppice.NoticeQuiet
	case len(waits) == 0:
		n.Outcome = coppice.NoticeSent
	default:
		next := slices.MinFunc(slices.Collect(maps.Values(waits)), time.Time.Compare)
		if next.After(d.Now) { // otherwise a notifier still collects
			n.DueAt = later(n.DueAt, next).UTC()
		}
		d.count["wait"]++
		return
	}
	d.count[n.Outcome]++
	n.EndedAt = d.Now
}

// text says what was decided.
func (d *delivery) text() string {
	var parts []string
	for _, outcome := range []string{coppice.NoticeSent, coppice.NoticeOver, coppice.NoticeSeen, coppice.NoticeQuiet, "wait"} {
		if n := d.count[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return fmt.Sprintf("%d messages; notices: %s", len(d.messages), strings.Join(parts, ", "))
}

// row writes notices, and the messages about them.
func (d *delivery) row(notices []coppice.Notice) Row {
	return row{coppice.SubjectNotices, func(tx store.Tx) error {
		for i := range notices {
			if err := tx.Notices.Put(&notices[i]); err != nil {
				return err
			}
		}
		for i := range d.messages {
			if err := tx.Notifications.Put(&d.messages[i]); err != nil {
				return err
			}
		}
		return tx.Notices.Trim()
	}, func() {}}
}

// busy reports whether a message of a notifier is being sent. Tests do not wait for
// messages.
func (v *NoticesView) busy(name string, test bool) bool {
	return slices.ContainsFunc(v.Work, func(w coppice.Work) bool {
		spec, err := coppice.DecodeSpec[coppice.NotifySpec](w)
		return err == nil && w.Open() && spec.Name == name && spec.Test == test
	})
}

// pointless says why a message that could not be sent is not sent again; empty if it is.
func (v *NoticesView) pointless(n coppice.Notification) string {
	switch {
	case n.Tries == 0 || n.Test:
		return ""
	case v.Over[n.Notice]:
		return "what it is about was settled"
	case v.Looking.After(v.Now):
		return "a person looks at the dashboard"
	}
	return ""
}

// send offers the work of the next message that can be sent.
func (v *NoticesView) send() *Decision {
	open := slices.DeleteFunc(slices.Clone(v.Work), func(w coppice.Work) bool { return !w.Open() })
	if len(open) >= mostSending {
		return nil
	}
	for _, n := range v.Open {
		if n.RetryAt.After(v.Now) || v.busy(n.Notifier, n.Test) {
			continue
		}
		if why := v.pointless(n); why != "" {
			n.Outcome, n.EndedAt, n.RetryAt = coppice.NotificationOver, v.Now, time.Time{}
			return &Decision{By: "notify", Kind: coppice.EventNotificationFailed, Reason: why, More: []Row{notificationRow(n)}}
		}
		to, exists := v.Policy.Notifiers[n.Notifier]
		if !exists {
			fail := coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("there is no notifier %s any more", n.Notifier), "")
			return v.result(n, fail, true)
		}
		spec := coppice.NotifySpec{
			Key: n.Key, Notifier: to, Name: n.Notifier, Priority: n.Priority, Title: n.Title, Text: n.Text, Path: n.Path, Address: v.Policy.Address,
			Question: n.Question, Project: n.Project, Count: n.Count, At: n.At, Test: n.Test,
		}
		return &Decision{By: "notify", Kind: coppice.EventWorkOffered, Reason: "sends " + coppice.FirstLine(n.Title), Offer: &coppice.Work{
			Kind: coppice.WorkNotify, Key: fmt.Sprintf("notify/%s/%d", n.Key, n.Tries), Pool: place(nil, placement{Kind: coppice.WorkNotify}), Spec: coppice.Raw(spec),
		}}
	}
	return nil
}

// settle stores the result of a message.
func (v *NoticesView) settle(w coppice.Work) *Decision {
	spec, err := coppice.DecodeSpec[coppice.NotifySpec](w)
	i := slices.IndexFunc(v.Open, func(n coppice.Notification) bool { return n.Key == spec.Key })
	if err != nil || i < 0 {
		return &Decision{Kind: coppice.EventNotificationFailed, Reason: "its message no longer exists"}
	}
	_, fail := result[coppice.NotifyResult](w)
	return v.result(v.Open[i], fail, false)
}

// result stores how a try to send a message ended. A failed one is tried again, unless
// that cannot help. A person who tests a notifier repeats it.
func (v *NoticesView) result(n coppice.Notification, fail *coppice.Failure, final bool) *Decision {
	n.RetryAt, n.Failure = time.Time{}, fail
	d := &Decision{By: "notify", Kind: coppice.EventNotificationSent, Reason: coppice.FirstLine(n.Title)}
	if fail == nil {
		n.Outcome, n.EndedAt = coppice.NotificationSent, v.Now
	} else {
		n.Tries++
		d.Kind, d.Reason = coppice.EventNotificationFailed, fail.Text
		n.RetryAt = later(v.Now.Add(doubled(firstRetry, n.Tries, lastRetry)), fail.RetryAt)
		if final || n.Test || fail.Class == coppice.ClassCapability || n.RetryAt.After(n.At.Add(giveUp)) {
			n.Outcome, n.EndedAt, n.RetryAt = coppice.NotificationFailed, v.Now, time.Time{}
		}
	}
	d.More = []Row{notificationRow(n)}
	return d
}

func notificationRow(n coppice.Notification) Row {
	return row{coppice.SubjectNotices, func(tx store.Tx) error { return tx.Notifications.Put(&n) }, func() {}}
}
