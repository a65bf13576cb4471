package http

import (
	"context"
	"time"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
	"coppice/verb"
)

// Statuser derives what people read about tasks, one for each, in order.
// *engine.Engine implements it.
type Statuser interface {
	Statuses(ctx context.Context, r store.Reader, tasks []coppice.Task) ([]engine.TaskStatus, error)
}

// views makes what people see of tasks, from one snapshot.
func (s *Server) views(ctx context.Context, r store.Reader, tasks []coppice.Task) ([]api.Task, error) {
	statuses, err := s.cfg.Status.Statuses(ctx, r, tasks)
	if err != nil {
		return nil, err
	}
	prefixes, keys := map[int64]string{}, map[int64]string{}
	out := make([]api.Task, len(tasks))
	for i, t := range tasks {
		if _, ok := prefixes[t.ProjectID]; !ok {
			p, err := r.Projects.Get(t.ProjectID)
			if err != nil {
				return nil, err
			}
			prefixes[t.ProjectID] = p.Prefix
		}
		after, err := taskKeys(r, t.After, keys)
		if err != nil {
			return nil, err
		}
		sessions, err := r.Sessions.Of(t.ID)
		if err != nil {
			return nil, err
		}
		out[i] = view(s.cfg.Now(), t, statuses[i], prefixes[t.ProjectID], after, sessions)
		if out[i].Says, err = says(r, statuses[i].Session); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func view(now time.Time, t coppice.Task, st engine.TaskStatus, project string, after []string, sessions []coppice.Session) api.Task {
	v := api.Task{
		ID: t.ID, Key: t.Key, Project: project, Title: t.Title, Body: t.Body, Priority: t.Priority, Track: t.Track,
		Agent: t.Agent, Model: t.Model, Checks: t.Checks, After: after, NotBefore: t.NotBefore, CreatedAt: t.CreatedAt,
		CreatedBy: t.CreatedBy, Status: st.Status, Reason: st.Reason, Fix: st.Fix, Stage: t.Stage, Since: t.StageAt,
		Round: t.Round, Outcome: t.Outcome, Failure: t.Failure, Warning: t.Warning, Landed: t.Landed, EndedAt: t.EndedAt,
		Sessions: len(sessions), Category: t.Category, Steps: t.Steps, Feature: t.Feature, Budget: t.Budget, ForkOf: t.ForkOf,
		Archived: t.Archived, Proof: proof(st.Landing),
	}
	if st.Session != nil {
		v.Role = st.Session.Role
	}
	if t.Model == coppice.ModelAuto {
		v.Level, v.LevelBy = engine.LevelOf(t)
	}
	for _, x := range sessions {
		v.Session = x.Key
		v.Usage = v.Usage.Add(x.Usage)
	}
	v.Taken = coppice.Asked(st.Asks, coppice.VerbTake) != nil || t.Next != nil && t.Next.Screen || st.Session != nil && st.Session.Screen && st.Session.State.Live()
	v.Can = verb.Can(verb.Facts{Now: now, Task: t, Session: st.Session, Landing: st.Landing, Asks: st.Asks, Branch: t.Sessions > 0})
	if st.Question != nil && st.Question.Open() {
		q := question(*st.Question)
		v.Question = &q
	}
	return v
}

func question(q coppice.Question) api.Question {
	return api.Question{
		ID: q.ID, Kind: q.Kind, Rule: q.Rule, Text: q.Text, Options: q.Options, AskedAt: q.AskedAt, Answer: q.Answer, AnsweredAt: q.AnsweredAt, Open: q.Open(),
	}
}

// taskKeys names tasks by key, remembering those it has looked up.
func taskKeys(r store.Reader, ids []int64, known map[int64]string) ([]string, error) {
	var out []string
	for _, id := range ids {
		if _, ok := known[id]; !ok {
			t, err := r.Tasks.Get(id)
			if err != nil {
				return nil, err
			}
			known[id] = t.Key
		}
		out = append(out, known[id])
	}
	return out, nil
}

func taskByKey(r store.Reader, key string) (coppice.Task, error) {
	_, _, session, err := coppice.ParseKey(key)
	if err != nil {
		return coppice.Task{}, err
	}
	if session != 0 {
		return coppice.Task{}, coppice.Errorf(coppice.EInvalid, "%s is a session, not a task", coppice.Quote(key)).
			WithFix("leave out the dot and what follows it")
	}
	return r.Tasks.ByKey(key)
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
