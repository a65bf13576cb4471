package engine

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/store"
)

const (
	// fullTime is the longest time between two reads of a request that does not
	// change. Some changes, such as a repeated check, are in no list.
	fullTime = 30 * time.Minute
	// hookTime is how long webhooks count as working after one arrived. Until then
	// the forge is read hookPause times less often.
	hookTime  = time.Hour
	hookPause = 10
)

// ForgeView is what the deciders of a project's forge see.
type ForgeView struct {
	Common
	Row   coppice.ForgeRow
	Tip   string         // of the base here, as last seen
	Pulls []coppice.Pull // open and known to the forge, oldest first
}

// forgeView loads the view of a project's forge.
func (t *turn) forgeView(project int64) (*ForgeView, error) {
	v := &ForgeView{}
	var err error
	if v.Common, err = t.common(coppice.ForgeSubject(project)); err != nil {
		return nil, err
	}
	if v.Project, err = t.tx.Projects.Get(project); err != nil {
		return nil, gone(err)
	}
	if v.Row, err = t.tx.Forges.Of(project); err != nil {
		return nil, err
	}
	q, err := t.tx.Queues.Of(project, "")
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
		return nil, err
	}
	v.Tip = q.Tip
	return v, v.load(t)
}

func (v *ForgeView) load(t *turn) error {
	open, err := t.tx.Pulls.Open(v.Project.ID)
	v.Pulls = slices.DeleteFunc(open, func(p coppice.Pull) bool { return p.Number == 0 })
	return err
}

func (v *ForgeView) follow(t *turn, _ *Decision) error { return v.load(t) }

func (v *ForgeView) due() time.Time { return v.Row.NextAt }

// forgeRow writes what is remembered about reading the forge.
func forgeRow(v *ForgeView, r coppice.ForgeRow) Row {
	r.ProjectID = v.Project.ID
	return row{coppice.SubjectForge, func(tx store.Tx) error { return tx.Forges.Put(r) }, func() { v.Row = r }}
}

// decide reads the forge when it is due, passes what changed to the tasks, and makes
// the base here follow the forge's.
func (v *ForgeView) decide() *Decision {
	for _, w := range v.Work {
		if w.State == coppice.WorkFinished {
			d := settleForgeRead(v, w)
			if w.Kind == coppice.WorkMove {
				d = settleFollow(v, w)
			}
			d.By, d.Settle = "forge", &w
			return d
		}
	}
	switch {
	case v.Project.Removal != nil || v.open(coppice.WorkForgeRead, coppice.WorkMove) != nil:
		return nil
	case len(v.Pulls) == 0:
		return v.rest()
	case v.asked(coppice.VerbRead) == nil && v.Row.NextAt.After(v.Now):
		return nil
	}
	return v.pass()
}

// rest stops reading: no request is open.
func (v *ForgeView) rest() *Decision {
	asks := v.settled(coppice.VerbRead)
	if v.Row.NextAt.IsZero() && len(asks) == 0 {
		return nil
	}
	r := v.Row
	r.NextAt = time.Time{}
	return &Decision{By: "forge", Kind: coppice.EventForgeRead, Reason: "no pull request is open", More: []Row{forgeRow(v, r)}, Asks: asks}
}

// readArgs are the arguments of a request to read a forge.
type readArgs struct {
	Number int  `json:"number,omitempty"` // of a pull request; 0 for all
	Hook   bool `json:"hook,omitempty"`   // a valid webhook asks
}

// pass offers to read what might have changed.
func (v *ForgeView) pass() *Decision {
	r := v.Row
	asks := v.settled(coppice.VerbRead)
	full := !r.FullAt.Add(fullTime).After(v.Now)
	asked := map[int]bool{}
	for _, a := range asks {
		args, err := coppice.DecodeSpec[readArgs](coppice.Work{Spec: a.Args})
		if err != nil {
			continue
		}
		asked[args.Number] = true
		if args.Hook {
			r.HookAt = v.Now
		}
	}
	spec := coppice.ForgeReadSpec{ForgeSpec: forgeSpec(v.Project), Base: v.Project.Policy.Base}
	for _, p := range v.Pulls {
		spec.Pulls = append(spec.Pulls, coppice.PullWant{
			Task: p.TaskID, Number: p.Number, Head: p.Report.Head, UpdatedAt: p.Report.UpdatedAt,
			Whole: full || asked[0] || asked[p.Number] || p.HotUntil.After(v.Now) || p.Report.CI == coppice.CIPending,
		})
	}
	r.Passes++
	r.NextAt = time.Time{}
	if full {
		r.FullAt = v.Now
	}
	return &Decision{
		By: "forge", Kind: coppice.EventWorkOffered, Reason: fmt.Sprintf("reads %d pull requests", len(spec.Pulls)), More: []Row{forgeRow(v, r)}, Asks: asks,
		Offer: &coppice.Work{
			Kind: coppice.WorkForgeRead, Key: fmt.Sprintf("forge/%d/%d", v.Project.ID, r.Passes), Pool: place(nil, placement{Kind: coppice.WorkForgeRead}), Spec: coppice.Raw(spec),
		},
	}
}

// settleForgeRead passes what changed to the tasks, and plans the next pass. After a
// failure the pauses grow, and a forge that asks to wait gets its time.
func settleForgeRead(v *ForgeView, w coppice.Work) *Decision {
	read, fail := result[coppice.ForgeReadResult](w)
	r := v.Row
	pause := v.Project.Policy.Forge.Interval().D()
	if r.HookAt.Add(hookTime).After(v.Now) {
		pause *= hookPause
	}
	d := &Decision{Kind: coppice.EventForgeRead}
	if fail != nil {
		r.Tries++
		r.Failure = fail
		if r.NextAt = v.Now.Add(doubled(pause, r.Tries, 15*time.Minute)); fail.RetryAt.After(r.NextAt) {
			r.NextAt = fail.RetryAt
		}
		d.Reason, d.More = fail.Text, []Row{forgeRow(v, r)}
		return d
	}
	r.Tries, r.Failure, r.ReadAt, r.NextAt = 0, nil, v.Now, v.Now.Add(pause)
	if read.Tip != "" && read.Tip != r.Tip {
		r.Tip = read.Tip
		if read.Tip != v.Tip {
			d.Offer = followBase(v, r)
		}
	}
	for _, seen := range read.Pulls {
		// An agent merges the base here, so conflicts count when it has the commits.
		seen.Read.Conflicts = seen.Read.Conflicts && d.Offer == nil
		n := slices.IndexFunc(v.Pulls, func(p coppice.Pull) bool { return p.TaskID == seen.Task && p.Number == seen.Read.Number })
		if n < 0 || bytes.Equal(coppice.Raw(v.Pulls[n].Report), coppice.Raw(seen.Read)) {
			continue
		}
		d.Requests = append(d.Requests, coppice.Ask{Subject: coppice.TaskSubject(seen.Task), Verb: coppice.VerbReport, Text: fmt.Sprintf("#%d", seen.Read.Number), Args: coppice.Raw(seen.Read)})
	}
	d.Reason = fmt.Sprintf("%d of %d pull requests changed", len(d.Requests), len(v.Pulls))
	d.More = []Row{forgeRow(v, r)}
	return d
}

// followBase moves the base here to where it is on the forge, if that is possible
// without losing anything.
func followBase(v *ForgeView, r coppice.ForgeRow) *coppice.Work {
	return &coppice.Work{
		Kind: coppice.WorkMove, Key: fmt.Sprintf("forge/%d/%d/follow", v.Project.ID, r.Passes), Pool: place(nil, placement{Kind: coppice.WorkMove}),
		Spec: coppice.Raw(coppice.MoveSpec{
			Repo: v.Project.Path, RepoID: v.Project.ID, Base: v.Project.Policy.Base, Old: r.Tip, New: r.Tip, Remote: v.Project.Policy.Land.Remote, Follow: true,
		}),
	}
}

// settleFollow reads all requests again: some might conflict with the base. If the
// base could not follow, it stores why. The next change on the forge tries it again.
func settleFollow(v *ForgeView, w coppice.Work) *Decision {
	m, fail := result[coppice.MoveResult](w)
	d := &Decision{Kind: coppice.EventForgeRead, Reason: "the base follows the forge: " + short(m.Now)}
	r := v.Row
	if fail != nil {
		m.Blocked = fail.Text
		r.Tip = "" // it is tried again in the next pass
	} else {
		r.NextAt, r.FullAt = v.Now, time.Time{}
	}
	d.More = []Row{forgeRow(v, r)}
	if !m.Moved {
		d.Reason = "the base does not follow the forge: " + m.Blocked
	}
	return d
}
