//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// idlePool is how many worktrees of a repository are kept for the next task.
const idlePool = 8

// allCleaned waits until the workspaces of ended tasks are in the trash.
func (w *world) allCleaned(keys []string) {
	w.t.Helper()
	for _, key := range keys {
		w.await(key, "its workspace in the trash", func(d api.TaskDetail) bool { return d.Workspace == nil || !d.Workspace.RemovedAt.IsZero() })
	}
}

// checkBase checks that each task landed exactly once, that every commit of
// the base passes the check, and that the checkout followed.
func (w *world) checkBase(keys []string) {
	w.t.Helper()
	counts := map[string]int{}
	for _, key := range strings.Fields(w.git("log", "--format=%(trailers:key=Coppice-Task,valueonly)", "main")) {
		counts[key]++
	}
	for _, key := range keys {
		if counts[key] != 1 {
			w.t.Errorf("%s landed %d times", key, counts[key])
		}
	}
	if len(counts) != len(keys) {
		w.t.Errorf("%d tasks landed, %d were asked for", len(counts), len(keys))
	}
	for _, commit := range strings.Fields(w.git("rev-list", "main")) {
		dir := filepath.Join(w.Root, "commit-"+commit)
		if err := os.Mkdir(dir, 0o755); err != nil {
			w.t.Fatal(err)
		}
		var tar bytes.Buffer
		archive := exec.Command("git", "archive", commit)
		archive.Dir, archive.Env, archive.Stdout = w.repo, w.Env(), &tar
		extract := exec.Command("tar", "-x")
		extract.Dir, extract.Stdin = dir, &tar
		if err := errors.Join(archive.Run(), extract.Run()); err != nil {
			w.t.Fatal(err)
		}
		check := exec.Command("sh", "check.sh")
		check.Dir = dir
		if out, err := check.CombinedOutput(); err != nil {
			w.t.Errorf("the base at %s does not pass: %v\n%s", commit, err, out)
		}
	}
	if got := w.git("status", "--porcelain"); got != "" {
		w.t.Errorf("the checkout did not follow cleanly:\n%s", got)
	}
}

// checkOutput checks that every byte is accounted for: all of it up to the end
// of each spool that is known, and everything that a successful session said.
func (w *world) checkOutput(ends map[int64]int64, said []string) {
	w.t.Helper()
	st := w.openStore()
	err := st.View(w.t.Context(), func(r store.Reader) error {
		tasks, err := r.Tasks.List(store.TaskFilter{})
		if err != nil {
			return err
		}
		var wrong []error
		for _, task := range tasks {
			sessions, err := r.Sessions.Of(task.ID)
			if err != nil {
				return err
			}
			for _, s := range sessions {
				wrong = append(wrong, checkSession(r, task, s, ends, said))
			}
		}
		return errors.Join(wrong...)
	})
	if err := errors.Join(err, st.Close()); err != nil {
		w.t.Error(err)
	}
}

func checkSession(r store.Reader, task coppice.Task, s coppice.Session, ends map[int64]int64, said []string) error {
	if s.State.Live() {
		return fmt.Errorf("%s is still %s", s.Key, s.State)
	}
	stdout, err := accounted(r, s)
	if err != nil {
		return err
	}
	if end, ok := ends[s.ID]; ok && end != s.Cursor {
		return fmt.Errorf("%s (%s): its spool ended at %d, its cursor is at %d", s.Key, s.State, end, s.Cursor)
	}
	if s.State != coppice.SessionDone {
		return nil
	}
	got, whole, err := texts(stdout)
	if err != nil || !whole {
		return fmt.Errorf("%s: its last line is there: %t: %w", s.Key, whole, err)
	}
	if strings.HasPrefix(task.Title, "Flood") && !slices.Equal(got, said) {
		return fmt.Errorf("%s said %d texts, %d are there", s.Key, len(said), len(got))
	}
	return nil
}

// checkLeftovers checks that nothing is left on disk but what is kept on
// purpose.
func (w *world) checkLeftovers() {
	w.t.Helper()
	sessions, err := filepath.Glob(filepath.Join(w.State, "sessions", "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, dir := range sessions {
		w.t.Errorf("a session's directory is left: %s", dir)
	}
	w.checkRepository()
	slots, err := filepath.Glob(filepath.Join(w.State, "workspaces", "*", "coppice-*.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, file := range slots {
		b, err := os.ReadFile(file)
		if err != nil {
			w.t.Fatal(err)
		}
		if check := strings.HasPrefix(filepath.Base(file), "coppice-check-"); !check && !bytes.Contains(b, []byte(`"state":"idle"`)) {
			w.t.Errorf("a workspace is not idle: %s", b)
		}
	}
}

// checkIdle waits until few workspaces are left, besides those that are kept: the
// server removes the others when it is idle.
func (w *world) checkIdle(kept int) {
	w.t.Helper()
	w.eventually("the end of the other workspaces", func() bool {
		work, checks := w.spaces()
		return work-kept <= idlePool && checks <= idlePool
	})
}
