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

// Limits of lists.
const (
	mostUndo  = 5
	mostTrash = 200
)

type undoListIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only of a project, by its prefix"`
	Task    string `query:"task" maxLength:"40" doc:"Only of a task, by its key"`
}

type undoTaskIn struct {
	TaskIn
	Body struct {
		Kind coppice.UndoKind `json:"kind,omitempty" enum:"landing,stop,archive,removal" doc:"What to undo; the newest thing if absent"`
	}
}

type trashIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only of a project, by its prefix"`
}

type emptyTrashIn struct {
	Body struct {
		Project   string           `json:"project,omitempty" maxLength:"16" doc:"Only of a project, by its prefix"`
		Tasks     []string         `json:"tasks,omitempty" maxItems:"100" doc:"Only of these tasks, by their keys"`
		OlderThan coppice.Duration `json:"older_than,omitempty" doc:"Only what was removed longer ago, such as 7d"`
	}
}

func (s *Server) undoRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/undo", id: "list-undo", tag: "tasks",
		about: "List the last five things that can be undone: landings, stops, archivings and removals of workspaces"}, s.listUndo)
	add(s, a, op{method: http.MethodPost, path: "/tasks/{key}/undo", id: "undo-task", tag: "tasks",
		about: "Undo the newest thing about a task, or the one that the request names"}, s.undoTask)
	add(s, a, op{method: http.MethodGet, path: "/trash", id: "list-trash", tag: "tasks", about: "List removed workspaces"}, s.listTrash)
	add(s, a, op{method: http.MethodPost, path: "/trash/empty", id: "empty-trash", tag: "tasks",
		about: "Remove removed workspaces permanently. What is in use stays"}, s.emptyTrash)
}

func (s *Server) listUndo(ctx context.Context, in *undoListIn) (out api.UndoList, err error) {
	out.Undo = []coppice.Undo{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		if in.Task != "" {
			t, err := taskByKey(r, in.Task)
			if err != nil {
				return err
			}
			u, err := engine.UndoOf(r, t, reader)
			if u != nil {
				out.Undo = append(out.Undo, *u)
			}
			return err
		}
		var project int64
		if in.Project != "" {
			p, err := r.Projects.ByPrefix(in.Project)
			if err != nil {
				return err
			}
			project = p.ID
		}
		out.Undo, err = engine.Undoable(r, project, reader, mostUndo)
		return err
	})
	return out, err
}

func (s *Server) undoTask(ctx context.Context, in *undoTaskIn) (out api.Undone, err error) {
	out.Task, err = s.act(ctx, in.Key, func(ctx context.Context) (err error) {
		out.Undone, err = s.cfg.Tasks.UndoTask(ctx, in.Key, in.Body.Kind)
		return err
	})
	return out, err
}

func (s *Server) listTrash(ctx context.Context, in *trashIn) (out api.TrashList, err error) {
	out.Trash = []api.TrashItem{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		projects, err := someProjects(r, in.Project)
		if err != nil {
			return err
		}
		for _, p := range projects {
			list, err := r.Trash.In(p.ID)
			if err != nil {
				return err
			}
			list = slices.DeleteFunc(list, func(tr coppice.Trash) bool { return !tr.ExpiresAt.After(s.cfg.Now()) }) // it is being removed
			out.More = out.More || len(list) > mostTrash
			items, err := engine.TrashItems(r, list[:min(len(list), mostTrash)])
			if err != nil {
				return err
			}
			for _, x := range items {
				out.Trash = append(out.Trash, api.TrashItem{
					Project: p.Prefix, Task: x.Task.Key, Title: x.Task.Title, Branch: x.Branch, RemovedAt: x.RemovedAt, ExpiresAt: x.ExpiresAt,
					Restores: x.Restores, Uses: x.Uses, What: x.What,
				})
			}
		}
		return nil
	})
	return out, err
}

// someProjects returns the project of a prefix, or all projects if it is empty.
func someProjects(r store.Reader, prefix string) ([]coppice.Project, error) {
	if prefix == "" {
		return r.Projects.All()
	}
	p, err := r.Projects.ByPrefix(prefix)
	return []coppice.Project{p}, err
}

func (s *Server) emptyTrash(ctx context.Context, in *emptyTrashIn) (out api.TrashEmptied, err error) {
	out.Tasks = []string{}
	if in.Body.OlderThan < 0 {
		return out, coppice.Errorf(coppice.EInvalid, "the age is negative").WithField("older_than")
	}
	var projects []coppice.Project
	err = s.cfg.Store.View(ctx, func(r store.Reader) (err error) {
		projects, err = someProjects(r, in.Body.Project)
		return err
	})
	if err != nil {
		return out, err
	}
	if len(in.Body.Tasks) > 0 {
		projects = make([]coppice.Project, 1) // the tasks have theirs
	}
	until := s.cfg.Now().Add(-time.Duration(in.Body.OlderThan))
	for _, p := range projects {
		list, err := s.cfg.Projects.EmptyTrash(ctx, p.Prefix, until, in.Body.Tasks...)
		if err != nil {
			return out, err
		}
		out.More = out.More || len(list) == engine.MostEmptied
		keys, err := s.keysOf(ctx, list)
		if err != nil {
			return out, err
		}
		out.Tasks = append(out.Tasks, keys...)
	}
	return out, nil
}

// keysOf returns the keys of the tasks whose trash it is.
func (s *Server) keysOf(ctx context.Context, list []coppice.Trash) (keys []string, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		ids := make([]int64, len(list))
		for i, tr := range list {
			ids[i] = tr.TaskID
		}
		names, err := r.Tasks.Keys(ids)
		for _, id := range ids {
			keys = append(keys, names[id])
		}
		return err
	})
	return keys, err
}
