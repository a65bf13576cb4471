package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/store"
)

// errGone says that a subject no longer exists: it was removed with its project.
var errGone = errors.New("the subject is gone")

// view is what the deciders of one subject see. Deciders are pure functions from
// a view to a decision.
type view interface {
	// base returns the part that every view has.
	base() *Common
	// decide returns the next decision, or nil.
	decide() *Decision
	// due returns when the deciders must be asked again even if nothing happens.
	// Zero means never.
	due() time.Time
	// follow updates what depends on rows that a decision wrote.
	follow(*turn, *Decision) error
}

// kinds has the function that loads the view of each kind of subject. It fails
// with errGone if the subject does not exist.
var kinds map[coppice.SubjectKind]func(*turn, coppice.Subject) (view, error)

func init() {
	kinds = map[coppice.SubjectKind]func(*turn, coppice.Subject) (view, error){
		coppice.SubjectTask:     func(t *turn, s coppice.Subject) (view, error) { return t.view(s.Num()) },
		coppice.SubjectQueue:    func(t *turn, s coppice.Subject) (view, error) { return t.queueView(s.Num()) },
		coppice.SubjectProject:  func(t *turn, s coppice.Subject) (view, error) { return t.projectView(s.Num()) },
		coppice.SubjectHooks:    func(t *turn, s coppice.Subject) (view, error) { return t.hooksView(s.Num()) },
		coppice.SubjectAccount:  func(t *turn, s coppice.Subject) (view, error) { return t.accountView(s.ID) },
		coppice.SubjectSchedule: func(t *turn, s coppice.Subject) (view, error) { return t.scheduleView(s.Num()) },
		coppice.SubjectForge:    func(t *turn, s coppice.Subject) (view, error) { return t.forgeView(s.Num()) },
		coppice.SubjectTracker:  func(t *turn, s coppice.Subject) (view, error) { return t.trackerView(s.Num()) },
		coppice.SubjectLocks:    func(t *turn, s coppice.Subject) (view, error) { return t.locksView(s.Num()) },
		coppice.SubjectNotices:  func(t *turn, _ coppice.Subject) (view, error) { return t.noticesView() },
	}
}

// Common is the part that every view has.
type Common struct {
	Of      coppice.Subject
	Now     time.Time
	Project coppice.Project // empty for an account
	Work    []coppice.Work  // unsettled
	Asks    []coppice.Ask   // open, oldest first
}

func (c *Common) base() *Common { return c }

// asked returns the oldest open request with one of the verbs, or nil.
func (c *Common) asked(verbs ...coppice.Verb) *coppice.Ask { return coppice.Asked(c.Asks, verbs...) }

// settled returns the open requests with the verbs, settled.
func (c *Common) settled(verbs ...coppice.Verb) []coppice.Ask {
	var list []coppice.Ask
	for _, a := range c.Asks {
		if slices.Contains(verbs, a.Verb) {
			a.SettledAt = c.Now
			list = append(list, a)
		}
	}
	return list
}

// done returns a request, settled.
func (c *Common) done(a *coppice.Ask) []coppice.Ask {
	settled := *a
	settled.SettledAt = c.Now
	return []coppice.Ask{settled}
}

// note returns the texts of the open requests with the verbs, oldest first.
func (c *Common) note(verbs ...coppice.Verb) string {
	text := ""
	for _, a := range c.Asks {
		if slices.Contains(verbs, a.Verb) {
			text = joinNotes(text, a.Text)
		}
	}
	return text
}

// open returns the first unfinished work item of a kind, or nil. It ignores the
// removal of a verifier's worktree.
func (c *Common) open(kinds ...coppice.WorkKind) *coppice.Work {
	for i := range c.Work {
		w := &c.Work[i]
		if slices.Contains(kinds, w.Kind) && w.Open() && (w.Kind != coppice.WorkRemove || w.SessionID == 0) {
			return w
		}
	}
	return nil
}

// common loads the part that every view has, except the project.
func (t *turn) common(s coppice.Subject) (Common, error) {
	c := Common{Of: s, Now: t.now}
	var err error
	if c.Work, err = t.tx.Work.Unsettled(s); err != nil {
		return c, err
	}
	c.Asks, err = t.tx.Asks.Open(s)
	return c, err
}

// settleAll asks the deciders about every marked subject until none is left.
func (t *turn) settleAll() error {
	for {
		s, ok := t.dirty.next()
		if !ok {
			return nil
		}
		if err := t.settleSubject(s); err != nil {
			return fmt.Errorf("engine: %s: %w", s, err)
		}
	}
}

// mostSteps limits how often the deciders are asked about one subject in one
// turn. Every correct chain is far shorter. In a queue, each chain ends with a
// landing. A longer chain means that two deciders undo each other's decisions,
// which would delay everything.
const mostSteps = 64

// settleSubject asks the deciders about one subject until none has a new
// decision. It skips a kind of subject that this version does not know.
func (t *turn) settleSubject(s coppice.Subject) error {
	load := kinds[s.Kind]
	if load == nil {
		t.cfg.Logger.Warn("a subject of an unknown kind is skipped", "subject", s.String())
		return nil
	}
	v, err := load(t, s)
	if errors.Is(err, errGone) {
		return nil // what happened to it no longer matters
	}
	if err != nil {
		return err
	}
	if of, ok := v.(*View); ok {
		t.noteIssue(of.Task)
	}
	for range mostSteps {
		d := v.decide()
		if d == nil {
			return t.tx.Timers.Set(store.Timer{Kind: string(s.Kind), ID: s.ID, At: v.due()})
		}
		if err := t.apply(v, d); err != nil {
			return err
		}
	}
	return errors.New("the deciders do not stop deciding")
}

// gone turns "not found" into errGone.
func gone(err error) error {
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return errGone
	}
	return err
}

// queue is a set of subjects in the order in which they were first added.
type queue struct {
	order []coppice.Subject
	in    map[coppice.Subject]bool
}

func newQueue() *queue { return &queue{in: map[coppice.Subject]bool{}} }

func (q *queue) add(s coppice.Subject) {
	if !q.in[s] {
		q.in[s] = true
		q.order = append(q.order, s)
	}
}

func (q *queue) next() (coppice.Subject, bool) {
	if len(q.order) == 0 {
		return coppice.Subject{}, false
	}
	s := q.order[0]
	q.order = q.order[1:]
	delete(q.in, s)
	return s, true
}
