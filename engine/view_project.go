package engine

import (
	"time"

	"coppice"
)

// ProjectView is what the deciders of a project see.
type ProjectView struct{ Common }

// projectView loads a project's view.
func (t *turn) projectView(id int64) (*ProjectView, error) {
	p, err := t.tx.Projects.Get(id)
	if err != nil {
		return nil, gone(err)
	}
	v := &ProjectView{}
	v.Common, err = t.common(coppice.ProjectSubject(id))
	v.Project = p
	return v, err
}

func (v *ProjectView) decide() *Decision             { return strikes(v) }
func (v *ProjectView) due() time.Time                { return time.Time{} }
func (v *ProjectView) follow(*turn, *Decision) error { return nil }
