package gitfiles

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is written here is what git would have written, and what git leaves to
// itself is left to it.
func TestCommitsAreGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	word := rapid.StringMatching(`[A-Za-zäö .,<>'"\\-]{0,12}`)
	// An ordinary commit takes no git. Odd names, of which the most that follow are,
	// may be left to it.
	ada := Signature{"Ada Lovelace", "ada@example.org", "1700000000 +0000"}
	if _, err := b.WriteCommit(Commit{Tree: head + "^{tree}", Parents: []string{head}, Author: ada, Committer: ada, Message: "Add it\n"}); err != nil {
		t.Errorf("an ordinary commit was left to git: %v", err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		c := Commit{Tree: head + "^{tree}", Parents: rapid.SampledFrom([][]string{nil, {head}}).Draw(rt, "parents")}
		date := fmt.Sprintf("%d %s", rapid.IntRange(0, 2_000_000_000).Draw(rt, "seconds"), rapid.SampledFrom([]string{"+0000", "-0730", "+1400"}).Draw(rt, "zone"))
		c.Author = Signature{word.Draw(rt, "name"), rapid.StringMatching(`[a-z.@<> ]{0,10}`).Draw(rt, "email"), date}
		c.Committer = Signature{"C", "c@x", date}
		c.Message = rapid.StringMatching(`[a-zäö\n #:]{1,40}`).Draw(rt, "message")
		got, err := b.WriteCommit(c)
		if err != nil {
			return
		}
		if want := commitTree(t, b.root, c); want != got {
			rt.Fatalf("%v: wrote %s, git %s", c, got, want)
		}
		back, err := b.Commit(got)
		if err != nil {
			rt.Fatal(err)
		}
		if c.Tree = run(t, b.root, "git", "rev-parse", c.Tree); fmt.Sprint(back) != fmt.Sprint(c) {
			rt.Fatalf("read %v, want %v", back, c)
		}
	})
}

// Objects of every size are what git reads, the empty one and those of more
// than one piece included.
func TestStoredObjectsAreGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, size := range []int{0, 1, 1<<16 - 12, 1<<16 - 11, 1<<16 - 10, 1 << 16, 200_000} {
		data := bytes.Repeat([]byte("text\n"), size/5+1)[:size]
		id, err := b.writeObject("blob", data)
		if err != nil {
			t.Fatal(err)
		}
		if got := raw(t, b.root, "cat-file", "blob", id); got != string(data) {
			t.Errorf("git reads %d bytes of %d", len(got), size)
		}
		if back, err := b.object("blob", id); err != nil || !bytes.Equal(back, data) {
			t.Errorf("%d bytes of %d came back: %v", len(back), size, err)
		}
	}
	run(t, b.root, "git", "fsck", "--strict", "--no-dangling")
}

func TestDiffsAreGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
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
			got, want := map[string]string{}, map[string]string{}
			for _, c := range must[[]Change](t)(b.Diff(last, tree)) {
				got[c.Path] = fmt.Sprintf(":%s %s %s %s", gitMode(c.OldMode), gitMode(c.NewMode), gitID(c.Old), gitID(c.New))
			}
			f := strings.Split(raw(t, b.root, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", last, tree), "\x00")
			for i := 0; i+1 < len(f); i += 2 {
				want[f[i+1]] = f[i][:strings.LastIndexByte(f[i], ' ')]
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
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	other := must[string](t)(b.WriteCommit(Commit{Tree: head + "^{tree}", Author: Signature{"A", "a@x", "1 +0000"}, Committer: Signature{"A", "a@x", "1 +0000"}, Message: "other"}))
	file := func(id string) string { return filepath.Join(b.git, "objects", id[:2], id[2:]) }
	good := must[[]byte](t)(os.ReadFile(file(other)))
	fake := strings.Repeat("ab", 20)
	if err := os.MkdirAll(filepath.Dir(file(fake)), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"another's": good, "cut": good[:len(good)/2], "no zlib": []byte("commit 0\x00"), "empty": nil} {
		if err := os.WriteFile(file(fake), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Commit(fake); err == nil {
			t.Errorf("%s: it was believed", name)
		}
	}
	if _, err := b.Commit("../../../../etc/passwd"); err == nil {
		t.Error("a path was taken for an id")
	}
	if err := os.Remove(file(fake)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"refs/heads/main", "refs/coppice/../heads/main", "refs/coppice/a.lock", "refs/coppice/a b"} {
		if err := b.SetRef(name, head); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if err := b.SetRef("refs/coppice/x/1", head); err != nil || run(t, b.root, "git", "rev-parse", "refs/coppice/x/1") != head {
		t.Errorf("the ref is not there: %v", err)
	}
	if b.IsAncestor(head, other) {
		t.Error("a root commit has no ancestors")
	}
	run(t, b.root, "git", "fsck", "--strict", "--no-dangling")
}
