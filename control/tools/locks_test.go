package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/engine"
	"coppice/fabric"
	"coppice/store"
)

// other adds a live session of another task.
func (b *bundle) other(n int) *bundle {
	b.t.Helper()
	c := *b
	err := b.store.Update(b.t.Context(), func(tx store.Tx) error {
		k := coppice.Task{ProjectID: 1, Num: n, Key: fmt.Sprintf("app-%d", n), Title: "other", Stage: coppice.StageSession, CreatedAt: b.cfg.Now()}
		if err := tx.Tasks.Put(&k); err != nil {
			return err
		}
		c.session = coppice.Session{ProjectID: 1, TaskID: k.ID, N: 1, Key: k.Key + ".1", Role: coppice.RoleImplement, Agent: "claude", State: coppice.SessionWorking, CreatedAt: b.cfg.Now()}
		return tx.Sessions.Put(&c.session)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return &c
}

// lock calls lock_files with the next id.
func (b *bundle) lock(in map[string]any) (out Locked) {
	b.t.Helper()
	b.calls++
	return b.lockAs(fmt.Sprint(b.session.Key, "/", b.calls), in)
}

func (b *bundle) lockAs(id string, in map[string]any) (out Locked) {
	b.t.Helper()
	text, failed := b.result(b.postAs(id, "tools/call", map[string]any{"name": "lock_files", "arguments": in}))
	if failed {
		b.t.Fatal(text)
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		b.t.Fatal(text, err)
	}
	return out
}

// waitsFor returns when the project has a request that waits.
func (b *bundle) waitsFor(w store.Watch) {
	b.t.Helper()
	for {
		list, err := store.Read(b.t.Context(), b.store, func(r store.Reader) ([]coppice.LockRequest, error) { return r.Locks.Requests(1) })
		if err == nil && len(list) == 0 {
			_, err = w.Wait(b.t.Context())
		} else if err == nil {
			return
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestLockFiles(t *testing.T) {
	t.Parallel()
	one := setup(t)
	two := one.other(2)
	if got := one.lock(map[string]any{"files": []string{"a.go", "docs/", "/repo/src/x.go"}, "reason": "a refactoring"}); !got.Success ||
		cmp.Diff([]string{"a.go", "checkout::docs", "src/x.go"}, got.Acquired) != "" {
		t.Errorf("%+v", got)
	}
	at := one.cfg.Now().Add(coppice.LockTTL)
	want := Locked{LockGrant: engine.LockGrant{Acquired: []string{}}, TimedOut: true, Blocked: []Blocked{{File: "docs/*.md", HeldBy: "app-1.1", ExpiresAt: at, HeldByStatus: "working", LockReason: "a refactoring"}}}
	if d := cmp.Diff(want, two.lock(map[string]any{"files": []string{"b.go", "docs/*.md"}, "timeout_ms": 0})); d != "" {
		t.Error(d)
	}
	text, _ := two.use("check_file_locks", map[string]any{})
	if !strings.Contains(text, `"file_path":"checkout::docs","agent_id":"app-1.1","reason":"a refactoring"`) {
		t.Error(text)
	}
	if text, _ := one.use("release_files", map[string]any{"files": []string{"docs/", "b.go"}}); text != `{"released":["checkout::docs"]}` {
		t.Error(text)
	}
	if got := two.lock(map[string]any{"files": []string{"docs/*.md"}}); !got.Success {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"/etc/passwd", "../x", ""} {
		if text, failed := one.use("lock_files", map[string]any{"files": []string{name}}); !failed || !strings.Contains(text, "relative to the repository") {
			t.Errorf("%q: %s", name, text)
		}
	}
	if text, failed := one.use("lock_files", map[string]any{"files": []string{"x"}, "ttl_ms": 1}); !failed || !strings.Contains(text, "use 10000 to 3600000") {
		t.Error(text)
	}
}

// A session whose role changes nothing can list locks, and not acquire them.
func TestLockToolsByRole(t *testing.T) {
	t.Parallel()
	for role, want := range map[coppice.Role]bool{coppice.RoleImplement: true, coppice.RoleFix: true, coppice.RoleVerify: false, coppice.RoleAnswer: false} {
		got := map[string]bool{}
		for _, tool := range chosen(sessionTools, role, false) {
			got[tool.name] = true
		}
		if got["lock_files"] != want || got["release_files"] != want || !got["check_file_locks"] {
			t.Errorf("%s: %v", role, got)
		}
	}
}

// A call waits until the files are free. After a restart of the server, the same
// call finds its request, and gets the answer once.
func TestLockFilesWaits(t *testing.T) {
	t.Parallel()
	one := setup(t)
	two := one.other(2)
	one.lock(map[string]any{"files": []string{"a.go"}})
	w := one.store.Watch(store.TopicLocks(1))
	defer w.Close()

	body := coppice.Raw(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "lock_files", "arguments": map[string]any{"files": []string{"a.go"}}}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := two.Session(ctx, two.session, fabric.Call{Session: two.session.ID, ID: "app-2.1/1", Method: "POST", Header: map[string]string{"Content-Type": "application/json"}, Body: body})
		ended <- err
	}()
	one.waitsFor(w)
	stop() // the server stops
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}

	answer := make(chan Locked, 1)
	go func() { answer <- two.lockAs("app-2.1/1", map[string]any{"files": []string{"a.go"}}) }()
	one.use("release_files", map[string]any{"files": []string{"a.go"}})
	first := <-answer // without a turn of the engine
	if !first.Success {
		t.Errorf("%+v", first)
	}
	if again := two.lockAs("app-2.1/1", map[string]any{"files": []string{"a.go"}}); cmp.Diff(first, again) != "" {
		t.Errorf("%+v", again)
	}
	if err := one.store.View(t.Context(), func(r store.Reader) error {
		list, err := r.Locks.Requests(1)
		if len(list) > 0 {
			t.Errorf("%+v", list)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A call that waited long enough keeps its position. When its agent leaves, the
// request is withdrawn.
func TestLockFilesStillWaiting(t *testing.T) {
	t.Parallel()
	one := setup(t)
	one.cfg.Wait = time.Nanosecond
	two, three := one.other(2), one.other(3)
	in := map[string]any{"files": []string{"a.go"}}
	one.lock(in)
	for _, b := range []*bundle{two, three, two} {
		if got := b.lock(in); !got.StillWaiting || got.Success || len(got.Blocked) != 1 || got.Note == "" {
			t.Errorf("%+v", got)
		}
	}
	requests := func() (out []string) {
		if err := one.store.View(t.Context(), func(r store.Reader) error {
			list, err := r.Locks.Requests(1)
			for _, r := range list {
				out = append(out, r.Owner.Session+" "+r.Call)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if d := cmp.Diff([]string{"app-2.1 ", "app-3.1 "}, requests()); d != "" {
		t.Error(d)
	}
	ask := engine.LockAsk{Call: "app-2.1/9", Names: []string{"a.go"}, TTL: coppice.LockTTL, Wait: coppice.LockWait}
	if _, err := one.cfg.Intake.Lock(t.Context(), two.session.ID, ask); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Session(t.Context(), two.session, fabric.Call{Session: two.session.ID, ID: "app-2.1/9", Gone: true}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"app-3.1 "}, requests()); d != "" {
		t.Error(d)
	}
}

func TestLockFilesDeadlock(t *testing.T) {
	t.Parallel()
	one := setup(t)
	two := one.other(2)
	one.lock(map[string]any{"files": []string{"a.go"}})
	two.lock(map[string]any{"files": []string{"b.go"}})
	ask := engine.LockAsk{Call: "app-1.1/9", Names: []string{"b.go"}, TTL: coppice.LockTTL, Wait: coppice.LockWait}
	if _, err := one.cfg.Intake.Lock(t.Context(), one.session.ID, ask); err != nil {
		t.Fatal(err)
	}
	got := two.lock(map[string]any{"files": []string{"a.go"}})
	if got.Success || !got.DeadlockDetected || cmp.Diff([]string{"app-2.1", "app-1.1"}, got.Cycle) != "" || !strings.Contains(got.ReleaseHint, "app-2.1 should release b.go") {
		t.Errorf("%+v", got)
	}
}
