package engine

import (
	"context"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// StartPreview asks for the app of a task's workspace. If it runs already, that
// preview is returned.
func (i *Intake) StartPreview(ctx context.Context, key string) (coppice.Preview, error) {
	return i.changePreview(ctx, key, func(tx store.Tx, t coppice.Task, last *coppice.Preview) (p coppice.Preview, err error) {
		if last != nil && last.Live() && last.StopAt.IsZero() {
			return *last, nil
		}
		if err := previewable(tx.Reader(), t, last); err != nil {
			return p, err
		}
		p = coppice.Preview{ProjectID: t.ProjectID, TaskID: t.ID, State: coppice.PreviewStarting, By: i.by.String(), CreatedAt: i.now().UTC()}
		if err := tx.Previews.Put(&p); err != nil {
			return p, err
		}
		return p, i.event(tx, coppice.EventPreviewStarted, t, "")
	})
}

// changePreview runs f with a task and its newest preview, which is nil if it has
// none, and returns the preview that f returns.
func (i *Intake) changePreview(ctx context.Context, key string, f func(tx store.Tx, t coppice.Task, last *coppice.Preview) (coppice.Preview, error)) (p coppice.Preview, err error) {
	err = i.store.Update(ctx, func(tx store.Tx) error {
		t, err := knownTask(tx.Reader(), key)
		if err != nil {
			return err
		}
		last, err := tx.Previews.Last(t.ID)
		if err != nil {
			return err
		}
		p, err = f(tx, t, last)
		return err
	})
	return p, err
}

// previewable returns an error unless the app of a task can be served now.
func previewable(r store.Reader, t coppice.Task, last *coppice.Preview) error {
	project, err := knownProject(r.Projects.Get(t.ProjectID))
	if err != nil {
		return err
	}
	ready, err := ReadyWorkspaces(r, []int64{t.ID})
	if err != nil {
		return err
	}
	f := verb.Facts{Task: t, Preview: last, Serves: project.Policy.Workspace.Serve.Set(), Workspace: ready[t.ID]}
	if err := verb.Refuses(verb.Preview, f); err != nil {
		return err
	}
	live, err := r.Previews.Live()
	if err != nil {
		return err
	}
	n := 0
	for _, p := range live {
		if p.ProjectID == t.ProjectID {
			n++
		}
	}
	if most := project.Policy.Limits.MostPreviews(); n >= most {
		return coppice.Errorf(coppice.EConflict, "%d previews of %s run, which is its limit", n, project.Prefix).
			WithFix("stop one with `coppice preview KEY --stop`, or raise limits.previews in coppice.yaml")
	}
	return nil
}

// ReadyWorkspaces returns which tasks have a workspace that is ready and not being
// removed. The number of its queries does not depend on the number of tasks.
func ReadyWorkspaces(r store.Reader, tasks []int64) (map[int64]bool, error) {
	all, err := r.Workspaces.OfEach(tasks)
	if err != nil {
		return nil, err
	}
	removals, err := r.Work.Open(coppice.WorkRemove)
	ready := make(map[int64]bool, len(all))
	for id, ws := range all {
		ready[id] = ws.Ready()
	}
	for _, w := range removals {
		delete(ready, w.TaskID)
	}
	return ready, err
}

// StopPreview asks to end the preview of a task. If none runs, the newest one is
// returned as it is.
func (i *Intake) StopPreview(ctx context.Context, key string) (coppice.Preview, error) {
	return i.changePreview(ctx, key, func(tx store.Tx, t coppice.Task, last *coppice.Preview) (coppice.Preview, error) {
		if last == nil {
			return coppice.Preview{}, coppice.Errorf(coppice.ENotFound, "%s has no preview", t.Key).WithFix("start one with `coppice preview %s`", t.Key)
		}
		err := i.stopPreview(tx, t, last)
		return *last, err
	})
}

// stopPreview asks a preview to stop, once.
func (i *Intake) stopPreview(tx store.Tx, t coppice.Task, p *coppice.Preview) error {
	if !p.Live() || !p.StopAt.IsZero() {
		return nil
	}
	p.StopAt = i.now().UTC()
	if err := tx.Previews.Put(p); err != nil {
		return err
	}
	return i.event(tx, coppice.EventPreviewStop, t, "")
}

// stopPreviews asks all previews of a project to stop: it is being removed.
func (i *Intake) stopPreviews(tx store.Tx, project int64) error {
	live, err := tx.Previews.Live()
	if err != nil {
		return err
	}
	for _, p := range live {
		if p.ProjectID != project {
			continue
		}
		t, err := tx.Tasks.Get(p.TaskID)
		if err != nil {
			return err
		}
		if err := i.stopPreview(tx, t, &p); err != nil {
			return err
		}
	}
	return nil
}
