package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// undo is a person who undoes something: a landing, a stop or a removal; or who
// empties the trash.
func (s *sim) undo() error {
	switch s.undoing.IntN(8) {
	case 0, 1:
		return s.dropBranches()
	case 2:
		return s.unskip()
	}
	what := s.undoing.IntN(8)
	key, err := s.oneOf(s.someTask(), func(t coppice.Task) bool {
		return what > 2 && t.Landed != "" && t.Ended() || what <= 2 && t.Outcome == coppice.OutcomeCancelled
	})
	if err != nil || key == "" {
		return err
	}
	switch what {
	case 0:
		_, err = s.intake.Ask(s.ctx, key, coppice.VerbUnstop, verb.Request{})
	case 1:
		_, err = s.intake.UndoTask(s.ctx, key, coppice.UndoRemoval)
	case 2:
		_, err = s.intake.EmptyTrash(s.ctx, "", s.now.Add(-time.Hour), key)
	case 3, 4:
		_, err = s.intake.UndoTask(s.ctx, key, "")
	default:
		_, err = s.intake.Ask(s.ctx, key, coppice.VerbRevert, verb.Request{})
	}
	return err
}

// revertSome takes about half of the landings off, in random order. Histories that
// are about something else keep theirs.
func (s *sim) revertSome() (taken bool, err error) {
	if s.opt.Plain || s.opt.Kills || s.opt.Red {
		return false, nil
	}
	for _, n := range s.undoing.Perm(len(s.keys))[:len(s.keys)/2] {
		_, err := s.intake.Ask(s.ctx, s.keys[n], coppice.VerbRevert, verb.Request{})
		if err != nil && !refused(err) {
			return taken, err
		}
		taken = taken || err == nil
	}
	return taken, nil
}

// revertsHold looks at the rounds in which a landing is taken off: every landing of
// such a round does that, and no session works in it.
func revertsHold(r store.Reader, t coppice.Task) error {
	landings, err := r.Landings.Of(t.ID)
	if err != nil {
		return err
	}
	reverts := map[int]bool{} // by round
	for _, l := range landings {
		if was, known := reverts[l.Round]; known && was != (l.Reverts != "") {
			return fmt.Errorf("%s has a landing and a revert in round %d", t.Key, l.Round)
		}
		reverts[l.Round] = l.Reverts != ""
	}
	sessions, err := r.Sessions.Of(t.ID)
	for _, x := range sessions {
		if reverts[x.Round] {
			return fmt.Errorf("%s works on a revert", x.Key)
		}
	}
	return err
}

// moveBack moves the base back by compare-and-swap, and holds the engine to its
// word: only to a commit where the base was before, and never below what others
// have.
func (w *world) moveBack(s coppice.MoveSpec) coppice.MoveResult {
	r, at := w.repos[s.Repo], w.ref(s.Repo, s.Base)
	switch {
	case *at == s.New, w.within(s.New, *at) && !w.within(s.Old, *at):
		w.takesOff(s.Old)
		return coppice.MoveResult{Moved: true, Now: *at}
	case *at != s.Old:
		return coppice.MoveResult{Now: *at}
	}
	if by := w.buildsOn(r, s.Base, s.Old); by != "" {
		return coppice.MoveResult{Now: *at, Builds: by}
	}
	if at == &r.base && r.block != 0 {
		res := blocks[r.block]
		res.Now = *at
		return res
	}
	if !slices.Contains(r.history, s.New) {
		w.breakf("the base moved back to %s, where it never was", s.New)
	}
	*at = s.New
	r.history = append(r.history, s.New)
	w.takesOff(s.Old)
	return coppice.MoveResult{Moved: true, Now: s.New}
}

// buildsOn names what has a commit of a branch besides the branch itself.
func (w *world) buildsOn(r *repo, branch, commit string) string {
	if r.remote != "" && w.within(commit, r.remote) {
		return "origin/main"
	}
	for _, key := range slices.Sorted(maps.Keys(w.spaces)) {
		if ws := w.spaces[key]; w.repos[ws.repo] == r && (w.within(commit, ws.from) || w.within(commit, ws.head)) {
			return coppice.TaskBranch(key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.flows)) {
		if name != branch && w.within(commit, r.flows[name].tip) {
			return name
		}
	}
	return ""
}

// takesOff takes note of a landing that is not on the base any more.
func (w *world) takesOff(id string) {
	task := w.commits[id].task
	w.landed[task] = slices.DeleteFunc(w.landed[task], func(c string) bool { return c == id })
}

// takesOffEmpty takes note of landings of a task that others had taken off the base before
// they were reverted.
func (w *world) takesOffEmpty(r store.Reader, t coppice.Task) error {
	if n := len(w.landed[t.Key]); n < 2 || w.landed[t.Key][n-1] == t.Landed {
		return nil
	}
	landings, err := r.Landings.Of(t.ID)
	for _, l := range landings {
		if l.Reverts != "" && l.Outcome == coppice.LandingEmpty {
			w.takesOff(l.Head)
		}
	}
	return err
}

// revert makes the commit that takes a landing off the base, file by file.
func (w *world) revert(s coppice.MergeSpec, base string) coppice.MergeResult {
	res := coppice.MergeResult{Base: base}
	now := w.tree(base)
	res.Tree = treeID(now)
	if !w.within(s.Head, base) {
		res.Empty = true
		return res
	}
	with, without, merged := w.tree(s.Head), w.tree(s.Reverts), clone(now)
	for _, f := range slices.Sorted(maps.Keys(with)) {
		old, had := without[f]
		switch {
		case with[f] == old, now[f] == old:
		case now[f] != with[f]:
			res.Conflicts = append(res.Conflicts, coppice.Conflict{Path: f, Text: "both changed it"})
		case had:
			merged[f] = old
		default:
			delete(merged, f)
		}
	}
	if len(res.Conflicts) > 0 {
		return res
	}
	if res.Tree = treeID(merged); res.Tree == treeID(now) {
		res.Empty = true
		return res
	}
	res.Commit = w.add(base, merged, strings.Split(s.Ref, "/")[3], "revert "+s.At.String())
	w.reverts[res.Commit] = s.Head
	res.Review = ruleFor(s.Ask, now, merged)
	return res
}
