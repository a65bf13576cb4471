//go:build linux

package cut

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice/test/testfile"
)

// script does a little of everything, with git and without.
const script = `set -e
cd repo
printf 'changed\n' > a.txt
mkdir -p deep/er && echo new > deep/er/file && ln -s ../a.txt deep/link && chmod 755 deep/er/file
echo one > log; echo two >> log; truncate -s 3 log
rm gone; mv b.txt c.txt; ln c.txt d.txt; cp a.txt copied
git add -A && git commit -q -m second
git checkout -q -b other HEAD~1
git pack-refs --all
git gc -q
git checkout -q main
git push -q ../remote.git main
`

func record(t *testing.T) *Recording {
	t.Helper()
	root := testfile.Dir(t)
	for _, args := range [][]string{
		{"git", "init", "-q", "-b", "main", "repo"},
		{"sh", "-c", "cd repo && echo a > a.txt && echo b > b.txt && echo g > gone && git add -A && git commit -q -m first && touch -d yesterday * && git status"},
		{"git", "clone", "-q", "--bare", "repo", "remote.git"},
	} {
		sh(t, root, args...)
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = root, env()
	r, err := Run(t.Context(), root, cmd)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func env() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org")
}

func sh(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Run itself fails when the operations do not explain the result, so what is
// left to see is that each prefix can be replayed, in any order.
func TestReplay(t *testing.T) {
	t.Parallel()
	r := record(t)
	if len(r.Points) < 50 {
		t.Fatalf("there are %d points", len(r.Points))
	}
	before := r.first
	for _, n := range r.Sample(12, 1) {
		if err := r.Replay(n); err != nil {
			t.Fatal(err)
		}
		half, err := Take(before.root)
		if err != nil {
			t.Fatal(err)
		}
		if n < len(r.Ops) && len(Diff(before, half)) == 0 && n > r.Points[0] {
			t.Errorf("%s changed nothing", r.Describe(n))
		}
	}
	if err := r.Restore(); err != nil {
		t.Fatal(err)
	}
	again, err := Take(before.root)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := slices.DeleteFunc(Diff(before, again), func(s string) bool { return s == "repo/.git/index has other contents" }); len(wrong) > 0 {
		t.Error(wrong)
	}
}

// Git believes the index of a replayed tree without reading the files.
func TestReplayKeepsTheIndexFresh(t *testing.T) {
	t.Parallel()
	r := record(t)
	for _, n := range []int{0, len(r.Ops)} {
		if err := r.Replay(n); err != nil {
			t.Fatal(err)
		}
		// diff-files trusts the index and names what is not as it says.
		if out := sh(t, filepath.Join(r.first.root, "repo"), "git", "diff-files", "--name-only"); out != "" {
			t.Errorf("after %d operations git does not believe the index about %s", n, strings.Fields(out))
		}
	}
}

// A push happens as a whole or not at all, and in the end the tree is the same.
func TestTogether(t *testing.T) {
	t.Parallel()
	r := record(t)
	before := len(r.Points)
	r.Together("remote.git")
	remote := func() map[string]*entry {
		t.Helper()
		got, err := Take(filepath.Join(r.first.root, "remote.git"))
		if err != nil {
			t.Fatal(err)
		}
		return got.entries
	}
	if len(r.Points) >= before || !slices.IsSorted(r.Points) || r.Points[len(r.Points)-1] != len(r.Ops) {
		t.Errorf("%d points of %d are left, of %d operations: %v", len(r.Points), before, len(r.Ops), r.Points)
	}
	states := map[string]bool{}
	for _, n := range append(r.Sample(12, 3), r.Points[len(r.Points)-8:]...) {
		if err := r.Replay(n); err != nil {
			t.Fatal(err)
		}
		now := remote()
		for rel := range now {
			if strings.HasSuffix(rel, ".lock") {
				t.Errorf("%s: %s", r.Describe(n), rel)
			}
		}
		states[strings.Join(slices.Sorted(maps.Keys(now)), "\n")] = true
	}
	if len(states) != 2 {
		t.Errorf("the remote was seen in %d states", len(states))
	}
	got, err := Take(r.first.root)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := slices.DeleteFunc(Diff(r.last, got), func(s string) bool { return s == "repo/.git/index has other contents" }); len(wrong) > 0 {
		t.Error(wrong)
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	r := &Recording{}
	for i := range 100 {
		r.Points = append(r.Points, 2*i)
	}
	a, b := r.Sample(10, 7), r.Sample(10, 7)
	if len(a) != 10 || !slices.Equal(a, b) || a[9] != 198 || !slices.IsSorted(a) {
		t.Error(a, b)
	}
	if slices.Equal(a, r.Sample(10, 8)) || len(r.Sample(100, 1)) != 100 || len(r.Sample(0, 1)) != 100 {
		t.Error("the seed does not choose, or something is missing")
	}
}
