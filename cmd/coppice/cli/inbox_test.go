package cli_test

import (
	"testing"
	"time"
)

func TestInboxCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.golden(t, "inbox-empty", "inbox")
	s.fill()
	s.golden(t, "inbox", "inbox")
	s.golden(t, "inbox-snooze", "inbox", "snooze", "failed/app-5", "--until", "12:30")
	s.golden(t, "inbox-snoozed", "inbox", "--all")
	s.golden(t, "inbox-rest", "inbox", "-p", "app")
	s.golden(t, "inbox-snooze-question", "inbox", "snooze", "question/app-4/1", "--for", "2h")
	s.golden(t, "inbox-snooze-how", "inbox", "snooze", "failed/app-5")
	s.golden(t, "inbox-snooze-when", "inbox", "snooze", "failed/app-5", "--until", "noon")
	s.Clock.Move(time.Hour)
	s.golden(t, "inbox-back", "inbox")
	s.golden(t, "inbox-event", "inbox", "snooze", "failed/app-5", "--event", "landed", "--task", "app-1")
	s.golden(t, "inbox-wake", "inbox", "wake", "failed/app-5")
	s.golden(t, "inbox-wake-again", "inbox", "wake", "failed/app-5")
}
