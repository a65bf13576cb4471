package engine

import (
	"testing"

	"coppice"
)

// A session gets the mode of the project's locks if it can edit. What one that
// cannot edit changes in its own worktree never lands.
func TestRunSpecHasTheModeOfLocks(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Locks = coppice.LocksRequired })
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	spec := specOf[coppice.RunSpec](b, b.unsettled("app-1"))
	if spec.ReadOnly || spec.Locks != coppice.LocksRequired {
		t.Errorf("a session that edits gets %+v", spec)
	}
	begun := func(s *coppice.Session) { starting(s); s.Role, s.From = coppice.RoleAnswer, "" }
	v := viewOf(coppice.StageSession, wantsAnswer, ran("", begun), func(v *View) { v.Project.Policy.Locks = coppice.LocksRequired })
	v.Sessions[0].Path = "/ws/own"
	spec, err := coppice.DecodeSpec[coppice.RunSpec](*pipeline(v).Offer)
	b.must(err)
	if !spec.ReadOnly || spec.Locks != "" {
		t.Errorf("a session that cannot edit gets %+v", spec)
	}
}
