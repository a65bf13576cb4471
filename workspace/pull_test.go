package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
)

// forgeRemote gives the repository a remote, and returns it with a clone of somebody
// else.
func (b *bundle) forgeRemote() (remote, clone string) {
	b.t.Helper()
	dir := filepath.Dir(b.root)
	remote, clone = filepath.Join(dir, "remote.git"), filepath.Join(dir, "clone")
	b.run("git", "clone", "-q", "--bare", b.root, remote)
	b.run("git", "remote", "add", "origin", remote)
	b.run("git", "clone", "-q", remote, clone)
	return remote, clone
}

// The base follows the remote's, with its checkout, and loses nothing.
func TestFollowRemote(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, clone := b.forgeRemote()
	theirs := func(file string) coppice.MoveSpec {
		write(t, clone, file, "t")
		at := commit(t, clone, file)
		run(t, clone, "git", "push", "-q", "origin", "HEAD:main")
		return coppice.MoveSpec{Repo: b.root, Base: "main", Old: at, New: at, Follow: true}
	}
	follow := func(s coppice.MoveSpec) coppice.MoveResult { return must[coppice.MoveResult](t)(b.Move(b.ctx, s)) }
	first := theirs("first.txt")
	if got := follow(first); !got.Moved || got.Now != first.New || b.base() != first.New || read(t, b.root, "first.txt") != "t" {
		t.Errorf("%+v, main is %s", got, b.base())
	}
	second := theirs("second.txt")
	if got := follow(first); !got.Moved || b.base() != first.New {
		t.Errorf("again: %+v", got)
	}
	write(t, b.root, "second.txt", "the person's")
	if got := follow(second); got.Moved || !strings.Contains(got.Blocked, "second.txt") || b.base() != first.New {
		t.Errorf("a file in the way: %+v", got)
	}
	must[string](t)("", os.Remove(filepath.Join(b.root, "second.txt")))
	write(t, b.root, "local.txt", "l")
	local := commit(t, b.root, "local")
	if got := follow(second); got.Moved || !strings.Contains(got.Blocked, "diverged") || b.base() != local {
		t.Errorf("both have other commits: %+v", got)
	}
}

// A push of a request's branch replaces what Coppice pushed before, also after a
// crash. It never replaces the commits of others.
func TestPullPush(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote, clone := b.forgeRemote()
	const branch = "coppice/app-1"
	ws := b.prepare("app-1").Path
	commitOf := func(dir, file string) string { write(t, dir, file, "t"); return commit(t, dir, file) }
	commitOf(ws, "x.txt")
	first := b.saved(ws)
	keep := func(old, to, kept string) coppice.PullPushResult {
		return must[coppice.PullPushResult](t)(b.PullPush(b.ctx, coppice.PullPushSpec{
			ForgeSpec: coppice.ForgeSpec{Repo: b.root}, Branch: branch, Old: old, New: to, Keep: kept,
		}))
	}
	push := func(old, to string) coppice.PullPushResult { return keep(old, to, "") }
	at := func(want string) {
		t.Helper()
		if got := run(t, remote, "git", "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch); got != want {
			t.Errorf("the branch of the remote is at %q, want %q", got, want)
		}
	}
	var got coppice.PullPushResult
	crashes(t, b.Workspaces, func() (err error) {
		got, err = b.PullPush(b.ctx, coppice.PullPushSpec{ForgeSpec: coppice.ForgeSpec{Repo: b.root}, Branch: branch, New: first})
		return err
	})
	if at(first); !got.Pushed {
		t.Errorf("%+v", got)
	}
	if got := push("", first); !got.Pushed {
		t.Errorf("again: %+v", got)
	}
	// Somebody adds a commit: it stays, until the workspace has it as well.
	run(t, clone, "git", "fetch", "-q", "origin")
	run(t, clone, "git", "checkout", "-q", branch)
	theirs := commitOf(clone, "theirs.txt")
	run(t, clone, "git", "push", "-q", "origin", branch)
	commitOf(ws, "ours.txt")
	ours := b.saved(ws)
	if got := push(first, ours); got.Pushed || got.Theirs != theirs {
		t.Errorf("over somebody's commit: %+v", got)
	}
	if got := push(first, ""); got.Pushed || got.Theirs != theirs {
		t.Errorf("a deletion of somebody's commit: %+v", got)
	}
	at(theirs)
	run(t, ws, "git", "pull", "-q", "--no-rebase", "--no-edit", remote, branch)
	both := b.saved(ws)
	if got := push(first, both); !got.Pushed || got.Kept != theirs {
		t.Errorf("with somebody's commit: %+v", got)
	}
	at(both)
	// The agent rewrites its branch: what others pushed has to stay, what it pushed has not.
	rewrite := func(onto string) string {
		run(t, ws, "git", "reset", "-q", "--hard", onto)
		commitOf(ws, "again.txt")
		return b.saved(ws)
	}
	if got := keep(both, rewrite(first), theirs); got.Pushed || got.Theirs != theirs {
		t.Errorf("without somebody's commit: %+v", got)
	}
	at(both)
	with := rewrite(theirs)
	if got := keep(both, with, theirs); !got.Pushed || got.Kept != "" {
		t.Errorf("with somebody's commit again: %+v", got)
	}
	at(with)
	without := rewrite(first)
	run(t, ws, "git", "push", "-q", "--force", remote, "HEAD:"+branch)
	if got := keep(with, without, theirs); !got.Pushed {
		t.Errorf("a person has overwritten the branch: %+v", got)
	}
	if got := push(without, ""); !got.Pushed {
		t.Errorf("the deletion: %+v", got)
	}
	at("")
	if got := keep(without, without, theirs); !got.Pushed {
		t.Errorf("nothing is left to keep: %+v", got)
	}
}
