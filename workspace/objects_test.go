package workspace

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice/workspace/git"
)

// What is written here is what git would have written, and what git leaves to
// itself is left to it.
func TestCommitsAreGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	common := filepath.Join(b.root, ".git")
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	word := rapid.StringMatching(`[A-Za-zäö .,<>'"\\-]{0,12}`)
	// An ordinary commit takes no git. Odd names, of which the most that follow are,
	// may be left to it.
	who := identity("AUTHOR", git.Person{Name: "Ada Lovelace", Email: "ada@example.org"}, "1700000000 +0000")
	if _, err := writeCommit(common, append(who, identity("COMMITTER", git.Person{Name: "C", Email: "c@x"}, "1700000000 +0000")...), "Add it\n", head+"^{tree}", []string{head}); err != nil {
		t.Errorf("an ordinary commit was left to git: %v", err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		who := git.Person{Name: word.Draw(rt, "name"), Email: rapid.StringMatching(`[a-z.@<> ]{0,10}`).Draw(rt, "email")}
		date := fmt.Sprintf("%d %s", rapid.IntRange(0, 2_000_000_000).Draw(rt, "seconds"), rapid.SampledFrom([]string{"+0000", "-0730", "+1400"}).Draw(rt, "zone"))
		env := append(identity("AUTHOR", who, date), identity("COMMITTER", git.Person{Name: "C", Email: "c@x"}, date)...)
		message := rapid.StringMatching(`[a-zäö\n #:]{1,40}`).Draw(rt, "message")
		parents := rapid.SampledFrom([][]string{nil, {head}}).Draw(rt, "parents")
		got, err := writeCommit(common, env, message, head+"^{tree}", parents)
		if err != nil {
			return
		}
		args := []string{"commit-tree", "-F", "-"}
		for _, p := range parents {
			args = append(args, "-p", p)
		}
		want, err := b.git.Do(b.ctx, git.Call{Dir: b.root, Env: env, Stdin: []byte(message), Args: append(args, head+"^{tree}")})
		if err != nil || strings.TrimSpace(want) != got {
			rt.Fatalf("%q wrote %s, git %s (%v)", env, got, want, err)
		}
		list, err := youngSides(common, []string{got, head})
		if err != nil {
			return
		}
		theirs, err := b.Workspaces.describe(b.ctx, repo{root: b.root, git: b.root}, got, head)
		if err != nil || fmt.Sprint(list) != fmt.Sprint(theirs) {
			rt.Fatalf("read %v, git %v (%v)", list, theirs, err)
		}
	})
}

// Objects of every size are what git reads, the empty one and those of more
// than one piece included.
func TestStoredObjectsAreGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	common := filepath.Join(b.root, ".git")
	for _, size := range []int{0, 1, 1<<16 - 12, 1<<16 - 11, 1<<16 - 10, 1 << 16, 200_000} {
		data := bytes.Repeat([]byte("text\n"), size/5+1)[:size]
		id, err := writeObject(common, "blob", data)
		if err != nil {
			t.Fatal(err)
		}
		if got := must[string](t)(b.git.Do(b.ctx, git.Call{Dir: b.root, Args: []string{"cat-file", "blob", id}})); got != string(data) {
			t.Errorf("git reads %d bytes of %d", len(got), size)
		}
		if back, err := youngObject(common, "blob", id); err != nil || !bytes.Equal(back, data) {
			t.Errorf("%d bytes of %d came back: %v", len(back), size, err)
		}
	}
	run(t, b.root, "git", "fsck", "--strict", "--no-dangling")
}

func TestNewEntriesAreGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	common := filepath.Join(b.root, ".git")
	names := []string{"a", "b", "d/a", "d/e/f", "d/e/g", "x/y"}
	var last string
	rapid.Check(t, func(rt *rapid.T) {
		for _, e := range must[[]os.DirEntry](t)(os.ReadDir(b.root)) {
			if e.Name() != ".git" {
				_ = os.RemoveAll(filepath.Join(b.root, e.Name()))
			}
		}
		for _, n := range names {
			file := filepath.Join(b.root, n)
			_ = os.MkdirAll(filepath.Dir(file), 0o755)
			switch rapid.IntRange(0, 4).Draw(rt, n) {
			case 0:
				_ = os.WriteFile(file, []byte(n), 0o644)
			case 1:
				_ = os.WriteFile(file, []byte("#!"+n), 0o755)
			case 2:
				_ = os.Symlink(n, file)
			case 3:
				_ = os.MkdirAll(file, 0o755)
				_ = os.WriteFile(filepath.Join(file, "in"), nil, 0o644)
			}
		}
		run(t, b.root, "git", "add", "--all")
		tree := run(t, b.root, "git", "write-tree")
		if last != "" {
			got := map[string]string{}
			if err := newEntries(common, last, tree, "", func(p string, e entry) { got[p] = e.mode + " " + e.id() }); err != nil {
				rt.Fatal(err)
			}
			want := map[string]string{}
			out := must[string](t)(b.git.Do(b.ctx, git.Call{Dir: b.root, Args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--diff-filter=AT", last, tree}}))
			for _, c := range rawDiff(out) {
				want[c.path] = c.mode + " " + c.id
			}
			if !maps.Equal(got, want) {
				rt.Fatalf("got %v, git %v", got, want)
			}
		}
		last = tree
	})
}

// An object whose file holds something else, or nothing that can be read, is
// left to git.
func TestOddObjects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	common := filepath.Join(b.root, ".git")
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	other := must[string](t)(writeCommit(common, append(identity("AUTHOR", git.Person{Name: "A", Email: "a@x"}, "1 +0000"), identity("COMMITTER", git.Person{Name: "A", Email: "a@x"}, "1 +0000")...), "other", head+"^{tree}", nil))
	file := func(id string) string { return filepath.Join(common, "objects", id[:2], id[2:]) }
	good := must[[]byte](t)(os.ReadFile(file(other)))
	fake := strings.Repeat("ab", 20)
	if err := os.MkdirAll(filepath.Dir(file(fake)), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"another's": good, "cut": good[:len(good)/2], "no zlib": []byte("commit 0\x00"), "empty": nil} {
		if err := os.WriteFile(file(fake), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readCommit(common, fake); err == nil {
			t.Errorf("%s: it was believed", name)
		}
	}
	if _, err := readCommit(common, "../../../../etc/passwd"); err == nil {
		t.Error("a path was taken for an id")
	}
	if err := writeRef(common, "refs/coppice/x/1", fake); err == nil {
		t.Error("a ref points at nothing")
	}
	if err := os.Remove(file(fake)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"refs/heads/main", "refs/coppice/../heads/main", "refs/coppice/a.lock", "refs/coppice/a b"} {
		if err := writeRef(common, name, head); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if err := writeRef(common, "refs/coppice/x/1", head); err != nil || run(t, b.root, "git", "rev-parse", "refs/coppice/x/1") != head {
		t.Errorf("the ref is not there: %v", err)
	}
	if descends(common, other, head) {
		t.Error("a root commit has no ancestors")
	}
	run(t, b.root, "git", "fsck", "--strict", "--no-dangling")
}

func TestSameAt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	common := filepath.Join(b.root, ".git")
	write(t, b.root, "list.json", "[]\n")
	commit(t, b.root, "one")
	one := run(t, b.root, "git", "rev-parse", "HEAD^{tree}")
	write(t, b.root, "dir/b.txt", "changed\n")
	run(t, b.root, "git", "rm", "-q", "a.txt")
	write(t, b.root, "a.txt/in", "a directory now\n")
	commit(t, b.root, "two")
	two := run(t, b.root, "git", "rev-parse", "HEAD^{tree}")
	for path, want := range map[string]bool{
		"list.json": true, "list.json/x": true, "none": true, "none/x": true, "dir": false, "dir/b.txt": false, "dir/none": true,
		"a.txt": false, "a.txt/in": false, ".gitignore": true,
	} {
		if got := sameAt(common, one, two, []string{".gitignore", path}); got != want {
			t.Errorf("%s: %v", path, got)
		}
		diff := run(t, b.root, "git", "diff-tree", "-r", "--name-only", one, two, "--", path)
		if (diff == "") != want {
			t.Errorf("%s: git says %s", path, diff)
		}
	}
	if sameAt(common, one, strings.Repeat("ab", 20), []string{"none"}) {
		t.Error("a tree that is not there was believed")
	}
}
