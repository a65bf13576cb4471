package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/store"
)

// forgeRepo is a repository on a forge. It implements forge.Forge, so that the real
// forge.Read and forge.Write are what the simulation runs.
type forgeRepo struct {
	s         *sim
	path      string // of the repository here
	branches  map[string]string
	requests  []*request // by number, from 1
	pushed    map[string]bool
	others    map[string]bool // commits that people pushed to the branches of requests
	protected bool            // a merge needs an approval and CI that passed
	eager     bool            // its bot comments on every push
	slow      time.Time       // it is rate limited until then,
	away      time.Time       // or cannot be reached
	hooks     []int           // numbers in webhooks that are not delivered yet
}

// request is a pull request on the forge.
type request struct {
	coppice.PullRead
	body    string
	auto    string    // the head that the forge merges when its rules allow it
	changed time.Time // which webhooks and polls have to find

	known coppice.PullState // how Coppice found it last, since a time: it follows no request that it found closed
	since time.Time

	finished int // how often a person tried to finish it at the end
}

// network fails if the forge cannot answer now. During a history this begins at
// random, before the effect of a call or after it.
func (f *forgeRepo) network(effect func()) error {
	s := f.s
	if err := f.offline(); err != nil {
		return err
	}
	n := 99
	if !s.calm {
		n = s.pulling.rng.IntN(60)
	}
	switch n {
	case 0:
		f.slow = s.now.Add(time.Duration(1+s.pulling.rng.IntN(3600)) * time.Second)
	case 1:
		f.away = s.now.Add(time.Duration(s.pulling.rng.IntN(600)) * time.Second)
	case 2: // the effect happens, and its result is lost
		effect()
		return coppice.Failf(coppice.ClassEnvironment, "the connection was lost", "")
	}
	if err := f.offline(); err != nil {
		return err
	}
	effect()
	return nil
}

// offline fails while the forge cannot answer. Reads run in parallel, so it changes
// nothing.
func (f *forgeRepo) offline() error {
	switch now := f.s.now; {
	case f.s.calm:
	case f.slow.After(now):
		return &coppice.Failure{Class: coppice.ClassRateLimit, Text: "slow down", RetryAt: f.slow}
	case f.away.After(now):
		return coppice.Failf(coppice.ClassEnvironment, "the forge cannot be reached", "")
	}
	return nil
}

func missing(what string, name any) error {
	return coppice.Errorf(coppice.ENotFound, "the forge has no %s %v", what, name)
}

func (f *forgeRepo) Recent(context.Context) ([]forge.Brief, error) {
	list := make([]forge.Brief, 0, len(f.requests))
	for _, p := range slices.Backward(f.requests) {
		list = append(list, f.brief(p))
	}
	slices.SortStableFunc(list, func(a, b forge.Brief) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return list, f.network(func() {})
}

func (f *forgeRepo) Read(_ context.Context, number int) (coppice.PullRead, error) {
	p := f.request(number)
	if p == nil {
		return coppice.PullRead{}, missing("request", number)
	}
	return f.read(p), f.offline()
}

func (f *forgeRepo) Find(_ context.Context, branch string) (forge.Brief, error) {
	for _, p := range slices.Backward(f.requests) {
		if p.Branch == branch {
			return f.brief(p), f.offline()
		}
	}
	return forge.Brief{}, missing("request of", branch)
}

func (f *forgeRepo) Tip(_ context.Context, branch string) (string, error) {
	if tip := f.tip(branch); tip != "" {
		return tip, nil
	}
	return "", missing("branch", branch)
}

// landsAgain reports whether the work of a request lands by a landing that began after
// Coppice had found the request closed, as a person can ask. If somebody opens it again
// and closes it before Coppice finds it open, it counts as closed.
func (f *forgeRepo) landsAgain(p *request) bool {
	s, again := f.s, false
	err := s.st.View(s.ctx, func(r store.Reader) error {
		t, err := r.Tasks.ByKey(s.world.branchOf[p.Branch])
		if err != nil {
			return err
		}
		l, err := r.Landings.Last(t.ID)
		again = l != nil && !l.CreatedAt.Before(p.since)
		return err
	})
	return err == nil && again && p.State == coppice.PullClosed && p.known == coppice.PullClosed
}

func (f *forgeRepo) Create(_ context.Context, text coppice.PullText) (b forge.Brief, err error) {
	head := f.branches[text.Branch]
	switch {
	case head == "" || f.tip(text.Base) == "":
		return b, coppice.Failf(coppice.ClassEnvironment, "the forge does not have the branch", "")
	case f.opened(text.Branch) != nil:
		return b, coppice.Errorf(coppice.EConflict, "there is a request of %s", text.Branch)
	}
	for _, p := range f.requests {
		if p.Branch == text.Branch && p.Head == head && !f.landsAgain(p) {
			f.s.world.breakf("#%d and another request were opened for %s of %s", p.Number, head, text.Branch)
		}
	}
	err = f.network(func() {
		p := &request{PullRead: coppice.PullRead{Number: len(f.requests) + 1, Author: "coppice", State: coppice.PullOpen, Branch: text.Branch}}
		p.URL = fmt.Sprintf("https://forge%s/%d", f.path, p.Number)
		f.requests = append(f.requests, p)
		f.write(p, text)
		b = f.brief(p)
		f.s.pulling.Opened++
	})
	return b, err
}

func (f *forgeRepo) Update(_ context.Context, number int, text coppice.PullText) error {
	p := f.request(number)
	switch {
	case p == nil || p.State != coppice.PullOpen:
		return missing("open request", number)
	case f.tip(text.Base) == "":
		return coppice.Failf(coppice.ClassEnvironment, "the forge does not have the base "+text.Base, "")
	}
	return f.network(func() { f.write(p, text) })
}

func (f *forgeRepo) write(p *request, text coppice.PullText) {
	p.Title, p.body, p.Base, p.Draft = text.Title, text.Body, text.Base, text.Draft
	for _, l := range text.Labels {
		if !slices.Contains(p.Labels, l) {
			p.Labels = append(p.Labels, l)
		}
	}
	f.touch(p)
}

func (f *forgeRepo) Merge(_ context.Context, number int, m forge.Merge) (commit string, err error) {
	p := f.request(number)
	if p == nil {
		return "", missing("request", number)
	}
	why := ""
	switch {
	case p.State != coppice.PullOpen:
		why = "it is " + string(p.State)
	case f.head(p) != m.Head:
		why = "its head is another one"
	case p.Draft:
		why = "it is a draft"
	case f.conflicts(p):
		why = "it has conflicts"
	case f.ruled(p):
		why = "the rules of the repository do not allow it"
	}
	err = f.network(func() {
		switch {
		case why == "":
			commit = f.merge(p)
		case m.Auto && p.State == coppice.PullOpen && f.head(p) == m.Head && !p.Draft:
			p.auto, why = m.Head, ""
		}
	})
	if err == nil && why != "" {
		err = &forge.Refused{Text: why}
	}
	return commit, err
}

func (f *forgeRepo) Comment(_ context.Context, number int, text string) error {
	p := f.request(number)
	if p == nil {
		return missing("request", number)
	}
	_, marker, _ := strings.Cut(text, "<!-- coppice:")
	for _, c := range p.Comments {
		if marker != "" && strings.Contains(c.Text, marker) {
			f.s.world.breakf("#%d has the comment %q twice", number, text)
		}
	}
	return f.network(func() { f.comment(p, coppice.PullComment{Author: "coppice", Writes: true, Text: text}) })
}

func (f *forgeRepo) Resolve(_ context.Context, number int, thread string) error {
	p := f.request(number)
	if p == nil {
		return missing("request", number)
	}
	return f.network(func() {
		for i := range p.Comments {
			if p.Comments[i].Thread == thread {
				p.Comments[i].Resolved = true
			}
		}
		f.touch(p)
	})
}

func (f *forgeRepo) Close(_ context.Context, number int) error {
	p := f.request(number)
	if p == nil {
		return missing("request", number)
	}
	return f.network(func() { f.end(p, coppice.PullClosed) })
}

// request returns the request with a number, or nil.
func (f *forgeRepo) request(number int) *request {
	if number < 1 || number > len(f.requests) {
		return nil
	}
	return f.requests[number-1]
}

// opened returns the open request of a branch, or nil.
func (f *forgeRepo) opened(branch string) *request {
	for _, p := range f.requests {
		if p.Branch == branch && p.State == coppice.PullOpen {
			return p
		}
	}
	return nil
}

// tip returns the commit of a branch on the forge, or "".
func (f *forgeRepo) tip(branch string) string {
	if branch == "main" {
		return f.s.world.repos[f.path].remote
	}
	return f.branches[branch]
}

// head returns the head of a request. That of an ended one stays.
func (f *forgeRepo) head(p *request) string {
	if p.State == coppice.PullOpen {
		return f.branches[p.Branch]
	}
	return p.Head
}

func (f *forgeRepo) brief(p *request) forge.Brief {
	return forge.Brief{Number: p.Number, URL: p.URL, State: p.State, Branch: p.Branch, Head: f.head(p), Body: p.body, UpdatedAt: p.UpdatedAt}
}

// read returns what the forge reports about a request.
func (f *forgeRepo) read(p *request) coppice.PullRead {
	r := p.PullRead
	r.Head, r.Labels, r.Checks, r.Comments = f.head(p), slices.Sorted(slices.Values(p.Labels)), slices.Clone(p.Checks), slices.Clone(p.Comments)
	r.CI, r.Review, r.Conflicts = forge.CIOf(p.Checks), forge.ReviewOf(p.Comments), p.State == coppice.PullOpen && f.conflicts(p)
	return r
}

// conflicts reports whether a request does not merge with its base.
func (f *forgeRepo) conflicts(p *request) bool {
	_, ok := f.s.world.join(f.tip(p.Base), f.head(p))
	return !ok
}

// ruled reports whether the rules of the repository do not allow a merge now.
func (f *forgeRepo) ruled(p *request) bool {
	r := f.read(p)
	return f.protected && (r.Review != coppice.ReviewApproved || r.CI == coppice.CIFailed || r.CI == coppice.CIPending)
}

// merge puts the work of a request on its base.
func (f *forgeRepo) merge(p *request) string {
	w, r := f.s.world, f.s.world.repos[f.path]
	base, head := f.tip(p.Base), f.head(p)
	tree, _ := w.join(base, head)
	p.Merged = w.add(base, tree, w.branchOf[p.Branch], p.URL)
	if p.Base == "main" {
		r.remote = p.Merged
	} else {
		f.branches[p.Base] = p.Merged
	}
	f.end(p, coppice.PullMerged)
	f.s.pulling.Merged++
	return p.Merged
}

// end ends a request.
func (f *forgeRepo) end(p *request, state coppice.PullState) {
	if p.State != coppice.PullOpen {
		f.s.world.breakf("#%d is %s, and ends once more as %s", p.Number, p.State, state)
	}
	p.Head, p.State = f.head(p), state
	f.touch(p)
}

// moved updates the request of a branch that has another commit, or none.
func (f *forgeRepo) moved(branch string) {
	for _, p := range f.requests {
		if p.State != coppice.PullOpen {
			continue
		}
		if p.Base == branch && f.branches[branch] == "" {
			p.Base = "main" // as forges do
			f.touch(p)
		}
		if p.Branch != branch {
			continue
		}
		if f.branches[branch] == "" {
			f.end(p, coppice.PullClosed)
			continue
		}
		if p.auto, p.Checks = "", nil; f.eager {
			f.says(p, "lint", true)
		}
		f.touch(p)
	}
}

func (f *forgeRepo) comment(p *request, c coppice.PullComment) {
	c.ID, c.At = fmt.Sprintf("comment/%d-%d", p.Number, len(p.Comments)+1), f.s.now
	c.Thread = "thread/" + c.ID
	p.Comments = append(p.Comments, c)
	f.touch(p)
}

// says adds a comment with a text that nothing else has.
func (f *forgeRepo) says(p *request, author string, bot bool) {
	writes := author == "ann" || author == "bob"
	f.comment(p, coppice.PullComment{Author: author, Bot: bot, Writes: writes, Text: f.s.outside(f.path, f.counts(author))})
}

// counts reports whether what somebody writes can reach an agent.
func (f *forgeRepo) counts(author string) bool {
	if a := f.s.policyOf(f.path).Forge.Authors; len(a) > 0 {
		return slices.Contains(a, author)
	}
	return author != "eve"
}

// touch changes the time of a request, and announces it.
func (f *forgeRepo) touch(p *request) {
	p.UpdatedAt = f.s.now
	f.announce(p)
}

// announce sends a webhook. Changes of CI have no other sign.
func (f *forgeRepo) announce(p *request) {
	p.changed = f.s.now
	if len(f.hooks) < 20 {
		f.hooks = append(f.hooks, p.Number)
	}
	if p.auto != "" && p.State == coppice.PullOpen && p.auto == f.head(p) && !f.ruled(p) && !f.conflicts(p) {
		p.auto = ""
		f.merge(p)
		f.s.pulling.Automatic++
	}
}

// history returns all commits from which a commit follows, and itself.
func (w *world) history(id string) map[string]bool {
	seen, todo := map[string]bool{}, []string{id}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if at == "" || seen[at] {
			continue
		}
		seen[at] = true
		todo = append(todo, w.commits[at].parent, w.commits[at].other)
	}
	return seen
}

// common returns the newest commit that both commits follow.
func (w *world) common(a, b string) string {
	known, seen, todo := w.history(a), map[string]bool{}, []string{b}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if known[at] {
			return at
		}
		if at != "" && !seen[at] {
			seen[at] = true
			todo = append(todo, w.commits[at].other, w.commits[at].parent)
		}
	}
	return ""
}

// join merges the tree of a head into that of a base, and reports whether that has
// no conflicts.
func (w *world) join(base, head string) (map[string]string, bool) {
	old, now, mine, merged := w.tree(w.common(base, head)), w.tree(base), w.tree(head), clone(w.tree(base))
	ok := true
	for _, f := range slices.Sorted(maps.Keys(mine)) {
		switch {
		case mine[f] == old[f] || mine[f] == now[f]:
		case now[f] != old[f]:
			ok = false
		default:
			merged[f] = mine[f]
		}
	}
	return merged, ok
}
