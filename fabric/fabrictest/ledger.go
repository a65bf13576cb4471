package fabrictest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/fabric"
)

// LedgerBundle is a ledger under test, and functions that access the facts
// behind it.
type LedgerBundle struct {
	Ledger fabric.Ledger
	// Reopen returns a new ledger on the same facts, as after a restart.
	Reopen func(t *testing.T) fabric.Ledger
	// Put inserts a session of the only task, or replaces one.
	Put func(t *testing.T, s *coppice.Session)
	// Offer offers a session's run, and Settle settles it.
	Offer, Settle func(t *testing.T, session int64)
	Get           func(t *testing.T, session int64) coppice.Session
	Output        func(t *testing.T, session int64) []coppice.Output
	Questions     func(t *testing.T) []coppice.Question
	Image         func(t *testing.T, i coppice.Image) // stores an image
	// Lose makes Publish unable to find a commit.
	Lose func(commit string)
	// Check offers checks of the only task, and takes them as the ledger's worker.
	// Shown returns what people see of them, or nil.
	Check func(t *testing.T) coppice.Work
	Shown func(t *testing.T, work int64) *coppice.Run
}

// Answer is how the tools behind the ledger of a test answer a call: with the
// session's key and the call's ID and body.
func Answer(_ context.Context, s coppice.Session, c fabric.Call) (fabric.Reply, error) {
	return fabric.Reply{Status: 200, Body: fmt.Appendf(nil, "%s %s %s", s.Key, c.ID, c.Body)}, nil
}

// RunLedger runs the suite of fabric.Ledger. Open returns a bundle without any
// session.
func RunLedger(t *testing.T, open func(t *testing.T) LedgerBundle) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *ledgerBundle)
	}{
		{"Begin", testBegin},
		{"Spent", testSpent},
		{"Known", testKnown},
		{"RecordOnce", testRecordOnce},
		{"RecordFacts", testRecordFacts},
		{"RecordOfTheDead", testRecordOfTheDead},
		{"SplitSecret", testSplitSecret},
		{"Quiet", testQuiet},
		{"StreamsApart", testStreamsApart},
		{"Over", testOver},
		{"Publish", testPublish},
		{"Progress", testProgress},
		{"ProgressOnce", testProgressOnce},
		{"ProgressSecret", testProgressSecret},
		{"ProgressFenced", testProgressFenced},
		{"Call", testCall},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, &ledgerBundle{LedgerBundle: open(t), t: t, ctx: t.Context()})
		})
	}
}

type ledgerBundle struct {
	LedgerBundle
	t   *testing.T
	ctx context.Context
	end int64
}

var ledgerNoon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// session creates a session that is about to start.
func (b *ledgerBundle) session(n int, change func(*coppice.Session)) coppice.Session {
	b.t.Helper()
	s := coppice.Session{N: n, Key: fmt.Sprint("app-1.", n), State: coppice.SessionStarting, Prompt: "Say hello.", CreatedAt: ledgerNoon}
	if change != nil {
		change(&s)
	}
	b.Put(b.t, &s)
	return s
}

// begun creates a session that runs.
func (b *ledgerBundle) begun() coppice.Session {
	b.t.Helper()
	s := b.session(1, nil)
	if _, err := b.Ledger.Begin(b.ctx, s.ID, "head"); err != nil {
		b.t.Fatal(err)
	}
	return s
}

// frame returns the next piece of output, of 10 bytes in the spool.
func (b *ledgerBundle) frame(kind coppice.OutputKind, data string) fabric.Frame {
	at := b.end
	b.end += 10
	return fabric.Frame{Output: coppice.Output{Offset: at, At: ledgerNoon, Kind: kind, Data: []byte(data)}, Next: b.end}
}

func (b *ledgerBundle) record(s coppice.Session, quiet bool, frames ...fabric.Frame) fabric.Standing {
	b.t.Helper()
	at, err := b.Ledger.Record(b.ctx, fabric.Batch{Session: s.ID, From: frames[0].Offset, Frames: frames, Quiet: quiet})
	if err != nil {
		b.t.Fatal(err)
	}
	return at
}

// text returns a session's output of a kind.
func (b *ledgerBundle) text(s coppice.Session, kind coppice.OutputKind) string {
	b.t.Helper()
	var text strings.Builder
	for _, o := range b.Output(b.t, s.ID) {
		if o.Kind == kind {
			text.Write(o.Data)
		}
	}
	return text.String()
}

func (b *ledgerBundle) wantCode(what string, err error, code coppice.Code) {
	b.t.Helper()
	if coppice.ErrorCode(err) != code {
		b.t.Errorf("%s: got %v, want code %s", what, err, code)
	}
}

func testBegin(t *testing.T, b *ledgerBundle) {
	s := b.session(1, nil)
	at, err := b.Ledger.Begin(b.ctx, s.ID, "head1")
	if err != nil || at.From != "head1" || at.Cursor != 0 {
		t.Fatalf("begun: %+v, %v", at, err)
	}
	got := b.Get(t, s.ID)
	if got.StartedAt.IsZero() || got.State != coppice.SessionWorking || got.From != "head1" {
		t.Errorf("session %+v", got)
	}
	b.record(s, true, b.frame(coppice.OutputEvent, `{"kind":"init","conversation":"talk1"}`), b.frame(coppice.OutputEvent, `{"kind":"usage","usage":{"input_tokens":3}}`))
	again, err := b.Reopen(t).Begin(b.ctx, s.ID, "head2")
	want := fabric.Standing{Cursor: 20, From: "head1", Usage: coppice.Usage{InputTokens: 3}, Conversation: "talk1"}
	if err != nil || again != want {
		t.Errorf("begun again: %+v, %v, want %+v", again, err, want)
	}
}

func testSpent(t *testing.T, b *ledgerBundle) {
	for n, talk := range map[int]string{7: "talk1", 8: "talk1", 9: "talk2"} {
		b.session(n, func(s *coppice.Session) {
			s.State, s.Conversation, s.Usage = coppice.SessionDone, talk, coppice.Usage{InputTokens: int64(n)}
		})
	}
	for n, resume := range []string{"", "talk1", "talk3"} {
		s := b.session(n+1, func(s *coppice.Session) { s.Resume = resume })
		want := map[string]int64{"talk1": 15}[resume]
		for range 2 {
			if at, err := b.Ledger.Begin(b.ctx, s.ID, "head"); err != nil || at.Spent.InputTokens != want {
				t.Errorf("resuming %q: spent %d, %v, want %d", resume, at.Spent.InputTokens, err, want)
			}
		}
	}
}

func testKnown(t *testing.T, b *ledgerBundle) {
	s := b.session(1, nil)
	if id, err := b.Ledger.Session(b.ctx, s.Key); err != nil || id != s.ID {
		t.Errorf("by its key: %d, %v", id, err)
	}
	if prompt, err := b.Ledger.Prompt(b.ctx, s.ID); err != nil || prompt != s.Prompt {
		t.Errorf("its prompt: %q, %v", prompt, err)
	}
	b.Image(t, coppice.Image{ID: "a1", Type: "image/png", Size: 3, Data: []byte("png")})
	if data, err := b.Ledger.Image(b.ctx, "a1"); err != nil || string(data) != "png" {
		t.Errorf("an image: %q, %v", data, err)
	}
	_, err := b.Ledger.Image(b.ctx, "b2")
	b.wantCode("an image of none", err, coppice.ENotFound)
	_, err = b.Ledger.Session(b.ctx, "app-9.9")
	b.wantCode("the key of none", err, coppice.ENotFound)
	_, err = b.Ledger.Begin(b.ctx, 99, "head")
	b.wantCode("begin of none", err, coppice.ENotFound)
	_, err = b.Ledger.Prompt(b.ctx, 99)
	b.wantCode("the prompt of none", err, coppice.ENotFound)
	_, err = b.Ledger.Record(b.ctx, fabric.Batch{Session: 99, Frames: []fabric.Frame{b.frame(coppice.OutputStdout, "x\n")}})
	b.wantCode("output of none", err, coppice.ENotFound)
	b.wantCode("a head of none", b.Ledger.Publish(b.ctx, fabric.Head{Session: 99}), coppice.ENotFound)
}

func testCall(t *testing.T, b *ledgerBundle) {
	s := b.begun()
	c := fabric.Call{Session: s.ID, ID: s.Key + "/1", Method: "POST", Body: []byte("hello")}
	if r, err := b.Ledger.Call(b.ctx, c); err != nil || r.Status != 200 || string(r.Body) != "app-1.1 app-1.1/1 hello" {
		t.Errorf("%d %s, %v", r.Status, r.Body, err)
	}
	c.Session = 99
	_, err := b.Ledger.Call(b.ctx, c)
	b.wantCode("a call of no session", err, coppice.ENotFound)
	over := b.session(2, func(s *coppice.Session) { s.State = coppice.SessionDone })
	c.Session = over.ID
	if r, err := b.Ledger.Call(b.ctx, c); err != nil || r.Status != 404 {
		t.Errorf("a call of a session that has ended: %d %s, %v", r.Status, r.Body, err)
	}
}

func testRecordOnce(t *testing.T, b *ledgerBundle) {
	s := b.begun()
	one, two := b.frame(coppice.OutputStdout, "one\n"), b.frame(coppice.OutputEvent, `{"kind":"usage","usage":{"input_tokens":1}}`)
	if at := b.record(s, false, one, two); at.Cursor != 20 || at.Usage.InputTokens != 1 {
		t.Errorf("recorded: %+v", at)
	}
	b.frame(coppice.OutputStdout, "nobody sends this\n")
	for _, frames := range [][]fabric.Frame{{one, two}, {two}, {b.frame(coppice.OutputStdout, "later\n")}} {
		_, err := b.Ledger.Record(b.ctx, fabric.Batch{Session: s.ID, From: frames[0].Offset, Frames: frames})
		b.wantCode(fmt.Sprintf("output from %d", frames[0].Offset), err, coppice.EConflict)
	}
	if got := b.Get(t, s.ID); got.Cursor != 20 || got.Usage.InputTokens != 1 || len(b.Output(t, s.ID)) != 2 {
		t.Errorf("cursor %d, usage %+v, %d pieces", got.Cursor, got.Usage, len(b.Output(t, s.ID)))
	}
}

func testRecordFacts(t *testing.T, b *ledgerBundle) {
	s := b.begun()
	at := b.record(s, false,
		b.frame(coppice.OutputStdout, `{"kind":"usage","usage":{"input_tokens":99}}`+"\n"), // raw bytes do not change facts
		b.frame(coppice.OutputEvent, `not json`),
		b.frame(coppice.OutputEvent, `{"kind":"init","conversation":"talk1","model":"big"}`),
		b.frame(coppice.OutputEvent, `{"kind":"usage","usage":{"input_tokens":2,"cost_usd":0.25}}`),
		b.frame(coppice.OutputEvent, `{"kind":"state","state":"done"}`), // an agent cannot end its session by saying so
		b.frame(coppice.OutputEvent, `{"kind":"state","state":"waiting"}`),
		b.frame(coppice.OutputEvent, `{"kind":"question","ref":"q1","text":"Which?","options":["this","that"]}`),
		b.frame(coppice.OutputEvent, `{"kind":"question","ref":"p1","text":"run make?","rule":{"tool":"run","match":"make *","do":"allow"}}`),
		b.frame(coppice.OutputHost, `{"kind":"notice","name":"dropped","bytes":7}`),
	)
	got := b.Get(t, s.ID)
	if got.State != coppice.SessionWaiting || got.Usage.InputTokens != 2 || got.Conversation != "talk1" || got.Model != "big" || got.Dropped != 7 || at.Conversation != "talk1" {
		t.Errorf("session %+v, standing %+v", got, at)
	}
	q := b.Questions(t)
	if len(q) != 2 || q[0].Ref != "q1" || len(q[0].Options) != 2 || q[0].Kind != "" || q[1].Kind != coppice.QuestionPermission || q[1].Rule == nil || q[1].Rule.Match != "make *" {
		t.Errorf("questions %+v", q)
	}
}

func testRecordOfTheDead(t *testing.T, b *ledgerBundle) {
	s := b.session(1, func(s *coppice.Session) { s.State = coppice.SessionLost })
	if _, err := b.Ledger.Begin(b.ctx, s.ID, "head"); err != nil {
		t.Fatal(err)
	}
	b.record(s, false, b.frame(coppice.OutputEvent, `{"kind":"state","state":"working"}`))
	if got := b.Get(t, s.ID); got.State != coppice.SessionLost || !got.StartedAt.IsZero() || got.Cursor != 10 || len(b.Output(t, s.ID)) != 1 {
		t.Errorf("session %+v", got)
	}
}

// A token in two frames. No file has it whole.
var tokenHalves = []string{"a ghp_" + strings.Repeat("aB3", 4), strings.Repeat("aB3", 8) + " b\n"}

const hiddenToken = "a [redacted] b\n"

// The ledger does not accept the possible start of a secret until it has what
// follows, even after a restart. Then each piece is complete except for the
// secret.
func testSplitSecret(t *testing.T, b *ledgerBundle) {
	s := b.begun()
	first := b.frame(coppice.OutputStdout, tokenHalves[0])
	if at := b.record(s, false, first); at.Cursor != first.Offset || len(b.Output(t, s.ID)) != 0 {
		t.Fatalf("half a token was taken: %+v", at)
	}
	b.Ledger = b.Reopen(t)
	second := b.frame(coppice.OutputStdout, tokenHalves[1])
	if at := b.record(s, false, first, second); at.Cursor != second.Next {
		t.Errorf("the rest was not taken: %+v", at)
	}
	if got := b.text(s, coppice.OutputStdout); got != hiddenToken {
		t.Errorf("%q is shown", got)
	}
}

// Quiet output is accepted whole. If it continues after all, no secret is shown
// whole, and nothing else is lost.
func testQuiet(t *testing.T, b *ledgerBundle) {
	s := b.begun()
	first := b.frame(coppice.OutputStdout, tokenHalves[0])
	if at := b.record(s, true, first); at.Cursor != first.Next {
		t.Errorf("quiet output was not taken: %+v", at)
	}
	b.Ledger = b.Reopen(t)
	b.record(s, false, b.frame(coppice.OutputStdout, tokenHalves[1]))
	got := b.text(s, coppice.OutputStdout)
	if strings.Contains(got, tokenHalves[1][:20]) || !strings.HasSuffix(got, " b\n") {
		t.Errorf("%q is shown", got)
	}
}

// A stream that waits delays others only for a while, and is not mixed with
// them: a secret is found although another stream writes in between.
func testStreamsApart(t *testing.T, b *ledgerBundle) {
	s := b.begun()
	b.record(s, false,
		b.frame(coppice.OutputStdout, tokenHalves[0]), b.frame(coppice.OutputStderr, "warning\n"),
		b.frame(coppice.OutputEvent, `{"kind":"text","text":"hello"}`), b.frame(coppice.OutputStdout, tokenHalves[1]),
	)
	if got := b.text(s, coppice.OutputStdout); got != hiddenToken {
		t.Errorf("%q is shown", got)
	}
	wait := b.frame(coppice.OutputStdout, tokenHalves[0])
	later := b.frame(coppice.OutputStderr, "later\n")
	later.At = ledgerNoon.Add(fabric.Quiet)
	if at := b.record(s, false, wait, later); at.Cursor != later.Next {
		t.Errorf("a quiet stream delays another: %+v", at)
	}
}

func testOver(t *testing.T, b *ledgerBundle) {
	runs, ended := b.session(1, nil), b.session(2, nil)
	b.Offer(t, runs.ID)
	b.Offer(t, ended.ID)
	b.Settle(t, ended.ID)
	over, err := b.Ledger.Over(b.ctx, []int64{runs.ID, ended.ID, 99})
	if err != nil || len(over) != 1 || over[0] != ended.ID {
		t.Errorf("over: %v, %v", over, err)
	}
	if over, err := b.Ledger.Over(b.ctx, nil); err != nil || len(over) != 0 {
		t.Errorf("of none: %v, %v", over, err)
	}
}

func testPublish(t *testing.T, b *ledgerBundle) {
	s := b.begun()
	head := fabric.Head{Session: s.ID, Repo: "/src/app", Branch: "coppice/app-1", Commit: "commit1"}
	for range 2 {
		if err := b.Ledger.Publish(b.ctx, head); err != nil {
			t.Error(err)
		}
	}
	b.Lose("commit2")
	head.Commit = "commit2"
	if err := b.Ledger.Publish(b.ctx, head); err == nil {
		t.Error("a missing commit was published")
	}
}
