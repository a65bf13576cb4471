package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/engine"
	"coppice/fabric"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bundle is a Server with a project, a task and a live session.
type bundle struct {
	t *testing.T
	*Server
	store   store.Store
	session coppice.Session
	calls   int
}

func setup(t *testing.T) *bundle {
	t.Helper()
	db := sqlitetest.Open(t, sqlite.Config{})
	now := func() time.Time { return time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC) }
	allow := func(coppice.Project, string) error { return nil }
	s, err := New(Config{Store: db, Intake: engine.NewIntake(db, now, nil, allow, allow), Now: now, Redact: func(s string) string { return s }})
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle{t: t, Server: s, store: db}
	err = db.Update(t.Context(), func(tx store.Tx) error {
		p := coppice.Project{Prefix: "app", Path: "/repo", CreatedAt: now(), Policy: coppice.DefaultPolicy(), LastTask: 1}
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		k := coppice.Task{ProjectID: p.ID, Num: 1, Key: "app-1", Title: "first", Body: "do it", Stage: coppice.StageSession, CreatedAt: now()}
		if err := tx.Tasks.Put(&k); err != nil {
			return err
		}
		b.session = coppice.Session{ProjectID: p.ID, TaskID: k.ID, N: 1, Key: "app-1.1", Role: coppice.RoleImplement, Agent: "claude", State: coppice.SessionWorking, CreatedAt: now()}
		return tx.Sessions.Put(&b.session)
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// post sends a request as the session's agent, with the next id.
func (b *bundle) post(method string, params any) string {
	b.t.Helper()
	b.calls++
	return b.postAs(fmt.Sprintf("app-1.1/%d", b.calls), method, params)
}

func (b *bundle) postAs(id, method string, params any) string {
	b.t.Helper()
	body := coppice.Raw(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	r, err := b.Session(b.t.Context(), b.session, fabric.Call{Session: b.session.ID, ID: id, Method: "POST", Header: map[string]string{"Content-Type": "application/json", "Mcp-Protocol-Version": "2025-06-18"}, Body: body})
	if err != nil || r.Status != 200 {
		b.t.Fatalf("%s: %d %s, %v", method, r.Status, r.Body, err)
	}
	return string(r.Body)
}

// use calls a tool and returns its text.
func (b *bundle) use(tool string, in any) (text string, failed bool) {
	b.t.Helper()
	return b.result(b.post("tools/call", map[string]any{"name": tool, "arguments": in}))
}

func (b *bundle) result(body string) (text string, failed bool) {
	b.t.Helper()
	var got struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Result.Content) == 0 {
		b.t.Fatalf("%s: %v", body, err)
	}
	return got.Result.Content[0].Text, got.Result.IsError
}

func TestTools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	init := b.post("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}})
	if !strings.Contains(init, `"protocolVersion":"2025-06-18"`) {
		t.Errorf("initialize: %s", init)
	}
	if strings.Contains(init, "listChanged") || strings.Contains(init, `"logging"`) {
		t.Errorf("the client would subscribe to what never happens: %s", init)
	}
	if list := b.post("tools/list", map[string]any{}); !strings.Contains(list, `"name":"report_status"`) {
		t.Errorf("tools/list: %s", list)
	}
	if text, failed := b.use("read_task", map[string]any{}); failed || !strings.Contains(text, `"key":"app-1"`) {
		t.Errorf("read_task: %s", text)
	}
	if text, failed := b.use("read_task", map[string]any{"task": "other-1"}); !failed {
		t.Errorf("a task that does not exist: %s", text)
	}
}

// A call that is repeated gets the same answer and changes nothing.
func TestRepeatedCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	report := func(id, message string) string {
		return b.postAs(id, "tools/call", map[string]any{"name": "report_status", "arguments": map[string]any{"message": message}})
	}
	first := report("app-1.1/1", "reading")
	if again := report("app-1.1/1", "something else"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	err := b.store.View(t.Context(), func(r store.Reader) error {
		s, err := r.Sessions.Get(b.session.ID)
		if s.Report != "reading" {
			t.Errorf("the session reports %q", s.Report)
		}
		_, last, _ := r.Log.Bounds()
		if last != 1 {
			t.Errorf("%d events", last)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
