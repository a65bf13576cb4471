package checkout

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice/workspace"
	"coppice/workspace/git"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bundle is a directory for repositories and Coppice's own state.
type bundle struct {
	t      *testing.T
	ctx    context.Context
	dir    string
	env    []string
	spaces *workspace.Workspaces
}

func setup(t *testing.T) *bundle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle{t: t, ctx: ctx, dir: dir, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_GLOBAL=/dev/null"}}
	runner, err := git.New(git.Config{Env: b.env})
	b.must(err)
	b.spaces, err = workspace.New(workspace.Config{
		Dir: filepath.Join(dir, "workspaces"), Trash: filepath.Join(dir, "trash"), Git: runner, Now: time.Now, Logger: slog.New(slog.DiscardHandler), Env: b.env,
	})
	b.must(err)
	return b
}

func (b *bundle) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) git(dir string, args ...string) {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, b.env
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repo makes a repository with these files committed.
func (b *bundle) repo(files map[string]string) string {
	b.t.Helper()
	dir := filepath.Join(b.dir, "app")
	b.must(os.MkdirAll(dir, 0o755))
	b.git(dir, "init", "-q", "-b", "main")
	b.git(dir, "config", "user.name", "Ann")
	b.git(dir, "config", "user.email", "ann@example.org")
	for name, text := range files {
		b.must(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		b.must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	b.git(dir, "add", "-A")
	b.git(dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}
