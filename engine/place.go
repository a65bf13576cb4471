package engine

import (
	"slices"

	"coppice"
)

// errand is work that wants a place.
type errand struct {
	Kind   coppice.WorkKind
	Agent  string   // the agent that it runs, if it runs one
	Labels []string // what its node must have
	Node   string   // where the task's workspace is, until that is published; "" when it is nowhere
}

// place says which pool work is offered to: the control machine's for what needs
// the repository itself; the node of the task's workspace for what needs that; and
// otherwise the node with the most free memory of those that can do it. When none
// can, the work waits in the pool of this machine.
func place(nodes []coppice.Node, e errand) string {
	switch e.Kind {
	case coppice.WorkMerge, coppice.WorkPush, coppice.WorkMove, coppice.WorkPurge:
		return PoolControl
	}
	if e.Node != "" {
		return e.Node
	}
	best := coppice.Node{Name: PoolLocal}
	found := false
	for _, n := range nodes {
		if fits(n, e) && (!found || free(n) > free(best)) {
			best, found = n, true
		}
	}
	return best.Name
}

// fits reports whether a node can do an errand. One that names no agents has all.
func fits(n coppice.Node, e errand) bool {
	for _, l := range e.Labels {
		if !slices.Contains(n.Labels, l) {
			return false
		}
	}
	return e.Agent == "" || len(n.Agents) == 0 || slices.Contains(n.Agents, e.Agent)
}

// free is the part of a node's memory that is free; all of it when the node does
// not report it.
func free(n coppice.Node) float64 {
	if n.MemoryTotal == 0 {
		return 1
	}
	return 1 - float64(n.MemoryUsed)/float64(n.MemoryTotal)
}

// place says which pool work for the view's task is offered to. A task stays on
// its node, its verifiers too. A workspace that was removed is published: only
// bringing it back needs the node where its archive is. Checks need what was
// merged, which is published as well.
func (v *View) place(kind coppice.WorkKind) string {
	e := errand{Kind: kind}
	if ws := v.Workspace; ws != nil && kind != coppice.WorkCheck && (kind != coppice.WorkPrepare || ws.RemovedAt.IsZero()) {
		e.Node = ws.Node
	}
	if s := v.session(); s != nil && s.State.Live() {
		e.Agent = s.Agent
	}
	return place(v.Nodes, e)
}
