package engine

import (
	"context"
	"slices"

	"coppice"
	"coppice/store"
)

// RenameProject gives a project another prefix. The keys of its tasks stay as they
// are, and its earlier prefixes still name it.
func (i *Intake) RenameProject(ctx context.Context, project, prefix string) (coppice.Project, error) {
	var p coppice.Project
	if err := validPrefix(prefix); err != nil {
		return p, err
	}
	err := i.store.Update(ctx, func(tx store.Tx) error {
		var err error
		if p, err = knownProject(tx.Projects.ByPrefix(project)); err != nil {
			return err
		}
		if p.Prefix == prefix {
			return nil
		}
		if err := refusePrefix(tx.Reader(), p, prefix); err != nil {
			return err
		}
		was := p.Prefix
		p.Earlier = append(slices.DeleteFunc(slices.Clone(p.Earlier), func(e string) bool { return e == prefix }), was)
		p.Prefix = prefix
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		return i.event(tx, coppice.EventProjectChanged, coppice.Task{ProjectID: p.ID, Key: p.Prefix}, "renamed from "+was)
	})
	return p, err
}

func validPrefix(prefix string) error {
	if err := coppice.ValidPrefix(prefix); err != nil {
		return coppice.Public(err).WithField("prefix")
	}
	return nil
}

// refusePrefix refuses a prefix that another project has, or had: its tasks have
// such keys.
func refusePrefix(r store.Reader, p coppice.Project, prefix string) error {
	other, err := r.Projects.ByPrefix(prefix)
	if coppice.ErrorCode(err) == coppice.ENotFound || err == nil && other.ID == p.ID && p.ID != 0 {
		return nil
	}
	if err != nil {
		return err
	}
	says := "has"
	if other.Prefix != prefix {
		says = "had"
	}
	return coppice.Errorf(coppice.EConflict, "the project %s in %s %s the prefix %s", other.Prefix, other.Path, says, prefix).WithFix("choose another prefix").WithField("prefix")
}
