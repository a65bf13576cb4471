package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/flow"
	"coppice/store"
)

// crew is a Server with a goal, app-1, whose lead has a live session.
type crew struct {
	*bundle
	goal, lead coppice.Task
}

func setupGoal(t *testing.T, spec string) *crew {
	t.Helper()
	b := &crew{bundle: setup(t)}
	b.update(func(tx store.Tx) error {
		g, err := tx.Tasks.ByKey("app-1")
		if err != nil {
			return err
		}
		s, err := tx.Sessions.Get(b.session.ID)
		if err != nil {
			return err
		}
		s.State = coppice.SessionDone
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		g.Stage, g.Flow = coppice.StageFlow, &coppice.Flow{Kind: coppice.FlowGoal, Spec: json.RawMessage(spec), Branch: true}
		if err := tx.Tasks.Put(&g); err != nil {
			return err
		}
		b.goal = g
		return nil
	})
	b.lead = b.step("lead", "", coppice.RoleAnswer)
	return b
}

func (b *crew) update(f func(store.Tx) error) {
	b.t.Helper()
	if err := b.store.Update(b.t.Context(), f); err != nil {
		b.t.Fatal(err)
	}
}

// step creates a step of the goal as the engine does, with a live session.
func (b *crew) step(key, below string, role coppice.Role) (t coppice.Task) {
	b.t.Helper()
	b.update(func(tx store.Tx) error {
		p, err := tx.Projects.Get(b.goal.ProjectID)
		if err != nil {
			return err
		}
		p.LastTask++
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		t = coppice.Task{ProjectID: p.ID, Num: p.LastTask, Key: coppice.TaskKey("app", p.LastTask), Title: "step " + key, Stage: coppice.StageSession, Agent: "bob", CreatedAt: b.cfg.Now()}
		t.Parent, t.Step = b.goal.ID, &coppice.Step{Flow: b.goal.ID, Key: key}
		if below != "" {
			t.Parent = b.lead.ID
		}
		if role == coppice.RoleAnswer {
			t.Wants = coppice.WantsAnswer
		}
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		asks, err := tx.Asks.Open(coppice.TaskSubject(b.goal.ID))
		if err != nil {
			return err
		}
		for _, a := range asks {
			var s flow.Spawn
			if json.Unmarshal(a.Args, &s) == nil && s.Key == key {
				a.SettledAt, a.Outcome = b.cfg.Now(), "started"
				if err := tx.Asks.Put(&a); err != nil {
					return err
				}
			}
		}
		s := coppice.Session{ProjectID: p.ID, TaskID: t.ID, N: 1, Key: t.Key + ".1", Role: role, Agent: "bob", State: coppice.SessionWorking, CreatedAt: b.cfg.Now()}
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		if flow.IsLead(key) {
			b.session = s
		}
		return tx.Log.Append(&coppice.Event{Kind: coppice.EventFlowPlanned, TaskID: b.goal.ID})
	})
	return t
}

// end ends the task of a step with a final message.
func (b *crew) end(t coppice.Task, outcome coppice.Outcome, text, landed string) {
	b.t.Helper()
	b.update(func(tx store.Tx) error {
		s, err := tx.Sessions.Last(t.ID)
		if err != nil {
			return err
		}
		s.State, s.Summary = coppice.SessionDone, text
		return tx.Sessions.Put(s)
	})
	b.change(t.Key, func(t *coppice.Task) { t.Stage, t.Outcome, t.Landed = coppice.StageEnded, outcome, landed })
}

// asks returns the open requests to the goal.
func (b *crew) asks() (list []coppice.Ask) {
	b.t.Helper()
	b.update(func(tx store.Tx) (err error) {
		list, err = tx.Asks.Open(coppice.TaskSubject(b.goal.ID))
		return err
	})
	return list
}

// works calls a tool that must not fail.
func (b *crew) works(tool string, in args) string {
	b.t.Helper()
	text, failed := b.use(tool, in)
	if failed {
		b.t.Fatalf("%s: %s", tool, text)
	}
	return text
}

// refuses calls a tool that must fail with a text.
func (b *crew) refuses(tool string, in args, want string) {
	b.t.Helper()
	if text, failed := b.use(tool, in); !failed || !strings.Contains(text, want) {
		b.t.Errorf("%s: expected an error with %q, got %s", tool, want, text)
	}
}

const twoWorkers = `{"agents":["ann","bob","cid:x"],"lead":"ann","workers":2,"rounds":3,"verifier":"bob"}`

func TestSpawnWorker(t *testing.T) {
	t.Parallel()
	b := setupGoal(t, twoWorkers)
	in := args{"task": "Write it.", "file_scope": []string{"src/*.go"}, "pass_criteria": "make passes"}
	call := func(id string) string {
		text, _ := b.result(b.postAs(id, "tools/call", map[string]any{"name": "spawn_worker", "arguments": in}))
		return text
	}
	first := call("app-2.1/90")
	if first != `{"worker_id":"w1","perspective":"implementer","agent":"bob","state":"starting"}` {
		t.Errorf("spawn_worker: %s", first)
	}
	if again := call("app-2.1/90"); again != first {
		t.Errorf("the same call: expected %s, got %s", first, again)
	}
	if again := call("app-2.1/91"); again != strings.Replace(first, `}`, `,"existing":true}`, 1) {
		t.Errorf("an equal call: %s", again)
	}
	asks := b.asks()
	var s flow.Spawn
	if len(asks) != 1 || asks[0].Verb != coppice.VerbSpawn || asks[0].By.Name != "app-2.1" || json.Unmarshal(asks[0].Args, &s) != nil || s.Key != "w1" || s.Criteria != "make passes" {
		t.Errorf("expected one request for w1, got %+v", asks)
	}
	w1 := b.step("w1", "lead", coppice.RoleImplement)
	if again := call("app-2.1/92"); !strings.Contains(again, `"state":"running","existing":true`) {
		t.Errorf("an equal call after the start: %s", again)
	}
	text := b.works("spawn_worker", args{"task": "Test it.", "perspective": "tester", "agent_hint": "cid", "file_scope": []string{"src/a.go"}})
	if text != `{"worker_id":"w2","perspective":"tester","agent":"cid:x","state":"starting","warnings":["w1 works on the same files: src/*.go and src/a.go"]}` {
		t.Errorf("an overlapping scope: %s", text)
	}
	if text := b.works("spawn_worker", args{"task": "Check it.", "perspective": "security"}); !strings.Contains(text, `"w3 starts when one of the 2 open workers has ended"`) {
		t.Errorf("a third worker: %s", text)
	}
	for want, in := range map[string]args{
		"the task is empty":       {"task": " "},
		"there is no perspective": {"task": "x", "perspective": "cook"},
		"not one of the agents":   {"task": "x", "agent_hint": "dan"},
		"401 characters":          {"task": "x", "pass_criteria": strings.Repeat("é", 401)},
		"1501 characters":         {"task": "x", "extra_context": strings.Repeat("x", 1501)},
		"21 entries":              {"task": "x", "file_scope": make([]string, 21)},
		"outside":                 {"task": "x", "file_scope": []string{"../x"}},
	} {
		b.refuses("spawn_worker", in, want)
	}
	b.end(w1, coppice.OutcomeFailed, "no", "")
	if text := call("app-2.1/93"); !strings.Contains(text, `"worker_id":"w4"`) {
		t.Errorf("an equal call after a failure: %s", text)
	}
	if n := len(b.asks()); n != 3 {
		t.Errorf("expected requests for w2, w3 and w4, got %d", n)
	}
}

func TestWorkers(t *testing.T) {
	t.Parallel()
	b := setupGoal(t, twoWorkers)
	if text := b.works("list_workers", args{}); text != `[]` {
		t.Errorf("no workers: %s", text)
	}
	for _, task := range []string{"one", "two", "three"} {
		b.works("spawn_worker", args{"task": task + strings.Repeat(" x", 100)})
	}
	w1, w2 := b.step("w1", "lead", coppice.RoleImplement), b.step("w2", "lead", coppice.RoleImplement)
	b.update(func(tx store.Tx) error {
		s, err := tx.Sessions.Last(w1.ID)
		if err != nil {
			return err
		}
		var out []coppice.Output
		for n := range 100 {
			e := coppice.AgentEvent{Kind: coppice.KindText, Text: fmt.Sprintf("line %d\nmore", n)}
			out = append(out, coppice.Output{Offset: int64(n), Kind: coppice.OutputEvent, Data: coppice.Raw(e)})
		}
		return tx.Outputs.Add(s.ID, 0, 100, out)
	})
	text := b.works("read_worker_output", args{"worker_id": "w1"})
	if lines := strings.Split(text, `\n`); len(lines) != 80 || !strings.HasSuffix(text, `line 99\nmore"}`) {
		t.Errorf("read_worker_output: %d lines: %s", len(lines), text)
	}
	if text := b.works("read_worker_output", args{"worker_id": "w1", "tail_lines": 1}); text != `{"worker_id":"w1","state":"running","output":"more"}` {
		t.Errorf("one line: %s", text)
	}
	b.refuses("read_worker_output", args{"worker_id": "w9"}, "use one of: w1, w2, w3")
	b.works("send_to_worker", args{"worker_id": "w2", "text": "hi"})
	b.refuses("send_to_worker", args{"worker_id": "w3", "text": "hi"}, "w3 has not started")
	b.refuses("mark_goal_done", args{"summary": "x"}, "have not ended: w1, w2, w3")

	b.works("kill_worker", args{"worker_id": "w3"})
	for range 2 {
		b.works("kill_worker", args{"worker_id": "w2"})
	}
	b.update(func(tx store.Tx) error {
		open, err := tx.Asks.Open(coppice.TaskSubject(w2.ID))
		if len(open) != 1 || open[0].Verb != coppice.VerbStop || open[0].By.String() != "session:app-2.1" {
			t.Errorf("expected one request to stop w2, got %+v", open)
		}
		sent, _ := tx.Messages.Of(w2.ID)
		if len(sent) != 1 || !strings.HasSuffix(sent[0].Text, "hi") {
			t.Errorf("expected one message, got %+v", sent)
		}
		return err
	})
	b.refuses("kill_worker", args{"worker_id": "w3"}, "w3 has ended (killed)")
	b.end(w1, coppice.OutcomeDone, "I did.\nWORKER_BLOCKED: no key", "abc")
	b.end(w2, coppice.OutcomeCancelled, "", "")
	var list []Worker
	if err := json.Unmarshal([]byte(b.works("list_workers", args{})), &list); err != nil || len(list) != 3 {
		t.Fatalf("list_workers: %+v, %v", list, err)
	}
	for n, want := range []string{"w1 blocked no key", "w2 killed ", "w3 killed "} {
		if got := list[n].ID + " " + list[n].State + " " + list[n].Summary; got != want || len([]rune(list[n].Task)) != 120 {
			t.Errorf("expected %q, got %q (%+v)", want, got, list[n])
		}
	}
	b.works("mark_goal_done", args{"summary": "all of it", "success_criteria": "make"})
	b.refuses("spawn_worker", args{"task": "more"}, "you have ended your work")
	b.refuses("mark_goal_failed", args{"reason": "more"}, "you have ended your work")
	if asks := b.asks(); len(asks) != 1 || asks[0].Verb != coppice.VerbGoalDone || asks[0].Text != "all of it" || string(asks[0].Args) != `{"criteria":"make"}` {
		t.Errorf("expected one request that says done, got %+v", asks)
	}
	b.finished("GOAL_DONE: all of it")
}

// finished checks that the lead's session ends with a message.
func (b *crew) finished(want string) {
	b.t.Helper()
	s, err := store.Read(b.t.Context(), b.store, func(r store.Reader) (coppice.Session, error) { return r.Sessions.Get(b.session.ID) })
	if err != nil || s.StopWhy != coppice.StopFinished || s.Summary != want {
		b.t.Errorf("expected that the session ends with %q, got %+v, %v", want, s, err)
	}
}

func TestWaitForWorker(t *testing.T) {
	t.Parallel()
	b := setupGoal(t, strings.Replace(twoWorkers, `"workers":2`, `"workers":1`, 1))
	b.cfg.Wait = time.Millisecond
	for _, task := range []string{"one", "two"} {
		b.works("spawn_worker", args{"task": task})
	}
	if text := b.works("wait_for_worker", args{"worker_id": "w1"}); !strings.Contains(text, `"still_waiting":true`) {
		t.Errorf("before its start: %s", text)
	}
	w1 := b.step("w1", "lead", coppice.RoleImplement)
	if text := b.works("wait_for_worker", args{"worker_id": "w1"}); !strings.Contains(text, `"still_waiting":true`) {
		t.Errorf("before its end: %s", text)
	}
	b.cfg.Wait = time.Minute
	b.refuses("wait_for_worker", args{"worker_id": "w2"}, "w2 starts when another worker has ended: wait first for one of: w1")
	b.end(w1, coppice.OutcomeDone, "It works.\n\nWORKER_DONE: wrote it", "abc")
	want := `{"worker_id":"w1","perspective":"implementer","agent":"bob","state":"done","summary":"wrote it","task":"one","task_key":"app-3","landed":"abc","result":"It works.\n\nWORKER_DONE: wrote it"}`
	if text := b.works("wait_for_worker", args{"worker_id": "w1"}); text != want {
		t.Errorf("after its end: expected %s, got %s", want, text)
	}

	// A further lead waits for the workers of the one before it.
	w2 := b.step("w2", "lead", coppice.RoleImplement)
	b.end(b.lead, coppice.OutcomeDone, "LEAD_CONTINUES: 1", "")
	b.step("lead-2", "", coppice.RoleAnswer)
	b.cfg.Wait = time.Millisecond
	if text := b.works("wait_for_worker", args{"worker_id": "w2", "timeout_s": 60}); !strings.Contains(text, `"still_waiting":true`) {
		t.Errorf("a worker of the lead before: %s", text)
	}
	late := b.cfg.Now().Add(time.Minute)
	b.cfg.Wait, b.cfg.Now = time.Minute, func() time.Time { return late }
	if text := b.works("wait_for_worker", args{"worker_id": "w2", "timeout_s": 60}); !strings.Contains(text, `"state":"running"`) || !strings.Contains(text, `"timeout":true`) {
		t.Errorf("too late: %s", text)
	}
	b.end(w2, coppice.OutcomeDone, "ok", "")
	if text := b.works("wait_for_worker", args{"worker_id": w2.Key}); !strings.Contains(text, `"state":"done"`) || !strings.Contains(text, `"result":"ok"`) {
		t.Errorf("by the key of its task: %s", text)
	}
}

func TestReviewAndVerify(t *testing.T) {
	t.Parallel()
	b := setupGoal(t, `{"agents":["ann","bob","cid"],"lead":"ann","workers":4,"rounds":3,"verifier":"cid"}`)
	b.works("spawn_worker", args{"task": "one", "agent_hint": "bob", "file_scope": []string{"a"}})
	b.works("spawn_worker", args{"task": "two", "agent_hint": "cid", "file_scope": []string{"b"}})
	w1, w2 := b.step("w1", "lead", coppice.RoleImplement), b.step("w2", "lead", coppice.RoleImplement)
	b.end(w1, coppice.OutcomeDone, "x", "abc111")
	b.refuses("cross_review", args{"worker_a": "w1", "worker_b": "w2"}, "no work of w2 has landed")
	if n := len(b.asks()); n != 0 {
		t.Errorf("expected that a refused call stores nothing, got %d requests", n)
	}
	b.refuses("cross_review", args{"worker_a": "w1", "worker_b": "w1"}, "both workers")
	b.end(w2, coppice.OutcomeDone, "x", "def222")
	for range 2 {
		text := b.works("cross_review", args{"worker_a": "w1", "worker_b": "w2"})
		if !strings.Contains(text, `"worker_id":"w3","perspective":"reviewer","agent":"bob"`) || !strings.Contains(text, `"worker_id":"w4","perspective":"reviewer","agent":"cid"`) {
			t.Errorf("cross_review: %s", text)
		}
	}
	asks := b.asks()
	if len(asks) != 2 || !strings.Contains(string(asks[0].Args), "git show def222") || !strings.Contains(string(asks[0].Args), "correctness") || !strings.Contains(string(asks[0].Args), "at most 8 concerns") {
		t.Errorf("expected two reviewers, got %+v", asks)
	}
	if text := b.works("verify", args{"success_criteria": "make passes"}); !strings.Contains(text, `"worker_id":"w5","perspective":"verifier","agent":"cid"`) {
		t.Errorf("verify: %s", text)
	}
	b.refuses("verify", args{"success_criteria": " "}, "is empty")
	b.works("report_progress", args{"message": "half done"})
	if text := b.works("list_perspectives", args{}); strings.Count(text, `"name"`) != 7 {
		t.Errorf("list_perspectives: %s", text)
	}
	b.refuses("compact_session", args{"keep_last_n": 21}, "use 0 to 20")
	b.works("compact_session", args{})
	b.finished("LEAD_CONTINUES: 3")
}

func TestMarkGoalFailed(t *testing.T) {
	t.Parallel()
	b := setupGoal(t, twoWorkers)
	b.works("spawn_worker", args{"task": "one"})
	b.refuses("mark_goal_failed", args{"reason": ""}, "reason is empty")
	b.works("mark_goal_failed", args{"reason": "no way"})
	b.finished("GOAL_FAILED: no way")
	if asks := b.asks(); len(asks) != 2 || asks[1].Verb != coppice.VerbGoalFailed || asks[1].Text != "no way" {
		t.Errorf("expected a request that says failed, got %+v", asks)
	}
	b.refuses("clear_tool_results", args{}, "you have ended your work")
}

func TestClearToolResults(t *testing.T) {
	t.Parallel()
	b := setupGoal(t, twoWorkers)
	b.works("clear_tool_results", args{})
	b.finished("LEAD_CONTINUES: 0")
}

// Only leads of goals have the tools for workers, and they have no create_task.
func TestToolsOfLeads(t *testing.T) {
	t.Parallel()
	b := setupGoal(t, twoWorkers)
	names := []string{
		"spawn_worker", "list_workers", "read_worker_output", "send_to_worker", "wait_for_worker", "kill_worker", "cross_review", "verify", "report_progress", "compact_session",
		"clear_tool_results", "mark_goal_done", "mark_goal_failed", "list_perspectives",
	}
	list := b.post("tools/list", map[string]any{})
	for _, name := range append([]string{"start_cycle", "start_debate", "wait_for_tasks"}, names...) {
		if !strings.Contains(list, `"name":"`+name+`"`) {
			t.Errorf("the lead has no tool %s", name)
		}
	}
	if strings.Contains(list, `"name":"create_task"`) {
		t.Error("the lead has create_task besides spawn_worker")
	}
	others := map[string]func(){
		"a worker":              func() { b.session.TaskID = b.step("w1", "lead", coppice.RoleAnswer).ID },
		"an analysis of a lead": func() { b.session.TaskID, b.session.Role = b.lead.ID, coppice.RoleAnalyze },
		"a lead of another kind": func() {
			b.session.TaskID, b.session.Role = b.lead.ID, coppice.RoleAnswer
			b.change("app-1", func(t *coppice.Task) { t.Flow.Kind = coppice.FlowBatch })
		},
	}
	for _, who := range []string{"a worker", "an analysis of a lead", "a lead of another kind"} {
		others[who]()
		list := b.post("tools/list", map[string]any{})
		for _, name := range names {
			if strings.Contains(list, `"name":"`+name+`"`) {
				t.Errorf("%s has the tool %s", who, name)
			}
			if body := b.post("tools/call", map[string]any{"name": name, "arguments": args{}}); !strings.Contains(body, "unknown tool") {
				t.Errorf("%s calls %s: %s", who, name, body)
			}
		}
	}
	c := &call{Server: b.Server, ctx: t.Context(), session: b.session}
	if _, err := store.Read(t.Context(), b.store, c.goal); coppice.ErrorCode(err) != coppice.EForbidden {
		t.Errorf("expected that the goal itself is refused, got %v", err)
	}
}

func TestStartFlows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	allow := func(coppice.Project, string) error { return nil }
	usable := func(coppice.Project) []flow.Agent { return []flow.Agent{{Name: "claude"}, {Name: "codex"}} }
	b.cfg.Intake = engine.NewIntake(b.store, b.cfg.Now, nil, allow, allow, engine.WithUsable(usable))
	in := args{"question": "Shall we? Yes or no.", "rounds": 2, "budget": 2}
	text, failed := b.use("start_debate", in)
	if failed || text != `{"task":"app-2","title":"Shall we?","status":"waiting","budget":2}` {
		t.Errorf("start_debate: %s", text)
	}
	if text, _ := b.use("start_debate", args{"question": "x", "rounds": 99}); !strings.Contains(text, "rounds") || b.tasks() != 2 {
		t.Errorf("too many rounds: %s", text)
	}
	d, err := store.Read(t.Context(), b.store, func(r store.Reader) (coppice.Task, error) { return r.Tasks.ByKey("app-2") })
	if err != nil || d.Flow == nil || d.Flow.Kind != coppice.FlowDebate || d.Parent != b.session.TaskID || !strings.Contains(string(d.Flow.Spec), `"rounds":2`) {
		t.Errorf("expected a debate below the session's task, got %+v, %v", d, err)
	}
	b.change("app-2", func(t *coppice.Task) { ended(t); t.Flow.Result = "Yes." })
	if text, _ := b.use("wait_for_tasks", args{"tasks": []string{"app-2"}}); text != `[{"task":"app-2","title":"Shall we?","status":"done","result":"Yes."}]` {
		t.Errorf("wait_for_tasks: %s", text)
	}
}
