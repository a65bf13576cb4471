package fabrictest

import (
	"strings"
	"testing"

	"coppice"
	"coppice/fabric"
)

// running returns a command that runs, as a worker reports it.
func running(command string) coppice.CommandRun {
	return coppice.CommandRun{Command: command, State: coppice.RunRunning, StartedAt: ledgerNoon}
}

// progress reports output of the last of the commands.
func (b *ledgerBundle) progress(w coppice.Work, quiet bool, offset int64, text string, commands ...coppice.CommandRun) {
	b.t.Helper()
	p := fabric.Progress{Work: w.ID, Attempt: w.Attempt, Commands: commands, Quiet: quiet}
	if text != "" {
		p.Output = []coppice.RunOutput{{Command: len(commands) - 1, Offset: offset, Data: []byte(text)}}
	}
	if err := b.Ledger.Progress(b.ctx, p); err != nil {
		b.t.Fatal(err)
	}
}

// seen returns what people see of a command.
func (b *ledgerBundle) seen(w coppice.Work, command int) string {
	b.t.Helper()
	var text strings.Builder
	if r := b.Shown(b.t, w.ID); r != nil {
		for _, o := range r.Output {
			if o.Command == command {
				text.Write(o.Data)
			}
		}
	}
	return text.String()
}

// People see the commands and their output while they run.
func testProgress(t *testing.T, b *ledgerBundle) {
	w := b.Check(t)
	if r := b.Shown(t, w.ID); r != nil {
		t.Errorf("seen before the first report: %+v", r)
	}
	one, two := running("one"), running("two")
	b.progress(w, false, 0, "a\n", one)
	if got := b.seen(w, 0); got != "a\n" {
		t.Errorf("the first line is seen as %q", got)
	}
	one.State, one.Exit = coppice.RunEnded, 3
	b.progress(w, false, 0, "b\n", one, two)
	r := b.Shown(t, w.ID)
	if len(r.Commands) != 2 || r.Commands[0].Exit != 3 || r.Commands[0].State != coppice.RunEnded || r.Commands[0].Size != 2 || r.Commands[1].State != coppice.RunRunning {
		t.Errorf("commands %+v", r.Commands)
	}
	if b.seen(w, 0) != "a\n" || b.seen(w, 1) != "b\n" {
		t.Errorf("output %q and %q", b.seen(w, 0), b.seen(w, 1))
	}
}

// A report that is repeated adds nothing. Output that the worker left out is
// missing, up to the end of its line.
func testProgressOnce(t *testing.T, b *ledgerBundle) {
	w := b.Check(t)
	for range 2 {
		b.progress(w, false, 0, "one\ntwo\n", running("x"))
	}
	b.progress(w, false, 4, "two\nthree\n", running("x"))
	if got := b.seen(w, 0); got != "one\ntwo\nthree\n" {
		t.Errorf("after repeated reports: %q", got)
	}
	b.progress(w, true, 100, "rest\nof it all\n", running("x"))
	if got := b.seen(w, 0); got != "one\ntwo\nthree\nof it all\n" {
		t.Errorf("after a gap: %q", got)
	}
}

// A secret in two reports is masked. Its possible start is not shown until more
// follows, or nothing does for a while.
func testProgressSecret(t *testing.T, b *ledgerBundle) {
	w := b.Check(t)
	b.progress(w, false, 0, tokenHalves[0], running("x"))
	if got := b.seen(w, 0); got != "a " {
		t.Errorf("half a token is seen: %q", got)
	}
	b.progress(w, false, int64(len(tokenHalves[0])), tokenHalves[1], running("x"))
	if got := b.seen(w, 0); got != hiddenToken {
		t.Errorf("%q is seen", got)
	}
	end := int64(len(tokenHalves[0] + tokenHalves[1]))
	b.progress(w, false, end, "gh", running("x"))
	b.progress(w, true, 0, "", running("x"))
	if got := b.seen(w, 0); got != hiddenToken+"gh" {
		t.Errorf("after a pause %q is seen", got)
	}
}

// Only the worker that holds the work reports about it.
func testProgressFenced(t *testing.T, b *ledgerBundle) {
	w := b.Check(t)
	report := func(work int64, attempt int) error {
		return b.Ledger.Progress(b.ctx, fabric.Progress{Work: work, Attempt: attempt, Commands: []coppice.CommandRun{running("x")}})
	}
	b.wantCode("an earlier attempt", report(w.ID, w.Attempt-1), coppice.EConflict)
	b.wantCode("a later attempt", report(w.ID, w.Attempt+1), coppice.EConflict)
	b.wantCode("unknown work", report(w.ID+99, 1), coppice.ENotFound)
	if r := b.Shown(t, w.ID); r != nil {
		t.Errorf("seen although nobody reported: %+v", r)
	}
	if err := report(w.ID, w.Attempt); err != nil {
		t.Error(err)
	}
	b.wantCode("an earlier attempt after the current one", report(w.ID, w.Attempt-1), coppice.EConflict)
	if r := b.Shown(t, w.ID); r == nil || len(r.Commands) != 1 {
		t.Errorf("seen after that: %+v", r)
	}
}
