package tools

import (
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// create calls create_task with an id.
func (b *bundle) create(id string, in map[string]any) (text string, failed bool) {
	b.t.Helper()
	return b.result(b.postAs(id, "tools/call", map[string]any{"name": "create_task", "arguments": in}))
}

// tasks counts the tasks.
func (b *bundle) tasks() int {
	b.t.Helper()
	n, err := store.Read(b.t.Context(), b.store, func(r store.Reader) (int, error) { return r.Tasks.Count(store.TaskFilter{}) })
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// change changes a task.
func (b *bundle) change(key string, f func(*coppice.Task)) {
	b.t.Helper()
	err := b.store.Update(b.t.Context(), func(tx store.Tx) error {
		t, err := tx.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		f(&t)
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskEnded, TaskID: t.ID})
	})
	if err != nil {
		b.t.Error(err)
	}
}

func ended(t *coppice.Task) { t.Stage, t.Outcome = coppice.StageEnded, coppice.OutcomeDone }

func TestCreateTask(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := map[string]any{"description": "Do this. And that.", "answer": true, "schema": map[string]any{"type": "integer"}, "budget": 3}
	text, failed := b.create("app-1.1/9", in)
	if failed || text != `{"task":"app-2","title":"Do this","status":"waiting","budget":3}` {
		t.Errorf("create_task: %s", text)
	}
	if again, _ := b.create("app-1.1/9", in); again != text || b.tasks() != 2 {
		t.Errorf("repeated: %s; there are %d tasks", again, b.tasks())
	}
	if text, _ := b.use("read_task", map[string]any{}); !strings.Contains(text, `"status":"working","children":[{"key":"app-2","title":"Do this","status":"waiting"}]`) {
		t.Errorf("read_task: %s", text)
	}
	if text, _ := b.use("read_task", map[string]any{"task": "app-2"}); !strings.Contains(text, `"parent":{"key":"app-1","title":"first","status":"working"}`) {
		t.Errorf("read_task: %s", text)
	}
	if text, failed := b.use("create_task", map[string]any{"description": "x", "after": []string{"app-1"}}); !failed || b.tasks() != 2 {
		t.Errorf("after its parent: %s", text)
	}
}

// The results come when the tasks have ended; before that, the call still waits.
func TestWaitForTasksTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create("app-1.1/9", map[string]any{"description": "a"})
	b.create("app-1.1/8", map[string]any{"description": "b"})
	in := map[string]any{"tasks": []string{"app-2", "app-3"}, "timeout_ms": 60000}
	b.cfg.Wait = time.Millisecond
	if text, _ := b.use("wait_for_tasks", in); !strings.Contains(text, `"still_waiting":true`) {
		t.Errorf("not ended: %s", text)
	}
	b.cfg.Wait = time.Minute
	b.change("app-3", ended)
	var ends sync.WaitGroup
	ends.Go(func() { b.change("app-2", ended) })
	text, _ := b.use("wait_for_tasks", in)
	ends.Wait()
	if text != `[{"task":"app-2","title":"a","status":"done"},{"task":"app-3","title":"b","status":"done"}]` {
		t.Errorf("ended: %s", text)
	}
	last := b.calls
	b.change("app-2", func(t *coppice.Task) { t.Stage, t.Outcome = coppice.StageQueued, "" })
	if again, _ := b.result(b.postAs("app-1.1/"+string(rune('0'+last)), "tools/call", map[string]any{"name": "wait_for_tasks", "arguments": in})); again != text {
		t.Errorf("repeated: %s", again)
	}
	b.cfg.Wait = time.Millisecond
	b.use("wait_for_tasks", in)
	late := b.cfg.Now().Add(time.Minute)
	b.cfg.Now = func() time.Time { return late }
	if text, _ := b.use("wait_for_tasks", in); text != `{"timeout":true,"still_pending":["app-2"],"results":[{"task":"app-3","title":"b","status":"done"}]}` {
		t.Errorf("too late: %s", text)
	}
}

func TestAskUser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.store.Watch(store.TopicTask(b.session.TaskID))
	defer w.Close()
	answered := make(chan error, 1)
	go func() {
		_, err := w.Wait(t.Context())
		if err == nil {
			_, err = b.cfg.Intake.Answer(t.Context(), "app-1", 0, "2")
		}
		answered <- err
	}()
	if text, failed := b.use("ask_user", map[string]any{"question": "Which way?", "options": []string{"left", "right"}}); failed || text != `"right"` {
		t.Errorf("ask_user: %s", text)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if text, failed := b.use("ask_user", map[string]any{"question": " "}); !failed {
		t.Errorf("an empty question: %s", text)
	}
}

func TestFinishAndSend(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create("app-1.1/9", map[string]any{"description": "a"})
	if text, failed := b.use("send_message", map[string]any{"to": "app-2", "text": "hi"}); failed {
		t.Errorf("send_message: %s", text)
	}
	err := b.store.Update(t.Context(), func(tx store.Tx) error {
		list, err := tx.Messages.Of(2)
		if err != nil || len(list) != 1 || list[0].From != "session:app-1.1" || !strings.HasSuffix(list[0].Text, "app-1.1 (not a person) says: hi") {
			t.Errorf("the messages are %+v", list)
		}
		p, err := tx.Projects.ByPrefix("app")
		if err != nil {
			return err
		}
		other := coppice.Task{ProjectID: p.ID, Num: 9, Key: "app-9", Title: "other", Stage: coppice.StageWaiting}
		return tx.Tasks.Put(&other)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"app-9", "app-1", "app-1.1", "none"} {
		if text, failed := b.use("send_message", map[string]any{"to": to, "text": "hi"}); !failed {
			t.Errorf("to %s: %s", to, text)
		}
	}
	for range 2 {
		if text, failed := b.use("finish_task", map[string]any{"result": "all of it"}); failed {
			t.Errorf("finish_task: %s", text)
		}
	}
	err = b.store.View(t.Context(), func(r store.Reader) error {
		s, err := r.Sessions.Get(b.session.ID)
		if s.StopWhy != coppice.StopFinished || s.Summary != "all of it" {
			t.Errorf("the session is %+v", s)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Sessions that judge have no tools that change the task.
func TestWorkToolsByRole(t *testing.T) {
	t.Parallel()
	has := func(r coppice.Role, name string) bool {
		for _, tool := range chosen(sessionTools, r, false) {
			if tool.name == name {
				return true
			}
		}
		return false
	}
	for _, name := range []string{"create_task", "wait_for_tasks", "finish_task"} {
		if !has(coppice.RoleImplement, name) || !has(coppice.RoleAnswer, name) || has(coppice.RoleVerify, name) || has(coppice.RoleCheckout, name) {
			t.Errorf("%s belongs to other roles", name)
		}
	}
}
