package control

import (
	"context"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// A notifier is a problem while its newest message has failed, or fails again and again.
func TestFailingNotifiers(t *testing.T) {
	t.Parallel()
	s := sqlitetest.Open(t, sqlite.Config{})
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := Health{
		Store: s, Now: func() time.Time { return now }, Intact: func() error { return nil }, DiskFree: func() uint64 { return 1 << 40 },
		Backup: func() (time.Time, error) { return now, nil },
		Notify: func() coppice.NotifyPolicy {
			return coppice.NotifyPolicy{Notifiers: map[string]coppice.Notifier{"phone": {}}}
		},
	}
	n := 0
	var list []engine.Problem
	problems := Problems{Check: h.Check, Notice: func(_ context.Context, l []engine.Problem) error { list = l; return nil }}
	for _, c := range []struct {
		name   string
		put    coppice.Notification
		failed bool
	}{
		{"being sent", coppice.Notification{}, false},
		{"failed once", coppice.Notification{NotificationDetails: coppice.NotificationDetails{Tries: 1}}, false},
		{"fails again and again", coppice.Notification{NotificationDetails: coppice.NotificationDetails{Tries: manyTries}}, true},
		{"the next is being sent", coppice.Notification{}, true},
		{"it was sent", coppice.Notification{EndedAt: now, NotificationDetails: coppice.NotificationDetails{Outcome: coppice.NotificationSent}}, false},
		{"it was sent after some tries", coppice.Notification{EndedAt: now, NotificationDetails: coppice.NotificationDetails{Outcome: coppice.NotificationSent, Tries: manyTries}}, false},
		{"given up", coppice.Notification{EndedAt: now, NotificationDetails: coppice.NotificationDetails{Outcome: coppice.NotificationFailed, Tries: 9}}, true},
		{"a test is being sent", coppice.Notification{NotificationDetails: coppice.NotificationDetails{Test: true, Tries: manyTries}}, true},
		{"a test works", coppice.Notification{EndedAt: now, NotificationDetails: coppice.NotificationDetails{Test: true, Outcome: coppice.NotificationSent}}, false},
	} {
		n++
		c.put.Key, c.put.Notifier = c.name, "phone"
		if err := s.Update(t.Context(), func(tx store.Tx) error { return tx.Notifications.Put(&c.put) }); err != nil {
			t.Fatal(err)
		}
		if err := problems.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if failed := len(list) == 1 && list[0].Kind == "notify"; failed != c.failed || len(list) > 1 {
			t.Errorf("%s: %+v", c.name, list)
		}
	}
	problems.Check = func(context.Context, bool) (api.Health, error) {
		return api.Health{Problems: []api.HealthProblem{{Kind: "queue"}, {Kind: "disk", Text: "full", Fix: "free some space"}, {Kind: "limit"}}}, nil
	}
	if err := problems.RunOnce(t.Context()); err != nil || len(list) != 1 || list[0] != (engine.Problem{Kind: "disk", Text: "full", Fix: "free some space"}) {
		t.Errorf("%+v, %v", list, err)
	}
}
