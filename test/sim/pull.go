package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/reaction"
	"coppice/store"
	"coppice/verb"
)

// pulls is what happened to pull requests.
type pulls struct {
	Opened    int // requests were opened by Coppice,
	Merged    int // were merged,
	Automatic int // some of them by the forge itself,
	Landed    int // and landed here
	Closed    int // by people
	Pushes    int // commits of other people on the branch of a request
	Rejected  int // pushes that would have removed them
	Reacted   int // events that a rule followed,
	Sent      int // some of them with a message to the agent,
	Limited   int // or with nothing more, because of the limit of the rule
	Run       int // commands of reactions
	Hooks     int // webhooks that were delivered,
	Lost      int // or lost
}

func (p *pulls) add(o pulls) {
	for _, n := range [][2]*int{
		{&p.Opened, &o.Opened}, {&p.Merged, &o.Merged}, {&p.Automatic, &o.Automatic}, {&p.Landed, &o.Landed}, {&p.Closed, &o.Closed}, {&p.Pushes, &o.Pushes},
		{&p.Rejected, &o.Rejected}, {&p.Reacted, &o.Reacted}, {&p.Sent, &o.Sent}, {&p.Limited, &o.Limited}, {&p.Run, &o.Run}, {&p.Hooks, &o.Hooks}, {&p.Lost, &o.Lost},
	} {
		*n[0] += *n[1]
	}
}

// pulling is what the simulation knows of pull requests. It is nil unless
// Options.Pulls is set.
type pulling struct {
	pulls
	rng    *rand.Rand
	forges []*forgeRepo
	said   map[string]outside // texts from outside, by what is unique in them
	fails  int                // how often CI can still fail
	runs   map[string]bool    // commands of reactions that ran
	marks  int64              // events that show progress,
	seq    int64              // up to this one
}

// outside is a text that somebody outside of Coppice wrote.
type outside struct {
	path   string
	counts bool // the author is one whose texts count
}

func newPulling(seed uint64) *pulling {
	return &pulling{rng: rand.New(rand.NewPCG(seed, 52)), said: map[string]outside{}, runs: map[string]bool{}, fails: 8}
}

// pulled makes a project one whose work lands by pull requests.
func (s *sim) pulled(p *coppice.Policy, path string) {
	if s.pulling == nil {
		return
	}
	rng := s.pulling.rng
	one := func(n int) bool { return rng.IntN(n) == 0 }
	draft := !one(3)
	p.Land = coppice.LandPolicy{How: coppice.LandPR, PR: coppice.PullPolicy{
		Draft: &draft, Labels: []string{"coppice"}[:rng.IntN(2)], Reviewers: []string{"ann"}[:rng.IntN(2)], Merge: coppice.PullMerges[rng.IntN(len(coppice.PullMerges))],
		Auto: one(4), Keep: one(4), Stack: one(2), PushFails: one(3),
	}}
	p.Limits.Sessions, p.Budget, p.Health.Timeout, p.Verify.By = 2+rng.IntN(3), coppice.BudgetPolicy{}, 0, coppice.VerifyNone
	p.Checks, p.Trust, p.Reactions = []string{"check 0"}[:rng.IntN(2)], coppice.TrustUnsandboxed, coppice.Reactions{}
	if one(4) {
		p.Trust = ""
	}
	if one(3) {
		p.Forge.Authors = []string{"ann", "lint"}[:1+rng.IntN(2)]
	}
	p.Forge.Every = coppice.Duration(time.Duration(10+rng.IntN(50)) * time.Second)
	for _, e := range reaction.Events {
		if e.Name != coppice.OnAllComplete && one(2) {
			p.Reactions[e.Name] = s.rules(e)
		}
	}
	s.pulling.forges = append(s.pulling.forges, &forgeRepo{
		s: s, path: path, branches: map[string]string{}, pushed: map[string]bool{}, others: map[string]bool{}, protected: one(2), eager: one(3),
	})
}

// rules returns random rules for an event.
func (s *sim) rules(e reaction.Event) []coppice.Reaction {
	rng := s.pulling.rng
	rule := coppice.Reaction{Do: e.Actions[rng.IntN(len(e.Actions))], Retries: rng.IntN(4), Priority: coppice.Priorities[rng.IntN(len(coppice.Priorities))]}
	if rule.Do == coppice.ReactRun {
		rule.Run = "./react"
	}
	if rng.IntN(3) == 0 {
		rule.EscalateAfter = coppice.Duration(time.Duration(1+rng.IntN(60)) * time.Minute)
	}
	if rng.IntN(4) == 0 {
		rule.Threshold = coppice.Duration(time.Duration(1+rng.IntN(20)) * time.Minute)
	}
	if rng.IntN(4) == 0 {
		rule.Message = "Look at {{task}}."
	}
	rules := []coppice.Reaction{rule}
	if e.Pull && rng.IntN(3) == 0 {
		rule.If, rule.Do = []string{"author in team", "draft", "minutes > 5"}[rng.IntN(3)], coppice.ReactNotify
		rules = append([]coppice.Reaction{rule}, rules...)
	}
	return rules
}

// outside returns a text that nothing else has.
func (s *sim) outside(path string, counts bool) string {
	token := fmt.Sprintf("outside%dx", len(s.pulling.said))
	s.pulling.said[token] = outside{path: path, counts: counts}
	return token
}

// forgeOf returns the forge's side of a repository, or nil.
func (s *sim) forgeOf(path string) *forgeRepo {
	if s.pulling == nil {
		return nil
	}
	for _, f := range s.pulling.forges {
		if f.path == path {
			return f
		}
	}
	return nil
}

// policyOf returns the policy of the project of a repository.
func (s *sim) policyOf(path string) coppice.Policy {
	for _, p := range s.projects {
		if p.Path == path {
			return p.Policy
		}
	}
	return coppice.Policy{}
}

// pullActions are what happens where work lands by pull requests.
func (s *sim) pullActions() weights {
	return weights{
		{"turn", 40}, {"take", 30}, {"work", 50}, {"agent", 26}, {"time", 8}, {"renew", 8}, {"ask", 3}, {"create", 8}, {"forge", 26},
		{"webhook", 16}, {"take theirs", 2}, {"land", 4}, {"crash worker", 1}, {"crash server", 1}, {"kill host", 1}, {"dirty", 1},
		{"move forge base", 2}, {"converse", 2}, {"review", 1}, {"requeue", 1}, {"undo", 1},
	}
}

// forgeWork carries out work on a forge.
func (s *sim) forgeWork(w coppice.Work) (any, error) {
	switch w.Kind {
	case coppice.WorkPullPush:
		return spec(w, s.pullPush)
	case coppice.WorkForgeRead:
		v, err := coppice.DecodeSpec[coppice.ForgeReadSpec](w)
		if err == nil && len(v.Pulls) == 0 {
			err = fmt.Errorf("%s reads nothing", w.Key)
		}
		if err != nil {
			return nil, err
		}
		return forged(forge.Read(s.ctx, s.forgeOf(v.Repo), v))
	}
	v, err := coppice.DecodeSpec[coppice.ForgeWriteSpec](w)
	if err == nil && v.Op == coppice.ForgeMerge {
		err = s.mergeHolds(w.TaskID, v)
	}
	if err != nil {
		return nil, err
	}
	return forged(forge.Write(s.ctx, s.forgeOf(v.Repo), v))
}

// forgeGiven keeps how Coppice found requests, when it accepts the result of work on a
// forge. A pass is about the requests that Coppice still follows.
func (s *sim) forgeGiven(it *item) error {
	if k := it.lease.Work.Kind; it.fail != nil || k != coppice.WorkForgeRead && k != coppice.WorkForgeWrite {
		return nil
	}
	v, err := coppice.DecodeSpec[coppice.ForgeSpec](it.lease.Work)
	if err != nil {
		return err
	}
	switch r := it.res.(type) {
	case coppice.ForgeWriteResult:
		s.forgeOf(v.Repo).finds(r.Number, r.State)
	case coppice.ForgeReadResult:
		return s.st.View(s.ctx, func(rd store.Reader) error {
			for _, seen := range r.Pulls {
				row, err := rd.Pulls.Of(seen.Task)
				if err != nil {
					return err
				}
				if row.Number == seen.Read.Number && row.Open() {
					s.forgeOf(v.Repo).finds(row.Number, seen.Read.State)
				}
			}
			return nil
		})
	}
	return nil
}

// finds stores how Coppice found a request.
func (f *forgeRepo) finds(number int, state coppice.PullState) {
	if p := f.request(number); p != nil && state != "" && p.known != state {
		p.known, p.since = state, f.s.now
	}
}

// forged turns the error of a forge into a failure, as workers do.
func forged[R any](r R, err error) (any, error) {
	var fail *coppice.Failure
	switch {
	case err == nil:
		return r, nil
	case errors.As(err, &fail):
		return nil, fail
	}
	return nil, coppice.Failf(coppice.ClassEnvironment, err.Error(), "")
}

// pullPush moves the branch of a request on the forge, or deletes it, by
// compare-and-swap as git does.
func (s *sim) pullPush(v coppice.PullPushSpec) coppice.PullPushResult {
	f := s.forgeOf(v.Repo)
	if !s.calm && s.pulling.rng.IntN(40) == 0 {
		return coppice.PullPushResult{Blocked: "a rule of the forge"}
	}
	has := func(commit, part string) bool { return s.world.history(commit)[part] }
	res := coppice.PullPushResult{}
	for expected := v.Old; ; {
		now := f.branches[v.Branch]
		switch {
		case now == v.New:
			res.Pushed = true
			return res
		case v.Keep != "" && v.New != "" && now != "" && now == v.Old && has(now, v.Keep) && !has(v.New, v.Keep):
			now = v.Keep
		case now == expected:
			f.replace(v.Branch, v.New)
			res.Pushed = true
			return res
		case v.New != "" && (now == "" || has(v.New, now)):
			expected, res.Kept = now, now
			continue
		}
		s.pulling.Rejected++
		return coppice.PullPushResult{Theirs: now}
	}
}

// replace moves a branch of the forge. It checks that no commit of somebody else is
// removed.
func (f *forgeRepo) replace(branch, to string) {
	w, now := f.s.world, f.branches[branch]
	kept := map[string]bool{}
	if to != "" {
		kept = w.history(to)
	}
	for _, p := range f.requests {
		if p.Branch == branch && p.State == coppice.PullMerged {
			for id := range w.history(p.Head) {
				kept[id] = true
			}
		}
		if p.Branch == branch && p.State == coppice.PullOpen && to == "" {
			w.breakf("%s is deleted, and #%d is open", branch, p.Number)
		}
	}
	for at := range w.history(now) {
		if f.others[at] && !kept[at] && !w.history(f.tip("main"))[at] {
			w.breakf("the push of %s to %s removes %s, which somebody else pushed", to, branch, at)
		}
	}
	if f.branches[branch] = to; to == "" {
		delete(f.branches, branch)
	}
	for at := to; at != "" && !f.pushed[at]; at = w.commits[at].parent {
		f.pushed[at] = true
	}
	f.moved(branch)
}

// follow moves a base to a commit that the forge has.
func (w *world) follow(s coppice.MoveSpec, lands bool) coppice.MoveResult {
	r := w.repos[s.Repo]
	switch {
	case !w.within(s.New, r.remote):
		return coppice.MoveResult{Now: r.base, Blocked: "lock: the remote does not have it"}
	case w.within(s.New, r.base):
	case !w.within(r.base, s.New):
		return coppice.MoveResult{Now: r.base, Blocked: "lock: gone different ways"}
	case r.block != 0:
		res := blocks[r.block]
		res.Now = r.base
		return res
	default:
		r.base = s.New
		r.history = append(r.history, s.New)
	}
	if lands {
		w.lands(s.New)
	}
	return coppice.MoveResult{Moved: true, Now: r.base}
}

// webhook delivers a webhook: the newest or another one, at times two times or never.
// At times a person asks to read the forge.
func (s *sim) webhook() error {
	rng := s.pulling.rng
	f := s.pulling.forges[rng.IntN(len(s.pulling.forges))]
	if rng.IntN(12) == 0 {
		return s.askRead(f, 0, false)
	}
	if len(f.hooks) == 0 {
		return nil
	}
	i := rng.IntN(len(f.hooks))
	number := f.hooks[i]
	if rng.IntN(4) > 0 {
		f.hooks = slices.Delete(f.hooks, i, i+1)
	}
	if rng.IntN(3) == 0 {
		s.pulling.Lost++
		return nil
	}
	s.pulling.Hooks++
	return s.askRead(f, number, true)
}

// askRead asks to read a forge, as a webhook and a person do.
func (s *sim) askRead(f *forgeRepo, number int, hook bool) error {
	for _, p := range s.projects {
		if p.Path != f.path {
			continue
		}
		of := coppice.ForgeSubject(p.ID)
		return s.st.Update(s.ctx, func(tx store.Tx) error {
			a := coppice.Ask{Subject: of, ProjectID: p.ID, Verb: coppice.VerbRead, Text: "a webhook", At: s.now, Args: coppice.Raw(map[string]any{"number": number, "hook": hook})}
			if err := tx.Asks.Put(&a); err != nil {
				return err
			}
			return tx.Log.Append(&coppice.Event{At: s.now, Kind: coppice.EventForgeAsked, ProjectID: p.ID, About: of, Reason: "a webhook"})
		})
	}
	return nil
}

// moveForgeBase is a person who pushes to the base on a forge.
func (s *sim) moveForgeBase() error {
	f := s.pulling.forges[s.pulling.rng.IntN(len(s.pulling.forges))]
	r := s.world.repos[f.path]
	r.remote = s.edited(r.remote, "elsewhere")
	return nil
}

// edited returns a commit with a change on top of another one.
func (s *sim) edited(on, who string) string {
	s.made++
	tree := clone(s.world.tree(on))
	tree[fmt.Sprintf("f%d", s.pulling.rng.IntN(6))] = fmt.Sprintf("%s#%d", who, s.made)
	return s.world.add(on, tree, "", fmt.Sprint(s.made))
}

// forgePerson is somebody, or something, that changes a request on its forge.
func (s *sim) forgePerson() error {
	rng := s.pulling.rng
	f := s.pulling.forges[rng.IntN(len(s.pulling.forges))]
	if len(f.requests) == 0 {
		return nil
	}
	p := f.requests[rng.IntN(len(f.requests))]
	author := []string{"ann", "bob", "eve"}[rng.IntN(3)]
	if p.State != coppice.PullOpen {
		if p.State == coppice.PullClosed && rng.IntN(4) == 0 && f.branches[p.Branch] != "" && f.opened(p.Branch) == nil {
			p.State = coppice.PullOpen
			f.touch(p)
		}
		return nil
	}
	switch n := rng.IntN(30); {
	case n < 11:
		f.check(p)
	case n < 15:
		f.review(p, author, coppice.ReviewApproved)
	case n < 18:
		f.review(p, author, coppice.ReviewChanges)
	case n < 20:
		f.says(p, author, false)
	case n < 21:
		f.says(p, "lint", true)
	case n < 23:
		if l := []string{"hotfix", "needs-tests", "wip"}[rng.IntN(3)]; !slices.Contains(p.Labels, l) {
			p.Labels = append(p.Labels, l)
			f.touch(p)
		}
	case n < 24 && len(p.Comments) > 0:
		p.Comments[rng.IntN(len(p.Comments))].Resolved = true
		f.touch(p)
	case n < 25:
		f.branches[p.Branch] = s.edited(f.head(p), author)
		f.others[f.branches[p.Branch]] = true
		s.pulling.Pushes++
		f.moved(p.Branch)
	case n < 26:
		s.pulling.Closed++
		f.end(p, coppice.PullClosed)
	case n < 28 && p.Base == "main" && !f.conflicts(p) && (!p.Draft || rng.IntN(3) == 0):
		f.merge(p)
	}
	return nil
}

// check is CI: it starts, passes or fails, and repeats.
func (f *forgeRepo) check(p *request) {
	pl := f.s.pulling
	c := coppice.PullCheck{Name: "build", State: []coppice.CIState{coppice.CIPending, coppice.CIPassed, coppice.CIPassed, coppice.CIFailed}[pl.rng.IntN(4)]}
	if c.State == coppice.CIFailed {
		if pl.fails--; pl.fails < 0 {
			c.State = coppice.CIPassed
		} else {
			c.Log = f.s.outside(f.path, true)
		}
	}
	p.Checks = []coppice.PullCheck{c}
	f.announce(p)
}

func (f *forgeRepo) review(p *request, author string, state coppice.ReviewState) {
	f.says(p, author, false)
	p.Comments[len(p.Comments)-1].Review = state
}

// takeTheirs is a person who takes the commits that somebody pushed to a branch into
// the task's workspace, and then lets the task continue.
func (s *sim) takeTheirs() error {
	for _, f := range s.pulling.forges {
		for _, p := range f.requests {
			key := s.world.branchOf[p.Branch]
			ws, head := s.world.spaces[key], f.branches[p.Branch]
			if p.State != coppice.PullOpen || ws == nil || ws.removed || s.busy(key) || s.world.history(ws.head)[head] {
				continue
			}
			s.world.takes(ws, head, key)
			_, err := s.intake.Ask(s.ctx, key, coppice.VerbRetry, verb.Request{})
			return err
		}
	}
	return nil
}

// busy reports whether a session of a task runs.
func (s *sim) busy(key string) bool {
	return slices.ContainsFunc(s.running(), func(k string) bool { return s.world.hosts[k].task == key })
}

// takes merges a commit into a workspace, whose own side wins.
func (w *world) takes(ws *workspace, commit, task string) {
	tree, _ := w.join(ws.head, commit)
	head := w.add(ws.head, tree, task, "takes "+commit)
	w.follows(head, commit)
	ws.head = head
}

// follows makes a commit a merge: it follows another commit besides its parent.
func (w *world) follows(id, other string) {
	c := w.commits[id]
	c.other = other
	w.commits[id] = c
}

// landPull is a person who asks to merge a request.
func (s *sim) landPull() error {
	key, err := s.oneOf("", func(t coppice.Task) bool { return t.Stage == coppice.StagePull })
	if err != nil || key == "" {
		return err
	}
	return s.land(key)
}
