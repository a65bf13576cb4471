package engine

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// served opens a bundle whose project serves an app, with tasks that have a
// workspace and a running session.
func served(t *testing.T, tasks int) (*bundle, []string) {
	t.Helper()
	b := openApp(t, func(p *coppice.Project) {
		p.Policy.Workspace.Serve.Run, p.Policy.Limits.Previews, p.Policy.Limits.Sessions = "serve", 2, 9
	})
	var keys []string
	for range tasks {
		key := b.create(coppice.NewTask{Title: "a page"})[0].Key
		b.prepares(key)
		keys = append(keys, key)
	}
	return b, keys
}

func (b *bundle) preview(key string) (p coppice.Preview) {
	b.t.Helper()
	id := b.task(key).ID
	b.view(func(r store.Reader) error {
		last, err := r.Previews.Last(id)
		if last != nil {
			p = *last
		}
		return err
	})
	return p
}

// takes marks the newest work of a task as taken by a worker.
func (b *bundle) takes(key string, kind coppice.WorkKind) {
	b.t.Helper()
	w := b.unsettled(key)
	if w.Kind != kind {
		b.t.Fatalf("%s has %q to do, not %s", key, w.Kind, kind)
	}
	w.State, w.Attempt, w.LeaseUntil = coppice.WorkTaken, 1, b.clock.Add(time.Hour)
	b.update(func(tx store.Tx) error { return tx.Work.Put(&w) })
}

func (b *bundle) wantPreview(key string, state coppice.PreviewState, reason string) {
	b.t.Helper()
	if p := b.preview(key); p.State != state || !strings.Contains(p.Reason, reason) || p.Live() != p.EndedAt.IsZero() {
		b.t.Errorf("preview %+v, want %s: %s", p, state, reason)
	}
}

// A preview is started once, asked to stop until it does, and its end is stored.
func TestPreview(t *testing.T) {
	t.Parallel()
	b, keys := served(t, 1)
	key := keys[0]
	first, err := b.StartPreview(t.Context(), key)
	b.must(err)
	again, err := b.StartPreview(t.Context(), key)
	if err != nil || again.ID != first.ID || first.By == "" {
		t.Errorf("started again: %+v, %v", again, err)
	}
	b.turn()
	b.takes(key, coppice.WorkPreview)
	b.wantPreview(key, coppice.PreviewStarting, "")
	for range 2 {
		_, err = b.StopPreview(t.Context(), key)
		b.must(err)
	}
	b.turn()
	if _, err := b.StartPreview(t.Context(), key); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("started while it is being stopped: %v", err)
	}
	spec, err := coppice.DecodeSpec[coppice.StopSpec](b.unsettled(key))
	if err != nil || spec.Preview != first.ID || spec.Task != key {
		t.Errorf("stop %+v, %v", spec, err)
	}
	b.finish(key, coppice.WorkStop, coppice.StopResult{})
	b.clock = b.clock.Add(stopPause)
	b.turn()
	b.finish(key, coppice.WorkStop, coppice.StopResult{}) // it is asked again
	b.finish(key, coppice.WorkPreview, coppice.PreviewResult{})
	b.wantPreview(key, coppice.PreviewStopped, "was stopped")
	if second, err := b.StartPreview(t.Context(), key); err != nil || second.ID == first.ID {
		t.Errorf("started after its end: %+v, %v", second, err)
	}
}

// The end of a preview says why it ended.
func TestPreviewEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result any
		state  coppice.PreviewState
		reason string
	}{
		"the workspace is removed": {coppice.PreviewResult{}, coppice.PreviewStopped, "its workspace was removed"},
		"the app died":             {coppice.PreviewResult{Failure: coppice.Failf(coppice.ClassEnvironment, "exit code 3", "fix it")}, coppice.PreviewFailed, "exit code 3"},
		"the work failed":          {coppice.Failf(coppice.ClassEnvironment, "no host", ""), coppice.PreviewFailed, "no host"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, keys := served(t, 1)
			_, err := b.StartPreview(t.Context(), keys[0])
			b.must(err)
			b.turn()
			b.finish(keys[0], coppice.WorkPreview, c.result)
			b.wantPreview(keys[0], c.state, c.reason)
		})
	}
}

// A preview that no worker has started ends immediately.
func TestPreviewThatNeverStarted(t *testing.T) {
	t.Parallel()
	b, keys := served(t, 1)
	_, err := b.StartPreview(t.Context(), keys[0])
	b.must(err)
	b.turn()
	_, err = b.StopPreview(t.Context(), keys[0])
	b.must(err)
	b.turn()
	b.wantPreview(keys[0], coppice.PreviewStopped, "before it started")
	if w := b.unsettled(keys[0]); w.Kind != coppice.WorkRun {
		t.Errorf("%s is still open", w.Kind)
	}
}

// Previews are refused with a fix, and a project that is removed ends them.
func TestPreviewsAreLimited(t *testing.T) {
	t.Parallel()
	b, keys := served(t, 3)
	for _, key := range keys[:2] {
		_, err := b.StartPreview(t.Context(), key)
		b.must(err)
	}
	refused := func(what, key, cause string) {
		t.Helper()
		_, err := b.StartPreview(t.Context(), key)
		if e := coppice.Public(err); err == nil || !strings.Contains(e.Cause, cause) || e.Fix == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("a third", keys[2], "2 previews of app run")
	queued := b.create(coppice.NewTask{Title: "later", NotBefore: b.clock.Add(time.Hour)})[0].Key
	refused("without a workspace", queued, "has no workspace")
	if _, err := b.StopPreview(t.Context(), keys[2]); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("a stop of none: %v", err)
	}
	_, err := b.RemoveProject(t.Context(), "app", coppice.Remove{Force: true})
	b.must(err)
	for _, key := range keys[:2] {
		if b.preview(key).StopAt.IsZero() {
			t.Errorf("the preview of %s stays", key)
		}
	}
	b2 := open(t)
	b2.project()
	key := b2.create(coppice.NewTask{Title: "a page"})[0].Key
	b2.prepares(key)
	if _, err := b2.StartPreview(t.Context(), key); !strings.Contains(coppice.Public(err).Fix, "workspace: {serve:") {
		t.Errorf("without workspace.serve: %v", err)
	}
}
