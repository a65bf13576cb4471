package cli_test

import (
	"testing"

	"coppice"
	"coppice/store"
)

func TestNotifyGolden(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.golden(t, "notify-none", "notify")
	s.golden(t, "notify-log-none", "notify", "log")
	s.golden(t, "notify-test-none", "notify", "test")
	s.Notify = coppice.NotifyPolicy{
		Notifiers: map[string]coppice.Notifier{"phone": {Kind: "ntfy"}, "team": {Kind: "slack"}, "desktop": {}},
		Routes: []coppice.NotifyRoute{
			{To: []string{"phone", "team"}}, {To: []string{"team"}, Priority: coppice.Priorities[2:], Kinds: []string{"landed", "failed"}, Projects: []string{"app", "web"}, Hours: "08:00-18:00"},
		},
	}
	now := s.Clock.Now()
	s.Update(func(tx store.Tx) error {
		for _, n := range []coppice.Notification{
			{Key: "1", Notifier: "phone", At: now, EndedAt: now, NotificationDetails: coppice.NotificationDetails{Kind: "ntfy", Priority: "action", Title: "app-1 asks: Add a flag", Text: "Which?\nRed or blue?", Outcome: "sent", Count: 1}},
			{Key: "2", Notifier: "team", At: now, EndedAt: now, NotificationDetails: coppice.NotificationDetails{
				Kind: "slack", Priority: "urgent", Title: "app: 3 questions", Text: "…", Outcome: "failed", Count: 3, Tries: 9, Failure: coppice.Failf(coppice.ClassAuth, "the address was refused", "create it again"),
			}},
			{Key: "3", Notifier: "phone", At: now, NotificationDetails: coppice.NotificationDetails{
				Kind: "ntfy", Priority: "info", Title: "app-2 is done: x", Tries: 2, RetryAt: now, Failure: coppice.Failf(coppice.ClassEnvironment, "connection refused", ""),
			}},
		} {
			if err := tx.Notifications.Put(&n); err != nil {
				return err
			}
		}
		return nil
	})
	s.golden(t, "notify", "notify")
	s.golden(t, "notify-json", "notify", "--json")
	s.golden(t, "notify-log", "notify", "log", "--text")
	s.golden(t, "notify-log-one", "notify", "log", "--notifier", "team", "--limit", "1")
	s.golden(t, "notify-test-unknown", "notify", "test", "phon")
}
