package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
)

// basemove is a repository with a branch of a person's, one of a task's that has
// a commit of the agent, in a worktree as an agent has it, and a remote.
func basemove(t *testing.T) (b *bundle, agent string) {
	t.Helper()
	b = setup(t)
	b.run("git", "branch", "topic")
	far := filepath.Join(b.root, "../far.git")
	b.run("git", "clone", "-q", "--bare", ".", far)
	b.run("git", "remote", "add", "origin", far)
	b.run("git", "fetch", "-q", "origin")
	b.run("git", "worktree", "add", "-q", "-b", "coppice/app-1", filepath.Join(b.root, "../agent"))
	agent = filepath.Join(b.root, "../agent")
	write(t, agent, "bad", "bad\n")
	commit(t, agent, "bad")
	return b, agent
}

// movedBase moves the base by a script, and returns where it was and is.
func movedBase(t *testing.T, script string) (b *bundle, from, to string) {
	t.Helper()
	b, _ = basemove(t)
	from = b.run("git", "rev-parse", "main")
	b.sh(b.root, script)
	return b, from, b.run("git", "rev-parse", "main")
}

func (b *bundle) run(args ...string) string { b.t.Helper(); return run(b.t, b.root, args...) }

// sh runs a script in the repository at the time that it is, and not at the one
// that tests' commits have.
func (b *bundle) sh(dir, script string) {
	b.t.Helper()
	run(b.t, dir, "sh", "-ec", "unset GIT_AUTHOR_DATE GIT_COMMITTER_DATE; export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=a@b\n"+script)
}

// What people do to the base is never reported.
func TestOrdinaryMovesOfTheBase(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"commit":      "echo x > x; git add x; git commit -qm x",
		"amend":       "git commit -q --amend -m other",
		"two commits": "git commit -q --allow-empty -m x; git commit -q --allow-empty -m y",
		"merge":       "git checkout -q topic; git commit -q --allow-empty -m x; git checkout -q main; git merge -q topic",
		"true merge":  "git checkout -q topic; git commit -q --allow-empty -m x; git checkout -q main; git merge -q --no-ff -m m topic",
		"pull":        farCommit + "git pull -q origin main",
		"pull rebase": farCommit + "git commit -q --allow-empty -m mine; git pull -q --rebase origin main",
		"fetch":       farCommit + "git checkout -q topic; git fetch -q origin main:main; git checkout -q main",
		"rebase":      "git checkout -q topic; git commit -q --allow-empty -m x; git checkout -q main; git commit -q --allow-empty -m y; git rebase -q topic",
		"reset":       "git commit -q --allow-empty -m x; git reset -q --hard HEAD~1; git commit -q --allow-empty -m z",
		"cherry-pick": "git checkout -q topic; echo x > x; git add x; git commit -qm x; git checkout -q main; git cherry-pick topic >/dev/null",
		"revert":      "echo x > x; git add x; git commit -qm x; git revert --no-edit HEAD >/dev/null",
		"am":          "git checkout -q topic; echo x > x; git add x; git commit -qm x; git format-patch -q -1 -o p; git checkout -q main; git am -q p/*",
		"branch -f":   "git checkout -q topic; git commit -q --allow-empty -m x; git branch -f main topic; git checkout -q main",
		// A task begins from the person's commit, and an agent merges it, before
		// Coppice sees it.
		"task begins from it":  "git commit -q --allow-empty -m x; git branch coppice/app-2",
		"task from a merge":    "git checkout -q topic; git commit -q --allow-empty -m x; git checkout -q main; git merge -q topic; git branch -D -q topic; git branch coppice/app-2",
		"agent merges it":      "git commit -q --allow-empty -m x; cd ../agent; git merge -q -m m main",
		"agent rebases on it":  "git commit -q --allow-empty -m x; cd ../agent; git rebase -q main",
		"log has no beginning": "git reflog expire --expire=now --all; git commit -q --allow-empty -m x",
		"no log is kept":       "git config core.logAllRefUpdates false; rm -r .git/logs; git commit -q --allow-empty -m x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, from, to := movedBase(t, "git config user.name Ann; git config user.email ann@example.org\n"+script)
			if from == to {
				t.Fatal("the base did not move")
			}
			why, err := b.BaseMoved(b.ctx, b.root, "main", from, to, nil)
			if err != nil || why != "" {
				t.Errorf("it is reported: %s, %v\n%s", why, err, b.run("git", "reflog", "main"))
			}
		})
	}
}

// farCommit is somebody else's commit, on the remote.
const farCommit = `git clone -q ../far.git ../clone; (cd ../clone; git config user.name Bo; git config user.email bo@example.org
git commit -q --allow-empty -m far; git push -q); git config pull.rebase false
`

// What an agent does to the base is reported.
func TestSuspiciousMovesOfTheBase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"update-ref":         {"cd ../agent; git update-ref refs/heads/main HEAD", "no commit, merge, pull, rebase or reset did it"},
		"update-ref, log":    {"cd ../agent; git update-ref -m other refs/heads/main HEAD", `"other"`},
		"update-ref, forged": {"cd ../agent; git update-ref -m 'commit: fine' refs/heads/main HEAD", "of coppice/app-1, which Coppice did not land"},
		"plain file":         {"git -C ../agent rev-parse HEAD > .git/refs/heads/main", "has no entry for it"},
		"log removed":        {"rm .git/logs/refs/heads/main; git -C ../agent rev-parse HEAD > .git/refs/heads/main", "has no entry for it"},
		"merge":              {"git merge -q coppice/app-1", "of coppice/app-1, which Coppice did not land"},
		"merge of a push":    {"git push -q origin coppice/app-1; git merge -q coppice/app-1", "of coppice/app-1"},
		"merge of a part":    {"cd ../agent; git commit -q --allow-empty -m more; cd -; git merge -q coppice/app-1~1", "of coppice/app-1"},
		"true merge":         {"git merge -q --no-ff -m fine coppice/app-1", "of coppice/app-1"},
		"reset":              {"git reset -q --hard coppice/app-1", "of coppice/app-1"},
		"branch -f":          {"git checkout -q topic; git branch -f main coppice/app-1", "of coppice/app-1"},
		"push":               {"git config receive.denyCurrentBranch ignore; cd ../agent; git push -q ../repo HEAD:main", `"push"`},
		"then a commit":      {"git -C ../agent update-ref refs/heads/main HEAD; git commit -q --allow-empty -m mine", "no commit, merge, pull"},
		"no log is kept":     {"git config core.logAllRefUpdates false; rm -r .git/logs; git update-ref refs/heads/main coppice/app-1", "of coppice/app-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, from, to := movedBase(t, c.script)
			n, err := b.BaseNeed(b.ctx, b.root, "main", from, to)
			if err != nil || n == nil || !strings.Contains(n.Text, c.want) || n.From != from || n.To != to || n.Kind != coppice.NeedBase {
				t.Fatalf("got %+v, %v, want %q", n, err, c.want)
			}
			if !strings.Contains(n.Diff, "bad") {
				t.Errorf("the diff is %q", n.Diff)
			}
		})
	}
}

// If the base moved in such a way, a merge returns a need and no commit. A landing by
// Coppice that the merge does not know yet does not count.
func TestMergeJudgesTheBase(t *testing.T) {
	t.Parallel()
	b, agent := basemove(t)
	from, head := b.run("git", "rev-parse", "main"), run(t, agent, "git", "rev-parse", "HEAD")
	spec := coppice.MergeSpec{Repo: b.root, Base: "main", Head: head, Strategy: coppice.StrategyMerge, Message: "x", At: time.Unix(1700000000, 0), Ref: "refs/coppice/landing/app-1/1", Seen: from}
	res, err := b.Merge(b.ctx, spec)
	if err != nil || res.Need != nil || res.Commit == "" {
		t.Fatalf("merged to %+v, %v", res, err)
	}
	moved, err := b.Move(b.ctx, coppice.MoveSpec{Repo: b.root, Base: "main", Old: from, New: res.Commit, Ref: spec.Ref})
	if err != nil || !moved.Moved {
		t.Fatalf("moved %+v, %v", moved, err)
	}
	if res, err = b.Merge(b.ctx, spec); err != nil || res.Need != nil {
		t.Errorf("Coppice's own landing is reported: %+v, %v", res.Need, err)
	}
	run(t, agent, "git", "update-ref", "refs/heads/main", "HEAD")
	spec.Seen = moved.Now
	if res, err = b.Merge(b.ctx, spec); err != nil || res.Need == nil || res.Commit != "" || res.Need.From != moved.Now || res.Need.To != head {
		t.Errorf("merged to %+v, %v", res, err)
	}
}

// The base moves back, and the checkout with it, unless something would be lost.
func TestRestoreBase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		move, then string
		want       string // of the error
		status     string // after it moved back
	}{
		"the checkout never followed":   {"git -C ../agent update-ref refs/heads/main HEAD", "", "", ""},
		"and the person edited it":      {"git -C ../agent update-ref refs/heads/main HEAD", "echo mine > a.txt", "", " M a.txt"},
		"the checkout followed":         {"git reset -q --hard coppice/app-1", "", "", ""},
		"followed, and another edited":  {"git reset -q --hard coppice/app-1", "echo mine > a.txt", "", " M a.txt"},
		"followed, and the same edited": {"git reset -q --hard coppice/app-1", "echo mine > bad", "would lose changes", ""},
		"followed, and staged":          {"git reset -q --hard coppice/app-1", "echo mine > a.txt; git add a.txt", "", "M  a.txt"},
		"moved on":                      {"git reset -q --hard coppice/app-1", "git commit -q --allow-empty -m x", "has moved to", ""},
		"not checked out":               {"git checkout -q topic; git branch -f main coppice/app-1", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, from, to := movedBase(t, c.move)
			b.sh(b.root, c.then)
			before := b.run("git", "rev-parse", "main")
			now, err := b.RestoreBase(b.ctx, b.root, "main", from, to)
			at := b.run("git", "rev-parse", "main")
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || coppice.ErrorCode(err) != coppice.EConflict || at != before || now != before {
					t.Fatalf("now %s, base %s, %v", now, at, err)
				}
				if _, err := os.Stat(filepath.Join(b.root, "bad")); err != nil {
					t.Error("a file of the checkout is gone")
				}
				return
			}
			if err != nil || now != from || at != from {
				t.Fatalf("now %s, base %s, %v", now, at, err)
			}
			cmd := run(t, b.root, "sh", "-c", "git status --porcelain | cat; echo .")
			if got := strings.TrimSuffix(strings.TrimSuffix(cmd, "."), "\n"); got != strings.TrimSpace(c.status) && got != c.status {
				t.Errorf("status %q, want %q", got, c.status)
			}
			if why, err := b.BaseMoved(b.ctx, b.root, "main", from, at, nil); err != nil || why != "" {
				t.Errorf("the way back is reported: %s, %v", why, err)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	b, _ := basemove(t)
	b.run("git", "config", "filter.x.clean", "cat")
	b.run("git", "config", "submodule.lib.url", "../lib")
	b.run("git", "config", "submodule.lib.active", "true")
	b.run("git", "config", "core.sshCommand", "ssh -v")
	list, err := b.Settings(b.ctx, b.root)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, s := range list {
		if s.Scope == "local" {
			keys = append(keys, s.Key)
		}
	}
	if got, want := strings.Join(keys, " "), "core.sshcommand remote.origin.url remote.origin.fetch filter.x.clean submodule.lib.url"; got != want {
		t.Errorf("settings %s, want %s", got, want)
	}
}
