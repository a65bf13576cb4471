package engine

import (
	"coppice"
	"coppice/store"
)

// checkCheckout refuses tasks in the person's own checkout that something else than
// this person would start: the features file, a batch, another task or a time.
func (i *Intake) checkCheckout(asked []coppice.NewTask) error {
	for n, t := range asked {
		var problem, fix, field string
		switch {
		case t.Workspace != "" && t.Workspace != coppice.WorkspaceWorktree && t.Workspace != coppice.WorkspaceNone:
			return at(asked, n, coppice.Errorf(coppice.EInvalid, "%s is not a valid value for workspace", coppice.Quote(t.Workspace)).
				WithFix("use %s or %s", coppice.WorkspaceWorktree, coppice.WorkspaceNone).WithField("workspace"))
		case t.Workspace != coppice.WorkspaceNone:
			continue
		case i.by.Kind != coppice.ActorPerson:
			return at(asked, n, coppice.Errorf(coppice.EForbidden, "%s cannot start a task in a person's checkout", i.by).WithField("workspace"))
		case len(asked) > 1:
			problem, fix, field = "is created alone, not with others", "create it in a separate request", "workspace"
		case len(t.After) > 0:
			problem, fix, field = "waits for no other task", "create it when that task is done", "after"
		case !t.NotBefore.IsZero():
			problem, fix, field = "has no time before which it does not start", "create it at that time", "not_before"
		case t.Answer || len(t.Schema) > 0:
			problem, fix, field = "can change files, and a task that wants an answer cannot", "choose one of them", "workspace"
		default:
			continue
		}
		return at(asked, n, coppice.Errorf(coppice.EInvalid, "a task that works in your checkout %s", problem).WithFix("%s", fix).WithField(field))
	}
	return nil
}

// refuseCheckout refuses to start a task in the person's checkout while another task
// of the project works there, or is about to.
func refuseCheckout(r store.Reader, t coppice.Task) error {
	key, err := r.Workspaces.InCheckout(t.ProjectID, t.ID)
	if err != nil || key == "" {
		return err
	}
	return coppice.Errorf(coppice.EConflict, "%s works in your checkout already, and only one task at a time can", key).
		WithFix("wait until it has ended, or stop it with `coppice stop %s`", key).WithField("workspace")
}
