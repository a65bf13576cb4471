package sim

import (
	"slices"
	"strings"

	"coppice"
)

// flowBranch is the branch of a flow in a repository.
type flowBranch struct {
	start string // the commit of the base from which it started
	tip   string
}

// ref returns where the commit of a branch is stored: that of a flow, or the base.
func (w *world) ref(path, branch string) *string {
	r := w.repos[path]
	if f := r.flows[branch]; f != nil {
		return &f.tip
	}
	if strings.HasPrefix(branch, coppice.TaskBranch("")) {
		w.breakf("work names the branch %s, which does not exist", branch)
	}
	return &r.base
}

// flowBranch creates the branch of a flow, or removes it. The same request twice has
// one effect.
func (w *world) flowBranch(s coppice.BranchSpec) coppice.BranchResult {
	r := w.repos[s.Repo]
	f := r.flows[s.Branch]
	if s.Drop {
		return w.dropFlow(r, f, s)
	}
	switch {
	case f != nil:
	case s.Head != "":
		i := slices.IndexFunc(w.dropped, func(d flowBranch) bool { return d.tip == s.Head })
		if i < 0 {
			w.breakf("%s is restored at %s, where no branch was removed", s.Branch, s.Head)
			return coppice.BranchResult{}
		}
		f = &flowBranch{start: w.dropped[i].start, tip: s.Head}
	default:
		start := *w.ref(s.Repo, s.From)
		f = &flowBranch{start: start, tip: start}
	}
	if r.flows == nil {
		r.flows = map[string]*flowBranch{}
	}
	r.flows[s.Branch] = f
	return coppice.BranchResult{Tip: f.tip}
}

// dropFlow removes a branch, if it exists. The trash keeps the commits that the base
// does not have.
func (w *world) dropFlow(r *repo, f *flowBranch, s coppice.BranchSpec) coppice.BranchResult {
	if f == nil {
		return w.flowTrash[s.Ref]
	}
	for key, ws := range w.spaces {
		for _, h := range w.hosts {
			if h.task == key && h.phase == "running" && w.repos[ws.repo] == r && ws.onto == s.Branch {
				w.breakf("%s was removed while a session of %s ran", s.Branch, key)
			}
		}
	}
	delete(r.flows, s.Branch)
	w.dropped = append(w.dropped, *f)
	res := coppice.BranchResult{Tip: f.tip, Kept: !w.within(f.tip, r.base)}
	if res.Kept { // otherwise a repeated request finds nothing
		w.flowTrash[s.Ref] = res
	}
	return res
}

// startOf returns the commit of the base with which a candidate is compared. A flow
// lands its branch without a workspace, unless a session has changed it.
func (w *world) startOf(s coppice.MergeSpec, task string) (from string, ok bool) {
	ws, f := w.spaces[task], w.repos[s.Repo].flows[coppice.TaskBranch(task)]
	switch {
	case ws != nil && (f == nil || ws.head == s.Head):
		return ws.from, true
	case f != nil:
		return f.start, true
	}
	return "", false
}
