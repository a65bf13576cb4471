package engine

import (
	"context"
	"fmt"

	"coppice"
	"coppice/store"
)

// groupFor returns the group of those tasks of a request that name none, without
// an id: what a file requests is one group, and several tasks become one. Its name
// is empty for a single task.
func (i *Intake) groupFor(p coppice.Project, asked []coppice.NewTask) coppice.Group {
	g := coppice.Group{ProjectID: p.ID, Kind: coppice.GroupHand, CreatedBy: i.by.String(), CreatedAt: i.now().UTC()}
	switch {
	case i.by.Kind == coppice.ActorFile:
		g.Name, g.Title, g.Kind = "features", i.by.Name, coppice.GroupImport
	case len(asked) > 1 && i.by.Kind != coppice.ActorSession: // theirs get the group of the session's task
		g.Name, g.Title, g.Kind = fmt.Sprintf("batch-%d", p.LastTask+1), fmt.Sprintf("%s and %d more", asked[0].Title, len(asked)-1), coppice.GroupBatch
	}
	return g
}

// group returns the id of the group of a name. If it does not exist, it is created
// as described. The id is 0 without a name.
func group(tx store.Tx, g coppice.Group, name string) (int64, error) {
	if name != "" {
		g.Name, g.Title = name, ""
	}
	if g.Name == "" {
		return 0, nil
	}
	if err := coppice.ValidGroup(g.Name); err != nil {
		return 0, err
	}
	known, err := tx.Groups.ByName(g.ProjectID, g.Name)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		err = tx.Groups.Put(&g)
		return g.ID, err
	}
	return known.ID, err
}

// mark changes the labels, the group and the flag of a task.
func (i *Intake) mark(tx store.Tx, t *coppice.Task, c coppice.TaskChange) (err error) {
	if c.Labels != nil {
		if t.Labels, err = coppice.Labels(*c.Labels); err != nil {
			return err
		}
	}
	if c.Group != nil && *c.Group == "" {
		t.Group = 0
	} else if c.Group != nil {
		if t.Group, err = group(tx, i.groupFor(coppice.Project{ID: t.ProjectID}, nil), *c.Group); err != nil {
			return err
		}
	}
	if c.Flagged != nil {
		t.Flagged = *c.Flagged
	}
	return nil
}

// markTask makes a change that is only about how people find a task. Ended and
// archived tasks stay as they are.
func (i *Intake) markTask(ctx context.Context, key string, c coppice.TaskChange) (t coppice.Task, err error) {
	err = i.store.Update(ctx, func(tx store.Tx) error {
		if t, err = knownTask(tx.Reader(), key); err != nil {
			return err
		}
		if err := i.mark(tx, &t, c); err != nil {
			return err
		}
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		return i.event(tx, coppice.EventTaskChanged, t, "marked")
	})
	return t, err
}

// Seen records that the author has seen a task up to an event; 0 means the newest.
func (i *Intake) Seen(ctx context.Context, key string, seq int64) (t coppice.Task, err error) {
	err = i.store.Update(ctx, func(tx store.Tx) error {
		if t, err = knownTask(tx.Reader(), key); err != nil {
			return err
		}
		_, last, err := tx.Log.Bounds()
		if err != nil {
			return err
		}
		if seq == 0 || seq > last {
			seq = last
		}
		return tx.Seen.Put(i.by, t.ID, seq)
	})
	return t, err
}
