package engine

import (
	"slices"

	"coppice"
)

// placement describes work that needs a node.
type placement struct {
	Kind   coppice.WorkKind
	Agent  string   // the agent that it runs, if any
	Labels []string // labels that its node must have
	Node   string   // where the task's workspace is, until that is published; "" if it has none
}

// place returns the pool to which work is offered: the control machine's for
// work on the repository itself, the node of the task's workspace for work in
// it, and otherwise the suitable node with the most free memory. If no node is
// suitable, the work waits in the pool of this machine.
func place(nodes []coppice.Node, e placement) string {
	switch e.Kind {
	case coppice.WorkMerge, coppice.WorkPush, coppice.WorkMove, coppice.WorkBranch, coppice.WorkPurge, coppice.WorkHook,
		coppice.WorkPullPush, coppice.WorkForgeWrite, coppice.WorkForgeRead, coppice.WorkTrackerRead, coppice.WorkTrackerWrite, coppice.WorkNotify:
		return PoolControl
	}
	if e.Node != "" {
		return e.Node
	}
	best := coppice.Node{Name: PoolLocal}
	found := false
	for _, n := range nodes {
		if canRun(n, e) && (!found || freeMemory(n) > freeMemory(best)) {
			best, found = n, true
		}
	}
	return best.Name
}

// canRun reports whether a node can execute work. A node that names no agents
// has all.
func canRun(n coppice.Node, e placement) bool {
	for _, l := range e.Labels {
		if !slices.Contains(n.Labels, l) {
			return false
		}
	}
	return e.Agent == "" || len(n.Agents) == 0 || slices.Contains(n.Agents, e.Agent)
}

// freeMemory returns the share of a node's memory that is free, or all of it if
// the node does not report it.
func freeMemory(n coppice.Node) float64 {
	if n.MemoryTotal == 0 {
		return 1
	}
	return 1 - float64(n.MemoryUsed)/float64(n.MemoryTotal)
}

// place returns the pool for work of the view's task. A task stays on its node,
// and so do its verifiers. A workspace that was removed is published: only
// restoring it needs the node that has its archive. Checks need the merged
// commit, which is published too.
func (v *View) place(kind coppice.WorkKind) string {
	e := placement{Kind: kind}
	if ws := v.Workspace; ws != nil && kind != coppice.WorkCheck && (kind != coppice.WorkPrepare || ws.RemovedAt.IsZero()) {
		e.Node = ws.Node
	}
	if s := v.lastSession(); s != nil && s.State.Live() {
		e.Agent = s.Agent
	}
	return place(v.Nodes, e)
}
