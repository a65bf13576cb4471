package http

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

// Schedules takes requests about schedules.
type Schedules interface {
	AddSchedule(ctx context.Context, project string, n coppice.NewSchedule) (coppice.Schedule, error)
	PauseSchedule(ctx context.Context, project, name string, on bool) (coppice.Schedule, error)
	RunSchedule(ctx context.Context, project, name string) (coppice.Schedule, error)
	RemoveSchedule(ctx context.Context, project, name string) (coppice.Schedule, error)
}

// The times and runs of a schedule that an answer has.
const (
	mostTimes = 3
	mostRuns  = 50
)

type listSchedulesIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only this project"`
}

// ScheduleIn names a schedule. It is exported for the same reason as ProjectIn.
type ScheduleIn struct {
	ProjectIn
	Name string `path:"name" maxLength:"64" doc:"The name of a schedule"`
}

func (s *Server) scheduleRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/schedules", id: "list-schedules", tag: "schedules", about: "List schedules"}, s.listSchedules)
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/schedules", id: "add-schedule", tag: "schedules",
		about: "Create a task again and again, by an interval or a cron line", status: http.StatusCreated, body: taskBody}, s.addSchedule)
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/schedules/{name}", id: "show-schedule", tag: "schedules",
		about: "Show a schedule, its task and its newest runs"}, s.showSchedule)
	add(s, a, op{method: http.MethodDelete, path: "/projects/{project}/schedules/{name}", id: "remove-schedule", tag: "schedules",
		about: "Remove a schedule; its tasks stay"}, s.removeSchedule)
	for _, x := range []struct {
		verb, about string
		do          func(context.Context, *ScheduleIn) (coppice.Schedule, error)
	}{
		{"run", "Start a run now; refused while a run has not ended", func(ctx context.Context, in *ScheduleIn) (coppice.Schedule, error) {
			return s.cfg.Schedules.RunSchedule(ctx, in.Project, in.Name)
		}},
		{"pause", "Pause a schedule; a run that has started continues", func(ctx context.Context, in *ScheduleIn) (coppice.Schedule, error) {
			return s.cfg.Schedules.PauseSchedule(ctx, in.Project, in.Name, true)
		}},
		{"resume", "Resume a paused schedule", func(ctx context.Context, in *ScheduleIn) (coppice.Schedule, error) {
			return s.cfg.Schedules.PauseSchedule(ctx, in.Project, in.Name, false)
		}},
	} {
		add(s, a, op{method: http.MethodPost, path: "/projects/{project}/schedules/{name}/" + x.verb, id: x.verb + "-schedule", tag: "schedules", about: x.about},
			func(ctx context.Context, in *ScheduleIn) (api.Schedule, error) {
				return s.changeSchedule(ctx, func() (coppice.Schedule, error) { return x.do(ctx, in) })
			})
	}
}

// changeSchedule changes a schedule and returns it as it is afterwards.
func (s *Server) changeSchedule(ctx context.Context, do func() (coppice.Schedule, error)) (out api.Schedule, err error) {
	if s.cfg.Schedules == nil {
		return out, coppice.Errorf(coppice.EUnavailable, "this server has no schedules")
	}
	changed, err := do()
	if err != nil {
		return out, err
	}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		if now, err := r.Schedules.Get(changed.ID); err == nil { // it might be removed
			changed = now
		}
		out, err = s.scheduleView(r, changed)
		return err
	})
	return out, err
}

func (s *Server) addSchedule(ctx context.Context, in *inProject[coppice.NewSchedule]) (api.Schedule, error) {
	return s.changeSchedule(ctx, func() (coppice.Schedule, error) { return s.cfg.Schedules.AddSchedule(ctx, in.Project, in.Body) })
}

func (s *Server) removeSchedule(ctx context.Context, in *ScheduleIn) (api.Schedule, error) {
	return s.changeSchedule(ctx, func() (coppice.Schedule, error) { return s.cfg.Schedules.RemoveSchedule(ctx, in.Project, in.Name) })
}

func (s *Server) listSchedules(ctx context.Context, in *listSchedulesIn) (out api.ScheduleList, err error) {
	out.Schedules = []api.Schedule{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		only, err := projectID(r, in.Project)
		if err != nil {
			return err
		}
		all, err := r.Schedules.In(only)
		if err != nil {
			return err
		}
		for _, one := range all {
			v, err := s.scheduleView(r, one)
			if err != nil {
				return err
			}
			out.Schedules = append(out.Schedules, v)
		}
		return nil
	})
	return out, err
}

func (s *Server) showSchedule(ctx context.Context, in *ScheduleIn) (out api.ScheduleDetail, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		one, err := engine.FindSchedule(r, in.Project, in.Name)
		if err != nil {
			return err
		}
		if out.Schedule, err = s.scheduleView(r, one); err != nil {
			return err
		}
		runs, err := r.Tasks.List(store.TaskFilter{Schedule: one.ID, Archived: store.ArchivedToo, Most: mostRuns})
		if err != nil {
			return err
		}
		out.Task = one.Task
		if out.History, err = s.views(ctx, r, runs); out.History == nil {
			out.History = []api.Task{}
		}
		for i := range out.History {
			out.History[i].Body, out.History[i].Steps = "", nil
		}
		return err
	})
	return out, err
}

// scheduleView makes the API's view of a schedule.
func (s *Server) scheduleView(r store.Reader, x coppice.Schedule) (api.Schedule, error) {
	v := api.Schedule{
		Name: x.Name, State: "waiting", Title: x.Task.Title, Every: x.Every, Cron: x.Cron, When: x.When(), Always: x.Always, Next: []time.Time{}, Why: x.Why, Problem: x.Problem,
		Runs: x.Runs, Last: x.LastKey, LastAt: x.LastAt, CreatedAt: x.CreatedAt, CreatedBy: x.CreatedBy,
	}
	if x.Task.Flow != nil {
		v.Flow = x.Task.Flow.Kind
	}
	pause := "pause"
	switch {
	case x.Paused():
		v.State, pause = "paused", "resume"
	case x.NextAt.IsZero():
		v.State = "running"
	default:
		v.Next = engine.NextRuns(x, s.cfg.Zone, mostTimes)
	}
	open, err := engine.OpenRun(r, x.ID)
	if err != nil {
		return v, err
	}
	if open != nil {
		v.Open = open.Key
	} else {
		v.Can = append(v.Can, "run")
	}
	v.Can = append(v.Can, pause, "remove")
	p, err := r.Projects.Get(x.ProjectID)
	v.Project = p.Prefix
	return v, err
}
