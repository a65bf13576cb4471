package sim

import (
	"fmt"

	"coppice"
)

// branch names the branch of some tasks, as a person does.
func (s *sim) branch(n *coppice.NewTask, prefix string) {
	if s.owed%5 == 2 && n.Role() == coppice.RoleImplement {
		n.Branch = fmt.Sprintf("topic/%s/%d", prefix, s.owed)
	}
}

// names takes note of the branch of a task.
func (w *world) names(t coppice.Task) {
	w.branches[t.Key], w.branchOf[t.BranchName()] = t.BranchName(), t.Key
}

// onBranch checks that work names the branch that its task got when it was created.
func (w *world) onBranch(key, branch string) {
	if want := w.branches[key]; want != "" && want != branch {
		w.breakf("work of %s names the branch %s, and its branch is %s", key, branch, want)
	}
}
