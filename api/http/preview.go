package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/engine"
	"coppice/store"
)

func (s *Server) previewRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/tasks/{key}/preview", id: "show-preview", tag: "tasks", about: "Show the newest preview of a task's app"}, s.showPreview)
	add(s, a, op{method: http.MethodPost, path: "/tasks/{key}/preview", id: "start-preview", tag: "tasks",
		about: "Start the app of a task's workspace; if it runs already, this changes nothing"}, func(ctx context.Context, in *TaskIn) (coppice.Preview, error) {
		return s.cfg.Tasks.StartPreview(ctx, in.Key)
	})
	add(s, a, op{method: http.MethodDelete, path: "/tasks/{key}/preview", id: "stop-preview", tag: "tasks",
		about: "Stop the app of a task's workspace; an event reports its end"}, func(ctx context.Context, in *TaskIn) (coppice.Preview, error) {
		return s.cfg.Tasks.StopPreview(ctx, in.Key)
	})
}

func (s *Server) showPreview(ctx context.Context, in *TaskIn) (out coppice.Preview, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		t, err := taskByKey(r, in.Key)
		if err != nil {
			return err
		}
		p, err := r.Previews.Last(t.ID)
		if err == nil && p == nil {
			err = coppice.Errorf(coppice.ENotFound, "%s has no preview", t.Key).WithFix("start one with `coppice preview %s`", t.Key)
		}
		if err == nil {
			out = *p
		}
		return err
	})
	return out, err
}

// apps are the facts about workspaces that decide about actions, by task.
type apps struct {
	live    map[int64]coppice.Preview
	ready   map[int64]bool // it has a workspace
	trashed map[int64]bool // its workspace is in the trash
}

// readApps reads whose app runs, whose could, and whose workspace is in the trash.
func readApps(r store.Reader, tasks []coppice.Task, statuses []engine.TaskStatus) (a apps, err error) {
	live, err := r.Previews.Live() // usually few
	if err != nil {
		return a, err
	}
	a.live = make(map[int64]coppice.Preview, len(live))
	for _, p := range live {
		a.live[p.TaskID] = p
	}
	var serve []int64
	for i, t := range tasks {
		if statuses[i].Serves && t.Sessions > 0 { // otherwise it has no workspace
			serve = append(serve, t.ID)
		}
	}
	if len(serve) > 0 {
		if a.ready, err = engine.ReadyWorkspaces(r, serve); err != nil {
			return a, err
		}
	}
	a.trashed, err = engine.TrashedWorkspaces(r, tasks)
	return a, err
}
