package checkout

import (
	"os"
	"path/filepath"
	"testing"

	"coppice"
)

func TestPrefix(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{
		"/src/app": "app", "/src/My-App": "myapp", "/src/2048": "task", "/src/2fast2furious": "fast2furious", "/": "task", "/src/über": "ber",
		"/src/a-very-long-name-indeed": "averylongnam", "/src/日本": "task", "/src/x.y_z": "xyz",
	} {
		got := prefix(dir)
		if got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
		if err := coppice.ValidPrefix(got); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo := b.repo(map[string]string{"coppice.yaml": "agent: {use: scripted}\nbase: main\n", "sub/a.txt": "a\n"})
	p, err := Inspect(b.ctx, b.spaces, filepath.Join(repo, "sub"))
	b.must(err)
	if p.Path != repo || p.Prefix != "app" || p.Policy.Base != "main" || p.Policy.Agent.Use != "scripted" || p.BaseCommit == "" || p.ID != 0 {
		t.Errorf("project %+v", p)
	}
	bad := func(name, dir string) {
		t.Helper()
		_, err := Inspect(b.ctx, b.spaces, dir)
		if e := coppice.Public(err); err == nil || e.Code == coppice.EInternal {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad("no repository", b.dir)
	bad("no directory", filepath.Join(b.dir, "nowhere"))
	b.must(os.WriteFile(filepath.Join(repo, "coppice.yaml"), []byte("agent: [\n"), 0o644))
	bad("broken policy", repo)
	b.must(os.WriteFile(filepath.Join(repo, "coppice.yaml"), []byte("base: nowhere\n"), 0o644))
	bad("no such base", repo)
}
