package worker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/host"
	"coppice/internal/process"
	"coppice/store"
)

// A session from start to end: the agent's changes are committed, its output is
// in the store, and its reports are facts.
func TestSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, s := b.run(`cases:
  - steps:
      - say: Hello.
      - usage: {input_tokens: 10, output_tokens: 5, cost_usd: 0.5}
      - write: {path: hello.txt, content: "hello\n"}
      - say: Done.
`)
	b.start()
	w := b.finished(id)
	r := result[coppice.RunResult](b, w)
	base := b.git("rev-parse", "main")
	want := coppice.RunResult{
		Exit: new(int), Conversation: "scripted-app-1-1", Summary: "Done.", From: base, Head: b.own("rev-parse", "coppice/app-1"),
		Stat:  " hello.txt | +1 -0\n 1 file changed, lines: +1 -0",
		Usage: coppice.Usage{InputTokens: 10, OutputTokens: 5, CostUSD: 0.5, Turns: 2},
	}
	if r.Memory < 1<<20 {
		t.Errorf("its agent took %d bytes of memory", r.Memory)
	}
	want.Memory = r.Memory
	if d := cmp.Diff(want, r); d != "" {
		t.Errorf("result (-want +got):\n%s", d)
	}
	if r.Head == base || b.own("show", "coppice/app-1:hello.txt") != "hello" {
		t.Error("what the agent left uncommitted was not committed")
	}
	if m := b.own("log", "-1", "--format=%B", "coppice/app-1"); !strings.Contains(m, "Coppice-Session: app-1.1") {
		t.Errorf("message %q", m)
	}
	got := b.session(s.ID)
	if got.StartedAt.IsZero() || got.From != base || got.Conversation != "scripted-app-1-1" || got.Usage != want.Usage || got.Cursor == 0 {
		t.Errorf("session %+v", got)
	}
	b.event(coppice.EventSessionStarted, 1)
	b.said(s.ID, coppice.KindText, "Hello.")
}

// A worker that stops during a session leaves the session alone. The next worker
// continues where the first stopped. Nothing is committed twice or lost.
func TestRestartDuringASession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, s := b.run(`cases:
  - steps:
      - usage: {input_tokens: 1}
      - flood: {bytes: 200000}
      - ask: {text: "Which?", options: [this, that]}
      - flood: {bytes: 200000}
      - usage: {input_tokens: 1}
      - say: took ${answer}
      - write: {path: a.txt, content: "two\n"}
`)
	stop := b.start()
	b.event(coppice.EventQuestionAsked, 1)
	if got := b.session(s.ID); got.State != coppice.SessionWaiting || got.Usage.InputTokens != 1 {
		t.Errorf("while it asks: %s, usage %+v", got.State, got.Usage)
	}
	stop()
	phase, st, _, err := host.Inspect(b.sessionDir(s.ID))
	b.must(err)
	if phase != host.PhaseRunning || !process.Alive(st.PID, st.Started) {
		t.Fatalf("the session did not outlive its worker: %s", phase)
	}
	b.open()
	b.start()
	var q coppice.Question
	b.view(func(r store.Reader) error {
		all, err := r.Questions.Of(b.task.ID)
		if err == nil && len(all) == 1 {
			q = all[0]
		}
		return err
	})
	if q.Text != "Which?" || q.SessionID != s.ID || q.Ref == "" || !cmp.Equal(q.Options, []string{"this", "that"}) {
		t.Fatalf("question %+v", q)
	}
	sent := b.finished(b.offer(coppice.WorkSend, "question/1", coppice.SendSpec{Session: s.Key, Text: "that", Question: q.Ref}, s.ID))
	if r := result[coppice.SendResult](b, sent); !r.Delivered {
		t.Errorf("answer: %+v", r)
	}
	w := b.finished(id)
	if r := result[coppice.RunResult](b, w); w.Attempt != 1 || r.Summary != "took that" || r.Usage.InputTokens != 2 || r.Lost {
		t.Errorf("attempt %d, result %+v", w.Attempt, r)
	}
	b.wantOnce(s.ID, 400_000)
	if got := b.session(s.ID).Usage.InputTokens; got != 2 {
		t.Errorf("usage was counted to %d, not 2", got)
	}
}

// wantOnce checks that the whole flood is in the store, each piece once and in
// order.
func (b *bundle) wantOnce(session int64, bytes int) {
	b.t.Helper()
	seen, last := map[int64]bool{}, int64(-1)
	for _, o := range b.output(session) {
		if seen[o.Offset] || o.Offset <= last {
			b.t.Fatalf("offset %d after %d", o.Offset, last)
		}
		seen[o.Offset], last = true, o.Offset
	}
	got := 0
	for _, e := range b.events(session) {
		if e.Kind == coppice.KindText && strings.HasPrefix(e.Text, "0123456789abcdef") {
			got += len(e.Text)
		}
	}
	if got != bytes {
		b.t.Errorf("%d bytes of the flood were committed, %d were written", got, bytes)
	}
}

// fullStore is a store that refuses a number of transactions after a session has
// begun.
type fullStore struct {
	store.Store
	session int64
	left    atomic.Int64
}

var errFull = errors.New("the disk is full")

func (u *fullStore) Update(ctx context.Context, f func(store.Tx) error) error {
	return u.Store.Update(ctx, func(tx store.Tx) error {
		if s, err := tx.Sessions.Get(u.session); err == nil && !s.StartedAt.IsZero() && u.left.Add(-1) >= 0 {
			return errFull
		}
		return f(tx)
	})
}

// A store that fails for a while does not affect a session. If it fails
// permanently, the session is ended with its host before it is reported.
func TestAStoreThatRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refusals int64
		script   string
		fails    bool
	}{
		"for a while": {3, "cases: [{steps: [{say: one}, {flood: {bytes: 50000}}, {write: {path: a.txt, content: a}}]}]\n", false},
		"for good":    {1 << 30, "cases: [{steps: [{say: one}, {hang: true}]}]\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, s := b.run(c.script)
			u := &fullStore{Store: b.store, session: s.ID}
			u.left.Store(c.refusals)
			b.cfg.Ledger, b.cfg.Retry = b.ledgerOn(u), time.Millisecond
			b.start()
			w := b.finished(id)
			if !c.fails {
				if r := result[coppice.RunResult](b, w); r.Failure != nil || r.Head == r.From {
					t.Errorf("%+v", r)
				}
				b.said(s.ID, coppice.KindText, "one")
				return
			}
			if w.Failure == nil || !strings.Contains(w.Failure.Text, errFull.Error()) {
				t.Errorf("failure %v", w.Failure)
			}
			if phase, _, _, err := host.Inspect(b.sessionDir(s.ID)); err != nil || phase == host.PhaseRunning {
				t.Errorf("the host is %v, %v", phase, err)
			}
		})
	}
}

// If a host disappears, the session is lost, its output is kept, and its agent
// is gone.
func TestLostHost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, s := b.run("cases:\n  - steps:\n      - write: {path: half.txt, content: \"half\\n\"}\n      - say: Hello.\n      - hang: deaf\n")
	b.start()
	b.said(s.ID, coppice.KindNotice, "hanging")
	_, st, _, err := host.Inspect(b.sessionDir(s.ID))
	b.must(err)
	agentStart, err := process.StartTime(st.AgentPID)
	b.must(err)
	b.must(syscall.Kill(st.PID, syscall.SIGKILL))
	r := result[coppice.RunResult](b, b.finished(id))
	if !r.Lost || r.Exit != nil || r.Head == r.From {
		t.Errorf("result %+v", r)
	}
	if process.Alive(st.AgentPID, agentStart) {
		t.Error("the agent outlived the session")
	}
	if left, err := process.Find(process.Mark{ID: st.Mark}); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	b.said(s.ID, coppice.KindText, "Hello.")
}

func TestStop(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, s := b.run("cases:\n  - steps:\n      - hang: true\n")
	stop := func(key string) {
		t.Helper()
		result[coppice.StopResult](b, b.finished(b.offer(coppice.WorkStop, key, coppice.StopSpec{Session: s.Key, Grace: coppice.Duration(5e9)}, s.ID)))
	}
	// Before the host runs, a stop finds nothing. The run reports the end.
	if r, err := b.Worker.stop(b.ctx, coppice.StopSpec{Session: s.Key}); err != nil || r != (coppice.StopResult{}) {
		t.Errorf("stop before start: %v", err)
	}
	b.start()
	b.said(s.ID, coppice.KindNotice, "hanging")
	stop("stop/1")
	if r := result[coppice.RunResult](b, b.finished(id)); !r.Stopped || r.Lost {
		t.Errorf("result %+v", r)
	}
	stop("stop/2") // one that has ended is not an error
	r := result[coppice.SendResult](b, b.finished(b.offer(coppice.WorkSend, "send/1", coppice.SendSpec{Session: s.Key, Text: "hello?"}, s.ID)))
	if r.Delivered || r.Why != "the session is not running" {
		t.Errorf("a message to what has ended: %+v", r)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, s := b.run("cases:\n  - steps:\n      - say: Waiting.\n      - wait_message: true\n      - say: got ${answer}\n")
	b.start()
	b.said(s.ID, coppice.KindText, "Waiting.")
	sent := b.finished(b.offer(coppice.WorkSend, "message/1", coppice.SendSpec{Session: s.Key, Text: "French first"}, s.ID))
	if r := result[coppice.SendResult](b, sent); !r.Delivered {
		t.Errorf("message: %+v", r)
	}
	if r := result[coppice.RunResult](b, b.finished(id)); r.Summary != "got French first" {
		t.Errorf("result %+v", r)
	}
}

// An agent that reads no messages says so. The next session gets the message.
func TestMessageToADeafAgent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.gate("gate")
	b.profile = coppice.Profile{Protocol: "command", Command: []string{"cat", g.path}}
	id, s := b.run("")
	b.start()
	open := g.reached()
	b.event(coppice.EventSessionStarted, 1)
	r := result[coppice.SendResult](b, b.finished(b.offer(coppice.WorkSend, "message/1", coppice.SendSpec{Session: s.Key, Text: "hi"}, s.ID)))
	if r.Delivered || !strings.Contains(r.Why, "the next session gets it") {
		t.Errorf("message: %+v", r)
	}
	open()
	b.finished(id)
}

func TestFailedSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := b.run("cases:\n  - steps:\n      - fail: {class: auth, text: log in first}\n")
	b.start()
	r := result[coppice.RunResult](b, b.finished(id))
	if r.Failure == nil || r.Failure.Class != coppice.ClassAuth || r.Head != r.From {
		t.Errorf("result %+v, failure %v", r, r.Failure)
	}
}

func TestUnknownAgent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.cfg.Profile = func(string, *coppice.Profile) (coppice.Profile, error) {
		return coppice.Profile{}, coppice.Errorf(coppice.ENotFound, "there is no agent ann").WithFix("name another")
	}
	id, s := b.run("cases: []")
	b.start()
	w := b.finished(id)
	if d := cmp.Diff(coppice.Failf(coppice.ClassCapability, "there is no agent ann", "name another"), w.Failure); d != "" {
		t.Errorf("failure (-want +got):\n%s", d)
	}
	if got := b.session(s.ID); !got.StartedAt.IsZero() {
		t.Error("a session without an agent has started")
	}
}

func TestAgentEnv(t *testing.T) {
	t.Parallel()
	environ := []string{
		"PATH=/bin", "LC_ALL=C", "LANG=de", "HTTP_PROXY=p", "COPPICE_TOKEN=t", "AWS_SECRET=s", "AWS_KEY=k", "MY_KEY=m", "MYKEY=n", "BARE", "=odd", "LC=x",
	}
	for _, c := range []struct {
		name    string
		profile coppice.Profile
		want    map[string]string
		project []string
	}{
		{"plain", coppice.Profile{}, map[string]string{}, nil},
		{"by the project", coppice.Profile{PassEnv: []string{"MY_KEY"}}, map[string]string{"MY_KEY": "m", "MYKEY": "n"}, []string{"MYK*"}},
		{"by name", coppice.Profile{PassEnv: []string{"MY_KEY"}}, map[string]string{"MY_KEY": "m"}, nil},
		{"by prefix", coppice.Profile{PassEnv: []string{"AWS_*"}}, map[string]string{"AWS_SECRET": "s", "AWS_KEY": "k"}, nil},
		{"a star alone is not a prefix", coppice.Profile{PassEnv: []string{"*"}}, map[string]string{}, nil},
		{"set by the profile", coppice.Profile{PassEnv: []string{"MY_KEY"}, Env: map[string]string{"MY_KEY": "own", "NEW": "1"}},
			map[string]string{"MY_KEY": "own", "NEW": "1"}, nil},
	} {
		maps.Copy(c.want, map[string]string{"PATH": "/bin", "LC_ALL": "C", "LANG": "de", "HTTP_PROXY": "p"})
		if d := cmp.Diff(c.want, agentEnv(environ, c.profile, c.project...)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// A real agent sees only what it is allowed to, and none of Coppice's own
// secrets.
func TestAgentSeesNoSecrets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.environ = append(b.environ, "COPPICE_TOKEN=hidden-1", "VENDOR_KEY=hidden-2", "NAMED_KEY=shown-1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.nickname", "GIT_CONFIG_VALUE_0=ada")
	b.open()
	b.profile = coppice.Profile{Protocol: "command", Command: []string{"env"}, PassEnv: []string{"NAMED_*", "GIT_CONFIG_*"}, Env: map[string]string{"SET": "shown-2"}}
	id, s := b.run("")
	b.start()
	result[coppice.RunResult](b, b.finished(id))
	var text strings.Builder
	for _, o := range b.output(s.ID) {
		if o.Kind == coppice.OutputStdout {
			text.Write(o.Data)
		}
	}
	lines := strings.Split(text.String(), "\n")
	if strings.Contains(text.String(), "hidden") || strings.Contains(text.String(), roleVar) {
		t.Errorf("the agent saw a secret:\n%s", text.String())
	}
	for _, want := range []string{"SET=shown-2", "COPPICE_BASE=main", "COPPICE_ROLE=implement", "COPPICE_TASK=app-1",
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=user.nickname", "GIT_CONFIG_KEY_2=maintenance.auto", "GIT_CONFIG_VALUE_2=false"} {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is missing in:\n%s", want, text.String())
		}
	}
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "NAMED_KEY=") }) {
		t.Error("what pass_env names is missing")
	}
}
