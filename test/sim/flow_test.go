package sim

import (
	"testing"

	"coppice"
)

// TestFlowBranchOfTheWorld plays one flow: its branch, a step that lands there, its own
// landing, and the removal of its branch.
func TestFlowBranchOfTheWorld(t *testing.T) {
	t.Parallel()
	w := newWorld("salt", 0)
	root := w.add("", map[string]string{"README": "0"}, "", "")
	r := &repo{base: root, history: []string{root}}
	w.repos["/r"] = r
	for _, key := range []string{"p-1", "p-2"} {
		w.names(coppice.Task{Key: key})
	}
	create := coppice.BranchSpec{Repo: "/r", Branch: "coppice/p-1", From: "main"}
	drop := coppice.BranchSpec{Repo: "/r", Branch: "coppice/p-1", Drop: true, Ref: "refs/coppice/trash/p-1-flow-1"}
	land := func(base, task, head string) string {
		t.Helper()
		m := w.merge(coppice.MergeSpec{Repo: "/r", Base: base, Head: head, Ref: "refs/coppice/landing/" + task + "/1"})
		if res := w.move(coppice.MoveSpec{Repo: "/r", Base: base, Old: m.Base, New: m.Commit}, nil, true); !res.Moved {
			t.Fatalf("%s did not land on %s: %+v, %+v", task, base, m, res)
		}
		return m.Commit
	}
	if res := w.flowBranch(create); res.Tip != root {
		t.Errorf("the branch is at %s, want %s", res.Tip, root)
	}
	step := w.prepare(coppice.PrepareSpec{Key: "p-2", Repo: "/r", Branch: "coppice/p-2", Base: "coppice/p-1"})
	w.write(&hostState{task: "p-2"}, "f", "1")
	tip := land("coppice/p-1", "p-2", w.spaces["p-2"].head)
	if res := w.flowBranch(create); res.Tip != tip || step.Head != root || r.base != root {
		t.Errorf("the branch is at %s and the base at %s, want %s and %s", res.Tip, r.base, tip, root)
	}
	own := w.prepare(coppice.PrepareSpec{Key: "p-1", Repo: "/r", Branch: "coppice/p-1", Base: "main", From: "coppice/p-1"})
	if own.Head != tip || own.BaseCommit != root {
		t.Errorf("the flow's workspace is at %s from %s, want %s from %s", own.Head, own.BaseCommit, tip, root)
	}
	delete(w.spaces, "p-1") // it lands without one, too
	if land("main", "p-1", tip); w.tree(r.base)["f"] != "1" {
		t.Errorf("the base has %v", w.tree(r.base))
	}
	want := coppice.BranchResult{Tip: tip, Kept: true}
	for range 2 {
		if res := w.flowBranch(drop); res != want || len(r.flows) > 0 {
			t.Errorf("dropped %+v, want %+v", res, want)
		}
	}
	create.Head = tip
	if res := w.flowBranch(create); res.Tip != tip || r.flows["coppice/p-1"].start != root {
		t.Errorf("restored at %s, want %s", res.Tip, tip)
	}
	if w.broken != "" {
		t.Error(w.broken)
	}
}
