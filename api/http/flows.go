package http

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

// mostShownResult limits the result of a step in the detail of a flow, in bytes.
const mostShownResult = 4 << 10

// FlowIn names a flow. It is exported for the same reason as ProjectIn.
type FlowIn struct {
	Key string `path:"key" maxLength:"40" doc:"The key of a flow, such as app-12"`
}

// DocumentIn names a document of a flow.
type DocumentIn struct {
	FlowIn
	Name string `path:"name" maxLength:"200" doc:"The name of a document, such as plan, with its slashes escaped"`
}

type listFlowsIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only this project"`
	Open    bool   `query:"open" doc:"Only flows that have not ended"`
	PageIn
}

type showDocumentIn struct {
	DocumentIn
	Version int64 `query:"version" minimum:"0" doc:"The version; the newest when absent"`
}

type putDocumentIn struct {
	DocumentIn
	Body api.DocumentWrite
}

func (s *Server) flowRoutes(a huma.API) {
	const one = "/flows/{key}/documents/{name}"
	add(s, a, op{method: http.MethodGet, path: "/flows", id: "list-flows", tag: "flows", about: "List flows, newest first, with how far they are and what they cost"}, s.listFlows)
	add(s, a, op{method: http.MethodGet, path: "/flows/{key}", id: "show-flow", tag: "flows", about: "Show a flow with its steps and documents"}, s.showFlow)
	add(s, a, op{method: http.MethodGet, path: one, id: "show-document", tag: "flows", about: "Read a version of a flow's document"}, s.showDocument)
	add(s, a, op{method: http.MethodGet, path: one + "/versions", id: "list-document-versions", tag: "flows", about: "List the versions of a flow's document, newest first, without their texts"}, s.listVersions)
	add(s, a, op{method: http.MethodPut, path: one, id: "put-document", tag: "flows", body: textBody, about: "Write a new version of a flow's document; the flow plans again"}, s.putDocument)
}

func (s *Server) listFlows(ctx context.Context, in *listFlowsIn) (api.FlowPage, error) {
	return reuse(ctx, &s.answers, fmt.Sprintf("flows %+v", *in), func(ctx context.Context) (api.FlowPage, error) {
		return store.Read(ctx, s.cfg.Store, func(r store.Reader) (api.FlowPage, error) { return s.flowPage(ctx, r, in) })
	})
}

func (s *Server) flowPage(ctx context.Context, r store.Reader, in *listFlowsIn) (out api.FlowPage, err error) {
	f := store.TaskFilter{Flows: coppice.FlowKinds, BeforeID: in.Before, Most: in.Limit + 1, Archived: store.ArchivedNot}
	if f.ProjectID, err = projectID(r, in.Project); err != nil {
		return out, err
	}
	if in.Open {
		f.Stages = coppice.StagesThat(func(st coppice.Stage) bool { return !st.Ended() })
	}
	tasks, err := r.Tasks.List(f)
	if err != nil {
		return out, err
	}
	if len(tasks) > in.Limit {
		tasks = tasks[:in.Limit]
		out.Next = tasks[in.Limit-1].ID
	}
	views, err := s.views(ctx, r, tasks)
	if err != nil {
		return out, err
	}
	out.Flows = make([]api.Flow, len(tasks))
	for i, t := range tasks {
		views[i].Body, views[i].Steps = "", nil
		one := api.Flow{Task: views[i], Kind: t.Flow.Kind, Note: t.Flow.Note}
		steps, err := r.Families.Steps(t.ID)
		if err != nil {
			return out, err
		}
		one.Done, one.Steps = progress(t, steps)
		spent, err := engine.Spent(r, t.ID)
		if err != nil {
			return out, err
		}
		one.Cost = float64(spent)
		out.Flows[i] = one
	}
	return out, nil
}

// progress returns how many steps of a flow are done, and how many count.
func progress(t coppice.Task, steps []coppice.Task) (done, of int) {
	for _, step := range steps {
		if slices.Contains(t.Flow.Left, step.ID) {
			continue
		}
		of++
		if step.Outcome == coppice.OutcomeDone {
			done++
		}
	}
	return done, of
}

// flowByKey finds a flow. It fails for any other task.
func flowByKey(r store.Reader, key string) (coppice.Task, error) {
	t, err := taskByKey(r, key)
	if err == nil && !t.IsFlow() {
		err = coppice.Errorf(coppice.ENotFound, "%s is not a flow", t.Key).WithFix("`coppice flow list` shows the flows")
	}
	return t, err
}

func (s *Server) showFlow(ctx context.Context, in *FlowIn) (api.FlowDetail, error) {
	return store.Read(ctx, s.cfg.Store, func(r store.Reader) (out api.FlowDetail, err error) {
		t, err := flowByKey(r, in.Key)
		if err != nil {
			return out, err
		}
		f := t.Flow
		out = api.FlowDetail{
			Kind: f.Kind, Spec: f.Spec, Branch: t.FlowBranch(), Note: f.Note, Result: f.Result, Resumes: f.Resumes, Until: f.Until,
			Paused: f.Paused, WrapUp: f.WrapUp, Lands: f.Lands, Documents: []api.FlowDocument{},
		}
		if out.Task, err = s.detail(ctx, r, t); err != nil {
			return out, err
		}
		steps, err := r.Families.Steps(t.ID)
		if err != nil {
			return out, err
		}
		out.Done, out.Of = progress(t, steps)
		if out.Steps, err = s.flowSteps(ctx, r, t, steps); err != nil {
			return out, err
		}
		for i := range out.Steps {
			out.Steps[i].Resumes = !out.Steps[i].Left && slices.Contains(out.Task.Can, coppice.VerbResume)
		}
		docs, err := r.Documents.Newest(t.ID)
		if err != nil {
			return out, err
		}
		if err := s.outline(r, t, docs, &out); err != nil {
			return out, err
		}
		for _, d := range docs {
			d.Text = ""
			out.Documents = append(out.Documents, documentView(d))
		}
		spent, err := engine.Spent(r, t.ID)
		out.Metrics = metrics(out.Steps, s.cfg.Now())
		out.Metrics.Cost = float64(spent)
		return out, err
	})
}

// stepStates maps how a task ended to the state of a step.
var stepStates = map[coppice.Outcome]string{"": "open", coppice.OutcomeDone: "done", coppice.OutcomeFailed: "failed", coppice.OutcomeCancelled: "cancelled"}

// flowSteps makes the API's view of a flow's steps, with those that no longer count.
// The number of queries does not depend on the number of steps.
func (s *Server) flowSteps(ctx context.Context, r store.Reader, t coppice.Task, tasks []coppice.Task) ([]api.FlowStep, error) {
	statuses, err := s.cfg.Status.Statuses(ctx, r, tasks)
	if err != nil {
		return nil, err
	}
	views, err := s.viewsOf(r, tasks, statuses)
	if err != nil {
		return nil, err
	}
	keys := map[int64]string{}
	out := make([]api.FlowStep, len(tasks))
	for i, step := range tasks {
		v, sessions := views[i], statuses[i].Sessions
		keys[step.ID] = step.Step.Key
		one := api.FlowStep{
			Key: step.Step.Key, Task: step.Key, TaskID: step.ID, Title: step.Title, State: stepStates[step.Outcome], Status: v.Status, Says: v.Says,
			Agent: step.Agent, Model: step.Model, Cost: v.Usage.CostUSD, CreatedAt: step.CreatedAt, Ended: step.EndedAt, Landed: step.Landed,
			Below: keys[step.Parent], Left: slices.Contains(t.Flow.Left, step.ID), Saw: step.Step.Saw,
		}
		seen := engine.ViewStep(step, sessions, mostShownResult)
		one.Group, one.Name, one.Phase, one.Side, one.Result = seen.Group, seen.Name, seen.Phase, seen.Side, seen.Result
		if said := seen.Said; said != nil {
			one.Said = &api.FlowStatement{Verdict: said.Verdict, Summary: said.Summary, Position: said.Position, Changed: said.Changed}
		}
		if !step.Ended() && !one.Left && v.Status != coppice.StatusWorking {
			one.Waits, one.Fix = v.Reason, v.Fix
		}
		for _, x := range sessions {
			if x.StartedAt.IsZero() {
				continue
			}
			if one.Started.IsZero() {
				one.Started = x.StartedAt
			}
			end := x.EndedAt
			if end.IsZero() {
				end = s.cfg.Now()
			}
			one.Took += coppice.Duration(end.Sub(x.StartedAt))
		}
		out[i] = one
	}
	return out, nil
}

// metrics adds up the times and costs of steps, in total and by phase.
func metrics(steps []api.FlowStep, now time.Time) api.FlowMetrics {
	out := api.FlowMetrics{Phases: []api.FlowPhase{}}
	for _, step := range steps {
		i := slices.IndexFunc(out.Phases, func(p api.FlowPhase) bool { return p.Name == step.Phase })
		if i < 0 {
			i = len(out.Phases)
			out.Phases = append(out.Phases, api.FlowPhase{Name: step.Phase})
		}
		until := step.Started
		for _, t := range []time.Time{step.Ended, now} { // of a step that has not started
			if until.IsZero() {
				until = t
			}
		}
		p := &out.Phases[i]
		queued := coppice.Duration(max(0, until.Sub(step.CreatedAt)))
		p.Steps, p.Queued, p.Worked, p.Cost = p.Steps+1, p.Queued+queued, p.Worked+step.Took, p.Cost+step.Cost
		out.Queued, out.Worked = out.Queued+queued, out.Worked+step.Took
	}
	return out
}

func documentView(d coppice.Document) api.FlowDocument {
	return api.FlowDocument{Name: d.Name, Version: d.Version, Size: d.Size, By: d.By.String(), At: d.At, Step: d.Step, Text: d.Text}
}

func (s *Server) showDocument(ctx context.Context, in *showDocumentIn) (api.FlowDocument, error) {
	return store.Read(ctx, s.cfg.Store, func(r store.Reader) (api.FlowDocument, error) {
		t, err := flowByKey(r, in.Key)
		if err != nil {
			return api.FlowDocument{}, err
		}
		d, err := r.Documents.Get(t.ID, in.Name, in.Version)
		return documentView(d), err
	})
}

func (s *Server) listVersions(ctx context.Context, in *DocumentIn) (api.DocumentVersions, error) {
	return store.Read(ctx, s.cfg.Store, func(r store.Reader) (out api.DocumentVersions, err error) {
		t, err := flowByKey(r, in.Key)
		if err != nil {
			return out, err
		}
		versions, err := r.Documents.Versions(t.ID, in.Name)
		if err == nil && len(versions) == 0 {
			err = coppice.Errorf(coppice.ENotFound, "%s has no document %s", t.Key, coppice.Quote(in.Name)).WithFix("`coppice flow docs %s` lists its documents", t.Key)
		}
		for _, d := range versions {
			out.Versions = append(out.Versions, documentView(d))
		}
		return out, err
	})
}

func (s *Server) putDocument(ctx context.Context, in *putDocumentIn) (api.FlowDocument, error) {
	if _, err := store.Read(ctx, s.cfg.Store, func(r store.Reader) (coppice.Task, error) { return flowByKey(r, in.Key) }); err != nil {
		return api.FlowDocument{}, err
	}
	d, err := s.cfg.Tasks.WriteDocument(ctx, in.Key, in.Name, in.Body.Text, in.Body.IfVersion)
	return documentView(d), err
}
