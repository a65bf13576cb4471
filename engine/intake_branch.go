package engine

import (
	"context"

	"coppice"
	"coppice/store"
)

// checkBranches refuses names of branches that are not valid, or that the
// repository has already.
func (i *Intake) checkBranches(ctx context.Context, project string, asked []coppice.NewTask) error {
	for n, t := range asked {
		if t.Branch == "" {
			continue
		}
		if err := coppice.ValidTaskBranch(t.Branch); err != nil {
			return at(asked, n, err)
		}
		if i.free == nil {
			continue
		}
		var p coppice.Project
		err := i.store.View(ctx, func(r store.Reader) (err error) {
			p, err = r.Projects.ByPrefix(project)
			return err
		})
		if err != nil {
			return err
		}
		if err := i.free(ctx, p, t.Branch); err != nil {
			return at(asked, n, err)
		}
	}
	return nil
}

// nameBranch refuses a task whose branch conflicts with that of another task, or
// with the branch on which it lands. Without a name, the project's template names
// the branch, unless another task has that name.
func nameBranch(r store.Reader, p coppice.Project, t *coppice.Task) error {
	chosen := t.Branch != ""
	if !chosen {
		if p.Policy.Workspace.Branch == "" || t.Wants != coppice.WantsChange {
			return nil
		}
		t.Branch = coppice.BranchFrom(p.Policy.Workspace.Branch, *t)
	}
	problem, err := branchProblem(r, p, *t)
	if err != nil || problem == "" {
		return err
	}
	if !chosen {
		t.Branch = ""
		return nil
	}
	return coppice.Errorf(coppice.EConflict, "the branch %s cannot be used: %s", coppice.Quote(t.Branch), problem).WithFix("choose another name").WithField("branch")
}

// branchProblem says why a task cannot have its branch, or returns "".
func branchProblem(r store.Reader, p coppice.Project, t coppice.Task) (string, error) {
	if err := coppice.ValidTaskBranch(t.Branch); err != nil {
		return coppice.Public(err).Cause, nil
	}
	for _, lands := range []string{p.Policy.Base, p.Onto(t)} {
		if coppice.BranchesConflict(t.Branch, lands) {
			return "work lands on " + lands, nil
		}
	}
	key, err := r.Workspaces.OfBranch(p.ID, t.Branch)
	if err != nil || key == "" {
		return "", err
	}
	return key + " has it, or one that does not fit beside it", nil
}
