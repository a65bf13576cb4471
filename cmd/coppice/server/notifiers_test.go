package server

import (
	"testing"

	"coppice"
	"coppice/control/answerlink"
)

// Every kind of notifier has a sender, and no other.
func TestNotifiers(t *testing.T) {
	t.Parallel()
	s, err := New(Config{State: t.TempDir(), Self: "coppice"})
	if err != nil {
		t.Fatal(err)
	}
	s.answers = answerlink.New(answerlink.Config{})
	have := s.notifiers(nil).Kinds
	for _, k := range coppice.NotifyKinds {
		if have[k.Name] == nil {
			t.Errorf("%s has no sender", k.Name)
		}
	}
	if len(have) != len(coppice.NotifyKinds) {
		t.Errorf("%d senders for %d kinds", len(have), len(coppice.NotifyKinds))
	}
}
