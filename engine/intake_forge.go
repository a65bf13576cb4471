package engine

import (
	"context"

	"coppice"
	"coppice/store"
)

// mostHints limits the open requests to read one forge. Beyond that, one that names
// nothing replaces those that name something.
const mostHints = 50

// ForgeChanged stores that a signed webhook reports a change on a project's forge. A
// report that is open already is not stored again.
func (i *Intake) ForgeChanged(ctx context.Context, project int64, h coppice.ForgeHint) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		p, err := tx.Projects.Get(project)
		if err != nil {
			return err
		}
		about := coppice.ForgeSubject(p.ID)
		open, err := tx.Asks.Open(about)
		if err != nil {
			return err
		}
		if len(open) >= mostHints {
			h = coppice.ForgeHint{}
		}
		a := coppice.Ask{Subject: about, ProjectID: p.ID, Verb: coppice.VerbRead, Args: coppice.Raw(readArgs{ForgeHint: h, Hook: true}), By: i.by, At: i.now().UTC()}
		for _, o := range open {
			if o.Verb == a.Verb && string(o.Args) == string(a.Args) {
				return nil
			}
		}
		if err := tx.Asks.Put(&a); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: a.At, Kind: coppice.EventForgeAsked, ProjectID: p.ID, About: about, Subject: p.Prefix, By: i.by.String(), Reason: "a webhook"})
	})
}
