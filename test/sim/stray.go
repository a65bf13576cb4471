package sim

import (
	"fmt"
	"slices"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// leaveStray lets the agent of a session leave a branch besides the task's, at
// times, and returns all that its workspace has.
func (w *world) leaveStray(h *hostState) []coppice.StrayBranch {
	if !h.role.Lands() {
		return nil
	}
	ws := w.spaces[h.task]
	if n := len(w.commits); n%3 == 0 {
		name := fmt.Sprintf("stray%d", n%4)
		ws.strays = slices.DeleteFunc(ws.strays, func(b coppice.StrayBranch) bool { return b.Name == name })
		ws.strays = append(ws.strays, coppice.StrayBranch{Name: name, Head: fmt.Sprintf("%s-%d", name, n), Own: n%2 == 0})
	}
	return slices.Clone(ws.strays)
}

// trash removes a workspace. The trash keeps the branches with their own commits.
func (w *world) trash(key string, ws *workspace) coppice.RemoveResult {
	if !ws.removed {
		w.removals++
		ws.removed, ws.ref = true, fmt.Sprintf("refs/coppice/trash/%s-%d", key, w.removals)
		w.kept[ws.ref] = keep(ws.strays, ws.ref)
		ws.strays = nil
	}
	return coppice.RemoveResult{Head: ws.head, Ref: ws.ref, Strays: slices.Clone(w.kept[ws.ref])}
}

func (w *world) restoreStrays(ws *workspace, ref string) {
	ws.strays = nil
	for _, b := range w.kept[ref] {
		b.Ref = ""
		ws.strays = append(ws.strays, b)
	}
}

// keep returns the branches with their own commits, as a ref of the trash has them.
func keep(list []coppice.StrayBranch, ref string) (kept []coppice.StrayBranch) {
	for _, b := range list {
		if b.Own {
			b.Ref = ref
			kept = append(kept, b)
		}
	}
	return kept
}

// dropStrays removes the branches. The same request twice has one effect.
func (w *world) dropStrays(s coppice.StraysSpec) coppice.StraysResult {
	ws := w.spaces[s.Key]
	if ws == nil || ws.removed {
		return coppice.StraysResult{}
	}
	res := coppice.StraysResult{Head: ws.head}
	w.kept[s.Ref] = append(w.kept[s.Ref], keep(ws.strays, s.Ref)...)
	res.Strays = slices.Concat(slices.DeleteFunc(slices.Clone(ws.strays), func(b coppice.StrayBranch) bool { return b.Own }), w.kept[s.Ref])
	ws.strays = nil
	return res
}

// dropBranches is a person who removes the stray branches of a task.
func (s *sim) dropBranches() error {
	key, err := s.oneOf("", func(t coppice.Task) bool {
		return slices.ContainsFunc(t.Strays, func(b coppice.StrayBranch) bool { return b.Ref == "" })
	})
	if err != nil || key == "" {
		return err
	}
	_, err = s.intake.Ask(s.ctx, key, coppice.VerbDropBranches, verb.Request{})
	return err
}

// straysHold checks that an entry of the trash keeps each stray branch that is said to
// be there.
func (s *sim) straysHold(r store.Reader, t coppice.Task) error {
	if len(t.Strays) == 0 {
		return nil
	}
	trash, err := r.Trash.Of(t.ID)
	for _, b := range t.Strays {
		if b.Ref != "" && !slices.ContainsFunc(trash, func(tr coppice.Trash) bool { return tr.Ref == b.Ref }) {
			return fmt.Errorf("the trash does not have %s, the branch %s of %s", b.Ref, b.Name, t.Key)
		}
	}
	return err
}
