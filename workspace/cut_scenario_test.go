//go:build linux

package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"

	"coppice"
)

// scenario is one operation in one situation.
type scenario struct {
	name  string
	set   func(*stage) // makes the situation, and says what is to be done
	check func(*stage, any, error) []wrong
	cuts  int // how many cut points are tried unless all are asked for; 0 tries all
	edits int // how many of them are tried with a change of the user's before the restart
}

// scenarios are all operations, in small and large, with the checkouts that
// people have.
func scenarios() []scenario {
	return []scenario{
		{name: "prepare/first", set: setPrepare, check: (*stage).checkPrepare},
		{name: "prepare/reused", set: setReused, check: (*stage).checkPrepare},
		{name: "prepare/detached", set: setDetached, check: (*stage).checkPrepare},
		{name: "prepare/large", set: large(setPrepare), check: (*stage).checkPrepare, cuts: 60},
		{name: "save/small", set: setSave(small), check: (*stage).checkSave},
		{name: "save/large", set: large(setSave(many)), check: (*stage).checkSave, cuts: 60},
		{name: "merge/squash", set: setMerge(small, coppice.StrategySquash), check: (*stage).checkMerge},
		{name: "merge/merge", set: setMerge(small, coppice.StrategyMerge), check: (*stage).checkMerge},
		{name: "merge/rebase", set: setMerge(small, coppice.StrategyRebase), check: (*stage).checkMerge},
		{name: "merge/large", set: large(setMerge(many, coppice.StrategySquash)), check: (*stage).checkMerge, cuts: 60},
		{name: "remove/clean", set: setRemove(false), check: (*stage).checkRemove},
		{name: "remove/dirty", set: setRemove(true), check: (*stage).checkRemove},
		{name: "restore/clean", set: setRestore(false), check: (*stage).checkPrepare},
		{name: "restore/dirty", set: setRestore(true), check: (*stage).checkPrepare},
		{name: "strays", set: setStrays, check: (*stage).checkStrays},
		{name: "flow/create", set: setFlow(func(*stage) {}), check: (*stage).checkFlow},
		{name: "flow/create from the trash", set: setFlow(flowInTrash), check: (*stage).checkFlow},
		{name: "flow/drop", set: setFlow(flowWithStep), check: (*stage).checkFlow},
		{name: "flow/drop packed", set: setFlow(func(s *stage) { flowWithStep(s); packed(s) }), check: (*stage).checkFlow},

		{name: "move/small", set: setMove(small, clean), check: (*stage).checkMove, edits: 60},
		{name: "move/small dirty", set: setMove(small, dirty), check: (*stage).checkMove, edits: 60},
		{name: "move/added", set: setMove(added, clean), check: (*stage).checkMove, edits: 60},
		{name: "move/kinds", set: mixed(setMove(kinds, clean)), check: (*stage).checkMove, edits: 80},
		{name: "move/kinds dirty", set: mixed(setMove(kinds, dirty)), check: (*stage).checkMove, edits: 80},
		{name: "move/kinds two checkouts", set: mixed(setMove(kinds, func(s *stage) { twice(s); dirty(s) })), check: (*stage).checkMove, edits: 40},
		{name: "move/packed", set: setMove(added, packed), check: (*stage).checkMove, edits: 30},
		{name: "move/large", set: large(setMove(many, clean)), check: (*stage).checkMove, cuts: 110, edits: 80},
		{name: "move/large dirty", set: large(setMove(many, dirty)), check: (*stage).checkMove, cuts: 110, edits: 80},
		{name: "move/not checked out", set: setMove(small, elsewhere), check: (*stage).checkMove},
		{name: "move/two checkouts", set: setMove(added, twice), check: (*stage).checkMove, edits: 60},
		{name: "move/large two checkouts", set: large(setMove(many, twice)), check: (*stage).checkMove, cuts: 60, edits: 30},
		{name: "back/small", set: setBack(small, clean), check: (*stage).checkMove, edits: 60},
		{name: "back/kinds dirty", set: mixed(setBack(kinds, dirty)), check: (*stage).checkMove, edits: 60},
		{name: "back/two checkouts", set: setBack(added, twice), check: (*stage).checkMove, edits: 30},
		{name: "push/small", set: setPush(small, clean), check: (*stage).checkPush},
		{name: "push/dirty", set: setPush(added, dirty), check: (*stage).checkPush},
		{name: "push/large", set: large(setPush(many, clean)), check: (*stage).checkPush, cuts: 40},
		{name: "move/push", set: setMove(small, pushed), check: (*stage).checkMove, edits: 30},
		{name: "move/large push", set: large(setMove(many, pushed)), check: (*stage).checkMove, cuts: 60},
		{name: "move/push dirty", set: setMove(added, func(s *stage) { pushed(s); dirty(s) }), check: (*stage).checkMove, edits: 30},
	}
}

// large runs a setting in a repository with a hundred files.
func large(set func(*stage)) func(*stage) {
	return func(s *stage) {
		files := map[string]string{}
		for i := range 40 {
			files[fmt.Sprintf("mod/%d/%d", i/10, i)] = fmt.Sprintf("before %d\n", i)
		}
		for i := range 12 {
			files[fmt.Sprintf("del/%d", i)] = fmt.Sprintf("gone %d\n", i)
		}
		for i := range 5 {
			files[fmt.Sprintf("exec/%d", i)] = fmt.Sprintf("#!/bin/sh\n# %d\n", i)
			files[fmt.Sprintf("tolink/%d", i)] = fmt.Sprintf("a file %d\n", i)
			files[fmt.Sprintf("tofile/%d/inner", i)] = fmt.Sprintf("in a directory %d\n", i)
			files[fmt.Sprintf("todir/%d", i)] = fmt.Sprintf("where a directory will be %d\n", i)
		}
		s.write(s.repo, files)
		for i := range 5 {
			s.link(s.repo, fmt.Sprintf("links/%d", i), "../a.txt")
		}
		s.commit("all")
		packed(s)
		set(s)
	}
}

// mixed runs a setting in a repository with one file of each kind.
func mixed(set func(*stage)) func(*stage) {
	return func(s *stage) {
		s.write(s.repo, map[string]string{"kinds/gone": "g\n", "kinds/dir/inner": "i\n", "kinds/file": "f\n", "kinds/tolink": "t\n", "kinds/run.sh": "#!/bin/sh\n"})
		s.link(s.repo, "kinds/link", "../a.txt")
		set(s)
	}
}

func (s *stage) link(dir, name, target string) {
	s.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.RemoveAll(path); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		s.t.Fatal(err)
	}
}

// The changes of agents, in the workspace of the stage.

// small changes one file.
func small(s *stage) { s.write(s.made, map[string]string{"a.txt": "one\ntwo by the agent\n"}) }

// added adds two files, one of them in a new directory, and changes one.
func added(s *stage) {
	s.write(s.made, map[string]string{"a.txt": "one\ntwo by the agent\n", "z.txt": "new\n", "fresh/dir/f.txt": "new too\n"})
}

// kinds changes one file in each way that there is.
func kinds(s *stage) {
	for _, name := range []string{"kinds/gone", "kinds/dir", "kinds/file"} {
		if err := os.RemoveAll(filepath.Join(s.made, name)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.write(s.made, map[string]string{"a.txt": "one\ntwo by the agent\n", "z.txt": "new\n", "kinds/dir": "a file now\n", "kinds/file/inner": "in a directory now\n"})
	s.link(s.made, "kinds/tolink", "../a.txt")
	s.link(s.made, "kinds/link", "../z.txt")
	if err := os.Chmod(filepath.Join(s.made, "kinds/run.sh"), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// many changes a hundred files of a large repository in every way.
func many(s *stage) {
	files := map[string]string{}
	drop := func(name string) {
		if err := os.RemoveAll(filepath.Join(s.made, name)); err != nil {
			s.t.Fatal(err)
		}
	}
	for i := range 40 {
		files[fmt.Sprintf("mod/%d/%d", i/10, i)] = fmt.Sprintf("after %d, and longer than before\n", i)
	}
	for i := range 12 {
		drop(fmt.Sprintf("del/%d", i))
	}
	for i := range 30 {
		files[fmt.Sprintf("add/%d/%d", i/10, i)] = fmt.Sprintf("added %d\n", i)
	}
	for i := range 5 {
		drop(fmt.Sprintf("tofile/%d", i))
		files[fmt.Sprintf("tofile/%d", i)] = fmt.Sprintf("now a file %d\n", i)
		drop(fmt.Sprintf("todir/%d", i))
		files[fmt.Sprintf("todir/%d/inner", i)] = fmt.Sprintf("now in a directory %d\n", i)
	}
	s.write(s.made, files)
	for i := range 5 {
		if err := os.Chmod(filepath.Join(s.made, fmt.Sprintf("exec/%d", i)), 0o755); err != nil {
			s.t.Fatal(err)
		}
		s.link(s.made, fmt.Sprintf("tolink/%d", i), "../a.txt")
		s.link(s.made, fmt.Sprintf("links/%d", i), fmt.Sprintf("../mod/0/%d", i))
	}
}

// The checkouts of users. The base has its one commit and the landing is ready.

func clean(*stage) {}

// dirty leaves work of the user's in files that no landing touches, in every
// state that git knows.
func dirty(s *stage) {
	s.write(s.repo, map[string]string{"own/staged.txt": "staged\n", "own/added.txt": "added\n"})
	s.git(s.repo, "add", "own")
	s.write(s.repo, map[string]string{"own/changed.txt": "changed\n", "own/untracked.txt": "untracked\n", "own/added.txt": "added and changed\n",
		".env": "SECRET=1\n", "own/x.log": "log\n"})
	if err := os.Remove(filepath.Join(s.repo, "own/gone.txt")); err != nil {
		s.t.Fatal(err)
	}
}

// packed leaves all objects in a pack and all refs in one file.
func packed(s *stage) { s.git(s.repo, "gc", "-q", "--prune=now") }

// elsewhere leaves the user on another branch, with uncommitted work.
func elsewhere(s *stage) {
	s.git(s.repo, "checkout", "-q", "-b", "topic")
	s.write(s.repo, map[string]string{"a.txt": "the user's on a topic\n"})
	s.trees = nil
}

// twice has the base checked out in a second worktree.
func twice(s *stage) {
	second := filepath.Join(s.root, "second")
	s.git(s.repo, "worktree", "add", "-q", "--force", second, "main")
	s.trees = append(s.trees, second)
}

// pushed has the landing pushed to a repository elsewhere.
func pushed(s *stage) {
	s.remote = filepath.Join(s.root, "remote.git")
	s.git(s.root, "clone", "-q", "--bare", "--template=", s.repo, s.remote)
	s.git(s.repo, "remote", "add", "origin", s.remote)
}

// The operations.

func setPrepare(s *stage) {
	s.commit("first")
	s.kind, s.spec = "prepare", s.prepareSpec("app-1")
	s.inside = contents(s.t, s.repo)
}

// setReused prepares in what a removed workspace left.
func setReused(s *stage) {
	s.commit("first")
	s.inside = contents(s.t, s.repo)
	s.prepare()
	s.write(s.made, map[string]string{"a.txt": "changed\n", "new.txt": "new\n"})
	s.save()
	s.remove()
	s.made = ""
	s.kind, s.spec = "prepare", s.prepareSpec("app-2")
}

// setDetached prepares for a session that only looks.
func setDetached(s *stage) {
	s.commit("first")
	s.prepare()
	small(s)
	spec := s.prepareSpec("app-1.2")
	spec.From, spec.Detached = s.save(), true
	s.inside = contents(s.t, s.made)
	s.kind, s.spec = "prepare", spec
}

// begin makes a workspace with a change.
func (s *stage) begin(change func(*stage)) {
	s.commit("first")
	s.prepare()
	change(s)
}

func setSave(change func(*stage)) func(*stage) {
	return func(s *stage) {
		s.begin(change)
		s.inside = contents(s.t, s.made)
		s.kind, s.spec = "save", saveSpec{Path: s.made, Message: "Work\n"}
	}
}

func setMerge(change func(*stage), strategy string) func(*stage) {
	return func(s *stage) {
		s.begin(change)
		head := s.save()
		s.landed = contents(s.t, s.made)
		s.write(s.repo, map[string]string{"later.txt": "m\n"})
		s.commit("later")
		var err error
		if s.landed["later.txt"], err = describe(filepath.Join(s.repo, "later.txt")); err != nil {
			s.t.Fatal(err)
		}
		s.kind, s.spec = "merge", s.mergeSpec(head, strategy)
	}
}

// setMove lands a change. Where there is a remote the move pushes first, as an
// earlier version asks for.
func setMove(change, checkout func(*stage)) func(*stage) {
	return func(s *stage) {
		s.begin(change)
		spec := s.merge()
		checkout(s)
		spec.Push = s.remote != ""
		s.kind, s.spec = "move", spec
	}
}

// setBack takes a landing off the base again.
func setBack(change, checkout func(*stage)) func(*stage) {
	return func(s *stage) {
		s.commit("first")
		before := contents(s.t, s.repo)
		s.prepare()
		change(s)
		spec := s.merge()
		if res, err := s.workspaces().Move(s.t.Context(), spec); err != nil || !res.Moved {
			s.t.Fatal(res, err)
		}
		s.remove()
		s.made = ""
		checkout(s)
		s.landed, s.new = before, spec.Old
		spec.Old, spec.New, spec.Back = spec.New, spec.Old, true
		s.kind, s.spec = "move", spec
	}
}

// setPush pushes a landing; the move follows.
func setPush(change, checkout func(*stage)) func(*stage) {
	return func(s *stage) {
		s.begin(change)
		spec := s.merge()
		pushed(s)
		checkout(s)
		s.kind, s.spec = "push", coppice.PushSpec{Repo: s.repo, Base: "main", Old: spec.Old, New: spec.New}
	}
}

func (s *stage) removeSpec() coppice.RemoveSpec {
	return coppice.RemoveSpec{Key: "app-1", Repo: s.repo, Path: s.made, Branch: coppice.TaskBranch("app-1"), Policy: coppice.TrashPolicy{Keep: []string{".env*"}}}
}

func (s *stage) restoreSpec(r coppice.RemoveResult) coppice.RestoreSpec {
	return coppice.RestoreSpec{Key: "app-1", Repo: s.repo, Branch: coppice.TaskBranch("app-1"), Head: r.Head, Ref: r.Ref, Archive: r.Archive}
}

func (s *stage) remove() coppice.RemoveResult {
	s.t.Helper()
	r, err := s.workspaces().Remove(s.t.Context(), s.removeSpec())
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// used makes a workspace with a commit, and work besides when it is dirty.
func (s *stage) used(dirty bool) {
	s.t.Helper()
	s.commit("first")
	s.prepare()
	added(s)
	s.save()
	if dirty {
		s.write(s.made, map[string]string{"own/staged.txt": "staged\n"})
		s.git(s.made, "add", "-A")
		s.write(s.made, map[string]string{"own/changed.txt": "changed\n", "untracked.txt": "untracked\n", ".env": "KEPT=1\n"})
	}
	v, err := lookAt(s.made)
	if err != nil {
		s.t.Fatal(err)
	}
	s.inside, s.status = v.files, v.status
}

func setRemove(dirty bool) func(*stage) {
	return func(s *stage) {
		s.used(dirty)
		s.kind, s.spec = "remove", s.removeSpec()
	}
}

// setStrays removes branches of an agent: one with its own commit, and one without.
func setStrays(s *stage) {
	s.used(false)
	s.git(s.made, "checkout", "-q", "-b", "other")
	s.write(s.made, map[string]string{"other.txt": "other\n"})
	s.git(s.made, "add", "-A")
	s.git(s.made, "commit", "-q", "-m", "other")
	s.git(s.made, "checkout", "-q", coppice.TaskBranch("app-1"))
	s.git(s.made, "branch", "-q", "same")
	s.kind, s.spec = "strays", coppice.StraysSpec{Key: "app-1", Repo: s.repo, Branch: coppice.TaskBranch("app-1"), Ref: "refs/coppice/trash/app-1-branches-7"}
}

func setRestore(dirty bool) func(*stage) {
	return func(s *stage) {
		s.used(dirty)
		s.kind, s.spec = "restore", s.restoreSpec(s.remove())
	}
}
