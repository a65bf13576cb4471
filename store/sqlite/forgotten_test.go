package sqlite_test

import (
	"testing"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
)

// TestForgottenWordsGo checks that the words of removed output are removed from the
// index, too.
func TestForgottenWordsGo(t *testing.T) {
	t.Parallel()
	s, x := searched(t, sqlite.Memory, sqlite.Memory)
	t.Cleanup(func() { x.Close(); s.Close() })
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	fill(t, s, at, "meadow")
	err := s.Update(t.Context(), func(tx store.Tx) error {
		k, err := tx.Tasks.Get(1)
		if err != nil {
			return err
		}
		k.Stage, k.Outcome, k.EndedAt = coppice.StageEnded, coppice.OutcomeDone, at
		return tx.Tasks.Put(&k)
	})
	if err != nil {
		t.Fatal(err)
	}
	count := func() int {
		t.Helper()
		if err := x.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		return x.Matches(t, "output_words_1", "meadow")
	}
	if n := count(); n != 1 {
		t.Errorf("%d rows have the word", n)
	}
	err = s.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.History.Forget(store.Keep{Output: 1, Notice: []byte(`{"kind":"notice","text":"gone"}`)}, at.Add(time.Hour), 100)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 0 {
		t.Errorf("%d rows have the word still", n)
	}
	if n := x.Matches(t, "output_words_1", "gone"); n != 1 {
		t.Errorf("%d rows have the notice", n)
	}
}
