package engine

import (
	"context"
	"slices"

	"coppice"
	"coppice/store"
)

// Need adds a need to a project, or replaces the one of its kind.
func (i *Intake) Need(ctx context.Context, project int64, n coppice.Need) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		p, err := tx.Projects.Get(project)
		if err != nil {
			return err
		}
		old := p.Need(n.Kind)
		n.Since = i.now().UTC()
		if old != nil {
			n.Since = old.Since
			if string(coppice.Raw(*old)) == string(coppice.Raw(n)) {
				return nil
			}
		}
		if err := setNeeds(tx, &p, n.Kind, func(list coppice.Needs) coppice.Needs { return list.With(n) }); err != nil {
			return err
		}
		return i.needEvent(tx, coppice.EventNeedBegan, p, n.Kind, n.Text)
	})
}

// setNeeds changes the needs of a project, or those of its queue, whichever has
// needs of the kind.
func setNeeds(tx store.Tx, p *coppice.Project, kind coppice.NeedKind, change func(coppice.Needs) coppice.Needs) error {
	p.Needs = change(p.Needs)
	if !slices.Contains(coppice.QueueNeeds, kind) {
		return tx.Projects.Put(p)
	}
	q, err := tx.Queues.Of(p.ID, "")
	if err != nil {
		return err
	}
	q.Needs = change(q.Needs)
	return tx.Queues.Put(&q)
}

// EndNeed removes a need from a project, if it has it.
func (i *Intake) EndNeed(ctx context.Context, project int64, kind coppice.NeedKind, why string) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		p, err := tx.Projects.Get(project)
		if err != nil {
			return err
		}
		return i.endNeeds(tx, &p, why, kind)
	})
}

// endNeeds removes needs from a project, and logs those that it had.
func (i *Intake) endNeeds(tx store.Tx, p *coppice.Project, why string, kinds ...coppice.NeedKind) error {
	for _, kind := range kinds {
		if p.Need(kind) == nil {
			continue
		}
		if err := setNeeds(tx, p, kind, func(list coppice.Needs) coppice.Needs { return list.Without(kind) }); err != nil {
			return err
		}
		if err := i.needEvent(tx, coppice.EventNeedEnded, *p, kind, why); err != nil {
			return err
		}
	}
	return nil
}

// setTip records where a project's base is.
func setTip(tx store.Tx, p *coppice.Project, commit string) error {
	q, err := tx.Queues.Of(p.ID, "")
	if err != nil {
		return err
	}
	p.BaseCommit, q.Tip = commit, commit
	return tx.Queues.Put(&q)
}

func (i *Intake) needEvent(tx store.Tx, event coppice.EventKind, p coppice.Project, kind coppice.NeedKind, why string) error {
	return tx.Log.Append(&coppice.Event{
		At: i.now().UTC(), Kind: event, ProjectID: p.ID, Subject: p.Prefix, By: i.by.String(), Reason: why, Data: coppice.Raw(needData(kind)),
	})
}

// ConfirmPolicy activates a policy that waited for a person.
func (i *Intake) ConfirmPolicy(ctx context.Context, found coppice.Project) (coppice.Project, error) {
	return i.confirm(ctx, found.Path, coppice.NeedPolicy, func(tx store.Tx, p *coppice.Project) error {
		return i.takePolicy(tx, p, found)
	})
}

// ConfirmGit accepts git settings that waited for a person. The landing that
// waited for them is retried now.
func (i *Intake) ConfirmGit(ctx context.Context, path string, settings []coppice.GitSetting) (coppice.Project, error) {
	p, err := i.confirm(ctx, path, coppice.NeedGit, func(_ store.Tx, p *coppice.Project) error {
		p.Git = settings
		return nil
	})
	if err != nil {
		return p, err
	}
	return p, i.RetryLanding(ctx, p.ID, "the git settings were confirmed")
}

// BaseAt records where a project's base is, as a person confirmed. Landings
// continue from there.
func (i *Intake) BaseAt(ctx context.Context, path, commit string) (coppice.Project, error) {
	return i.confirm(ctx, path, coppice.NeedBase, func(tx store.Tx, p *coppice.Project) error {
		if err := setTip(tx, p, commit); err != nil {
			return err
		}
		return i.askBlocked(tx, *p)
	})
}

// BaseSeen records that a person has moved a project's base. The tasks that wait because
// the base fails a check land again. If a landing is queued, nothing is recorded: its next
// step finds the base.
func (i *Intake) BaseSeen(ctx context.Context, project int64, from, now string) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		p, err := tx.Projects.Get(project)
		if err != nil || p.BaseCommit != from || from == now || p.Need(coppice.NeedBase) != nil || p.Removal != nil {
			return err
		}
		q, err := tx.Queues.Of(p.ID, "")
		if err != nil {
			return err
		}
		queued, err := tx.Landings.Queued(q.ID, 1)
		if err != nil || len(queued) > 0 {
			return err
		}
		if err := setTip(tx, &p, now); err != nil {
			return err
		}
		return i.askBlocked(tx, p)
	})
}

// askBlocked asks the tasks that wait because the base fails a check to land again.
func (i *Intake) askBlocked(tx store.Tx, p coppice.Project) error {
	ids, err := tx.Landings.Blocked(p.ID, mostMoved)
	if err != nil {
		return err
	}
	for _, id := range ids {
		of := coppice.TaskSubject(id)
		open, err := tx.Asks.Open(of)
		if err != nil {
			return err
		}
		if coppice.Asked(open, coppice.VerbMoved) != nil {
			continue
		}
		t, err := tx.Tasks.Get(id)
		if err != nil {
			return err
		}
		a := coppice.Ask{Subject: of, ProjectID: p.ID, Verb: coppice.VerbMoved, Text: "the base has moved", By: i.by, At: i.now().UTC()}
		if err := tx.Asks.Put(&a); err != nil {
			return err
		}
		if err := i.event(tx, coppice.EventBaseMoved, t, "the base has moved to "+short(p.BaseCommit)); err != nil {
			return err
		}
	}
	return nil
}

func (i *Intake) confirm(ctx context.Context, path string, kind coppice.NeedKind, f func(store.Tx, *coppice.Project) error) (coppice.Project, error) {
	var p coppice.Project
	err := i.store.Update(ctx, func(tx store.Tx) (err error) {
		if p, err = tx.Projects.ByPath(path); err != nil {
			return err
		}
		if err := i.endNeeds(tx, &p, "a person confirmed it", kind); err != nil {
			return err
		}
		if err := f(tx, &p); err != nil {
			return err
		}
		return tx.Projects.Put(&p)
	})
	return p, err
}

// AdoptGit confirms the git settings of a project that an older version added.
func (i *Intake) AdoptGit(ctx context.Context, project int64, settings []coppice.GitSetting) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		p, err := tx.Projects.Get(project)
		if err != nil || p.Git != nil {
			return err
		}
		p.Git = settings
		return tx.Projects.Put(&p)
	})
}
