package http_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/api/client"
	"coppice/store"
)

// batchFlow creates the flow app-1, a batch of two tasks, as people do. Then it writes
// what the engine would: two steps and the note.
func batchFlow(t *testing.T) *apitest.Bundle {
	t.Helper()
	b := setupApp(t)
	spec := json.RawMessage(`{"tasks": [{"title": "a"}, {"title": "b"}]}`)
	made, err := b.Client.CreateTasks(b.Ctx, "app", []coppice.NewTask{{Title: "Two tasks", Flow: &coppice.NewFlow{Kind: coppice.FlowBatch, Spec: spec}}})
	b.Must(err)
	if f := made[0].Flow; f == nil || f.Kind != coppice.FlowBatch {
		t.Fatalf("created %+v, want a batch", made[0])
	}
	flow := b.Change("app-1", func(t *coppice.Task) {
		t.Stage, t.Wait, t.Flow.Note = coppice.StageFlow, nil, "1 of 2 done"
	})
	for _, key := range []string{"1", "2"} {
		step := b.Task("app", coppice.NewTask{Title: "Step " + key})
		b.Change(step.Key, func(t *coppice.Task) { t.Parent, t.Step = flow.ID, &coppice.Step{Flow: flow.ID, Key: key} })
	}
	b.Clock.Move(time.Minute)
	b.Session("app-2", coppice.SessionDone, func(s *coppice.Session) {
		s.EndedAt, s.Summary, s.Usage.CostUSD = b.Clock.Now().Add(2*time.Minute), "All done.\n"+strings.Repeat("x", 5000), 0.5
	})
	b.Change("app-2", func(t *coppice.Task) {
		t.Stage, t.Wait, t.Outcome, t.EndedAt, t.Landed = coppice.StageEnded, nil, coppice.OutcomeDone, b.Clock.Now().Add(2*time.Minute), "abc"
	})
	return b
}

func TestFlows(t *testing.T) {
	t.Parallel()
	b := batchFlow(t)
	page, err := b.Client.Flows(b.Ctx, client.FlowQuery{Project: "app", Open: true})
	b.Must(err)
	if len(page.Flows) != 1 || page.Next != 0 {
		t.Fatalf("%+v, want one flow", page)
	}
	if f := page.Flows[0]; f.Task.Key != "app-1" || f.Kind != coppice.FlowBatch || f.Note != "1 of 2 done" || f.Done != 1 || f.Steps != 2 {
		t.Errorf("listed %+v, want the batch app-1 with 1 of 2 steps done", f)
	}
	f, err := b.Client.Flow(b.Ctx, "app-1")
	b.Must(err)
	if f.Task.Status != coppice.StatusWorking || f.Task.Reason != "1 of 2 done" || f.Branch != "" || len(f.Spec) == 0 || len(f.Steps) != 2 {
		t.Fatalf("the flow is %+v, want a working one with 2 steps", f)
	}
	done, open := f.Steps[0], f.Steps[1]
	if done.Key != "1" || done.Task != "app-2" || done.State != "done" || done.Landed != "abc" || done.Took.D() != 2*time.Minute || done.Cost != 0.5 || len(done.Result) > 4<<10 || !strings.HasPrefix(done.Result, "All done.") {
		t.Errorf("the first step is %+v", done)
	}
	if done.Name != "1" || done.Group != "" || done.Phase != "item" || done.Side != 0 || done.Said != nil || f.Done != 1 || f.Of != 2 {
		t.Errorf("the first step is %+v, and %d of %d steps are done", done, f.Done, f.Of)
	}
	if f.Outline[0].Status != coppice.StatusDone || f.Outline[1].Status != open.Status || f.Plan+f.Verdict != "" || done.Resumes {
		t.Errorf("the parts are %+v, the plan is %q, the verdict %q", f.Outline, f.Plan, f.Verdict)
	}
	if open.State != "open" || !open.Started.IsZero() || open.Left || open.Result != "" {
		t.Errorf("the second step is %+v", open)
	}
	if m := f.Metrics; m.Worked.D() != 2*time.Minute || len(m.Phases) != 1 || m.Phases[0].Name != "item" || m.Phases[0].Steps != 2 {
		t.Errorf("the metrics are %+v, want 2m of work in one phase", m)
	}
	task, err := b.Client.Task(b.Ctx, "app-2")
	if err != nil || task.Step == nil || *task.Step != (api.StepMark{Flow: "app-1", Key: "1"}) || task.Flow != nil {
		t.Errorf("the task of the step is %+v, %v; want the step 1 of app-1", task.Step, err)
	}
	b.Change("app-1", func(t *coppice.Task) { t.Flow.Left = []int64{done.TaskID} })
	if f, err = b.Client.Flow(b.Ctx, "app-1"); err != nil || !f.Steps[0].Left || f.Steps[1].Left || f.Done != 0 || f.Of != 1 {
		t.Errorf("%+v, %v, %d of %d done; want the first step left out", f.Steps, err, f.Done, f.Of)
	}
	b.Change("app-1", func(t *coppice.Task) { t.Stage, t.Outcome = coppice.StageEnded, coppice.OutcomeDone })
	if page, err = b.Client.Flows(b.Ctx, client.FlowQuery{Open: true}); err != nil || len(page.Flows) != 0 {
		t.Errorf("%+v, %v; want no open flow", page, err)
	}
	refuses(t, b, http.StatusNotFound, "GET", "/api/v1/flows/app-2", "")
	refuses(t, b, http.StatusNotFound, "GET", "/api/v1/flows/app-9", "")
}

// A step of a debate says which side made which statement in which round. Its result is
// the statement as text.
func TestStatementsOfADebate(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	b.Task("app", coppice.NewTask{Title: "Which?"})
	flow := b.Change("app-1", func(t *coppice.Task) {
		spec := json.RawMessage(`{"between": ["one", "two"], "rounds": 2, "loops": 1}`)
		t.Stage, t.Wait, t.Flow = coppice.StageFlow, nil, &coppice.Flow{Kind: coppice.FlowDebate, Spec: spec}
	})
	long := strings.Repeat("because ", 2000)
	for n, key := range []string{"l1/r0/a", "l1/r0/b", "l1/r1/a"} {
		step := b.Task("app", coppice.NewTask{Title: "Round"})
		b.Session(step.Key, coppice.SessionDone, func(s *coppice.Session) {
			value := coppice.Raw(map[string]string{"verdict": "agree", "summary": "Files.", "position": long, "changed": ""})
			s.EndedAt, s.Answer = b.Clock.Now(), &coppice.Answer{Text: string(value), Value: value}
		})
		b.Change(step.Key, func(t *coppice.Task) {
			t.Parent, t.Step = flow.ID, &coppice.Step{Flow: flow.ID, Key: key}
			if n < 2 {
				t.Stage, t.Wait, t.Outcome, t.EndedAt = coppice.StageEnded, nil, coppice.OutcomeDone, b.Clock.Now()
			}
		})
	}
	f, err := b.Client.Flow(b.Ctx, "app-1")
	b.Must(err)
	for n, want := range []struct {
		group, name string
		side        int
	}{{"Loop 1, round 1", "a", 1}, {"Loop 1, round 1", "b", 2}, {"Loop 1, round 2", "a", 1}} {
		s := f.Steps[n]
		if s.Group != want.group || s.Name != want.name || s.Side != want.side || s.Phase != "round" {
			t.Errorf("step %s is %s of %q, side %d, phase %s; want %+v", s.Key, s.Name, s.Group, s.Side, s.Phase, want)
		}
		if open := n == 2; (s.Said == nil) != open || open != (s.Result == "") {
			t.Errorf("step %s said %+v, with the result %.60q", s.Key, s.Said, s.Result)
		}
	}
	if s := f.Steps[0]; s.Said.Verdict != "agree" || s.Said.Summary != "Files." || len(s.Said.Position) > 4<<10 || !strings.HasPrefix(s.Result, "agree: Files.\n\nbecause") || len(s.Result) > 4<<10 {
		t.Errorf("it said %+v, with the result %.60q", s.Said, s.Result)
	}
	want := []api.FlowRound{{Name: "Loop 1, round 1", Tasks: []string{"app-2", "app-3"}}, {Name: "Loop 1, round 2", Tasks: []string{"app-4", ""}}}
	if !reflect.DeepEqual(f.Rounds, want) {
		t.Errorf("the rounds are %+v, want %+v", f.Rounds, want)
	}
	if p := f.Metrics.Phases; len(p) != 1 || p[0].Name != "round" || p[0].Steps != 3 {
		t.Errorf("the phases are %+v, want 3 steps of rounds", p)
	}
}

func TestFlowRequests(t *testing.T) {
	t.Parallel()
	b := batchFlow(t)
	for _, v := range []string{"pause", "wrap-up"} {
		if resp, text := call(t, b, "POST", "/api/v1/tasks/app-1/"+v, "{}"); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", v, resp.StatusCode, text)
		}
	}
	refuses(t, b, http.StatusConflict, "POST", "/api/v1/tasks/app-1/resume", "{}") // it runs
	b.Change("app-1", func(t *coppice.Task) {
		t.Stage, t.Wait = coppice.StageWaiting, &coppice.Wait{On: coppice.WaitPerson, Text: "paused"}
	})
	if p := refuses(t, b, http.StatusUnprocessableEntity, "POST", "/api/v1/tasks/app-1/resume", `{"from": "9"}`); p.Field != "from" || !strings.Contains(p.Fix, "1, 2") {
		t.Errorf("%+v, want a fix that lists the steps", p)
	}
	left := b.Change("app-2", func(*coppice.Task) {}).ID
	b.Change("app-1", func(t *coppice.Task) { t.Flow.Left = []int64{left} })
	if f, err := b.Client.Flow(b.Ctx, "app-1"); err != nil || f.Steps[0].Resumes || !f.Steps[1].Resumes {
		t.Errorf("%+v, %v; want a flow that can be resumed from its second step, which counts", f.Steps, err)
	}
	if resp, text := call(t, b, "POST", "/api/v1/tasks/app-1/resume", `{"from": "2"}`); resp.StatusCode != http.StatusOK || !strings.Contains(text, `"asked":["resume"]`) {
		t.Errorf("%d %s, want an open request to resume", resp.StatusCode, text)
	}
	for _, v := range []string{"land", "continue"} {
		refuses(t, b, http.StatusConflict, "POST", "/api/v1/tasks/app-1/"+v, "{}")
	}
	refuses(t, b, http.StatusConflict, "POST", "/api/v1/tasks/app-2/pause", "{}")
}

func TestFlowsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	for body, field := range map[string]string{
		`{"kind": "dance"}`: "tasks[0].flow.kind",
		`{"kind": "batch"}`: "flow.spec.tasks",
	} {
		if p := refuses(t, b, http.StatusUnprocessableEntity, "POST", "/api/v1/projects/app/tasks", `{"tasks": [{"title": "a", "flow": `+body+`}]}`); p.Field != field {
			t.Errorf("%s: %+v, want the field %s", body, p, field)
		}
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	b := batchFlow(t)
	none, one := int64(0), int64(1)
	d, err := b.Client.PutDocument(b.Ctx, "app-1", "notes/plan", api.DocumentWrite{Text: "first", IfVersion: &none})
	if err != nil || d.Version != 1 || d.Size != 5 || d.By != "person" || d.Name != "notes/plan" {
		t.Fatalf("%+v, %v; want version 1", d, err)
	}
	if d, err = b.Client.PutDocument(b.Ctx, "app-1", "notes/plan", api.DocumentWrite{Text: "second", IfVersion: &one}); err != nil || d.Version != 2 {
		t.Errorf("%+v, %v; want version 2", d, err)
	}
	if p := refuses(t, b, http.StatusConflict, "PUT", "/api/v1/flows/app-1/documents/notes%2Fplan", `{"text": "third", "if_version": 1}`); p.Field != "if_version" || p.Fix == "" || !strings.Contains(p.Detail, "version 2") {
		t.Errorf("%+v, want a conflict with the current version and a fix", p)
	}
	for version, text := range map[int64]string{0: "second", 1: "first", 2: "second"} {
		if d, err := b.Client.Document(b.Ctx, "app-1", "notes/plan", version); err != nil || d.Text != text {
			t.Errorf("version %d is %+v, %v; want %q", version, d, err, text)
		}
	}
	versions, err := b.Client.DocumentVersions(b.Ctx, "app-1", "notes/plan")
	if err != nil || len(versions.Versions) != 2 || versions.Versions[0].Version != 2 || versions.Versions[0].Text != "" {
		t.Errorf("%+v, %v; want versions 2 and 1 without texts", versions, err)
	}
	f, err := b.Client.Flow(b.Ctx, "app-1")
	if err != nil || len(f.Documents) != 1 || f.Documents[0].Version != 2 || f.Documents[0].Text != "" {
		t.Errorf("%+v, %v; want one document without its text", f.Documents, err)
	}
	page, err := b.Client.Events(b.Ctx, client.EventQuery{Task: "app-1", Limit: 100})
	b.Must(err)
	n := 0
	for _, ev := range page.Events {
		if ev.Kind == coppice.EventDocument {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d events about documents, want one for each of 2 versions", n)
	}
	for what, err := range map[string]error{
		"a document that does not exist":          second(b.Client.Document(b.Ctx, "app-1", "none", 0)),
		"a version that does not exist":           second(b.Client.Document(b.Ctx, "app-1", "notes/plan", 7)),
		"versions of no document":                 second(b.Client.DocumentVersions(b.Ctx, "app-1", "none")),
		"a document of a task that is not a flow": second(b.Client.PutDocument(b.Ctx, "app-2", "plan", api.DocumentWrite{Text: "x"})),
	} {
		if coppice.ErrorCode(err) != coppice.ENotFound {
			t.Errorf("%s: %v, want not_found", what, err)
		}
	}
	if _, err := b.Client.PutDocument(b.Ctx, "app-1", "a b", api.DocumentWrite{Text: "x"}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a name with a blank: %v, want invalid", err)
	}
}

// The detail of a flow has its outline, and the comments on its documents where their
// lines are now.
func TestFlowOutline(t *testing.T) {
	t.Parallel()
	b := batchFlow(t)
	zero := int64(0)
	_, err := b.Client.PutDocument(b.Ctx, "app-1", "plan", api.DocumentWrite{Text: "one\ntwo\n", IfVersion: &zero})
	b.Must(err)
	b.Update(func(tx store.Tx) error {
		for _, code := range []string{"two\n", "gone\n"} {
			c := coppice.Comment{TaskID: 1, Path: "plan", Side: coppice.SideDocument, First: 1, Last: 1, Blob: "7", Code: code, Text: "why?", State: coppice.CommentDraft}
			if err := tx.Comments.Put(&c); err != nil {
				return err
			}
		}
		return tx.Comments.Put(&coppice.Comment{TaskID: 1, Path: "plan", Side: coppice.SideNew, First: 1, Last: 1, State: coppice.CommentDraft})
	})
	f, err := b.Client.Flow(b.Ctx, "app-1")
	b.Must(err)
	want := []api.FlowPart{{Key: "1", Name: "a", Steps: []string{"1"}, Runs: 1, Status: coppice.StatusDone}, {Key: "2", Name: "b", Steps: []string{"2"}, Runs: 1, Status: coppice.StatusWaiting}}
	if !reflect.DeepEqual(f.Outline, want) || f.Approves != "" || f.Drafts != 0 {
		t.Errorf("the outline is %+v, and %q with %d drafts waits for an approval", f.Outline, f.Approves, f.Drafts)
	}
	if c := f.Comments; len(c) != 2 || c[0].At == nil || c[0].At.First != 2 || c[0].Outdated || c[1].At != nil || !c[1].Outdated {
		t.Errorf("the comments are %+v, want one on line 2 and an outdated one", c)
	}
	b.Change("app-1", func(t *coppice.Task) { t.Flow.Left = []int64{2} })
	if f, err = b.Client.Flow(b.Ctx, "app-1"); err != nil || len(f.Outline[0].Steps) != 0 || f.Outline[0].Name != "a" {
		t.Errorf("%+v, %v; want the first part without a step", f.Outline, err)
	}
	b.Change("app-1", func(t *coppice.Task) { t.Stage, t.Outcome = coppice.StageEnded, coppice.OutcomeDone })
	if f, err = b.Client.Flow(b.Ctx, "app-1"); err != nil || len(f.Outline) != 1 || f.Outline[0].Key != "2" {
		t.Errorf("%+v, %v; want only the part with a step", f.Outline, err)
	}
}
