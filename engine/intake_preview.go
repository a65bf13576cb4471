package engine

import (
	"context"

	"coppice"
	"coppice/store"
)

// StartPreview asks for the app of a task's workspace. If it runs already, that
// preview is returned.
func (i *Intake) StartPreview(ctx context.Context, key string) (coppice.Preview, error) {
	var p coppice.Preview
	err := i.store.Update(ctx, func(tx store.Tx) error {
		t, err := knownTask(tx.Reader(), key)
		if err != nil {
			return err
		}
		last, err := tx.Previews.Last(t.ID)
		if err != nil {
			return err
		}
		if last != nil && last.Live() && last.StopAt.IsZero() {
			p = *last
			return nil
		}
		if last != nil && last.Live() {
			return coppice.Errorf(coppice.EConflict, "the preview of %s is being stopped", t.Key).WithFix("start it again in a moment")
		}
		if err := previewable(tx.Reader(), t); err != nil {
			return err
		}
		p = coppice.Preview{ProjectID: t.ProjectID, TaskID: t.ID, State: coppice.PreviewStarting, By: i.by.String(), CreatedAt: i.now().UTC()}
		if err := tx.Previews.Put(&p); err != nil {
			return err
		}
		return i.event(tx, coppice.EventPreviewStarted, t, "")
	})
	return p, err
}

// previewable returns an error unless the app of a task can be served now.
func previewable(r store.Reader, t coppice.Task) error {
	project, err := r.Projects.Get(t.ProjectID)
	if err != nil {
		return err
	}
	if err := refuseRemoval(project); err != nil {
		return err
	}
	if !project.Policy.Workspace.Serve.Set() {
		return coppice.Errorf(coppice.EConflict, "the project %s does not say how its app is served: workspace.serve is missing", project.Prefix).
			WithFix("add it to coppice.yaml, for example: workspace: {serve: {run: \"npm run dev -- --port $COPPICE_PORT\"}}; see docs/verification.md")
	}
	ws, err := r.Workspaces.Of(t.ID)
	if err != nil {
		return err
	}
	if ws == nil || !ws.Ready() {
		return coppice.Errorf(coppice.EConflict, "%s has no workspace", t.Key).
			WithFix("wait until its session starts; if it has ended, restore its workspace with `coppice undo %s`", t.Key)
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

// StopPreview asks to end the preview of a task. If none runs, the newest one is
// returned as it is.
func (i *Intake) StopPreview(ctx context.Context, key string) (coppice.Preview, error) {
	var p coppice.Preview
	err := i.store.Update(ctx, func(tx store.Tx) error {
		t, err := knownTask(tx.Reader(), key)
		if err != nil {
			return err
		}
		last, err := tx.Previews.Last(t.ID)
		if err != nil {
			return err
		}
		if last == nil {
			return coppice.Errorf(coppice.ENotFound, "%s has no preview", t.Key).WithFix("start one with `coppice preview %s`", t.Key)
		}
		p = *last
		return i.stopPreview(tx, t, &p)
	})
	return p, err
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
