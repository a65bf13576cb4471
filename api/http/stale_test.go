package http

import (
	"context"
	"errors"
	"testing"
	"time"
)

// An answer that is older than a second is given while the next one is made, if the
// facts are the same. Two seconds later, and after a change of the facts, the request
// waits for a new one.
func TestStaleAnswers(t *testing.T) {
	t.Parallel()
	var facts uint64
	now := time.Unix(0, 0)
	all := &answers{facts: func() uint64 { return facts }, now: func() time.Time { return now }}
	made := 0
	var fail error
	ask := func() int {
		t.Helper()
		n, err := reuse(t.Context(), all, "question", func(context.Context) (int, error) { made++; return made, fail })
		if !errors.Is(err, fail) {
			t.Fatal(err)
		}
		return n
	}
	want := func(what string, n int) {
		t.Helper()
		if got := ask(); got != n {
			t.Errorf("%s: answer %d, not %d", what, got, n)
		}
		all.refreshes.Wait()
	}
	want("the first", 1)
	now = now.Add(maxAge - 1)
	want("a fresh one", 1)
	now = now.Add(1)
	want("an old one, while the next is made", 1)
	want("the next", 2)
	now = now.Add(maxAge + maxStale)
	want("after a long time", 3)
	now = now.Add(maxAge)
	facts++
	want("after a change", 4)

	// A change while the next one is made: it is not kept.
	now = now.Add(maxAge)
	n, err := reuse(t.Context(), all, "question", func(context.Context) (int, error) { facts++; return 100, nil })
	if all.refreshes.Wait(); n != 4 || err != nil {
		t.Errorf("answer %d, %v", n, err)
	}
	want("after a change during the refresh", 5)

	// A refresh that fails or panics leaves the old answer.
	now = now.Add(maxAge)
	if n, err := reuse(t.Context(), all, "question", func(context.Context) (int, error) { panic("bug") }); n != 5 || err != nil {
		t.Errorf("answer %d, %v", n, err)
	}
	all.refreshes.Wait()
	want("after a panic", 5)
	now = now.Add(maxAge + maxStale)
	want("long after a panic", 6)
	now = now.Add(maxAge)
	n, err = reuse(t.Context(), all, "question", func(context.Context) (int, error) { return 0, errors.New("broken") })
	if all.refreshes.Wait(); n != 6 || err != nil {
		t.Errorf("answer %d, %v", n, err)
	}
	want("after an error", 6)
}

// endingAnswer is an answer that reports its end.
type endingAnswer struct {
	n  int
	at time.Time
}

func (a endingAnswer) end() time.Time { return a.at }

// An answer that reports its end is kept longer, and not after its end.
func TestEndingAnswers(t *testing.T) {
	t.Parallel()
	now, ends := time.Unix(0, 0), time.Time{}
	all := &answers{facts: func() uint64 { return 1 }, now: func() time.Time { return now }}
	made := 0
	want := func(what string, n int) {
		t.Helper()
		got, err := reuse(t.Context(), all, "question", func(context.Context) (endingAnswer, error) { made++; return endingAnswer{made, ends}, nil })
		if got.n != n || err != nil {
			t.Errorf("%s: answer %d, not %d (%v)", what, got.n, n, err)
		}
		all.refreshes.Wait()
	}
	want("the first", 1)
	now = now.Add(maxEnding - 1)
	want("a fresh one", 1)
	now = now.Add(1)
	want("an old one, while the next is made", 1)
	want("the next", 2)
	now = now.Add(maxEnding + maxStale)
	ends = now.Add(2)
	want("after a long time", 3)
	now = now.Add(1)
	want("just before its end", 3)
	now = now.Add(1)
	want("at its end", 4)
}
