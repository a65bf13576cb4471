package checkout

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/features"
	"coppice/internal/clock"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/test/gitrepo"
	"coppice/test/testfile"
	"coppice/workspace"
	"coppice/workspace/git"
)

// begin is the first time of the tests' clock.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bundle is a repository, Coppice's own state, and a follower.
type bundle struct {
	t      *testing.T
	ctx    context.Context
	dir    string
	env    []string
	spaces *workspace.Workspaces
	store  store.Store
	intake *engine.Intake
	clock  *clock.Manual
	f      *Follower
	turns  chan struct{} // the loop has come round since this was last received
}

func setup(t *testing.T) *bundle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	dir := testfile.Dir(t)
	b := &bundle{t: t, ctx: ctx, dir: dir, env: environ(dir), clock: clock.NewManual(begin)}
	spaces, err := openSpaces(dir)
	b.must(err)
	b.spaces = spaces
	b.open()
	return b
}

func environ(dir string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_GLOBAL=/dev/null"}
}

func openSpaces(dir string) (*workspace.Workspaces, error) {
	runner, err := git.New(git.Config{Env: environ(dir)})
	if err != nil {
		return nil, err
	}
	return workspace.New(workspace.Config{
		Dir: filepath.Join(dir, "workspaces"), Trash: filepath.Join(dir, "trash"), Git: runner, Now: time.Now, Logger: slog.New(slog.DiscardHandler), Env: environ(dir),
	})
}

// open opens the store.
func (b *bundle) open() {
	b.t.Helper()
	s, err := sqlite.Open(b.ctx, sqlite.Config{Path: filepath.Join(b.dir, "coppice.db")})
	b.must(err)
	b.t.Cleanup(func() { _ = s.Close() }) // a test may have closed it
	b.store, b.intake = s, newIntake(s, b.clock, b.spaces)
}

// newIntake makes an intake for projects that only know the agent scripted.
func newIntake(s store.Store, c clock.Clock, w *workspace.Workspaces) *engine.Intake {
	known := func(_ coppice.Project, name string) error {
		if name != "scripted" {
			return coppice.Errorf(coppice.EInvalid, "there is no agent %s", name).WithField("agent")
		}
		return nil
	}
	inspect := func(ctx context.Context, dir string) (coppice.Project, error) { return Inspect(ctx, w, dir) }
	return engine.NewIntake(s, c.Now, inspect, known, known)
}

// start starts a follower, as a starting server does. Stop stops it.
func (b *bundle) start() (stop func()) {
	b.t.Helper()
	f, err := New(b.ctx, Config{
		Store: b.store, Intake: b.intake, Spaces: b.spaces, Old: filepath.Join(b.dir, "features"),
		Redact: func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") }, Clock: b.clock, Log: slog.New(slog.DiscardHandler),
	})
	b.must(err)
	b.f, b.turns = f, make(chan struct{}, 1)
	f.turned = func() {
		select {
		case b.turns <- struct{}{}:
		default: // it is known already
		}
	}
	return b.background(f.Run)
}

// flow lets time pass as fast as the follower waits for it, until stop is called.
func (b *bundle) flow() (stop func()) {
	return b.background(func(ctx context.Context) error {
		b.clock.Run(ctx, time.Minute)
		return nil
	})
}

// background runs f until stop is called, or the test ends.
func (b *bundle) background(f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(b.ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = f(ctx) })
	stop = func() {
		cancel()
		wg.Wait()
	}
	b.t.Cleanup(stop)
	return stop
}

// until waits until f holds.
func (b *bundle) until(what string, f func() bool) {
	b.t.Helper()
	for !f() {
		select {
		case <-b.turns:
		case <-b.ctx.Done():
			b.t.Fatalf("%s did not come about; warnings %q, tasks %v", what, b.f.Warnings(1), b.tasks())
		}
	}
}

// settled waits until the follower has read the whole log and nothing is due.
func (b *bundle) settled() {
	b.t.Helper()
	b.until("rest", func() (rests bool) {
		b.must(b.f.do(b.ctx, func() {
			last, err := b.f.position(b.ctx)
			rests = err == nil && b.f.seq == last && b.f.untilNextRetry() == longest
		}))
		return rests
	})
}

// warned waits for a warning of the first project that contains the text; ""
// means no warning.
func (b *bundle) warned(text string) (all []string) {
	b.t.Helper()
	b.until("the warning "+text, func() bool {
		all = b.f.Warnings(1)
		return text == "" && len(all) == 0 || text != "" && strings.Contains(strings.Join(all, "\n"), text)
	})
	return all
}

// project reads the first project.
func (b *bundle) project() (p coppice.Project) {
	b.t.Helper()
	b.must(b.store.View(b.ctx, func(r store.Reader) (err error) {
		p, err = r.Projects.Get(1)
		return err
	}))
	return p
}

// tasks returns the newest task of each feature.
func (b *bundle) tasks() map[string]coppice.Task {
	b.t.Helper()
	all := map[string]coppice.Task{}
	b.must(b.store.View(b.ctx, func(r store.Reader) error {
		list, err := r.Tasks.List(store.TaskFilter{OldFirst: true})
		for _, t := range list {
			all[t.Feature] = t
		}
		return err
	}))
	return all
}

// made waits until this many features have tasks.
func (b *bundle) made(n int) map[string]coppice.Task {
	b.t.Helper()
	b.until(fmt.Sprintf("%d tasks", n), func() bool { return len(b.tasks()) == n })
	return b.tasks()
}

// events returns the logged events of a kind.
func (b *bundle) events(kind coppice.EventKind) (list []coppice.Event) {
	b.t.Helper()
	b.must(b.store.View(b.ctx, func(r store.Reader) (err error) {
		list, err = r.Log.Events(0, 10000, store.EventFilter{Kinds: []coppice.EventKind{kind}})
		return err
	}))
	return list
}

// move changes a task as the engine would, and logs it.
func (b *bundle) move(feature string, kind coppice.EventKind, change func(*coppice.Task)) {
	b.t.Helper()
	t := b.tasks()[feature]
	change(&t)
	b.must(b.store.Update(b.ctx, func(tx store.Tx) error {
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: b.clock.Now(), Kind: kind, ProjectID: t.ProjectID, TaskID: t.ID, Subject: t.Key})
	}))
}

// memory returns the stored state of the first project's features file.
func (b *bundle) memory() (seen map[string]features.Seen) {
	b.t.Helper()
	b.must(b.store.View(b.ctx, func(r store.Reader) (err error) {
		seen, err = remembered(r, 1)
		return err
	}))
	return seen
}

// fails ends a task as failed.
func fails(t *coppice.Task) {
	t.Stage, t.Outcome, t.Failure = coppice.StageEnded, coppice.OutcomeFailed, &coppice.Failure{Class: coppice.ClassImplementation, Text: "too hard, s3cret"}
}

// save replaces a file as an editor does.
func (b *bundle) save(file, text string) {
	b.t.Helper()
	b.must(os.WriteFile(file+"~", []byte(text), 0o600))
	b.must(os.Rename(file+"~", file))
}

// read reads a file.
func (b *bundle) read(file string) string {
	b.t.Helper()
	text, err := os.ReadFile(file)
	b.must(err)
	return string(text)
}

func (b *bundle) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) git(dir string, args ...string) {
	b.t.Helper()
	gitrepo.Repo{Dir: dir, Env: b.env}.Git(b.t, args...)
}

// repo creates a repository with these files committed.
func (b *bundle) repo(files map[string]string) string {
	b.t.Helper()
	return gitrepo.New(b.t, filepath.Join(b.dir, "app"), b.env, files).Dir
}
