package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"coppice"
	"coppice/agent"
	"coppice/host"
	"coppice/workspace"
)

// previewPrefix starts the names of the directories of previews, which are beside
// those of sessions.
const previewPrefix = "preview-"

// previewDir returns the directory of a preview; "*" as its id matches all of the
// task.
func (w *Worker) previewDir(task, id string) string {
	return filepath.Join(w.cfg.Sessions, previewPrefix+task+"."+id)
}

// preview serves the app of a workspace until it ends or is stopped. It starts the
// host or finds it, and reports the app and its output.
func (w *Worker) preview(ctx context.Context, l coppice.Lease) (any, error) {
	return with(ctx, l, func(ctx context.Context, spec coppice.PreviewSpec) (coppice.PreviewResult, error) {
		dir := w.previewDir(spec.Task, fmt.Sprint(spec.ID))
		port, err := w.cfg.Workspaces.PreviewPort(ctx, spec.Repo, spec.Task, spec.Path)
		if err != nil {
			return coppice.PreviewResult{}, err
		}
		app, address := w.served(spec.Serve, spec.Docker, spec.PassEnv, workspace.Env(spec.Task, spec.Path, spec.Branch, []int{port}), port)
		err = host.Start(ctx, w.cfg.Host, dir, host.Spec{
			Session: spec.Task, Grace: coppice.Duration(stopGrace), App: app, Output: spec.Output, Request: agent.Request{Dir: spec.Path},
		}, "")
		if err == nil {
			err = w.followPreview(ctx, l, dir, spec.Serve.Run, coppice.ServedApp{Port: port, Address: address})
		}
		if ctx.Err() != nil {
			return coppice.PreviewResult{}, ctx.Err() // the app continues, and the next holder of the item finds it
		}
		if err != nil {
			err = errors.Join(err, w.abandon(ctx, dir))
		}
		res, ended := concludePreview(ctx, dir)
		return res, errors.Join(err, ended, w.cfg.Workspaces.FreePreviewPort(ctx, spec.Repo, spec.Task))
	})
}

// concludePreview returns how the app ended. It ends the processes that a lost host
// left behind.
func concludePreview(ctx context.Context, dir string) (res coppice.PreviewResult, err error) {
	phase, _, exit, err := host.Inspect(dir)
	switch {
	case err != nil:
		return res, err
	case phase == host.PhaseLost:
		res.Failure = coppice.Failf(coppice.ClassLost, "the process that looks after the app was killed, so the app was stopped", "start it again")
		return res, host.Kill(ctx, dir)
	case exit != nil && !exit.Stopped:
		res.Failure = exit.Outcome.Failure
	}
	return res, nil
}

// followPreview reports the app and its output until its host has ended.
func (w *Worker) followPreview(ctx context.Context, l coppice.Lease, dir, command string, app coppice.ServedApp) error {
	p := w.newProgress(ctx, l)
	defer p.close()
	p.Started(command, false)
	p.serve(app)
	spool, err := host.OpenSpool(dir, 0)
	if err != nil {
		return err
	}
	defer spool.Close()
	drain := func() error { return p.drain(spool, app) }
	for {
		phase, _, exit, err := host.Inspect(dir)
		if err != nil {
			return err
		}
		if phase != host.PhaseRunning {
			end := coppice.CommandRun{}
			if exit != nil {
				end.Exit, end.Signal = exit.Code, exit.Signal
			}
			err := drain()
			p.Ended(end)
			return err
		}
		if err := w.listenTo(ctx, dir, drain); err != nil {
			return err
		}
	}
}

// listenTo calls f whenever the host has written something, until it ends.
func (w *Worker) listenTo(ctx context.Context, dir string, f func() error) error {
	c, err := host.Dial(ctx, dir)
	if err == nil {
		defer c.Close()
		var failed error
		err = c.Follow(ctx, func(int64) { failed = errors.Join(failed, f()) })
		if failed != nil {
			return failed
		}
	}
	if ctx.Err() == nil && (errors.Is(err, host.ErrGone) || errors.Is(err, io.EOF)) {
		return nil
	}
	return err
}

// drain reports what the spool has: the app's output, and that it is ready.
func (p *progress) drain(r *host.Reader, app coppice.ServedApp) error {
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if f.Kind == coppice.OutputApp {
			p.Output(f.Data)
			continue
		}
		if ev, ok := coppice.ReadAgentEvent(f.Data); ok && f.Kind == coppice.OutputHost && ev.Name == coppice.NameAppReady {
			app.Ready = true
			p.serve(app)
		}
	}
}

// serve reports the app.
func (p *progress) serve(app coppice.ServedApp) { p.change(func() { p.app = &app }) }

// remove removes a workspace, and ends the preview of its app first.
func (w *Worker) remove(ctx context.Context, l coppice.Lease) (any, error) {
	return with(ctx, l, func(ctx context.Context, s coppice.RemoveSpec) (coppice.RemoveResult, error) {
		if l.Work.SessionID == 0 { // not the worktree of a verifier
			if err := w.endPreviews(ctx, s.Key, "*"); err != nil {
				return coppice.RemoveResult{}, err
			}
		}
		return w.cfg.Workspaces.Remove(ctx, s)
	})
}

// endPreviews ends previews of a task, and waits until no process is left.
func (w *Worker) endPreviews(ctx context.Context, task, id string) error {
	dirs, err := filepath.Glob(w.previewDir(task, id))
	for _, dir := range dirs {
		if phase, _, _, err := host.Inspect(dir); err != nil || phase != host.PhaseRunning && phase != host.PhaseLost {
			continue
		}
		if failed := w.abandon(ctx, dir); failed != nil {
			err = errors.Join(err, fmt.Errorf("ending the app in %s: %w", dir, failed))
		}
	}
	return err
}

// sweepPreviews ends previews that nobody follows any more, and removes what
// ended ones left.
func (w *Worker) sweepPreviews(ctx context.Context, held []coppice.Lease) error {
	var keep []string
	for _, l := range held {
		if s, err := coppice.DecodeSpec[coppice.PreviewSpec](l.Work); err == nil && l.Work.Kind == coppice.WorkPreview {
			keep = append(keep, w.previewDir(s.Task, fmt.Sprint(s.ID)))
		}
	}
	dirs, err := filepath.Glob(filepath.Join(w.cfg.Sessions, previewPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if slices.Contains(keep, dir) {
			continue
		}
		phase, _, _, err := host.Inspect(dir)
		if err == nil && phase == host.PhaseRunning || phase == host.PhaseLost {
			err = w.abandon(ctx, dir)
		}
		if err = errors.Join(err, host.Clean(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
			w.cfg.Logger.Warn("cleaning up after a preview failed", "directory", dir, "error", err)
		}
	}
	return nil
}
