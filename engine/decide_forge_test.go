package engine

import (
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// hooked stores what a webhook reports, and takes a turn.
func (b *bundle) hooked(h coppice.ForgeHint) {
	b.t.Helper()
	b.must(b.Intake.As(coppice.Actor{Kind: coppice.ActorForge, Name: "gitea"}).ForgeChanged(b.t.Context(), b.task("app-1").ProjectID, h))
	b.turn()
}

// passing returns the pass that reads the forge now, or nil.
func (b *bundle) passing() *coppice.ForgeReadSpec {
	b.t.Helper()
	var spec *coppice.ForgeReadSpec
	b.view(func(r store.Reader) error {
		open, err := r.Work.Open(coppice.WorkForgeRead)
		for _, w := range open {
			s := specOf[coppice.ForgeReadSpec](b, w)
			spec = &s
		}
		return err
	})
	return spec
}

func (b *bundle) forgeRow() (row coppice.ForgeRow) {
	b.t.Helper()
	project := b.task("app-1").ProjectID
	b.view(func(r store.Reader) (err error) {
		row, err = r.Forges.Of(project)
		return err
	})
	return row
}

// forgeAsks returns the open requests to read the forge.
func (b *bundle) forgeAsks() (open []coppice.Ask) {
	b.t.Helper()
	project := b.task("app-1").ProjectID
	b.view(func(r store.Reader) (err error) {
		open, err = r.Asks.Open(coppice.ForgeSubject(project))
		return err
	})
	return open
}

// quietForge returns an engine whose project has the open request #7, and reads the
// forge once in an hour.
func quietForge(t *testing.T) *bundle {
	b := inPull(t, func(p *coppice.Policy) { p.Forge.Every = coppice.Duration(time.Hour) })
	for b.passing() != nil {
		b.ends("", coppice.WorkForgeRead, coppice.ForgeReadResult{Pulls: []coppice.PullSeen{{Task: b.task("app-1").ID, Read: coppice.PullRead{Number: 7, State: coppice.PullOpen, Head: pullHead}}}})
	}
	return b
}

// A webhook starts a pass immediately, which reads only what the webhook names.
func TestWebhooksStartAPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hint  coppice.ForgeHint
		scope coppice.ForgeScope
		none  bool // no pass
		whole bool // #7 is read although the list might show no change
	}{
		"its number":       {coppice.ForgeHint{Number: 7}, coppice.ForgeNamed, false, true},
		"its commit":       {coppice.ForgeHint{Commit: pullHead}, coppice.ForgeNamed, false, true},
		"its branch":       {coppice.ForgeHint{Branch: "coppice/app-1"}, coppice.ForgeNamed, false, true},
		"another number":   {coppice.ForgeHint{Number: 8}, "", true, false},
		"another branch":   {coppice.ForgeHint{Branch: "feature"}, "", true, false},
		"nothing of these": {coppice.ForgeHint{None: true}, "", true, false},
		"another commit":   {coppice.ForgeHint{Commit: pullFixed}, coppice.ForgeList, false, false},
		"the base":         {coppice.ForgeHint{Branch: "main"}, coppice.ForgeList, false, false},
		"anything":         {coppice.ForgeHint{}, coppice.ForgeAll, false, true}, // it changed a moment ago
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := quietForge(t)
			next := b.forgeRow().NextAt
			b.clock = b.clock.Add(time.Minute)
			b.hooked(c.hint)
			spec := b.passing()
			if c.none {
				if spec != nil || !b.forgeRow().NextAt.Equal(next) {
					t.Errorf("a pass: %+v; the next one is at %v, want %v", spec, b.forgeRow().NextAt, next)
				}
			} else if spec == nil || spec.Scope != c.scope || len(spec.Pulls) != 1 || spec.Pulls[0].Whole != c.whole {
				t.Errorf("the pass: %+v", spec)
			}
			if row := b.forgeRow(); !row.HookAt.Equal(b.clock) {
				t.Errorf("the last webhook was at %v, want %v", row.HookAt, b.clock)
			}
			if open := b.forgeAsks(); len(open) > 0 {
				t.Errorf("open requests: %+v", open)
			}
		})
	}
}

// Webhooks that arrive during a pass lead to one more, and none is lost. A flood of
// them leads to few passes, and to few stored requests.
func TestAFloodOfWebhooks(t *testing.T) {
	t.Parallel()
	b := quietForge(t)
	passes := b.forgeRow().Passes
	b.hooked(coppice.ForgeHint{Number: 7})
	for n := range 1000 {
		b.must(b.Intake.ForgeChanged(t.Context(), b.task("app-1").ProjectID, coppice.ForgeHint{Number: 7 + n}))
	}
	open := b.forgeAsks()
	if len(open) != mostHints+1 {
		t.Errorf("%d requests are open, want %d", len(open), mostHints+1)
	}
	read := func() {
		b.ends("", coppice.WorkForgeRead, coppice.ForgeReadResult{})
	}
	read()
	if b.passing() == nil {
		t.Fatal("the webhooks that arrived during the pass are lost")
	}
	read()
	started := b.clock
	for range 1000 { // a forge that answers at the same moment
		b.hooked(coppice.ForgeHint{Number: 7})
		if b.passing() != nil {
			read()
		}
	}
	if n := b.forgeRow().Passes - passes; n != hookBurst {
		t.Errorf("%d passes, want %d", n, hookBurst)
	}
	b.clock = started.Add(coppice.MinForgeInterval.D())
	b.turn()
	if b.passing() == nil {
		t.Error("the last webhook is lost")
	}
	read()
	if row := b.forgeRow(); row.Passes-passes != hookBurst+1 || !row.NextAt.After(b.clock) {
		t.Errorf("%d passes, the next at %v", row.Passes-passes, row.NextAt)
	}
}

// A forge that asks to wait gets the time, whatever webhooks arrive.
func TestWebhooksDoNotShortenAPause(t *testing.T) {
	t.Parallel()
	b := quietForge(t)
	b.hooked(coppice.ForgeHint{Number: 7})
	until := b.clock.Add(20 * time.Minute)
	fail := coppice.Failf(coppice.ClassRateLimit, "too many requests", "")
	fail.RetryAt = until
	b.ends("", coppice.WorkForgeRead, fail)
	if next := b.forgeRow().NextAt; next.Before(until) {
		t.Fatalf("the next pass is at %v", next)
	}
	b.hooked(coppice.ForgeHint{Number: 7})
	if b.passing() != nil {
		t.Error("the pass does not wait")
	}
	b.clock = b.forgeRow().NextAt
	b.turn()
	if b.passing() == nil {
		t.Error("the webhook is lost")
	}
}

// Passes that webhooks start do not postpone the pass over everything.
func TestWebhooksDoNotReplacePolling(t *testing.T) {
	t.Parallel()
	b := quietForge(t)
	last := b.forgeRow().ReadAt
	for b.clock.Before(last.Add(hookPause * time.Hour)) {
		b.clock = b.clock.Add(10 * time.Minute)
		b.hooked(coppice.ForgeHint{Number: 7})
		if spec := b.passing(); spec.Scope == coppice.ForgeAll {
			break
		}
		b.ends("", coppice.WorkForgeRead, coppice.ForgeReadResult{})
	}
	if got := b.clock.Sub(last); got != hookPause*time.Hour {
		t.Errorf("everything was read after %v", got)
	}
}
