package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// dirtyFile is a move that waits for a person to deal with a file.
func dirtyFile(names ...string) coppice.MoveResult {
	text := fmt.Sprintf("uncommitted changes in %v", names)
	return coppice.MoveResult{Now: "base1", Blocked: text, Need: &coppice.Need{
		Kind: coppice.NeedCheckout, Text: text, Fix: "commit or stash them", Paths: names,
	}}
}

func gitSettings() coppice.MoveResult {
	return coppice.MoveResult{Now: "base1", Blocked: "git settings changed", Need: &coppice.Need{Kind: coppice.NeedGit, Text: "git settings changed"}}
}

func TestSettleABlockedMove(t *testing.T) {
	t.Parallel()
	of := func(r coppice.MoveResult, changes ...change) *View {
		return viewOf(coppice.StageLanding, append([]change{ran("head1"), space(), candidate(inQueue), finished(coppice.WorkMove, r)}, changes...)...)
	}
	needs := func(kind coppice.NeedKind, text string) change {
		return func(v *View) { v.Queue.Needs = []coppice.Need{{Kind: kind, Text: text, Since: noon.Add(-time.Hour)}} }
	}
	changed := say(coppice.VerbRetry) // while the move was under way
	run(t, anySettle, []decision{
		{"a need", of(dirtyFile("a.go")),
			`settle: landing.waits; landing queued; put off 2s (1): uncommitted changes in [a.go]; needs checkout "uncommitted changes in [a.go]" [a.go] since 0s; settled`},
		{"the same kind of need, about other files", of(dirtyFile("b.go"), needs(coppice.NeedCheckout, "x")),
			`settle: landing.waits; landing queued; put off 2s (1): uncommitted changes in [b.go]; needs checkout "uncommitted changes in [b.go]" [b.go] since -1h0m0s; settled`},
		{"no need: it ends by itself", of(coppice.MoveResult{Blocked: "a lock"}), "settle: landing.waits; landing queued; put off 2s (1): a lock; settled"},
		{"a need that no move has", of(coppice.MoveResult{Blocked: "x", Need: &coppice.Need{Kind: coppice.NeedBase, Text: "y"}}),
			"settle: landing.waits; landing queued; put off 2s (1): x; settled"},
		{"a need without a text", of(coppice.MoveResult{Blocked: "x", Need: &coppice.Need{Kind: coppice.NeedGit}}),
			`settle: landing.waits; landing queued; put off 2s (1): x; needs git "x" [] since 0s; settled`},
		{"something changed in the meantime", of(coppice.MoveResult{Blocked: "x"}, changed), "settle: landing.waits; landing queued; put off 0s (0): x; settled"},
		{"another first pause", of(coppice.MoveResult{Blocked: "x"}, func(v *View) { v.Pause, v.Landing.Tries = time.Hour, 3 }),
			"settle: landing.waits; landing queued; put off 1h0m0s (4): x; settled"},
	})
}

// queueUp brings tasks into the landing queue, in order.
func (b *bundle) queueUp(n int) {
	b.t.Helper()
	for range n {
		b.create(coppice.NewTask{Title: "a"})
	}
	b.turn()
	for i := range n {
		key := fmt.Sprintf("app-%d", i+1)
		b.clock = b.clock.Add(time.Second)
		b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws/" + key, BaseCommit: "base1", Head: "base1"})
		b.finish(key, coppice.WorkRun, coppice.RunResult{Head: "head-" + key})
		b.finish(key, coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-" + key, Commit: "commit-" + key})
		b.finish(key, coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make"}}})
	}
}

// needTexts lists what the project needs a person for.
func (b *bundle) needTexts() (out []string) {
	b.t.Helper()
	for _, n := range b.projectNow().Needs {
		out = append(out, fmt.Sprintf("%s: %s", n.Kind, n.Text))
	}
	return out
}

func (b *bundle) wantNeeds(want ...string) {
	b.t.Helper()
	if d := cmp.Diff(want, b.needTexts()); d != "" {
		b.t.Errorf("needs (-want +got):\n%s", d)
	}
}

func (b *bundle) wantReason(key, reason, fix string) {
	b.t.Helper()
	if s := b.status(key); s.Status != coppice.StatusLanding || s.Reason != reason || s.Fix != fix {
		b.t.Errorf("%s is %s (%q, %q), want landing (%q, %q)", key, s.Status, s.Reason, s.Fix, reason, fix)
	}
}

// poke reports that something changed in the checkout.
func (b *bundle) poke() {
	b.t.Helper()
	b.must(b.RetryLanding(b.t.Context(), 1, "a.go changed"))
}

// What blocks the first landing is one need of the project, and every task
// behind it shows what it waits for.
func TestAQueueThatWaits(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = 5 })
	b.queueUp(3)
	b.wantReason("app-1", "", "")
	b.wantReason("app-2", "waiting for app-1 to land (2nd of 3)", "")
	b.wantReason("app-3", "waiting for app-1 to land (3rd of 3)", "")

	b.finish("app-1", coppice.WorkMove, dirtyFile("a.go"))
	b.wantNeeds("checkout: uncommitted changes in [a.go]")
	b.wantReason("app-1", "uncommitted changes in [a.go]", "commit or stash them")
	behind := "waiting for app-1, which cannot land: "
	b.wantReason("app-2", behind+"uncommitted changes in [a.go]", "")
	b.wantReason("app-3", behind+"uncommitted changes in [a.go]", "")

	b.poke()
	b.turn()
	b.wantNeeds("checkout: uncommitted changes in [a.go]") // until the move reports
	b.finish("app-1", coppice.WorkMove, gitSettings())
	b.wantNeeds("git: git settings changed") // one of the two at most

	b.poke()
	b.turn()
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "base1", Blocked: "another git command runs"})
	b.wantNeeds() // nobody has to do anything about that
	b.wantReason("app-2", behind+"another git command runs", "")

	b.poke()
	b.turn()
	b.finish("app-1", coppice.WorkMove, dirtyFile("b.go"))
	b.poke()
	b.turn()
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit-app-1"})
	b.wantNeeds()
	b.wantReason("app-3", "waiting for app-2 to land (2nd of 2)", "")
}

// A need ends with what the first landing waits for, whatever ends that.
func TestANeedEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*bundle){
		"its task is stopped": func(b *bundle) {
			_, err := b.Stop(b.t.Context(), "app-1")
			b.must(err)
			b.turn()
		},
		"its task is requeued": func(b *bundle) {
			_, err := b.Requeue(b.t.Context(), "app-1", verb.Request{})
			b.must(err)
			b.turn()
		},
		"the base moved": func(b *bundle) {
			b.poke()
			b.turn()
			b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "base2"})
			if w := b.unsettled("app-1"); w.Kind != coppice.WorkMerge {
				b.t.Errorf("%s follows", w.Kind)
			}
		},
		"the base was seen to move": func(b *bundle) {
			b.update(func(tx store.Tx) error {
				q, err := tx.Queues.Of(1, "")
				q.Tip = "base2"
				if err != nil {
					return err
				}
				return tx.Queues.Put(&q)
			})
			b.poke()
			b.turn()
			if w := b.unsettled("app-1"); w.Kind != coppice.WorkMerge {
				b.t.Errorf("%s follows", w.Kind)
			}
		},
		"the move fails": func(b *bundle) {
			b.poke()
			b.turn()
			b.finish("app-1", coppice.WorkMove, coppice.Failf(coppice.ClassEnvironment, "it broke", ""))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openApp(t)
			b.queueUp(1)
			b.finish("app-1", coppice.WorkMove, dirtyFile("a.go"))
			b.wantNeeds("checkout: uncommitted changes in [a.go]")
			end(b)
			b.wantNeeds()
		})
	}
}

// A change that is noticed while a move is under way is not lost.
func TestAChangeDuringAMove(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) { c.Pause = 24 * time.Hour })
	b.project()
	b.queueUp(1)
	b.clock = b.clock.Add(time.Second)
	b.poke() // the move has looked already, perhaps
	b.turn()
	b.finish("app-1", coppice.WorkMove, dirtyFile("a.go"))
	w := b.unsettled("app-1")
	if w.Kind != coppice.WorkMove {
		t.Fatalf("%q follows, want a move", w.Kind)
	}
	b.finish("app-1", coppice.WorkMove, dirtyFile("a.go"))
	if w := b.unsettled("app-1"); w.Kind != "" {
		t.Errorf("%s follows though nothing changed", w.Kind)
	}
	turned := b.turn()
	if want := b.clock.Add(24 * time.Hour); !turned.Due.Equal(want) {
		t.Errorf("due at %s, want %s", turned.Due, want)
	}
	b.clock = b.clock.Add(time.Second)
	b.poke()
	if turned := b.turn(); !turned.Due.IsZero() {
		t.Errorf("while the move is under way the next turn is due at %s", turned.Due)
	}
	if w := b.unsettled("app-1"); w.Kind != coppice.WorkMove {
		t.Errorf("%q follows, want a move", w.Kind)
	}
}

// Only a landing that waits is retried, and the log names who noticed the change.
func TestRetryLanding(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	retried := func() []coppice.Event {
		return b.events(store.EventFilter{Kinds: []coppice.EventKind{coppice.EventLandingRetried}})
	}
	b.poke() // nothing is queued
	b.queueUp(1)
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "base2"}) // it is merged again, and does not wait
	b.poke()
	if got := retried(); len(got) != 0 {
		t.Errorf("events %+v", got)
	}
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "tree-app-1", Commit: "c2"})
	b.finish("app-1", coppice.WorkMove, dirtyFile("a.go"))
	b.poke()
	got := retried()
	if len(got) != 1 || got[0].By != "person" || got[0].Subject != "app-1" || got[0].Reason != "a.go changed" {
		t.Fatalf("events %+v", got)
	}
	b.turn()
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "c2"})
	b.poke()
	if got := retried(); len(got) != 1 {
		t.Errorf("%d events after it landed", len(got))
	}
}

func TestOrdinal(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th", 122: "122nd"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
