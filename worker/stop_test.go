package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/fabric"
	"coppice/store"
	"coppice/workspace"
	"coppice/workspace/git"
)

// slowGit makes a command of git wait at a gate.
func (b *bundle) slowGit(g gate, command string) {
	b.t.Helper()
	real, err := exec.LookPath("git")
	b.must(err)
	program := filepath.Join(b.dir, "slow-git")
	text := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in\n\"%s \"*) cat %s ;;\nesac\nexec %s \"$@\"\n", command, g.path, real)
	b.must(os.WriteFile(program, []byte(text), 0o700))
	runner, err := git.New(git.Config{Env: b.environ, Program: program})
	b.must(err)
	env := append(slices.Clone(b.environ), "COPPICE_GIT_FILES=off") // git does every step
	b.spaces, err = workspace.New(workspace.Config{Dir: filepath.Join(b.dir, "ws"), Trash: filepath.Join(b.dir, "trash"), Git: runner, Env: env, Ports: b.ports})
	b.must(err)
	b.open()
}

// writes is the command with which git writes a checkout.
const writes = "read-tree -m -u"

// landing offers a move of the base to a commit with one more file.
func (b *bundle) landing() (id int64, commit string) {
	b.t.Helper()
	old := b.git("rev-parse", "main")
	b.git("checkout", "-q", "-b", "work")
	b.must(os.WriteFile(filepath.Join(b.repo, "new.txt"), []byte("new\n"), 0o600))
	b.git("add", "new.txt")
	b.git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "new")
	commit = b.git("rev-parse", "work")
	b.git("checkout", "-q", "main")
	spec := coppice.MoveSpec{Repo: b.repo, Base: "main", Old: old, New: commit, Ref: "refs/coppice/landing/app-1/1"}
	return b.offer(coppice.WorkMove, "landing/1/1", spec, 0), commit
}

// renewals counts how often leases are renewed, and sends the count.
type renewals struct {
	fabric.Fabric
	seen chan int // the number of leases
}

func (f renewals) Renew(ctx context.Context, l []coppice.Lease) ([]coppice.Lease, error) {
	lost, err := f.Fabric.Renew(ctx, l)
	select {
	case f.seen <- len(l):
	case <-ctx.Done():
	}
	return lost, err
}

// A stop waits for git to finish its writes, keeps the lease and reports the
// result. It ends a check immediately, and starts nothing.
func TestStopWaitsForWhatWrites(t *testing.T) {
	t.Parallel()
	b := setup(t)
	moves, checks := b.gate("moves"), b.gate("checks")
	b.slowGit(moves, writes)
	seen := make(chan int)
	b.cfg.Renew, b.cfg.Fabric = time.Millisecond, renewals{b.fabric, seen}
	move, commit := b.landing()
	check := b.offer(coppice.WorkCheck, "check/1", checks.spec(), 0)
	stop := b.start()
	w := b.Worker
	for open := false; !open; { // both are in progress
		open = <-seen == 2
	}
	let := moves.reached()
	checks.reached()
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	for n := 0; n != 1; { // the check is ended, and the move's lease is still renewed
		select {
		case n = <-seen:
		case <-stopped:
			t.Fatal("it stopped while git wrote")
		}
	}
	<-seen // and again
	late := b.offer(coppice.WorkCheck, "check/2", checks.spec(), 0)
	if got := w.Pending(); len(got) != 1 || got[0].ID != move {
		t.Errorf("pending %+v", got)
	}
	w.Hurry() // does not end git here
	w.Hurry()
	let()
	for open := true; open; {
		select {
		case <-seen:
		case <-stopped:
			open = false
		}
	}
	if r := result[coppice.MoveResult](b, b.work(move)); !r.Moved || b.git("rev-parse", "main") != commit {
		t.Errorf("result %+v", r)
	}
	if got := b.git("status", "--porcelain"); got != "" {
		t.Errorf("the checkout is not clean:\n%s", got)
	}
	if x := b.work(check); x.State != coppice.WorkTaken || x.Attempt != 1 {
		t.Errorf("the check is %s, attempt %d", x.State, x.Attempt)
	}
	if x := b.work(late); x.State != coppice.WorkOffered {
		t.Errorf("what was offered after the stop is %s", x.State)
	}
	if got := w.Pending(); len(got) != 0 {
		t.Errorf("pending %v", got)
	}
}

// A lost lease does not end git while it writes.
func TestALostLeaseDoesNotEndWhatWrites(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.gate("gate")
	b.slowGit(g, writes)
	id, commit := b.landing()
	_, err := b.takeOnce(b.ctx, groups)
	b.must(err)
	let := g.reached()
	b.takeBack(id)
	b.must(b.renewOnce(b.ctx))
	let()
	b.wg.Wait()
	if b.git("rev-parse", "main") != commit || b.git("status", "--porcelain") != "" {
		t.Error("the checkout is half-way")
	}
	if w := b.work(id); w.State != coppice.WorkCancelled || len(w.Result) != 0 {
		t.Errorf("work %s, result %s", w.State, w.Result)
	}
}

// A push that waits for its network delays no other work on the same repository.
// Hurry ends it.
func TestAPushDelaysNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.gate("gate")
	b.capacity = map[Group]int{GroupGit: 1, GroupPush: 1}
	b.slowGit(g, "push")
	b.git("remote", "add", "origin", filepath.Join(b.dir, "remote.git"))
	head := b.git("rev-parse", "main")
	push := b.offer(coppice.WorkPush, "landing/2/1", coppice.PushSpec{Repo: b.repo, Base: "main", Old: head, New: head}, 0)
	stop := b.start()
	let := g.reached()
	move, commit := b.landing()
	if r := result[coppice.MoveResult](b, b.finished(move)); !r.Moved || r.Now != commit {
		t.Errorf("result %+v", r)
	}
	w := b.Worker
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	<-w.stopping
	w.Hurry()
	<-stopped
	let()
	if x := b.work(push); x.State != coppice.WorkFinished || x.Failure == nil {
		t.Errorf("the push is %s, %v", x.State, x.Failure)
	}
}

// full is a fabric whose store accepts no result.
type full struct{ fabric.Fabric }

func (full) Finish(context.Context, coppice.Lease, json.RawMessage, *coppice.Failure) error {
	return coppice.Errorf(coppice.EUnavailable, "the disk is full")
}

// A stop does not wait for a store that cannot accept a result. The effect is
// repeated after the restart.
func TestStopWithAFullDisk(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.gate("gate")
	b.slowGit(g, writes)
	b.cfg.Fabric, b.cfg.Retry = full{b.fabric}, time.Hour
	id, commit := b.landing()
	stop := b.start()
	let := g.reached()
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	<-b.stopping
	let()
	<-stopped
	if w := b.work(id); w.State != coppice.WorkTaken {
		t.Errorf("work %s", w.State)
	}
	b.open()
	b.must(os.Remove(g.path))
	b.must(os.WriteFile(g.path, nil, 0o600))
	b.start()
	if r := result[coppice.MoveResult](b, b.finished(id)); !r.Moved || r.Now != commit {
		t.Errorf("result %+v", r)
	}
	b.view(func(r store.Reader) error {
		w, err := r.Work.Get(id)
		if w.Attempt != 1 {
			t.Errorf("attempt %d", w.Attempt)
		}
		return err
	})
}
