package engine

import (
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
	// hookBurst is how many passes webhooks start without a pause. After that they
	// start one in each coppice.MinForgeInterval, whatever arrives.
	hookBurst = 10
)

// ForgeView is what the deciders of a project's forge see.
type ForgeView struct {
	Common
	Row   coppice.ForgeRow
	Tip   string                 // of the base here, as last seen
	Pulls []coppice.FollowedPull // open and known to the forge, oldest first
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
	v.Pulls, err = t.tx.Pulls.Followed(project)
	return v, err
}

// follow reads nothing again: only decisions about tasks change requests, and to read
// many of them takes long.
func (v *ForgeView) follow(*turn, *Decision) error { return nil }

// due ignores the interval while nothing can follow from it. The end of open work is
// decided about anyway.
func (v *ForgeView) due() time.Time {
	if v.Project.Removal != nil || v.open(coppice.WorkForgeRead, coppice.WorkMove) != nil {
		return time.Time{}
	}
	if p := v.plan(); p.wait.After(v.Now) && (p.wait.Before(v.Row.NextAt) || v.Row.NextAt.IsZero()) {
		return p.wait
	}
	return v.Row.NextAt
}

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
	p := v.plan()
	switch {
	case v.Project.Removal != nil || v.open(coppice.WorkForgeRead, coppice.WorkMove) != nil:
		return nil
	case len(v.Pulls) == 0:
		return v.rest(p, "no pull request is open")
	case !p.regular && len(p.asks) == 0 || p.wait.After(v.Now):
		return nil
	case !p.regular && p.scope == coppice.ForgeNamed && len(p.named) == 0:
		return v.rest(p, "no pull request has changed")
	}
	return v.pass(p)
}

// rest settles the requests without a pass. It stops reading if no request is open.
func (v *ForgeView) rest(p forgePlan, why string) *Decision {
	r := p.row
	if len(v.Pulls) == 0 {
		r.NextAt = time.Time{}
	}
	if r.NextAt.Equal(v.Row.NextAt) && len(p.asks) == 0 {
		return nil
	}
	return &Decision{By: "forge", Kind: coppice.EventForgeRead, Reason: why, More: []Row{forgeRow(v, r)}, Asks: p.asks}
}

// readArgs are the arguments of a request to read a forge. A person names a number, or
// nothing to read all.
type readArgs struct {
	coppice.ForgeHint
	Hook bool `json:"hook,omitempty"` // a valid webhook asks
}

// forgePlan is what the open requests, and the interval, ask for together.
type forgePlan struct {
	row     coppice.ForgeRow
	asks    []coppice.Ask
	regular bool // the interval is over
	scope   coppice.ForgeScope
	named   map[int]bool // pull requests, by number
	all     bool         // a person asks for all of them
	wait    time.Time    // when the pass can begin
}

// plan merges the open requests. Webhooks that arrive during a pass wait for its end,
// so any number of them leads to one more.
func (v *ForgeView) plan() forgePlan {
	p := forgePlan{
		row: v.Row, asks: v.settled(coppice.VerbRead), regular: !v.Row.NextAt.After(v.Now), scope: coppice.ForgeNamed, named: map[int]bool{},
	}
	hooks := 0
	for _, a := range p.asks {
		args, err := coppice.DecodeSpec[readArgs](coppice.Work{Spec: a.Args})
		if err != nil {
			continue
		}
		if p.widen(v.scopeOf(args, p.named)); args.Hook {
			hooks++
			p.row.HookAt = v.Now
		} else if args.Number == 0 {
			p.all = true
		}
	}
	if p.regular {
		p.scope = coppice.ForgeAll
		return p
	}
	if hooks == 0 || hooks < len(p.asks) || p.scope == coppice.ForgeNamed && len(p.named) == 0 {
		return p
	}
	// A forge that fails, or asks to wait, gets its pause whatever webhooks arrive.
	if p.wait = v.Row.BurstAt.Add(-(hookBurst - 1) * coppice.MinForgeInterval.D()); v.Row.Tries > 0 && v.Row.NextAt.After(p.wait) {
		p.wait = v.Row.NextAt
	}
	p.row.BurstAt = later(v.Row.BurstAt, v.Now).Add(coppice.MinForgeInterval.D())
	return p
}

// widen makes the pass read at least as much as the scope says.
func (p *forgePlan) widen(s coppice.ForgeScope) {
	if p.scope != coppice.ForgeAll && s != coppice.ForgeNamed {
		p.scope = s
	}
}

// scopeOf returns how much a request asks to read, and adds the pull requests that it
// names. A commit or a branch that no pull request has might be newer than what Coppice
// knows, or the base: the list, and the tip of the base, show that.
func (v *ForgeView) scopeOf(a readArgs, named map[int]bool) coppice.ForgeScope {
	if a.None {
		return coppice.ForgeNamed
	}
	if a.ForgeHint == (coppice.ForgeHint{}) {
		return coppice.ForgeAll
	}
	found := a.Number != 0
	for _, p := range v.Pulls {
		if a.Number == p.Number || a.Commit != "" && (a.Commit == p.Head || a.Commit == p.Pushed) || a.Branch != "" && a.Branch == p.Branch {
			named[p.Number], found = true, true
		}
	}
	if found || a.Commit == "" && a.Branch != v.Project.Policy.Base {
		return coppice.ForgeNamed
	}
	return coppice.ForgeList
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// pass offers to read what might have changed.
func (v *ForgeView) pass(p forgePlan) *Decision {
	r := p.row
	full := p.scope == coppice.ForgeAll && !r.FullAt.Add(fullTime).After(v.Now)
	spec := coppice.ForgeReadSpec{ForgeSpec: forgeSpec(v.Project), Base: v.Project.Policy.Base, Scope: p.scope}
	for _, pull := range v.Pulls {
		whole := p.named[pull.Number] || p.all
		if p.scope == coppice.ForgeAll {
			whole = whole || full || pull.HotUntil.After(v.Now) || pull.CI == coppice.CIPending
		}
		if whole || p.scope != coppice.ForgeNamed {
			spec.Pulls = append(spec.Pulls, coppice.PullWant{
				Task: pull.TaskID, Number: pull.Number, Head: pull.Head, UpdatedAt: pull.UpdatedAt, Whole: whole,
			})
		}
	}
	r.Passes++
	r.NextAt = time.Time{}
	if full {
		r.FullAt = v.Now
	}
	return &Decision{
		By: "forge", Kind: coppice.EventWorkOffered, Reason: fmt.Sprintf("reads %d pull requests", len(spec.Pulls)), More: []Row{forgeRow(v, r)}, Asks: p.asks,
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
	// Only a pass over everything postpones the next one: webhooks that arrive again and
	// again do not replace it.
	if spec, err := coppice.DecodeSpec[coppice.ForgeReadSpec](w); err == nil && spec.Scope == coppice.ForgeAll {
		r.ReadAt = v.Now
	}
	r.Tries, r.Failure, r.NextAt = 0, nil, r.ReadAt.Add(pause)
	if read.Tip != "" && read.Tip != r.Tip {
		r.Tip = read.Tip
		if read.Tip != v.Tip {
			d.Offer = followBase(v, r)
		}
	}
	for _, seen := range read.Pulls {
		// An agent merges the base here, so conflicts count when it has the commits.
		seen.Read.Conflicts = seen.Read.Conflicts && d.Offer == nil
		n := slices.IndexFunc(v.Pulls, func(p coppice.FollowedPull) bool { return p.TaskID == seen.Task && p.Number == seen.Read.Number })
		if n < 0 || v.Pulls[n].Report == seen.Read.Digest() {
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
