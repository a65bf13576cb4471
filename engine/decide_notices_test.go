package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// notified is a bundle with the project app, whose user has notifiers.
func notified(t *testing.T, p coppice.NotifyPolicy, cfg ...func(*Config)) *bundle {
	t.Helper()
	if p.Notifiers == nil {
		p.Notifiers = map[string]coppice.Notifier{"phone": {Kind: "ntfy", To: []string{"me"}}}
	}
	b := open(t, append(cfg, func(c *Config) { c.Notify = func() coppice.NotifyPolicy { return p } })...)
	b.Intake.notify = func() coppice.NotifyPolicy { return p }
	b.project()
	return b
}

// needsPerson writes a task that waits for a person, or no longer does.
func (b *bundle) needsPerson(key string, waits bool) {
	b.t.Helper()
	task := b.task(key)
	task.Stage, task.Wait, task.StageAt = coppice.StageWaiting, nil, b.clock
	if waits {
		task.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: "fix " + key}
		task.Failure = coppice.Failf(coppice.ClassEnvironment, "fix "+key, "")
	} else {
		task.Stage, task.Outcome, task.Failure, task.EndedAt = coppice.StageEnded, coppice.OutcomeCancelled, nil, b.clock
	}
	b.wrote(task, coppice.EventTaskStage)
}

// wrote stores a task with an event.
func (b *bundle) wrote(task coppice.Task, kind coppice.EventKind) {
	b.t.Helper()
	b.update(func(tx store.Tx) error {
		if err := tx.Tasks.Put(&task); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: b.clock, Kind: kind, ProjectID: task.ProjectID, TaskID: task.ID, Subject: task.Key, By: "test"})
	})
}

// after moves the clock and takes a turn.
func (b *bundle) after(d time.Duration) Turned {
	b.t.Helper()
	b.clock = b.clock.Add(d)
	return b.turn()
}

// sending returns the messages that workers have not sent.
func (b *bundle) sending() []coppice.Work {
	b.t.Helper()
	return read(b, func(r store.Reader) ([]coppice.Work, error) { return r.Work.Unsettled(coppice.NoticesSubject()) })
}

// sent gives the oldest message its result, and returns it.
func (b *bundle) sent(result any) coppice.NotifySpec {
	b.t.Helper()
	open := b.sending()
	if len(open) == 0 {
		b.t.Fatal("no message is being sent")
	}
	spec := specOf[coppice.NotifySpec](b, open[0])
	b.settle(open[0], result)
	b.turn()
	return spec
}

func (b *bundle) notifications() []coppice.Notification {
	b.t.Helper()
	list := read(b, func(r store.Reader) ([]coppice.Notification, error) {
		return r.Notifications.List(store.NotificationFilter{})
	})
	slices.Reverse(list)
	return list
}

// A notice waits a few seconds for others, and the message has all of them. Later ones
// wait for the end of the pause.
func TestNoticesAreGrouped(t *testing.T) {
	t.Parallel()
	b := notified(t, coppice.NotifyPolicy{Address: "https://coppice.example.org"})
	b.create(coppice.NewTask{Title: "one"}, coppice.NewTask{Title: "two"}, coppice.NewTask{Title: "three"}, coppice.NewTask{Title: "four"})
	b.turn()
	b.needsPerson("app-1", true)
	due := b.turn().Due
	if len(b.sending()) != 0 || !due.Equal(b.clock.Add(collectTime)) {
		t.Fatalf("%d messages, the next turn is at %v", len(b.sending()), due)
	}
	b.clock = b.clock.Add(time.Second)
	b.needsPerson("app-2", true)
	b.turn()
	b.after(2 * time.Second)
	m := b.sent(coppice.NotifyResult{})
	if m.Name != "phone" || m.Count != 2 || m.Title != "app: 2 tasks wait for you" || m.Path != "/inbox?project=app" || m.Address != "https://coppice.example.org" ||
		m.Text != "app: 2 tasks wait for you\n- app-1 waits for you: one: fix app-1\n- app-2 waits for you: two: fix app-2" {
		t.Errorf("the message: %+v", m)
	}
	b.needsPerson("app-3", true)
	b.needsPerson("app-4", true)
	b.turn()
	if due := b.after(10 * time.Second).Due; len(b.sending()) != 0 || !due.Equal(noon.Add(3*time.Second+time.Minute)) {
		t.Fatalf("during the pause: %d messages, the next turn is at %v", len(b.sending()), due)
	}
	b.needsPerson("app-3", false) // settled before it is sent
	b.turn()
	b.after(50 * time.Second)
	if m := b.sent(coppice.NotifyResult{}); m.Count != 1 || m.Title != "app-4 waits for you: four" || m.Text != "fix app-4" || m.Path != "/tasks/app-4" {
		t.Errorf("the second message: %+v", m)
	}
	if due := b.after(time.Hour).Due; len(b.sending()) != 0 || len(b.notifications()) != 2 {
		t.Errorf("afterwards: %d messages, %v", len(b.sending()), due)
	}
	keys := []string{}
	for _, n := range b.notifications() {
		keys = append(keys, n.Outcome)
		if n.EndedAt.IsZero() || n.Kind != "ntfy" {
			t.Errorf("%+v", n)
		}
	}
	if !slices.Equal(keys, []string{"sent", "sent"}) {
		t.Error(keys)
	}
}

// unsent has a message about app-1, which was not accepted.
func unsent(t *testing.T, class coppice.Class, text string) *bundle {
	t.Helper()
	b := notified(t, coppice.NotifyPolicy{})
	b.create(coppice.NewTask{Title: "one"})
	b.turn()
	b.needsPerson("app-1", true)
	b.turn()
	b.after(collectTime)
	b.sent(coppice.Failf(class, text, ""))
	return b
}

// A message that is not accepted is sent again, with the same id, and given up after
// some hours. What cannot work is not repeated.
func TestNotificationFails(t *testing.T) {
	t.Parallel()
	b := notified(t, coppice.NotifyPolicy{})
	b.create(coppice.NewTask{Title: "one"}, coppice.NewTask{Title: "two"})
	b.turn()
	b.needsPerson("app-1", true)
	b.turn()
	b.after(collectTime)
	first := b.sent(coppice.Failf(coppice.ClassEnvironment, "connection refused", ""))
	b.needsPerson("app-2", true) // it waits for the end of the message before it
	tries := 1
	for {
		due := b.turn().Due
		if due.IsZero() || tries > 100 {
			break
		}
		b.clock = due
		b.turn()
		for len(b.sending()) > 0 {
			tries++
			if m := b.sent(coppice.Failf(coppice.ClassEnvironment, "connection refused", "")); m.Key == first.Key && (m.Title != first.Title || m.Text != first.Text) {
				t.Fatalf("another message with the same id: %+v", m)
			}
		}
		if len(b.notifications()) == 2 {
			break
		}
	}
	n := b.notifications()[0]
	if n.Outcome != coppice.NotificationFailed || n.Failure.Text != "connection refused" || n.Tries != tries-1 && n.Tries != tries || tries > 25 || b.clock.Sub(noon) > 7*time.Hour {
		t.Errorf("after %d tries and %v: %+v", tries, b.clock.Sub(noon), n)
	}

	b = unsent(t, coppice.ClassCapability, "there is no desktop")
	if n := b.notifications()[0]; n.Outcome != coppice.NotificationFailed || len(b.sending()) != 0 {
		t.Errorf("%+v", n)
	}
}

// A message that could not be sent is not repeated after its question was settled.
func TestSettledNotificationIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, settled := range []bool{true, false} {
		b := unsent(t, coppice.ClassEnvironment, "connection refused")
		if settled {
			b.needsPerson("app-1", false)
			b.turn()
		}
		due := b.after(time.Minute).Due
		if n := b.notifications()[0]; (n.Outcome == coppice.NotificationOver) != settled || len(b.sending()) == 0 != settled || settled && !due.IsZero() {
			t.Errorf("settled %v: %d messages, next turn at %v: %+v", settled, len(b.sending()), due, n)
		}
	}
}

// A test is sent without a route, in the pause, and has one try.
func TestTestNotifiers(t *testing.T) {
	t.Parallel()
	b := notified(t, coppice.NotifyPolicy{
		Notifiers: map[string]coppice.Notifier{"a": {Kind: "desktop"}, "b": {Kind: "desktop"}}, Routes: []coppice.NotifyRoute{{To: []string{"a"}, Kinds: []string{"landed"}}},
	})
	list, err := b.TestNotifiers(t.Context(), nil)
	b.must(err)
	if len(list) != 2 || !list[0].Test || list[1].Kind != "desktop" {
		t.Fatalf("%+v", list)
	}
	b.turn()
	if m := b.sent(coppice.NotifyResult{}); m.Key != list[0].Key || !m.Test {
		t.Errorf("%+v", m)
	}
	b.sent(coppice.Failf(coppice.ClassAuth, "refused", "set the token"))
	if all := b.notifications(); all[0].Outcome != "sent" || all[1].Outcome != "failed" || all[1].Failure.Fix != "set the token" || len(b.sending()) != 0 {
		t.Errorf("%+v", all)
	}
	for _, names := range [][]string{{"c"}, {"a", ""}} {
		if _, err := b.TestNotifiers(t.Context(), names); coppice.ErrorCode(err) != coppice.ENotFound {
			t.Errorf("%v: %v", names, err)
		}
	}
}

// keyForm is a key that every receiver accepts as it is.
var keyForm = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}-[0-9]{1,19}-t?[0-9]{1,9}$`)

// A message that could not be sent is not repeated while a person looks at the dashboard.
func TestNothingIsRepeatedWhileAPersonLooks(t *testing.T) {
	t.Parallel()
	var looking time.Time
	b := notified(t, coppice.NotifyPolicy{}, func(c *Config) { c.Looking = func() time.Time { return looking } })
	b.create(coppice.NewTask{Title: "one"})
	b.turn()
	b.needsPerson("app-1", true)
	b.turn()
	b.after(collectTime)
	b.sent(coppice.Failf(coppice.ClassEnvironment, "connection refused", ""))
	looking = b.clock.Add(2 * time.Minute)
	_, err := b.TestNotifiers(t.Context(), nil)
	b.must(err)
	b.after(time.Minute)
	if n := b.notifications()[0]; n.Outcome != coppice.NotificationOver || n.EndedAt.IsZero() {
		t.Errorf("%+v", n)
	}
	if m := b.sent(coppice.NotifyResult{}); !m.Test || len(b.sending()) != 0 {
		t.Errorf("%+v", m)
	}
}

// The most urgent of several rules about one task decides, in whatever order they apply.
func TestReactionsAboutOneEntry(t *testing.T) {
	t.Parallel()
	for _, order := range [][]coppice.Priority{{coppice.PriorityUrgent, coppice.PriorityInfo}, {coppice.PriorityInfo, coppice.PriorityUrgent}} {
		n := &noticing{}
		for _, p := range order {
			n.acted = append(n.acted, coppice.Event{TaskID: 1, Data: coppice.Raw(coppice.Reacted{ReactedDetails: coppice.ReactedDetails{Priority: p, Message: string(p)}})})
		}
		list := []coppice.Notice{{TaskID: 1, NoticeDetails: coppice.NoticeDetails{Entry: "review/app-1"}}}
		n.addReactions(&list, nil)
		if len(list) != 1 || list[0].Priority != coppice.PriorityUrgent || list[0].Text != "urgent" {
			t.Errorf("%v: %+v", order, list)
		}
	}
}

// Whatever the names of notifiers, the keys of messages differ and need no change.
func TestMessageKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 200)
	kinds := map[string]coppice.Notifier{"a.b": {Kind: "desktop"}, "a-b": {Kind: "desktop"}, long: {Kind: "desktop"}}
	b := notified(t, coppice.NotifyPolicy{Notifiers: kinds, Routes: []coppice.NotifyRoute{{To: []string{"a.b", "a-b", long}, Priority: coppice.Priorities}}})
	_, err := b.TestNotifiers(t.Context(), nil)
	b.must(err)
	b.must(b.NoticeProblems(t.Context(), []Problem{{Kind: "disk", Text: "full"}}))
	b.turn()
	b.clock = b.clock.Add(collectTime)
	b.turn()
	keys := map[string]bool{}
	for _, n := range b.notifications() {
		if keys[n.Key] || !keyForm.MatchString(n.Key) || len(n.Key) > 64 {
			t.Errorf("%s gets the key %s", n.Notifier, n.Key)
		}
		keys[n.Key] = true
	}
	if len(keys) != 6 {
		t.Errorf("keys %v", keys)
	}
}

// TestDeliver decides about notices of two notifiers, a and b.
func TestDeliver(t *testing.T) {
	t.Parallel()
	notice := func(id int64, p coppice.Priority, change ...func(*coppice.Notice)) coppice.Notice {
		n := coppice.Notice{ID: id, Key: fmt.Sprint("k", id), ProjectID: 1, DueAt: noon, NoticeDetails: coppice.NoticeDetails{Kind: "review", Priority: p, Subject: "app-1", Text: "x"}}
		for _, c := range change {
			c(&n)
		}
		return n
	}
	soon := func(n *coppice.Notice) { n.DueAt = noon.Add(2 * time.Second) }
	landed := func(n *coppice.Notice) { n.Kind = coppice.NoticeLanded }
	was := func(ago time.Duration, p coppice.Priority) coppice.Notification {
		return coppice.Notification{Notifier: "a", At: noon.Add(-ago), NotificationDetails: coppice.NotificationDetails{Priority: p}}
	}
	recent := func(list ...coppice.Notification) func(*NoticesView) {
		return func(v *NoticesView) { v.Recent["a"], v.Recent["b"] = list, list }
	}
	routes := func(r ...coppice.NotifyRoute) func(*NoticesView) {
		return func(v *NoticesView) { v.Policy.Routes = r }
	}
	urgent, action, info := coppice.PriorityUrgent, coppice.PriorityAction, coppice.PriorityInfo
	all := coppice.Priorities
	for name, c := range map[string]struct {
		due    []coppice.Notice
		change func(*NoticesView)
		want   string // the messages, then each notice with its outcome, or when it is due
	}{
		"both notifiers":                    {[]coppice.Notice{notice(1, action)}, nil, "a:1 b:1 | sent"},
		"those that are soon due are in it": {[]coppice.Notice{notice(1, action), notice(2, action, soon)}, nil, "a:2 b:2 | sent sent"},
		"by default, info is quiet":         {[]coppice.Notice{notice(1, info)}, nil, "| quiet"},
		"settled":                           {[]coppice.Notice{notice(1, action), notice(2, urgent)}, func(v *NoticesView) { v.Over["k1"] = true }, "a:1 b:1 | over sent"},
		"a person looks":                    {[]coppice.Notice{notice(1, urgent), notice(2, action)}, func(v *NoticesView) { v.Looking = noon.Add(time.Second) }, "| seen seen"},
		"a person looked":                   {[]coppice.Notice{notice(1, action)}, func(v *NoticesView) { v.Looking = noon }, "a:1 b:1 | sent"},
		"the project names its notifiers":   {[]coppice.Notice{notice(1, action)}, func(v *NoticesView) { p := v.Projects[1]; p.Policy.Notify = []string{"b", "gone"}; v.Projects[1] = p }, "b:1 | sent"},
		"in the pause":                      {[]coppice.Notice{notice(1, action), notice(2, action, soon)}, recent(was(20*time.Second, action)), "| +40s +40s"},
		"the pause ends while it collects":  {[]coppice.Notice{notice(1, action), notice(2, action, soon)}, recent(was(59*time.Second, action)), "| +1s +2s"},
		"after the pause":                   {[]coppice.Notice{notice(1, action)}, recent(was(time.Minute, action)), "a:1 b:1 | sent"},
		"urgent does not wait":              {[]coppice.Notice{notice(1, urgent), notice(2, action, soon)}, recent(was(20*time.Second, action)), "a:2 b:2 | sent sent"},
		"urgent waits after three":          {[]coppice.Notice{notice(1, urgent)}, recent(was(time.Second, urgent), was(2*time.Second, urgent), was(20*time.Second, urgent), was(30*time.Second, urgent)), "| +40s"},
		"another message is being sent":     {[]coppice.Notice{notice(1, urgent)}, func(v *NoticesView) { v.Open = []coppice.Notification{was(0, action)} }, "b:1 | +5s"},
		"a message is tried again later": {[]coppice.Notice{notice(1, urgent)}, func(v *NoticesView) {
			o := was(0, action)
			o.RetryAt = noon.Add(time.Minute)
			v.Open = []coppice.Notification{o}
		}, "b:1 | +1m0s"},
		"a route by priority":                {[]coppice.Notice{notice(1, info), notice(2, action)}, routes(coppice.NotifyRoute{To: []string{"a"}, Priority: all}, coppice.NotifyRoute{To: []string{"b"}}), "a:2 b:1 | sent sent"},
		"a route by project":                 {[]coppice.Notice{notice(1, action)}, routes(coppice.NotifyRoute{To: []string{"a"}, Projects: []string{"other"}}, coppice.NotifyRoute{To: []string{"b"}, Projects: []string{"app"}}), "b:1 | sent"},
		"a route by kind":                    {[]coppice.Notice{notice(1, info, landed), notice(2, action)}, routes(coppice.NotifyRoute{To: []string{"a"}, Priority: all, Kinds: []string{"landed"}}), "a:1 | sent quiet"},
		"two routes to one notifier":         {[]coppice.Notice{notice(1, action)}, routes(coppice.NotifyRoute{To: []string{"a"}}, coppice.NotifyRoute{To: []string{"a", "b"}, Hours: "20:00-21:00"}), "a:1 | +8h0m0s"},
		"outside the hours":                  {[]coppice.Notice{notice(1, action)}, routes(coppice.NotifyRoute{To: []string{"a"}, Hours: "08:00-11:00"}), "| +20h0m0s"},
		"within the hours":                   {[]coppice.Notice{notice(1, action)}, routes(coppice.NotifyRoute{To: []string{"a"}, Hours: "22:00-12:30"}), "a:1 | sent"},
		"urgent ignores the hours":           {[]coppice.Notice{notice(1, urgent)}, routes(coppice.NotifyRoute{To: []string{"a"}, Hours: "08:00-11:00"}), "a:1 | sent"},
		"a notifier that has it already":     {[]coppice.Notice{notice(1, action, func(n *coppice.Notice) { n.Sent = []string{"a"} })}, nil, "b:1 | sent"},
		"a notice that waited for a removed": {[]coppice.Notice{notice(1, action, func(n *coppice.Notice) { n.Sent = []string{"a"} })}, routes(coppice.NotifyRoute{To: []string{"a", "gone"}}), "| sent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &NoticesView{
				Common: Common{Of: coppice.NoticesSubject(), Now: noon}, Zone: time.UTC, Due: c.due, Over: map[string]bool{}, Recent: map[string][]coppice.Notification{},
				Policy:   coppice.NotifyPolicy{Notifiers: map[string]coppice.Notifier{"a": {Kind: "desktop"}, "b": {Kind: "desktop"}}},
				Projects: map[int64]coppice.Project{1: {ID: 1, Prefix: "app"}},
			}
			if c.change != nil {
				c.change(v)
			}
			d, notices := v.delivery()
			var got []string
			for _, m := range d.messages {
				got = append(got, fmt.Sprintf("%s:%d", m.Notifier, m.Count))
			}
			got = append(got, "|")
			for _, n := range notices {
				if n.Outcome == "" {
					n.Outcome = fmt.Sprint("+", n.DueAt.Sub(noon))
				}
				got = append(got, n.Outcome)
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}
