package http

import (
	"cmp"
	"context"
	"time"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
	"coppice/verb"
)

// Statuser derives the statuses of tasks, in order. *engine.Engine implements
// it.
type Statuser interface {
	Statuses(ctx context.Context, r store.Reader, tasks []coppice.Task) ([]engine.TaskStatus, error)
}

// viewOf returns one task as it is shown.
func (s *Server) viewOf(ctx context.Context, r store.Reader, t coppice.Task) (api.Task, error) {
	views, err := s.views(ctx, r, []coppice.Task{t})
	if err != nil {
		return api.Task{}, err
	}
	return views[0], nil
}

// views makes the API's view of tasks, from one snapshot. The number of queries
// does not depend on the number of tasks.
func (s *Server) views(ctx context.Context, r store.Reader, tasks []coppice.Task) ([]api.Task, error) {
	statuses, err := s.cfg.Status.Statuses(ctx, r, tasks)
	if err != nil {
		return nil, err
	}
	return s.viewsOf(r, tasks, statuses)
}

// viewsOf makes the API's view of tasks whose statuses are known.
func (s *Server) viewsOf(r store.Reader, tasks []coppice.Task, statuses []engine.TaskStatus) ([]api.Task, error) {
	var after, ids, in, requests []int64
	var sessions []coppice.Session
	for i, t := range tasks {
		if ids = append(ids, t.ID); t.Group != 0 {
			in = append(in, t.Group)
		}
		after = append(after, t.After...)
		if t.Parent != 0 {
			after = append(after, t.Parent)
		}
		if t.Step != nil {
			after = append(after, t.Step.Flow)
		}
		if t.Pull {
			requests = append(requests, t.ID)
		}
		if statuses[i].Session != nil {
			sessions = append(sessions, *statuses[i].Session)
		}
	}
	keys, err := r.Tasks.Keys(after)
	if err != nil {
		return nil, err
	}
	lines, err := s.lines.says(r, sessions)
	if err != nil {
		return nil, err
	}
	groups, err := r.Groups.Some(in)
	if err != nil {
		return nil, err
	}
	unread, err := r.Seen.Unread(reader, ids)
	if err != nil {
		return nil, err
	}
	apps, err := readApps(r, tasks, statuses)
	if err != nil {
		return nil, err
	}
	pulls, err := r.Pulls.Marks(requests)
	if err != nil {
		return nil, err
	}
	out := make([]api.Task, len(tasks))
	for i, t := range tasks {
		var pull *coppice.PullMark
		if p, ok := pulls[t.ID]; ok {
			pull = &p
		}
		out[i] = view(s.cfg.Now(), t, statuses[i], apps, pull, named(t.After, keys))
		out[i].Group, out[i].Unread = groups[t.Group].Name, unread[t.ID]
		out[i].Parent = keys[t.Parent]
		if t.Step != nil {
			out[i].Step = &api.StepMark{Flow: keys[t.Step.Flow], Key: t.Step.Key}
		}
		if x := statuses[i].Session; x != nil {
			out[i].Says = lines[x.ID]
			if x.State.Live() {
				out[i].Report = x.Report
			}
		}
		out[i].Line = lineOf(out[i])
	}
	return out, nil
}

// reader is the person who reads tasks in the dashboard and on the command line.
var reader = coppice.Actor{Kind: coppice.ActorPerson}

func view(now time.Time, t coppice.Task, st engine.TaskStatus, apps apps, pull *coppice.PullMark, after []string) api.Task {
	v := api.Task{
		Issue: t.Issue,
		ID:    t.ID, Key: t.Key, Project: st.Project, Title: t.Title, Body: t.Body, Priority: t.Priority, Track: t.Track,
		Agent: t.Agent, Model: t.Model, Checks: t.Checks, Skipped: t.Skip, After: after, NotBefore: t.NotBefore, CreatedAt: t.CreatedAt,
		CreatedBy: t.CreatedBy, Status: st.Status, Reason: st.Reason, Fix: st.Fix, Stage: t.Stage, Since: t.StageAt,
		Round: t.Round, Outcome: t.Outcome, Failure: t.Failure, Warning: t.Warnings(), Landed: t.Landed, Reverted: t.Reverted, EndedAt: t.EndedAt,
		Sessions: len(st.Sessions), Category: t.Category, Steps: t.Steps, Feature: t.Feature, Budget: t.Budget, ForkOf: t.ForkOf, Wants: t.Wants,
		Archived: t.Archived, Proof: proof(st.Landing), Proven: proven(proof(st.Landing)), GroupID: t.Group, Labels: t.Labels, Flagged: t.Flagged, Effort: t.Effort, Retry: t.Retry,
		Turns: t.Turns, Time: t.Time, UntilDone: t.UntilDone, Completion: t.Completion, Strays: t.Strays, Branch: t.Branch, Checkout: t.Checkout, Interactive: t.Interactive,
		Word: t.Stage.Word(), Need: engine.NeedOf(t, st), CanChange: t.Changeable(), CanSend: t.TakesMessages(), PR: pull,
	}
	if t.Issue != nil {
		v.IssueName = t.Issue.Name()
	}
	if t.Flow != nil {
		v.Flow = &api.FlowMark{Kind: t.Flow.Kind, Note: t.Flow.Note}
	}
	if st.Session != nil {
		v.Role = st.Session.Role
	}
	if t.Model == coppice.ModelAuto {
		v.Level, v.LevelBy = engine.LevelOf(t)
	}
	for _, x := range st.Sessions {
		v.Session = x.Key
		v.Usage = v.Usage.Add(x.Usage)
	}
	for _, a := range st.Asks {
		v.Asked = append(v.Asked, a.Verb)
	}
	v.Taken = coppice.Asked(st.Asks, coppice.VerbTake) != nil || t.Next != nil && t.Next.Screen || st.Session != nil && st.Session.Screen && st.Session.State.Live()
	f := verb.Facts{
		Now: now, Task: t, Session: st.Session, Landing: st.Landing, Asks: st.Asks, Branch: t.Sessions > 0, Conversation: engine.Resumable(st.Sessions),
		Serves: st.Serves, Workspace: apps.ready[t.ID], Trashed: apps.trashed[t.ID], Pull: pull,
	}
	if p, ok := apps.live[t.ID]; ok {
		if f.Preview, v.App = &p, string(p.State); !p.StopAt.IsZero() {
			v.App = "stopping"
		}
	}
	v.Can, v.Review = verb.Can(f), verb.ReviewOf(t)
	v.Primary = verb.Primary(f, v.Can)
	if st.Question != nil && st.Question.Open() {
		q := question(*st.Question)
		v.Question = &q
	}
	return v
}

// lineOf returns what people should know about a task, in short.
func lineOf(v api.Task) string {
	var asks, pull, note string
	if v.Question != nil {
		asks = v.Question.Text
	}
	if v.PR != nil {
		pull = v.PR.Line()
	}
	if v.Flow != nil {
		note = v.Flow.Note
	}
	return cmp.Or(asks, pull, v.Reason, v.Warning, note, v.Report)
}

func question(q coppice.Question) api.Question {
	return api.Question{
		ID: q.ID, Kind: q.Kind, Rule: q.Rule, Text: q.Text, Options: q.Options, Descriptions: q.Descriptions, Several: q.Several, AskedAt: q.AskedAt, Answer: q.Answer, AnsweredAt: q.AnsweredAt, Open: q.Open(),
	}
}

// named returns the keys of tasks.
func named(ids []int64, keys map[int64]string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, keys[id])
	}
	return out
}

func taskByKey(r store.Reader, key string) (coppice.Task, error) {
	if err := validTaskKey(key); err != nil {
		return coppice.Task{}, err
	}
	return r.Tasks.ByKey(key)
}

func (s *Server) task(ctx context.Context, key string) (coppice.Task, error) {
	return store.Read(ctx, s.cfg.Store, func(r store.Reader) (coppice.Task, error) { return taskByKey(r, key) })
}

func (s *Server) session(ctx context.Context, key string) (coppice.Session, error) {
	return store.Read(ctx, s.cfg.Store, func(r store.Reader) (coppice.Session, error) { return sessionByKey(r, key) })
}

// validTaskKey checks the form of a task's key.
func validTaskKey(key string) error {
	_, _, session, err := coppice.ParseKey(key)
	if err == nil && session != 0 {
		err = coppice.Errorf(coppice.EInvalid, "%s is a session, not a task", coppice.Quote(key)).WithFix("leave out the dot and the number after it")
	}
	return err
}

func sessionByKey(r store.Reader, key string) (coppice.Session, error) {
	_, _, session, err := coppice.ParseKey(key)
	if err != nil {
		return coppice.Session{}, err
	}
	if session == 0 {
		return coppice.Session{}, coppice.Errorf(coppice.EInvalid, "%s is a task, not a session", coppice.Quote(key)).
			WithFix("name one of its sessions, such as %s.1", key)
	}
	return r.Sessions.ByKey(key)
}
