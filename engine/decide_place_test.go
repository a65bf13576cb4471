package engine

import (
	"testing"

	"coppice"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	nodes := []coppice.Node{
		{Name: "a", MemoryTotal: 100, MemoryUsed: 90, Agents: []string{"ann"}},
		{Name: "b", MemoryTotal: 100, MemoryUsed: 50, Agents: []string{"bob"}, Labels: []string{"gpu"}},
		{Name: "c", MemoryTotal: 100, MemoryUsed: 70},
	}
	for _, c := range []struct {
		name  string
		nodes []coppice.Node
		e     placement
		want  string
	}{
		{"the repository itself", nodes, placement{Kind: coppice.WorkMove, Node: "a"}, PoolControl},
		{"the trash", nodes, placement{Kind: coppice.WorkPurge}, PoolControl},
		{"where the workspace is", nodes, placement{Kind: coppice.WorkRun, Node: "a", Agent: "bob"}, "a"},
		{"the most free memory", nodes, placement{Kind: coppice.WorkCheck}, "b"},
		{"with the agent", nodes, placement{Kind: coppice.WorkPrepare, Agent: "ann"}, "c"},
		{"with the agent only there", nodes[:2], placement{Kind: coppice.WorkPrepare, Agent: "ann"}, "a"},
		{"with the label", nodes, placement{Kind: coppice.WorkCheck, Labels: []string{"gpu"}}, "b"},
		{"nobody can", nodes, placement{Kind: coppice.WorkCheck, Labels: []string{"mac"}}, PoolLocal},
		{"nobody is there", nil, placement{Kind: coppice.WorkPrepare}, PoolLocal},
	} {
		if got := place(c.nodes, c.e); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A task stays on the node of its workspace, with every session, until that
// workspace is removed. The merged commit can be checked anywhere.
func TestATaskStaysOnItsNode(t *testing.T) {
	t.Parallel()
	v := &View{
		Nodes:     []coppice.Node{{Name: "far"}, {Name: "near", MemoryTotal: 100, MemoryUsed: 99}},
		Workspace: &coppice.Workspace{Node: "near"},
	}
	want := map[coppice.WorkKind]string{
		coppice.WorkPrepare: "near", coppice.WorkRun: "near", coppice.WorkSend: "near", coppice.WorkStop: "near", coppice.WorkRemove: "near",
		coppice.WorkRestore: "near", coppice.WorkCheck: "far", coppice.WorkMerge: PoolControl, coppice.WorkMove: PoolControl, coppice.WorkPurge: PoolControl,
	}
	for kind, pool := range want {
		if got := v.place(kind); got != pool {
			t.Errorf("%s: %s, want %s", kind, got, pool)
		}
	}
	v.Workspace.RemovedAt = noon
	if got := []string{v.place(coppice.WorkPrepare), v.place(coppice.WorkRestore)}; got[0] != "far" || got[1] != "near" {
		t.Errorf("after it was removed: %v", got)
	}
}
