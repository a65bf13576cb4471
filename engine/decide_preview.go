package engine

import (
	"fmt"
	"time"

	"coppice"
)

// preview starts the preview of a task that a person asked for, and ends it when
// they ask for that. A worker that removes the workspace ends it, too.
func preview(v *View) *Decision {
	p := v.Preview
	if p == nil || !p.Live() {
		return nil
	}
	run := v.open(coppice.WorkPreview)
	var d *Decision
	switch {
	case run == nil && !p.StopAt.IsZero():
		d = endPreview(v, coppice.PreviewStopped, "was stopped before it started", "")
	case run == nil && (v.Workspace == nil || !v.Workspace.Ready() || v.open(coppice.WorkRemove) != nil):
		d = endPreview(v, coppice.PreviewFailed, "the task has no workspace", "retry the task, or restore its workspace with `coppice undo "+v.Task.Key+"`")
	case run == nil:
		d = offerPreview(v, *p)
	case !p.StopAt.IsZero() && run.Attempt == 0:
		d = endPreview(v, coppice.PreviewStopped, "was stopped before it started", "")
		c := *run
		d.Cancel = &c
	case !p.StopAt.IsZero():
		d = stopPreview(v, *p)
	}
	if d != nil {
		d.By = "preview"
	}
	return d
}

func offerPreview(v *View, p coppice.Preview) *Decision {
	ws, policy := v.Workspace, v.Project.Policy
	return &Decision{Kind: coppice.EventWorkOffered, Reason: "starts its app", Offer: &coppice.Work{
		Kind: coppice.WorkPreview, Key: fmt.Sprintf("preview/%d/run", p.ID), Pool: v.place(coppice.WorkPreview),
		Spec: coppice.Raw(coppice.PreviewSpec{
			ID: p.ID, Task: v.Task.Key, Repo: v.Project.Path, Path: ws.Path, Branch: ws.Branch, Serve: policy.Workspace.Serve, Docker: policy.Workspace.Docker, PassEnv: policy.Workspace.PassEnv, Output: policy.Limits.Output,
		}),
	}}
}

// stopPreview asks the preview to stop, and repeats that if it does not. The time
// of the first request is in the past when the engine reads it.
func stopPreview(v *View, p coppice.Preview) *Decision {
	if v.open(coppice.WorkStop) != nil || p.StopTries > 0 && p.StopAt.Add(stopPause).After(v.Now) {
		return nil
	}
	p.StopTries++
	p.StopAt = v.Now
	return &Decision{Kind: coppice.EventWorkOffered, Reason: "asks its app to stop", Preview: &p, Offer: &coppice.Work{
		Kind: coppice.WorkStop, Key: fmt.Sprintf("preview/%d/stop/%d", p.ID, p.StopTries), Pool: v.place(coppice.WorkStop),
		Spec: coppice.Raw(coppice.StopSpec{Preview: p.ID, Task: v.Task.Key, Grace: coppice.Duration(stopGrace)}),
	}}
}

// previewDue returns when a preview that was asked to stop is asked again.
func previewDue(v *View) time.Time {
	if p := v.Preview; p != nil && p.Live() && p.StopTries > 0 {
		return p.StopAt.Add(stopPause)
	}
	return time.Time{}
}

func endPreview(v *View, state coppice.PreviewState, reason, fix string) *Decision {
	p := *v.Preview
	p.State, p.EndedAt, p.Reason, p.Fix = state, v.Now, reason, fix
	return &Decision{Kind: coppice.EventPreviewEnded, Reason: reason, Preview: &p}
}

// settlePreview stores how the app ended.
func settlePreview(v *View, w coppice.Work) *Decision {
	if v.Preview == nil || !v.Preview.Live() {
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "its preview is not known"}
	}
	r, fail := result[coppice.PreviewResult](w)
	if fail == nil {
		fail = r.Failure
	}
	switch {
	case fail != nil:
		return endPreview(v, coppice.PreviewFailed, fail.Text, fail.Fix)
	case v.Preview.StopAt.IsZero():
		return endPreview(v, coppice.PreviewStopped, "its workspace was removed", "")
	}
	return endPreview(v, coppice.PreviewStopped, "was stopped", "")
}
