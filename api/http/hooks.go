package http

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

// Hooks knows the hooks of the user, and tests hooks.
type Hooks interface {
	UserHooks() coppice.Hooks
	TestHooks(ctx context.Context, t coppice.HookTest) ([]coppice.HookRun, error)
}

type listHooksIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only the hooks of this project, and the user's"`
}

type hookRunsIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only this project"`
	Task    string `query:"task" maxLength:"64" doc:"Only this task"`
	Event   string `query:"event" maxLength:"32" doc:"Only this event, such as landed"`
	PageIn
}

type hookRunIn struct {
	ID   string `path:"id" maxLength:"64"`
	Wait int    `query:"wait" minimum:"0" maximum:"30" doc:"Wait at most this many seconds until the run has ended"`
}

type testHooksIn struct{ Body coppice.HookTest }

func (s *Server) hookRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/hooks", id: "list-hooks", tag: "hooks", about: "List the hooks of projects and of the user, each with its newest run"}, s.listHooks)
	add(s, a, op{method: http.MethodGet, path: "/hooks/runs", id: "list-hook-runs", tag: "hooks", about: "List runs of hooks, newest first, with their output"}, s.hookRuns)
	add(s, a, op{method: http.MethodGet, path: "/hooks/runs/{id}", id: "show-hook-run", tag: "hooks", about: "Show a run of a hook, or wait for its end"}, s.hookRun)
	add(s, a, op{method: http.MethodPost, path: "/hooks/test", id: "test-hooks", tag: "hooks", about: "Run the hooks of an event without the event"}, s.testHooks)
}

func (s *Server) listHooks(ctx context.Context, in *listHooksIn) (out api.HookList, err error) {
	out = api.HookList{Hooks: []api.ConfiguredHook{}, Events: coppice.HookEvents}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		only, err := projectID(r, in.Project)
		if err != nil {
			return err
		}
		projects, err := r.Projects.All()
		if err != nil {
			return err
		}
		slices.SortFunc(projects, func(a, b coppice.Project) int { return int(a.ID - b.ID) })
		for _, p := range projects {
			if only == 0 || p.ID == only {
				if err := addHooks(r, &out, p.Policy.Hooks, p); err != nil {
					return err
				}
			}
		}
		if s.cfg.Hooks == nil {
			return nil
		}
		return addHooks(r, &out, s.cfg.Hooks.UserHooks(), coppice.Project{})
	})
	return out, err
}

// addHooks adds the hooks of a project, or of the user, each with its newest run.
func addHooks(r store.Reader, out *api.HookList, hooks coppice.Hooks, p coppice.Project) error {
	if len(hooks) == 0 {
		return nil
	}
	user := p.ID == 0
	runs, err := r.Hooks.List(store.HookFilter{ProjectID: p.ID, Most: coppice.KeptHookRuns})
	if err != nil {
		return err
	}
	for _, e := range coppice.HookEvents {
		for _, h := range hooks[e.Name] {
			hook := api.ConfiguredHook{Event: e.Name, Run: h.Run, Timeout: h.Limit(), OnFailure: h.Failure(), From: from(user), Project: p.Prefix}
			if n := slices.IndexFunc(runs, func(run coppice.HookRun) bool { return run.Event == e.Name && run.Run == h.Run && run.User == user }); n >= 0 {
				last := hookRunView(r, runs[n])
				last.Output = ""
				hook.Last = &last
			}
			out.Hooks = append(out.Hooks, hook)
		}
	}
	return nil
}

// from says whose configuration has a hook.
func from(user bool) string {
	if user {
		return "user"
	}
	return "project"
}

func (s *Server) hookRuns(ctx context.Context, in *hookRunsIn) (out api.HookRunPage, err error) {
	out.Runs = []api.HookRun{}
	if e := coppice.HookEvent(in.Event); in.Event != "" && !e.Known() {
		return out, coppice.Errorf(coppice.EInvalid, "%s is not an event of hooks", coppice.Quote(in.Event)).WithFix("GET /api/v1/hooks lists the events").WithField("event")
	}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		f := store.HookFilter{Event: coppice.HookEvent(in.Event), BeforeID: in.Before, Most: in.Limit + 1}
		var err error
		if f.ProjectID, err = projectID(r, in.Project); err != nil {
			return err
		}
		if in.Task != "" {
			t, err := r.Tasks.ByKey(in.Task)
			if err != nil {
				return err
			}
			f.TaskID = t.ID
		}
		runs, err := r.Hooks.List(f)
		if err != nil {
			return err
		}
		if len(runs) > in.Limit {
			runs = runs[:in.Limit]
			out.Next = runs[in.Limit-1].ID
		}
		for _, run := range runs {
			out.Runs = append(out.Runs, hookRunView(r, run))
		}
		return nil
	})
	return out, err
}

func (s *Server) hookRun(ctx context.Context, in *hookRunIn) (out api.HookRun, err error) {
	err = s.untilEnded(ctx, store.TopicHooks, in.Wait, func(r store.Reader) (open bool, err error) {
		run, err := r.Hooks.ByKey(in.ID)
		if err == nil {
			out, open = hookRunView(r, run), run.Open()
		}
		return open, err
	})
	return out, err
}

// untilEnded reads something again with each change of a topic, until it is not open or
// the seconds are over.
func (s *Server) untilEnded(ctx context.Context, topic string, seconds int, read func(store.Reader) (open bool, err error)) error {
	watch := s.cfg.Store.Watch(topic)
	defer watch.Close()
	wait, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	for {
		open, err := store.Read(ctx, s.cfg.Store, read)
		if err != nil || !open || seconds == 0 {
			return err
		}
		if _, err := watch.Wait(wait); err != nil {
			return nil //nolint:nilerr // the time is over, and it has not ended
		}
	}
}

func (s *Server) testHooks(ctx context.Context, in *testHooksIn) (out api.HookRunPage, err error) {
	out.Runs = []api.HookRun{}
	if s.cfg.Hooks == nil {
		return out, coppice.Errorf(coppice.EUnavailable, "this server has no hooks")
	}
	runs, err := s.cfg.Hooks.TestHooks(ctx, in.Body)
	if err != nil {
		return out, err
	}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		for _, run := range runs {
			out.Runs = append(out.Runs, hookRunView(r, run))
		}
		return nil
	})
	return out, err
}

// hookRunView makes the API's view of a run.
func hookRunView(r store.Reader, run coppice.HookRun) api.HookRun {
	v := api.HookRun{
		ID: run.Key, Event: run.Event, Run: run.Run, From: from(run.User), OnFailure: run.Failure(), Test: run.Test, Exit: run.Exit, Output: run.Output,
		Attempts: run.Attempt, At: run.At, EndedAt: run.EndedAt, TookMS: run.Took.Milliseconds(), State: run.Outcome,
	}
	switch {
	case run.Open() && run.OfferedAt.IsZero():
		v.State = "waiting"
	case run.Open():
		v.State = "running"
	default:
		v.Text = engine.HookText(run)
	}
	if p, err := r.Projects.Get(run.ProjectID); err == nil {
		v.Project = p.Prefix
	}
	if run.TaskID != 0 {
		v.Task = run.Subject
	}
	return v
}
