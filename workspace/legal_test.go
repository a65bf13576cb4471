package workspace

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

// hashObject writes any object into a repository, whatever git thinks of it.
func hashObject(t testing.TB, dir, kind string, data []byte) string {
	t.Helper()
	cmd := exec.Command("git", "hash-object", "-t", kind, "-w", "--stdin", "--literally")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hash-object: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// entryOf draws an entry of a tree, most of them legal.
func entryOf(rt *rapid.T, t testing.TB, dir string, depth int) (mode, name, id string) {
	blob := func(text string) string { return hashObject(t, dir, "blob", []byte(text)) }
	plain := rapid.StringMatching(`[a-z]{1,3}`).Draw(rt, "name")
	switch kind := rapid.SampledFrom([]string{"file", "file", "file", "file", "file", "program", "link", "tree", "tree", "bad name", "bad mode", "missing", "null", "modules"}).Draw(rt, "kind"); kind {
	case "program":
		return "100755", plain, blob("x\n")
	case "link":
		return "120000", plain, blob(rapid.SampledFrom([]string{"a", "../x", "/etc/passwd", ".git/config"}).Draw(rt, "target"))
	case "tree":
		if depth < 2 {
			return "40000", plain, treeOfEntries(rt, t, dir, depth+1)
		}
		return "100644", plain, blob("deep\n")
	case "bad name":
		return "100644", rapid.SampledFrom([]string{".git", ".GIT", ".Git", "..", ".", "git~1", "GIT~1", ".git ", ".git.", ".gi\u200ct", "a/b", ".git::$INDEX_ALLOCATION", "gi7eba~1"}).Draw(rt, "bad"), blob("bad\n")
	case "bad mode":
		return rapid.SampledFrom([]string{"100664", "100600", "040000", "0", "140000", "100777"}).Draw(rt, "mode"), plain, blob("mode\n")
	case "missing":
		return rapid.SampledFrom([]string{"100644", "40000", "120000"}).Draw(rt, "mode"), plain, strings.Repeat(rapid.SampledFrom([]string{"1", "ab"}).Draw(rt, "id"), 40)[:40]
	case "null":
		return "100644", plain, strings.Repeat("0", 40)
	case "modules":
		text := rapid.SampledFrom([]string{
			"[submodule \"x\"]\n\tpath = x\n\turl = https://example.org/x\n", "[submodule \"../x\"]\n\tpath = x\n\turl = ../x\n",
			"[submodule \"x\"]\n\tpath = x\n\turl = -u./payload\n", "[submodule \"x\"]\n\tpath = -x\n\turl = ../x\n", "[broken\n",
		}).Draw(rt, "modules")
		return rapid.SampledFrom([]string{"100644", "120000"}).Draw(rt, "mode"), rapid.SampledFrom([]string{".gitmodules", ".GitModules", ".gitattributes"}).Draw(rt, "file"), blob(text)
	}
	return "100644", plain, blob(rapid.SampledFrom([]string{"one\n", "two\n", ""}).Draw(rt, "text"))
}

// treeOfEntries draws a tree; its entries may be out of order, or twice.
func treeOfEntries(rt *rapid.T, t testing.TB, dir string, depth int) string {
	type line struct{ mode, name, id string }
	var lines []line
	for range rapid.IntRange(1, 4).Draw(rt, "entries") {
		mode, name, id := entryOf(rt, t, dir, depth)
		lines = append(lines, line{mode, name, id})
	}
	if rapid.IntRange(0, 3).Draw(rt, "sorted") > 0 {
		key := func(l line) string { // git's order
			if l.mode == "40000" {
				return l.name + "/"
			}
			return l.name
		}
		slices.SortFunc(lines, func(a, b line) int { return strings.Compare(key(a), key(b)) })
		lines = slices.CompactFunc(lines, func(a, b line) bool { return a.name == b.name })
	}
	var data []byte
	for _, l := range lines {
		id, _ := hex.DecodeString(l.id)
		data = append(data, l.mode+" "+l.name+"\x00"...)
		data = append(data, id...)
	}
	return hashObject(t, dir, "tree", data)
}

// commitOf draws a commit on top of another one.
func commitOf(rt *rapid.T, t testing.TB, dir, parent string) string {
	who := rapid.SampledFrom([]string{"A <a@x> 1700000000 +0000", "A <a@x> 1700000000 +0000", "A <a@x> 1700000000 +0000", "A <a@x> 01700000000 +0000", "A <a@x> 99999999999999999999 +0000",
		"A a@x 1700000000 +0000", "A <a@x> 1700000000 +00", "<a@x> 1700000000 +0000", "A <a@x>  +0000", "A <a<x> 1 +0000"}).Draw(rt, "author")
	head := fmt.Sprintf("tree %s\nparent %s\nauthor %s\ncommitter %s\n", treeOfEntries(rt, t, dir, 0), parent, who, "C <c@x> 1700000000 +0000")
	if rapid.IntRange(0, 9).Draw(rt, "odd") == 0 {
		head = strings.Replace(head, "committer C", "committer", 1)
	}
	return hashObject(t, dir, "commit", []byte(head+"\n"+rapid.SampledFrom([]string{"work\n", "a\x00b\n", ""}).Draw(rt, "message")))
}

// TestOnlyLegalCommitsLand draws commit graphs that an agent could make with git's
// plumbing. Whatever lands, with any strategy, is what git fsck --strict and a
// remote that checks objects take.
func TestOnlyLegalCommitsLand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote := filepath.Join(filepath.Dir(b.root), "strict.git")
	run(t, b.root, "git", "init", "-q", "--bare", remote)
	run(t, remote, "git", "config", "receive.fsckObjects", "true")
	landed, refused, n := 0, 0, 0
	start := run(t, b.root, "git", "rev-parse", "HEAD")
	rapid.Check(t, func(rt *rapid.T) {
		n++
		run(t, b.root, "git", "reset", "-q", "--hard", start) // what landed before has no effect on this one
		key := fmt.Sprintf("app-%d", n)
		path := b.prepare(key).Path
		head := run(t, path, "git", "rev-parse", "HEAD")
		for range rapid.IntRange(1, 2).Draw(rt, "commits") {
			head = commitOf(rt, t, path, head)
		}
		write(t, path, ".git/refs/heads/coppice/"+key, head+"\n")
		if _, err := try(path, "reset", "-q", "--hard"); err != nil {
			_, _ = try(path, "read-tree", "--reset", "HEAD")
		}
		defer func() { must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec(key))) }()
		saved, _, err := b.Save(b.ctx, path, "left over", coppice.Identity{}, nil)
		if err != nil {
			refused++
			return
		}
		spec := b.mergeSpec(saved, rapid.SampledFrom([]string{coppice.StrategySquash, coppice.StrategyMerge, coppice.StrategyRebase}).Draw(rt, "strategy"))
		spec.Ref = landingRefs + key + "/1"
		m, err := b.Merge(b.ctx, spec)
		if err != nil || m.Commit == "" || m.Refused != "" {
			refused++
			return
		}
		move := b.moveSpec(m)
		move.Ref = spec.Ref
		if got, err := b.Move(b.ctx, move); err != nil || !got.Moved {
			refused++
			return
		}
		landed++
		if out, err := exec.Command("git", "-C", b.root, "fsck", "--strict", "--no-dangling", "--full").CombinedOutput(); err != nil {
			rt.Fatalf("what landed is not legal: %v\n%s", err, out)
		}
		if out, err := exec.Command("git", "-C", b.root, "push", "-q", "--force", remote, "main").CombinedOutput(); err != nil {
			rt.Fatalf("what landed cannot be pushed: %v\n%s", err, out)
		}
	})
	if t.Logf("%d landed, %d refused", landed, refused); landed == 0 || refused == 0 {
		t.Errorf("%d landed, %d refused: both must happen", landed, refused)
	}
}

// TestUnknownModesDoNotLand checks that a commit with a mode that git never writes is
// refused. Git only warns about it, and crashes later.
func TestUnknownModesDoNotLand(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{coppice.StrategyMerge, coppice.StrategyRebase} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			path := b.prepare("app-1").Path
			blob, err := hex.DecodeString(hashObject(t, path, "blob", []byte("mode\n")))
			if err != nil {
				t.Fatal(err)
			}
			head := run(t, path, "git", "rev-parse", "HEAD")
			tree := hashObject(t, path, "tree", append([]byte("140000 f\x00"), blob...))
			commit := run(t, path, "git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit-tree", "-p", head, "-m", "work", tree)
			write(t, path, ".git/refs/heads/coppice/app-1", commit+"\n")
			run(t, path, "git", "reset", "-q", "--hard")
			saved, _, err := b.Save(b.ctx, path, "left over", coppice.Identity{}, nil)
			if err != nil {
				return // refused earlier
			}
			m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(saved, strategy)))
			if m.Refused == "" {
				t.Errorf("merged as %s, want a refusal", m.Commit)
			}
			must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
		})
	}
}

// TestRemoveAfterAnIllegalCommit checks that a workspace is removed although git
// cannot check out what its agent committed, or cannot even read it.
func TestRemoveAfterAnIllegalCommit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	raw := func(id string) []byte {
		bytes, err := hex.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	for key, tree := range map[string]func(path string) []byte{
		"app-1": func(path string) []byte { // a link in place of a file that git reads
			return append([]byte("120000 .GitModules\x00"), raw(hashObject(t, path, "blob", []byte("elsewhere")))...)
		},
		"app-2": func(path string) []byte { // a directory whose tree ends too early, and an index that is gone
			write(t, path, ".git/index", "damaged")
			return append([]byte("40000 sub\x00"), raw(hashObject(t, path, "tree", []byte("100644 a\x00short")))...)
		},
	} {
		path := b.prepare(key).Path
		head := run(t, path, "git", "rev-parse", "HEAD")
		commit := run(t, path, "git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit-tree", "-p", head, "-m", "work", hashObject(t, path, "tree", tree(path)))
		write(t, path, ".git/refs/heads/coppice/"+key, commit+"\n")
		must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec(key)))
	}
	b.prepare("app-3") // in the same directory
}
