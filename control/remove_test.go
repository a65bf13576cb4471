package control

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/control/checkout"
	"coppice/engine"
	"coppice/internal/clock"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/workspace"
	"coppice/workspace/git"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A removal that fails reports why, and is retried later.
func TestARemovalThatFailed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(err)
	log := slog.New(slog.DiscardHandler)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_GLOBAL=/dev/null"}
	repo := filepath.Join(dir, "app")
	for _, args := range [][]string{{"init", "-q", "-b", "main", repo}, {"-C", repo, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	runner, err := git.New(git.Config{Env: env})
	must(err)
	spaces, err := workspace.New(workspace.Config{Dir: filepath.Join(dir, "workspaces"), Trash: filepath.Join(dir, "trash"), Git: runner, Now: time.Now, Logger: log, Env: env})
	must(err)
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "coppice.db")})
	must(err)
	defer s.Close()
	times := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	known := func(coppice.Project, string) error { return nil }
	inspect := func(ctx context.Context, dir string) (coppice.Project, error) {
		return checkout.Inspect(ctx, spaces, dir)
	}
	intake := engine.NewIntake(s, times.Now, inspect, known, known)
	_, err = intake.AddProject(ctx, repo)
	must(err)
	until := func(what string, f func([]coppice.Project) bool) {
		t.Helper()
		for {
			var all []coppice.Project
			var seq int64
			must(s.View(ctx, func(r store.Reader) (err error) {
				if _, seq, err = r.Log.Bounds(); err == nil {
					all, err = r.Projects.All()
				}
				return err
			}))
			if f(all) {
				return
			}
			if err := s.WaitEvent(ctx, seq); err != nil {
				t.Fatalf("%s did not come about: %v", what, err)
			}
		}
	}

	sessions := filepath.Join(dir, "sessions")
	must(os.WriteFile(sessions, nil, 0o600)) // no directory, so nothing in it can be cleaned
	r := NewRemover(s, intake, spaces, sessions, times, log)
	running, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.Run(running) })
	defer wg.Wait()
	defer stop()
	_, err = r.Remove(ctx, "app", coppice.Remove{})
	must(err)
	until("a problem", func(all []coppice.Project) bool { return len(all) == 1 && all[0].Removal.Problem != "" })
	must(times.WaitAt(ctx, removeAgain))
	must(os.Remove(sessions))
	times.Advance(removeAgain)
	until("the removal", func(all []coppice.Project) bool { return len(all) == 0 })
}
