package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
)

// The state of a checkout before and after a session shows what changed, and storing
// it changes nothing there: no file, no index, no object, no ref.
func TestSnapCheckout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, "mine.txt", "mine\n")
	write(t, b.root, "staged.txt", "staged\n")
	b.run("git", "add", "staged.txt")
	write(t, b.root, "a.txt", "changed by the person\n")
	untouched := func(what string, before map[string]string) {
		t.Helper()
		for name, sum := range print(t, b.root) {
			if before[name] != sum {
				t.Errorf("%s: %s is new or changed", what, name)
			}
		}
	}
	files := print(t, b.root)
	from, stat, err := b.SnapCheckout(b.ctx, b.root, "app-1.1", "")
	if err != nil || stat != "" {
		t.Fatal(from, stat, err)
	}
	untouched("before the session", files)
	write(t, b.root, "new.txt", "new\n")
	write(t, b.root, "sub/deep.txt", "deep\n")
	write(t, b.root, "mine.txt", "mine\nmore\n")
	if err := os.Remove(filepath.Join(b.root, "staged.txt")); err != nil {
		t.Fatal(err)
	}
	files = print(t, b.root)
	to, stat, err := b.SnapCheckout(b.ctx, b.root, "app-1.1", from)
	if err != nil || !strings.Contains(stat, "4 files changed") || !strings.Contains(stat, "mine.txt | +1 -0") || strings.Contains(stat, "a.txt") {
		t.Fatalf("%s, %v", stat, err)
	}
	untouched("after the session", files)
	diff, err := b.DiffCheckout(b.ctx, b.root, from, to)
	if err != nil || !strings.Contains(diff, "+more") || !strings.Contains(diff, "deleted file") || strings.Contains(diff, "changed by the person") {
		t.Errorf("%s, %v", diff, err)
	}
	b.run("git", "fsck", "--strict")
	if refs := b.run("git", "for-each-ref", "--format=%(refname)"); strings.Contains(refs, "coppice/checkout") {
		t.Errorf("refs in the person's repository: %s", refs)
	}
	commit(t, b.root, "the agent commits")
	if again, stat, err := b.SnapCheckout(b.ctx, b.root, "app-1.1", to); err != nil || stat != "" {
		t.Errorf("a commit changes no file: %s %q, %v", again, stat, err)
	}
}

// The index of a checkout can be missing or have conflicts, and large files are left
// out.
func TestSnapUnusualCheckouts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, has, not string }{
		"no index":      {script: "rm .git/index", has: "a.txt"},
		"conflicts":     {script: "git checkout -q -b x; echo x > a.txt; git commit -qam x; git checkout -q main; echo y > a.txt; git commit -qam y; git merge -q x || true", has: "a.txt"},
		"a large file":  {script: "truncate -s 17M big.bin; echo small > small.txt", has: "small.txt", not: "big.bin"},
		"ignored":       {script: "echo '*.log' > .gitignore; echo x > x.log", has: ".gitignore", not: "x.log"},
		"odd names":     {script: `printf x > "$(printf 'a\nb')"; printf x > ' "q"'; ln -s /nowhere link`, has: "link"},
		"a repository":  {script: "git init -q inner; echo x > inner/x", not: "inner/x"},
		"detached HEAD": {script: "git checkout -q --detach", has: "a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.sh(b.root, c.script)
			at, _, err := b.SnapCheckout(b.ctx, b.root, "app-1.1", "")
			if err != nil {
				t.Fatal(err)
			}
			names := "\n" + run(t, b.own(), "git", "ls-tree", "-r", "--name-only", at) + "\n"
			if c.has != "" && !strings.Contains(names, "\n"+c.has+"\n") || c.not != "" && strings.Contains(names, c.not) {
				t.Errorf("it has %q", names)
			}
		})
	}
}

// Only the states of the newest sessions are kept.
func TestOldCheckoutsAreDropped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	at, _, err := b.SnapCheckout(b.ctx, b.root, "app-1.1", "")
	if err != nil {
		t.Fatal(err)
	}
	for n := range maxCheckouts + 3 {
		run(t, b.own(), "git", "update-ref", fmt.Sprintf("%sapp-%d.1", checkoutRefs, n+2), at)
	}
	if _, _, err := b.SnapCheckout(b.ctx, b.root, "app-99.1", ""); err != nil {
		t.Fatal(err)
	}
	refs := run(t, b.own(), "git", "for-each-ref", "--format=%(refname)", checkoutRefs)
	if n := strings.Count(refs, "\n") + 1; n != maxCheckouts || !strings.Contains(refs, "app-99.1") {
		t.Errorf("%d are kept:\n%s", n, refs)
	}
	for _, bad := range []string{"app-1", "../x", "app-1.1/x"} {
		if _, _, err := b.SnapCheckout(b.ctx, b.root, bad, ""); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
