package engine

import (
	"fmt"
	"slices"

	"coppice"
	"coppice/verb"
)

// withStrays returns the task with the stray branches that were just found: those in
// its workspace, or in the trash. Branches that the trash keeps already stay. It
// returns nil if nothing changes.
func withStrays(v *View, found []coppice.StrayBranch) *coppice.Task {
	return putStrays(v, append(keptInTrash(v.Task.Strays), found...))
}

// keptInTrash returns the stray branches that the trash keeps.
func keptInTrash(list []coppice.StrayBranch) []coppice.StrayBranch {
	return slices.DeleteFunc(slices.Clone(list), func(b coppice.StrayBranch) bool { return b.Ref == "" })
}

// withoutTrash returns the task without the stray branches that an entry of the trash
// kept, or with them in its workspace again. It returns nil if there are none.
func withoutTrash(v *View, ref string, restored bool) *coppice.Task {
	var list []coppice.StrayBranch
	for _, b := range v.Task.Strays {
		if b.Ref == ref && !restored {
			continue
		}
		if b.Ref == ref {
			b.Ref = ""
		}
		list = append(list, b)
	}
	return putStrays(v, list)
}

// putStrays returns the task with these stray branches, the newest if there are too
// many. It returns nil if the task has exactly these.
func putStrays(v *View, list []coppice.StrayBranch) *coppice.Task {
	list = list[max(0, len(list)-coppice.MostStrays):]
	if slices.Equal(list, v.Task.Strays) {
		return nil
	}
	t := v.Task
	t.Strays = list
	return &t
}

// dropBranches carries out the request to remove the branches that agents created in
// the task's workspace besides the task's. The trash keeps their commits.
func dropBranches(v *View) *Decision {
	a := v.asked(coppice.VerbDropBranches)
	if a == nil || v.open(coppice.WorkStrays, coppice.WorkRemove, coppice.WorkRestore, coppice.WorkPrepare) != nil {
		return nil
	}
	d := &Decision{By: "branches", Kind: coppice.EventTaskChanged, Reason: "no branch to remove", Asks: v.settled(coppice.VerbDropBranches)}
	ws := v.Workspace
	if verb.FitsDropBranches(v.facts()) != nil || ws == nil || !ws.Ready() {
		return d
	}
	d.Kind, d.Reason = coppice.EventWorkOffered, "its stray branches go to the trash"
	d.Offer = &coppice.Work{
		Kind: coppice.WorkStrays, Key: fmt.Sprintf("workspace/%d/strays/%d", ws.ID, a.ID), Pool: v.place(coppice.WorkStrays),
		Spec: coppice.Raw(coppice.StraysSpec{
			Key: v.Task.Key, Repo: v.Project.Path, RepoID: v.Project.ID, Branch: ws.Branch,
			Ref: fmt.Sprintf("refs/coppice/trash/%s-branches-%d", v.Task.Key, a.ID),
		}),
	}
	return d
}

// settleStrays stores which branches are gone, and the entry of the trash that keeps
// their commits.
func settleStrays(v *View, w coppice.Work) *Decision {
	r, fail := result[coppice.StraysResult](w)
	if fail != nil {
		t := v.Task
		t.Warning = "its stray branches could not be removed: " + fail.Text
		return &Decision{Kind: coppice.EventTaskWarned, Reason: t.Warning, Task: &t}
	}
	d := &Decision{Kind: coppice.EventTaskChanged, Reason: "its stray branches were removed"}
	list := slices.DeleteFunc(slices.Clone(v.Task.Strays), func(b coppice.StrayBranch) bool {
		return b.Ref == "" && slices.ContainsFunc(r.Strays, func(g coppice.StrayBranch) bool { return g.Name == b.Name })
	})
	kept := keptInTrash(r.Strays)
	d.Task = putStrays(v, append(list, kept...))
	if len(kept) > 0 && v.Workspace != nil {
		d.Trash = trashed(v, coppice.TrashBranches, kept[0].Ref, r.Head)
	}
	return d
}
