package worker

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/host"
	"coppice/store"
)

// preview offers a preview of the repository itself, and returns its work and the
// directory of its host.
func (b *bundle) preview(run string) (work int64, dir string) {
	b.t.Helper()
	p := coppice.Preview{ProjectID: b.project.ID, TaskID: b.task.ID, State: coppice.PreviewStarting}
	b.update(func(tx store.Tx) error { return tx.Previews.Put(&p) })
	work = b.offer(coppice.WorkPreview, fmt.Sprintf("preview/%d/run", p.ID), coppice.PreviewSpec{
		ID: p.ID, Task: b.task.Key, Repo: b.repo, Path: b.repo, Serve: coppice.ServePolicy{Run: run},
	}, 0)
	return work, b.previewDir(b.task.Key, fmt.Sprint(p.ID))
}

// webApp is the command of the app that the tests serve.
func (b *bundle) webApp() string {
	b.t.Helper()
	self, err := os.Executable()
	b.must(err)
	return roleVar + "=web exec '" + self + "'"
}

func (b *bundle) lastPreview() (p coppice.Preview) {
	b.t.Helper()
	b.view(func(r store.Reader) error {
		last, err := r.Previews.Last(b.task.ID)
		if last != nil {
			p = *last
		}
		return err
	})
	return p
}

// listens reports whether something listens on the port of a preview.
func listens(p coppice.Preview) bool {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.Port))
	if err == nil {
		c.Close()
	}
	return err == nil
}

// A preview whose work was cancelled while no worker ran is ended by the next
// worker. One that a worker still holds continues.
func TestPreviewsThatNobodyFollows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	stop := b.start()
	work, dir := b.preview(b.webApp())
	b.event(coppice.EventPreviewReady, 1)
	p := b.lastPreview()
	if p.State != coppice.PreviewReady || p.Port == 0 || !listens(p) {
		t.Fatalf("preview %+v", p)
	}
	stop()
	b.open()
	stop = b.start()
	if phase, _, _, err := host.Inspect(dir); err != nil || phase != host.PhaseRunning || !listens(p) {
		t.Errorf("after a restart its host is %s, %v", phase, err)
	}
	stop()
	w := b.work(work)
	w.State = coppice.WorkCancelled
	b.update(func(tx store.Tx) error { return tx.Work.Put(&w) })
	b.open()
	defer b.start()()
	if listens(p) {
		t.Error("the app still runs")
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, "s", previewPrefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// A stop ends the app, and frees its port. An app that fails reports why, with
// secrets masked.
func TestPreviewEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.redact.Add("the secret of the app")
	defer b.start()()
	work, _ := b.preview(b.webApp())
	b.event(coppice.EventPreviewReady, 1)
	p := b.lastPreview()
	b.finished(b.offer(coppice.WorkStop, "stop", coppice.StopSpec{Preview: p.ID, Task: b.task.Key}, 0))
	r, err := coppice.DecodeResult[coppice.PreviewResult](b.finished(work))
	if err != nil || r.Failure != nil || listens(p) {
		t.Errorf("result %+v, %v", r, err)
	}
	work, _ = b.preview("echo the secret of the app; exit 3")
	r, err = coppice.DecodeResult[coppice.PreviewResult](b.finished(work))
	if err != nil || r.Failure == nil {
		t.Fatalf("result %+v, %v", r, err)
	}
	if text := r.Failure.Text; !strings.Contains(text, "exit code 3") || !strings.HasSuffix(text, "its last output:\n[redacted]") || strings.Contains(text, "secret of") {
		t.Errorf("it says %q", text)
	}
}
