package gitfiles

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestAddAllIsGits stages random files with random ignore rules, with this package
// and with git. The entries are the same.
func TestAddAllIsGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	name := rapid.SampledFrom([]string{"a", "b", "d", "ab", "a.x", "b.x"})
	file := rapid.Custom(func(rt *rapid.T) string { return strings.Join(rapid.SliceOfN(name, 1, 3).Draw(rt, "path"), "/") })
	part := rapid.SampledFrom([]string{"a", "b", "d", "*", "a*", "*b", "*.x", "*.*", "a*x"})
	pattern := rapid.Custom(func(rt *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "!", "#", "/", "!/"}).Draw(rt, "start") + strings.Join(rapid.SliceOfN(part, 1, 3).Draw(rt, "parts"), "/") +
			rapid.SampledFrom([]string{"", "", "/", "\n"}).Draw(rt, "end")
	})
	rules := rapid.Custom(func(rt *rapid.T) string { return strings.Join(rapid.SliceOfN(pattern, 0, 4).Draw(rt, "rules"), "\n") })
	staged := 0
	rapid.Check(t, func(rt *rapid.T) {
		for _, f := range rapid.SliceOfN(file, 1, 6).Draw(rt, "files") {
			switch at := filepath.Join(b.root, f); rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				_ = os.RemoveAll(at)
			case 1:
				place(at, func() { _ = os.Symlink("a", at) })
			case 2:
				place(at, func() { _ = os.WriteFile(at, []byte(f), 0o755) })
			default:
				place(at, func() { _ = os.WriteFile(at, []byte(rapid.StringMatching(`[xy]{0,2}`).Draw(rt, "text")), 0o644) })
			}
		}
		for _, dir := range []string{".", "d", "a", "d/a"} {
			ignore := filepath.Join(b.root, dir, ".gitignore")
			_ = os.Remove(ignore)
			if text := rules.Draw(rt, "ignore"); rapid.Bool().Draw(rt, "has rules") {
				_ = os.WriteFile(ignore, []byte(text), 0o644) // fails if the directory does not exist
			}
		}
		user := rules.Draw(rt, "user")
		write(t, b.git, "info/exclude", rules.Draw(rt, "exclude"))
		write(t, b.git, "user", user)
		index := filepath.Join(b.dir, "index")
		for _, name := range []string{index, index + ".git"} {
			(&pair{t: t}).copyIndex(filepath.Join(b.git, "index"), name)
		}
		if b.Checkout(b.root, b.git).WithIndex(index).AddAll(user) != nil {
			return
		}
		staged++
		with := func(index string, args ...string) string {
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Env = b.root, append(slices.Clone(gitEnv), "GIT_INDEX_FILE="+index)
			out, err := cmd.Output()
			if err != nil {
				rt.Fatalf("git %q: %v", args, err)
			}
			return string(out)
		}
		with(index+".git", "-c", "core.excludesFile="+filepath.Join(b.git, "user"), "add", "--all", "--", ".")
		if got, want := with(index, "ls-files", "--stage"), with(index+".git", "ls-files", "--stage"); got != want {
			rt.Fatalf("staged\n%s\ngit\n%s", got, want)
		}
		if got := with(index, "diff-files", "--name-only"); got != "" {
			rt.Fatalf("git finds that these files differ from the index:\n%s", got)
		}
		if rapid.Bool().Draw(rt, "keep") { // the next files are changes to these
			if err := os.Rename(index, filepath.Join(b.git, "index")); err != nil {
				rt.Fatal(err)
			}
		}
	})
	if t.Logf("staged %d times", staged); staged == 0 {
		t.Error("nothing was ever staged without git")
	}
	run(t, b.root, "git", "fsck", "--strict", "--no-dangling")
}

// Git does what this package cannot do, and the index has not changed then.
func TestAddAllIsLeftToGit(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]func(b *bundle){
		"repository": func(b *bundle) { run(t, b.root, "git", "init", "-q", "sub") },
		"pipe":       func(b *bundle) { _ = syscall.Mkfifo(filepath.Join(b.root, "pipe"), 0o644) },
		"large":      func(b *bundle) { write(t, b.root, "large", strings.Repeat("x", maxAddedBytes+1)) },
		"attributes": func(b *bundle) { write(t, b.root, "sub/.gitattributes", "") },
		"ignored attributes": func(b *bundle) {
			write(t, b.root, ".gitignore", ".gitattributes")
			write(t, b.root, ".gitattributes", "")
		},
		"link to rules": func(b *bundle) {
			_ = os.Remove(filepath.Join(b.root, ".gitignore"))
			link(t, b.root, "a.txt", ".gitignore")
		},
		"rules":  func(b *bundle) { write(t, b.root, "dir/.gitignore", "[ab]\n") },
		"locked": func(b *bundle) { write(t, b.git, "index.lock", "") },
		"name":   func(b *bundle) { write(t, b.root, "ü", "x") },
		"off":    func(b *bundle) { b.Off = true },
		"many": func(b *bundle) {
			for i := range maxAdded + 1 {
				write(t, b.root, "many/"+strings.Repeat("x", i+1), "x")
			}
		},
	} {
		b := setup(t)
		write(t, b.root, "new", "x")
		odd(b)
		before := must[[]byte](t)(os.ReadFile(filepath.Join(b.git, "index")))
		if err := b.Checkout(b.root, b.git).AddAll(""); !errors.Is(err, ErrUseGit) {
			t.Errorf("%s: %v", name, err)
		}
		if now := must[[]byte](t)(os.ReadFile(filepath.Join(b.git, "index"))); string(now) != string(before) {
			t.Errorf("%s: the index changed", name)
		}
		if name != "locked" && exists(filepath.Join(b.git, "index.lock")) {
			t.Errorf("%s: the index is still locked", name)
		}
	}
}

// A file that was replaced by an older one of the same size is staged again.
func TestAddAllSeesOlderFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, "a.txt", "ONE\ntwo\nthree\n")
	before := time.Unix(1_600_000_000, 0)
	if err := os.Chtimes(filepath.Join(b.root, "a.txt"), before, before); err != nil {
		t.Fatal(err)
	}
	if err := b.Checkout(b.root, b.git).AddAll(""); err != nil {
		t.Fatal(err)
	}
	if got := run(t, b.root, "git", "diff", "--cached", "--name-only"); got != "a.txt" {
		t.Errorf("staged %q", got)
	}
}
