package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/features"
	"coppice/verb"
)

// featureProject is a project with a features file.
type featureProject struct {
	project coppice.Project
	file    features.File
	names   map[string]bool // paths whose events matter

	list      *features.List // the last valid one, which is in effect
	text      []byte         // of the file when it was last read, valid or not
	looked    bool
	problem   string    // why the file's current text is not in effect
	suspect   time.Time // when a problem is reported, if it is still there
	again     time.Time // when a failed step is retried
	wrote     time.Time // when the file was last updated
	owed      time.Time // when it will be updated with later changes
	unwatched string    // why Coppice does not see edits
	refused   *refusal

	tasks map[string]coppice.Task // by feature, the newest
	roles map[string]coppice.Role
	seen  map[string]features.Seen

	seq    int64  // the newest event before the file was last read and processed
	pos    int64  // the same for the text that is processed now
	accept bool   // a person has confirmed the statuses in the file
	waits  string // the need for that, as it was last published
	known  bool   // it was published since the start
}

// refusal is a list whose new features could not become tasks. It is not
// retried before the list or the policy changes.
type refusal struct {
	list *features.List
	why  string
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// readFeatures reads the file. A valid text takes effect immediately. A broken one is
// reported if it stays broken.
func (s *Follower) readFeatures(ctx context.Context, p *featureProject, sure bool) {
	pos := s.before(ctx, p.seq)
	text, err := p.file.Read()
	var list *features.List
	if err == nil {
		if p.looked && bytes.Equal(text, p.text) && p.problem == "" && p.suspect.IsZero() {
			p.seq = pos
			return
		}
		list, err = features.Parse(p.file.Name, text)
	}
	p.text, p.looked = text, true
	if err != nil {
		if why := explain(err); sure || why == p.problem {
			p.problem, p.suspect = why, time.Time{}
			s.warn(ctx, p.project, fromFeatures, p.standing(nil))
		} else if p.suspect.IsZero() {
			p.suspect = s.clock.Now().Add(quiet)
		}
		return
	}
	p.problem, p.suspect = "", time.Time{}
	p.list, p.pos = list, pos
	s.turn(ctx, p)
}

// explain returns the cause and the fix in one line.
func explain(err error) string {
	e := coppice.Public(err)
	if e.Code == coppice.EInternal {
		return err.Error()
	}
	return e.Error()
}

// standing returns the warnings that hold while nothing changes.
func (p *featureProject) standing(plan []string) []string {
	var list []string
	for _, w := range []string{p.problem, p.unwatched} {
		if w != "" {
			list = append(list, w)
		}
	}
	if p.refused != nil && p.refused.list == p.list {
		list = append(list, p.refused.why)
	}
	return append(list, plan...)
}

// publishList makes the list that is in effect visible to LastFeatures.
func (s *Follower) publishList(p *featureProject) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists[p.project.ID] = p.list
}

// LastFeatures returns the last valid list of a project's features file that the
// follower has read since its start, or nil.
func (s *Follower) LastFeatures(project int64) *features.List {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists[project]
}

// mostTurns limits how often a turn is repeated because the file changed during
// it. After that, the file's next event starts the next turn.
const mostTurns = 3

// pause is how long to wait after a disk error before a retry.
const pause = 5 * time.Second

// turn brings tasks and file in step: it requests from the engine what the list
// asks for, and writes the progress of tasks into the file.
func (s *Follower) turn(ctx context.Context, p *featureProject) {
	defer s.publishList(p)
	for range mostTurns {
		if p.list == nil || p.problem != "" || !p.suspect.IsZero() || ctx.Err() != nil {
			return // the text in the file is not the one in effect, so nothing can be written into it
		}
		p.again, p.owed, p.wrote = time.Time{}, time.Time{}, s.clock.Now()
		plan := features.Make(features.Facts{
			List: p.list, Policy: p.project.Policy, Tasks: p.tasks, Roles: p.roles, Seen: p.seen,
			Ran: s.ran(ctx, p.project.ID, p.seq), Accept: p.accept,
		})
		s.create(ctx, p, plan)
		s.carryOut(ctx, p, &plan)
		written, err := s.mark(ctx, p, plan)
		if errors.Is(err, features.ErrChanged) {
			pos := s.before(ctx, p.seq)
			text, rerr := p.file.Read()
			if rerr != nil {
				return // its event will follow
			}
			list, perr := features.Parse(p.file.Name, text)
			if perr != nil {
				return
			}
			p.text, p.list, p.pos, p.accept = text, list, pos, false
			continue
		}
		if err != nil {
			p.again = s.clock.Now().Add(pause)
			plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s cannot be written: %v", p.file.Name, err))
		}
		if err := s.remember(ctx, p, plan, written); err != nil && ctx.Err() == nil {
			p.again = s.clock.Now().Add(pause)
			s.log.Error("the state of a features file cannot be stored", "project", p.project.Prefix, "error", err)
		}
		p.seq, p.accept = max(p.seq, p.pos), false
		s.publishWaits(ctx, p, plan.Waits)
		s.warn(ctx, p.project, fromFeatures, p.standing(plan.Warnings))
		s.say(ctx, p.project, fromFeatures, plan.Notes)
		return
	}
}

// create requests new tasks: all of them or, if one is refused, none.
func (s *Follower) create(ctx context.Context, p *featureProject, plan features.Plan) {
	if len(plan.Create) == 0 {
		p.refused = nil
		return
	}
	if p.refused != nil && p.refused.list == p.list {
		return
	}
	p.refused = nil
	asks := ordered(plan.Create)
	for chunk := range slices.Chunk(asks, mostAtOnce) {
		made, err := s.as(p).CreateTasks(ctx, p.project.Prefix, s.requests(p, chunk))
		if err != nil {
			if ctx.Err() == nil {
				p.refused = &refusal{list: p.list, why: refused(p.list, chunk, err, "no new feature becomes a task until this is fixed")}
				if coppice.ErrorCode(err) == coppice.EInternal {
					p.again = s.clock.Now().Add(pause) // not caused by the file
				}
			}
			return
		}
		for _, t := range made {
			p.tasks[t.Feature] = t
		}
	}
}

// mostAtOnce is how many tasks the engine accepts in one transaction.
const mostAtOnce = 2000

// ordered sorts requests so that each comes after those that it refers to.
func ordered(asks []features.Ask) []features.Ask {
	at := map[string]int{}
	for i, a := range asks {
		at[a.Feature.ID] = i
	}
	done := make([]bool, len(asks))
	out := make([]features.Ask, 0, len(asks))
	var visit func(i int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true // the list has no cycles
		for _, id := range asks[i].Refs {
			if j, ok := at[id]; ok {
				visit(j)
			}
		}
		out = append(out, asks[i])
	}
	for i := range asks {
		visit(i)
	}
	return out
}

func reference(id string) string { return "feature " + id }

func (s *Follower) requests(p *featureProject, asks []features.Ask) []coppice.NewTask {
	list := make([]coppice.NewTask, len(asks))
	for i, a := range asks {
		f := a.Feature
		list[i] = coppice.NewTask{
			Ref: reference(f.ID), Title: f.Name, Body: f.Description, Priority: f.Priority, Track: a.Track, Agent: f.Agent, Model: f.Model,
			Category: f.Category, Steps: f.Steps, Feature: f.ID, Budget: f.Budget, After: slices.Clone(a.After),
		}
		for _, id := range a.Refs {
			if t, ok := p.tasks[id]; ok {
				list[i].After = append(list[i].After, t.Key)
			} else {
				list[i].After = append(list[i].After, reference(id))
			}
		}
	}
	return list
}

var fieldRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:tasks\[(\d+)\]\.?)?(.*)$`) })

// fieldOf maps a field of a task to its name in the features file.
var fieldOf = map[string]string{"title": "name", "body": "description", "after": "depends_on", "track": "category"}

// refused says which feature cannot become a task, its place in the file, and
// what follows.
func refused(l *features.List, asks []features.Ask, err error, follows string) string {
	e := coppice.Public(err)
	if e.Code == coppice.EInternal {
		return fmt.Sprintf("%s: its features cannot become tasks: %v", l.Name, err)
	}
	m := fieldRE().FindStringSubmatch(e.Field)
	n, _ := strconv.Atoi(m[1])
	key := m[2]
	if other := fieldOf[key]; other != "" {
		key = other
	}
	if n >= len(asks) {
		return fmt.Sprintf("%s: %s", l.Name, e.Error())
	}
	return l.Problem(asks[n].Feature.ID, key, e.Cause+"; "+follows, e.Fix).Error()
}

// newRequest is the note of a retry with a changed request.
const newRequest = "The task was changed after its last session. The text above is the current one."

// carryOut requests changes of existing tasks from the engine. If the engine
// refuses one, the task has changed in between, and the next turn sees how. A
// failed task whose new request is refused is not retried: a warning says why,
// and the next turn tries again.
func (s *Follower) carryOut(ctx context.Context, p *featureProject, plan *features.Plan) {
	learn := func(what, key string, t coppice.Task, err error) {
		switch {
		case err == nil:
			p.tasks[t.Feature] = t
		case ctx.Err() == nil:
			s.log.Info("features: the engine refuses", "what", what, "task", key, "reason", err)
		}
	}
	as := s.as(p)
	notes := map[string]string{}
	for _, c := range plan.Change {
		failed := p.tasks[c.Feature.ID].Restartable()
		t, err := as.ChangeTask(ctx, c.Key, s.change(p, c.Ask))
		learn("change", c.Key, t, err)
		switch i := slices.Index(plan.Retry, c.Key); {
		case err == nil:
			notes[c.Key] = newRequest
		case failed:
			follows := c.Key + " keeps its old request until this is fixed"
			if i >= 0 {
				plan.Retry = slices.Delete(plan.Retry, i, i+1)
				follows = c.Key + " is not retried until this is fixed"
			}
			plan.Forget(p.seen, c.Feature.ID)
			plan.Warnings = append(plan.Warnings, refused(p.list, []features.Ask{c.Ask}, err, follows))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(plan.Stop)) {
		t, err := as.Ask(ctx, key, coppice.VerbStop, verb.Request{})
		learn("stop: "+plan.Stop[key], key, t, err)
	}
	for _, key := range plan.Retry {
		t, err := as.Ask(ctx, key, coppice.VerbRetry, verb.Request{Text: notes[key]})
		learn("retry", key, features.Restarted(t), err)
	}
}

// as returns an intake that asks in the name of the features file.
func (s *Follower) as(p *featureProject) *engine.Intake {
	return s.person.As(coppice.Actor{Kind: coppice.ActorFile, Name: p.file.Name})
}

func (s *Follower) change(p *featureProject, a features.Ask) coppice.TaskChange {
	n := s.requests(p, []features.Ask{a})[0]
	if n.After == nil {
		n.After = []string{}
	}
	return coppice.TaskChange{
		Title: &n.Title, Body: &n.Body, Priority: &n.Priority, After: &n.After, Track: &n.Track, Agent: &n.Agent, Model: &n.Model,
		Category: &n.Category, Steps: &n.Steps, Budget: &n.Budget,
	}
}

// mark writes the plan's statuses into the file, and reports whether they were
// written.
func (s *Follower) mark(ctx context.Context, p *featureProject, plan features.Plan) (bool, error) {
	text, changed := p.list.Write(plan.Marks)
	if !changed {
		return true, nil
	}
	if err := s.save(ctx, p, features.Intend(p.seen, plan.Marks)); err != nil {
		return false, err
	}
	if err := p.file.Write(p.list.Text(), text); err != nil {
		return false, err
	}
	list, err := features.Parse(p.file.Name, text)
	if err != nil {
		return false, fmt.Errorf("the written text cannot be read: %w", err) // a bug
	}
	if p.refused != nil && p.refused.list == p.list {
		p.refused.list = list
	}
	p.list, p.text = list, text
	return true, nil
}
