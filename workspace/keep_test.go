package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

// features makes the repository's features file, tracked.
func (b *bundle) features(text string) {
	b.t.Helper()
	write(b.t, b.root, "features.json", text)
	commit(b.t, b.root, "features")
}

// A checkout with changes in other files than the move changes moves along, and
// they stay as the person, or Coppice, left them.
func TestMoveKeeps(t *testing.T) {
	t.Parallel()
	for _, staged := range []bool{false, true} {
		b := setup(t)
		b.features("open\n")
		m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "x.txt", "a.txt"), coppice.StrategySquash)))
		write(t, b.root, "features.json", "passed\n")
		if staged {
			run(t, b.root, "git", "add", "features.json")
		}
		if got := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(m))); !got.Moved {
			t.Fatalf("%+v", got)
		}
		want := map[bool]string{false: "M features.json", true: "M  features.json"}[staged]
		if s := run(t, b.root, "git", "status", "--porcelain"); strings.TrimSpace(s) != want || read(t, b.root, "x.txt") != "by app-1\n" {
			t.Errorf("the checkout did not follow: %q", s)
		}
		if got := read(t, b.root, "features.json"); got != "passed\n" {
			t.Errorf("the kept file is now %q", got)
		}
	}
}

// A git command of the person that runs during a move keeps the lock of its index.
func TestMoveKeepsLocksOfOthers(t *testing.T) {
	t.Parallel()
	for at, moved := range map[string]bool{"recorded": false, "ref moved": true} {
		b := setup(t)
		lock := filepath.Join(b.root, ".git", "index.lock")
		m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "x.txt", "a.txt"), coppice.StrategySquash)))
		b.Step = func(name string) error {
			if name == at { // as if Coppice had just released its lock, if it has one
				_ = os.Remove(lock)
				write(t, b.root, ".git/index.lock", "the person's index")
			}
			return nil
		}
		got := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(m)))
		if got.Moved != moved || strings.Contains(got.Blocked, lock) == moved {
			t.Errorf("%s: %+v", at, got)
		}
		if text, err := os.ReadFile(lock); string(text) != "the person's index" {
			t.Errorf("%s: the lock of the person's git is %q, %v", at, text, err)
		}
	}
}

// A move that would write over a changed file waits.
func TestMoveNeverOverwrites(t *testing.T) {
	t.Parallel()
	for _, noGitFiles := range []bool{false, true} {
		b := setup(t)
		b.NoGitFiles = noGitFiles
		b.features("open\n")
		m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "features.json", "x.txt"), coppice.StrategySquash)))
		for name, text := range map[string]string{"features.json": "mine\n", "x.txt": "mine, and not tracked\n"} {
			write(t, b.root, name, text)
			before := print(t, b.root)
			got := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(m)))
			if got.Moved || !strings.Contains(got.Blocked, name) || got.Now != m.Base {
				t.Errorf("%+v", got)
			}
			if d := cmp.Diff(before, print(t, b.root)); d != "" {
				t.Errorf("the checkout changed: %s", d)
			}
			run(t, b.root, "git", "reset", "-q", "--hard")
			run(t, b.root, "git", "clean", "-q", "-f")
		}
	}
}

// A crash at any point of a move does not lose the person's changes, and the next
// try brings the checkout along.
func TestMoveKeepsThroughCrashes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.features("open\n")
	m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "x.txt", "a.txt"), coppice.StrategySquash)))
	write(t, b.root, "features.json", "passed\n")
	var got coppice.MoveResult
	crashes(t, b.Workspaces, func() (err error) {
		got, err = b.Move(b.ctx, b.moveSpec(m))
		return err
	})
	if s := run(t, b.root, "git", "status", "--porcelain"); !got.Moved || strings.TrimSpace(s) != "M features.json" || read(t, b.root, "x.txt") != "by app-1\n" {
		t.Errorf("%+v %q", got, s)
	}
	if read(t, b.root, "features.json") != "passed\n" {
		t.Error("the person's change is lost")
	}
}

// What a candidate says of a file that is ours does not land, whether it
// conflicts or not, whether the base has the file or not.
func TestMergeOurs(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(b *bundle){
		"same":     func(*bundle) {},
		"conflict": func(b *bundle) { write(b.t, b.root, "features.json", "base\n"); commit(b.t, b.root, "later") },
		"gone": func(b *bundle) {
			if err := os.Remove(filepath.Join(b.root, "features.json")); err != nil {
				b.t.Fatal(err)
			}
			commit(b.t, b.root, "gone")
		},
	} {
		b := setup(t)
		b.features("open\n")
		head := b.candidate("app-1", "x.txt", "features.json", "y.txt")
		only := b.candidate("app-2", "features.json")
		prepare(b)
		want, _ := os.ReadFile(filepath.Join(b.root, "features.json"))
		for _, s := range []string{coppice.StrategySquash, coppice.StrategyMerge, coppice.StrategyRebase} {
			spec := b.mergeSpec(head, s)
			spec.Ours = []string{"features.json"}
			m := must[coppice.MergeResult](t)(b.Merge(b.ctx, spec))
			if m.Commit == "" || len(m.Conflicts) > 0 {
				t.Fatalf("%s, %s: %+v", name, s, m)
			}
			files := run(t, b.own(), "git", "ls-tree", "-r", "--name-only", m.Commit)
			if strings.Contains(files, "features.json") != (len(want) > 0) || !strings.Contains(files, "x.txt\ny.txt") {
				t.Errorf("%s, %s: %s", name, s, files)
			}
			if len(want) > 0 && run(t, b.own(), "git", "show", m.Commit+":features.json")+"\n" != string(want) {
				t.Errorf("%s, %s: the candidate changed it", name, s)
			}
		}
		spec := b.mergeSpec(only, coppice.StrategySquash)
		spec.Ours = []string{"features.json"}
		if m := must[coppice.MergeResult](t)(b.Merge(b.ctx, spec)); !m.Empty {
			t.Errorf("%s: nothing else was changed, and yet %+v", name, m)
		}
	}
}

// A kept file may be a link to the file itself.
func TestMoveKeepsLinked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, "data/list.json", "open\n")
	if err := os.Symlink("data/list.json", filepath.Join(b.root, "features.json")); err != nil {
		t.Fatal(err)
	}
	commit(t, b.root, "features")
	spec := b.mergeSpec(b.candidate("app-1", "x.txt", "data/list.json"), coppice.StrategySquash)
	spec.Ours = []string{"features.json"}
	m := must[coppice.MergeResult](t)(b.Merge(b.ctx, spec))
	if got := run(t, b.own(), "git", "show", m.Commit+":data/list.json"); got != "open" {
		t.Errorf("the candidate changed it to %q", got)
	}
	write(t, b.root, "data/list.json", "passed\n")
	crashes(t, b.Workspaces, func() error { _, err := b.Move(b.ctx, b.moveSpec(m)); return err })
	if s := run(t, b.root, "git", "status", "--porcelain"); strings.TrimSpace(s) != "M data/list.json" || read(t, b.root, "data/list.json") != "passed\n" || read(t, b.root, "x.txt") != "by app-1\n" {
		t.Errorf("the checkout: %q", s)
	}
}
