package git

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSettingsAreNeverStale changes configuration in every way a person or an
// agent can and expects to read it.
func TestSettingsAreNeverStale(t *testing.T) {
	t.Parallel()
	home, repo := t.TempDir(), t.TempDir()
	r, err := New(Config{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}} {
		if _, err := r.Run(ctx, repo, args...); err != nil {
			t.Fatal(err)
		}
	}
	linked := filepath.Join(t.TempDir(), "linked")
	if _, err := r.Run(ctx, repo, "worktree", "add", "-q", "-b", "other", linked); err != nil {
		t.Fatal(err)
	}
	value := func(dir, key string) string {
		t.Helper()
		list, err := r.Settings(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range list {
			if s.Key == key {
				got = s.Value
			}
		}
		return got
	}
	// The files are made to look old, so that what is read of them is kept.
	age := func(files ...string) {
		t.Helper()
		for _, f := range files {
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(f, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	config, global := filepath.Join(repo, ".git", "config"), filepath.Join(home, ".gitconfig")
	for i, dir := range []string{repo, linked} {
		for _, want := range []string{"one", "two"} {
			if _, err := r.Run(ctx, dir, "config", "filter.x.clean", want); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if got := value(dir, "filter.x.clean"); got != want {
					t.Fatalf("case %d: got %q, want %q", i, got, want)
				}
			}
			age(config)
			if got := value(dir, "filter.x.clean"); got != want {
				t.Fatalf("case %d: got %q, want %q", i, got, want)
			}
		}
	}
	if got := value(repo, "user.name"); got != "" {
		t.Fatalf("user.name is %q", got)
	}
	if err := os.WriteFile(global, []byte("[user]\n\tname = Ada\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := value(repo, "user.name"); got != "Ada" {
		t.Fatalf("a new global file is not seen: %q", got)
	}
}

// TestSettingsAreRemembered checks that the memory is used at all.
func TestSettingsAreRemembered(t *testing.T) {
	t.Parallel()
	m := newMemory([]string{"HOME=" + t.TempDir()})
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "config"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := m.print(dir, time.Now()); ok {
		t.Error("a file that was just written is trusted")
	}
	print, ok := m.print(dir, time.Now().Add(time.Minute))
	if !ok {
		t.Fatal("an old file is not trusted")
	}
	m.keep(print, []Setting{{Key: "a.b"}})
	if list, ok := m.recall(print); !ok || len(list) != 1 {
		t.Error("what was kept is not recalled")
	}
	if _, ok := m.recall(print + "x"); ok {
		t.Error("what was kept for other files is recalled")
	}
	m.keep("included", []Setting{{Key: "include.path"}})
	if _, ok := m.recall("included"); ok {
		t.Error("settings with an include are kept")
	}
}
