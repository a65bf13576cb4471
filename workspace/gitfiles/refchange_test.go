package gitfiles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var ann = Signature{"Ann", "ann@example.org", "1700000000 +0000"}

// TestRefChange moves refs as git does: their files, permissions and logs are the same.
func TestRefChange(t *testing.T) {
	t.Parallel()
	var seen [2]string
	for i := range seen {
		b := setup(t)
		old := run(t, b.root, "git", "rev-parse", "HEAD")
		id := commit(t, b.root, "second")
		run(t, b.root, "git", "reset", "-q", "--soft", old)
		run(t, b.root, "git", "update-ref", "refs/coppice/keep", old)
		run(t, b.root, "git", "update-ref", "refs/remotes/origin/main", old)
		run(t, b.root, "git", "pack-refs", "--all")
		updates := []RefUpdate{{"refs/heads/main", old, id}, {"refs/coppice/keep", old, id}, {"refs/remotes/origin/main", old, id}}
		if i == 0 {
			change := must[*RefChange](t)(b.BeginRefs(ann, "coppice: land", updates...))
			for _, u := range append(updates, RefUpdate{Name: "HEAD"}) {
				if !HoldsLock(b.path(u.Name + ".lock")) {
					t.Errorf("%s is not locked", u.Name)
				}
			}
			if _, err := try(b.root, "update-ref", "refs/heads/main", old); err == nil {
				t.Error("git moved a ref that is locked")
			}
			if err := change.Commit(); err != nil {
				t.Fatal(err)
			}
		} else {
			for _, u := range updates {
				run(t, b.root, "git", "update-ref", "-m", "coppice: land", u.Name, u.New, u.Old)
			}
		}
		for _, name := range []string{"refs/heads/main", "refs/coppice/keep", "refs/remotes/origin/main", "logs/HEAD", "logs/refs/heads/main", "logs/refs/coppice/keep", "logs/refs/remotes/origin/main"} {
			text, _ := os.ReadFile(b.path(name))
			seen[i] += name + " " + string(text)
			if info, err := os.Lstat(b.path(name)); err == nil {
				seen[i] += info.Mode().String() + "\n"
			}
		}
		if left := leftLocks(b); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
	if seen[0] != seen[1] {
		t.Errorf("it wrote\n%s\ngit\n%s", seen[0], seen[1])
	}
}

// leftLocks lists locks and temporary files.
func leftLocks(b *bundle) (left []string) {
	for _, pattern := range []string{"*.lock", TempPrefix + "*", "refs/*/*.lock", "refs/*/*/*.lock"} {
		found, _ := filepath.Glob(filepath.Join(b.git, pattern))
		left = append(left, found...)
	}
	return left
}

// A change of refs is refused whole, and an aborted one leaves nothing.
func TestRefChangeIsRefused(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]func(b *bundle, u []RefUpdate){
		"another commit": func(_ *bundle, u []RefUpdate) { u[1].Old = u[1].New },
		"locked":         func(b *bundle, _ []RefUpdate) { write(t, b.git, "refs/heads/other.lock", "") },
		"HEAD is locked": func(b *bundle, _ []RefUpdate) { write(t, b.git, "HEAD.lock", "") },
		"no such commit": func(_ *bundle, u []RefUpdate) { u[1].New = strings.Repeat("1", 40) },
		"symbolic": func(b *bundle, _ []RefUpdate) {
			run(t, b.root, "git", "symbolic-ref", "refs/heads/other", "refs/heads/main")
		},
		"missing": func(b *bundle, _ []RefUpdate) { run(t, b.root, "git", "update-ref", "-d", "refs/heads/other") },
		"shared":  func(b *bundle, _ []RefUpdate) { run(t, b.root, "git", "config", "core.sharedRepository", "group") },
		"log is a link": func(b *bundle, _ []RefUpdate) {
			_ = os.Remove(b.path("logs/HEAD"))
			link(t, b.git, "/dev/null", "logs/HEAD")
		},
		"log is a directory": func(b *bundle, _ []RefUpdate) {
			_ = os.Remove(b.path("logs/refs/heads/other"))
			_ = os.Mkdir(b.path("logs/refs/heads/other"), 0o755)
		},
		"aborted": nil,
	} {
		b := setup(t)
		old := run(t, b.root, "git", "rev-parse", "HEAD")
		id := commit(t, b.root, "second")
		run(t, b.root, "git", "reset", "-q", "--soft", old)
		run(t, b.root, "git", "branch", "other", old)
		updates := []RefUpdate{{"refs/heads/main", old, id}, {"refs/heads/other", old, id}}
		if odd != nil {
			odd(b, updates)
		}
		refs, log, locks := run(t, b.root, "git", "for-each-ref"), run(t, b.root, "git", "reflog", "main"), len(leftLocks(b))
		change, err := b.BeginRefs(ann, "coppice: land", updates...)
		if odd == nil {
			err = errors.Join(err, change.Abort())
		}
		if odd == nil && err != nil || odd != nil && !errors.Is(err, ErrUseGit) {
			t.Errorf("%s: %v", name, err)
		}
		if now, then := run(t, b.root, "git", "for-each-ref"), run(t, b.root, "git", "reflog", "main"); now != refs || then != log || len(leftLocks(b)) != locks {
			t.Errorf("%s: the refs were\n%s\nand are\n%s\n%s\n%q", name, refs, now, then, leftLocks(b))
		}
	}
}
