package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/answer"
	"coppice/store"
)

// mostTasks limits the tasks of one request.
const mostTasks = 2000

// CreateTasks adds tasks to a project: all of them, or none.
func (i *Intake) CreateTasks(ctx context.Context, project string, asked []coppice.NewTask) ([]coppice.Task, error) {
	return i.createTasks(ctx, project, asked, nil)
}

// createTasks does the same. also changes each new task in the same transaction; it gets
// the index of its request.
func (i *Intake) createTasks(ctx context.Context, project string, asked []coppice.NewTask, also func(store.Tx, int, *coppice.Task) error) ([]coppice.Task, error) {
	if len(asked) == 0 {
		return nil, coppice.Errorf(coppice.EInvalid, "no task was given")
	}
	if len(asked) > mostTasks {
		return nil, coppice.Errorf(coppice.ETooLarge, "the request has %d tasks, %d are allowed", len(asked), mostTasks)
	}
	asked, err := i.expand(ctx, project, asked)
	if err != nil {
		return nil, err
	}
	asked = withTitles(asked)
	order, err := creationOrder(asked)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(i.checkCheckout(asked), i.checkBranches(ctx, project, asked)); err != nil {
		return nil, err
	}
	levels := i.levelsOf(ctx, project, asked)
	if i, err = i.ahead(ctx, project, asked); err != nil {
		return nil, err
	}
	tasks := make([]coppice.Task, len(asked))
	err = i.store.Update(ctx, func(tx store.Tx) error {
		p, err := knownProject(tx.Projects.ByPrefix(project))
		if err != nil {
			return err
		}
		refs := map[string]int64{}
		together := i.groupFor(p, asked)
		for _, n := range order {
			in, err := group(tx, together, asked[n].Group)
			if err != nil {
				return at(asked, n, err)
			}
			if tasks[n], err = i.create(tx, &p, asked[n], levels[n], in, refs); err != nil {
				return at(asked, n, err)
			}
			if also != nil {
				if err := also(tx, n, &tasks[n]); err != nil {
					return err
				}
			}
			if ref := asked[n].Ref; ref != "" {
				refs[ref] = tasks[n].ID
			}
		}
		return tx.Projects.Put(&p)
	})
	if err != nil {
		return nil, err
	}
	return tasks, nil
}

// withTitles returns the tasks, where those that have only a description got a title
// from it.
func withTitles(asked []coppice.NewTask) []coppice.NewTask {
	asked = slices.Clone(asked)
	for n := range asked {
		if t := &asked[n]; strings.TrimSpace(t.Title) == "" {
			t.Title = coppice.TitleOf(t.Body)
		}
	}
	return asked
}

// at adds to an error which of several tasks it is about.
func at(asked []coppice.NewTask, n int, err error) error {
	e := coppice.Public(err)
	if len(asked) == 1 || e.Code == coppice.EInternal {
		return err
	}
	return e.WithField(strings.TrimSuffix(fmt.Sprintf("tasks[%d].%s", n, e.Field), "."))
}

// create checks one task and adds it.
func (i *Intake) create(tx store.Tx, p *coppice.Project, n coppice.NewTask, level string, in int64, refs map[string]int64) (coppice.Task, error) {
	f, err := i.familyFor(tx, *p)
	if err != nil {
		return coppice.Task{}, err
	}
	t, err := requestedTask(*p, n)
	if err != nil {
		return t, err
	}
	t.Group = in
	f.inherit(&n, &t)
	if err := i.complete(*p, &t); err != nil {
		return t, err
	}
	if err := i.planned(tx.Reader(), *p, n, &t); err != nil {
		return t, err
	}
	if err := i.flowGroup(tx, *p, &t); err != nil {
		return t, err
	}
	if t.Model == coppice.ModelAuto { // the policy might have changed since it was judged
		t.Level = level
	}
	after, err := dependencies(tx.Reader(), n.After, refs, f.session.ProjectID)
	if err != nil {
		return t, err
	}
	t.After = after
	if err := f.admit(tx.Reader(), *p, &t); err != nil {
		return t, err
	}
	if t.Checkout {
		if err := refuseCheckout(tx.Reader(), t); err != nil {
			return t, err
		}
	}
	if !t.IsFlow() {
		t.Next = firstSession(t, "")
	}
	if n.Interactive {
		if err := i.interactive(*p, &t); err != nil {
			return t, err
		}
	}
	if t.Images, err = coppice.AddImages(nil, n.Images); err != nil {
		return t, err
	}
	if err := i.addTask(tx, p, &t); err != nil {
		return t, err
	}
	return t, i.ownImages(tx, t, t.Images)
}

// draft returns the task of a request with the project's defaults, not stored.
func (i *Intake) draft(p coppice.Project, n coppice.NewTask) (coppice.Task, error) {
	t, err := requestedTask(p, n)
	if err != nil {
		return t, err
	}
	return t, i.complete(p, &t)
}

// requestedTask returns the task of a request, without the project's defaults.
func requestedTask(p coppice.Project, n coppice.NewTask) (t coppice.Task, err error) {
	t = coppice.Task{
		ProjectID: p.ID, Title: strings.TrimSpace(n.Title), Body: n.Body, Priority: n.Priority, Track: n.Track, Agent: n.Agent, Model: n.Model,
		Checks: n.Checks, NotBefore: n.NotBefore.UTC(),
		Category: n.Category, Steps: n.Steps, Feature: n.Feature, Budget: n.Budget,
		TaskDetails: coppice.TaskDetails{Schema: n.Schema, Effort: n.Effort, Retry: n.Retry, Completion: n.Completion, Turns: n.Turns, Time: n.Time, UntilDone: n.UntilDone, Branch: n.Branch, Context: n.Context, Template: n.Template},
	}
	if n.Role() != coppice.RoleImplement {
		t.Wants, t.Checkout = coppice.WantsAnswer, n.Workspace == coppice.WorkspaceNone
	}
	if n.NotBefore.IsZero() {
		t.NotBefore = n.NotBefore
	}
	t.Labels, err = coppice.Labels(n.Labels)
	return t, err
}

// addTask gives a complete task its number and stores it.
func (i *Intake) addTask(tx store.Tx, p *coppice.Project, t *coppice.Task) error {
	ev, err := i.number(tx, p, t)
	if err != nil {
		return err
	}
	return tx.Log.Append(&ev)
}

// number gives a complete task its number and stores it. It returns the event for the
// log.
func (i *Intake) number(tx store.Tx, p *coppice.Project, t *coppice.Task) (coppice.Event, error) {
	p.LastTask++
	t.Num, t.Key = p.LastTask, coppice.TaskKey(p.Prefix, p.LastTask)
	t.CreatedAt, t.CreatedBy = i.now().UTC(), i.by.String()
	t.Stage, t.StageAt = coppice.StageWaiting, t.CreatedAt
	if err := nameBranch(tx.Reader(), *p, t); err != nil {
		return coppice.Event{}, err
	}
	err := tx.Tasks.Put(t)
	return coppice.Event{
		At: t.CreatedAt, Kind: coppice.EventTaskCreated, ProjectID: t.ProjectID, TaskID: t.ID, Subject: t.Key, By: i.by.String(), Reason: t.Title,
	}, err
}

// complete fills in the project's defaults and checks the rest.
func (i *Intake) complete(p coppice.Project, t *coppice.Task) error {
	if err := coppice.ValidTitle(t.Title); err != nil {
		return err
	}
	if err := coppice.ValidText("body", t.Body, coppice.MaxBody); err != nil {
		return err
	}
	if err := cmp.Or(coppice.ValidContext(t.Context), validPriority(t.Priority)); err != nil {
		return err
	}
	if err := errors.Join(validFeature(t), validAnswer(t), coppice.ValidRetry(t.Retry), coppice.ValidCompletion(t.Completion)); err != nil {
		return err
	}
	if t.Track == "" {
		t.Track = p.Policy.TrackFor(t.Category)
	}
	track, ok := p.Policy.Track(t.Track)
	if !ok {
		return unknownTrack(p, t.Track)
	}
	t.Track = track.Name
	if err := i.staff(p, t); err != nil {
		return err
	}
	for _, c := range t.Checks {
		if strings.TrimSpace(c) == "" || len(c) > 4096 || strings.ContainsRune(c, 0) {
			return coppice.Errorf(coppice.EInvalid, "%s is not a valid check", coppice.Quote(c)).WithFix("write a shell command of up to 4096 bytes").WithField("checks")
		}
	}
	return nil
}

// staff fills in the agent and the model of a task, and refuses those that
// cannot be used. The agent itself checks the effort.
func (i *Intake) staff(p coppice.Project, t *coppice.Task) error {
	if t.Agent == "" {
		t.Agent = p.Policy.AgentFor(t.FirstRole())
	}
	if t.Agent == "" {
		return coppice.Errorf(coppice.EInvalid, "no agent was named").
			WithFix("run coppice init in the repository, set agent.use in coppice.yaml, or name an agent with --agent").WithField("agent")
	}
	if err := coppice.ValidName("agent", t.Agent); err != nil {
		return err
	}
	if err := i.known(p, t.Agent); err != nil {
		return err
	}
	t.Model = p.Policy.ModelFor(t.Agent, t.Model)
	if t.Model != "" {
		if err := coppice.ValidModel(t.Model); err != nil {
			return err
		}
	}
	if t.Effort == "" {
		return nil
	}
	return coppice.ValidName("effort", t.Effort)
}

// validFeature checks the fields of a feature: its category, id and steps.
func validFeature(t *coppice.Task) error {
	for _, f := range []struct{ name, text string }{{"category", t.Category}, {"feature", t.Feature}} {
		if f.text != "" && (len(f.text) > 200 || coppice.LineProblem(f.text) != "") {
			return coppice.Errorf(coppice.EInvalid, "%s is not a valid %s", coppice.Quote(f.text), f.name).WithFix("write up to 200 bytes of visible text in one line").WithField(f.name)
		}
		if err := coppice.ValidText(f.name, f.text, 200); err != nil {
			return err
		}
	}
	for _, s := range t.Steps {
		if !coppice.Visible(s) {
			return coppice.Errorf(coppice.EInvalid, "a step is empty").WithFix("write in a sentence what must be true").WithField("steps")
		}
		if err := coppice.ValidText("steps", s, coppice.MaxMessage); err != nil {
			return err
		}
	}
	if err := t.ValidLimits(); err != nil {
		return err
	}
	return t.Budget.Valid("budget")
}

// validAnswer checks a task that wants an answer. Nothing of it lands, so it has
// no checks.
func validAnswer(t *coppice.Task) error {
	if t.Wants != coppice.WantsAnswer {
		return nil
	}
	for field, set := range map[string]bool{"checks": len(t.Checks) > 0, "steps": len(t.Steps) > 0, "feature": t.Feature != "", "branch": t.Branch != ""} {
		if set && slices.Contains(t.FirstRole().Info().Without, field) {
			what := "wants an answer"
			if t.Checkout {
				what = "works in your checkout"
			}
			return coppice.Errorf(coppice.EInvalid, "a task that %s has no %s", what, field).
				WithFix("leave them out, or describe in a schema what the answer must have").WithField(field)
		}
	}
	return answer.CheckSchema(t.Schema)
}

func validPriority(n int) error {
	if n < coppice.MinPriority || n > coppice.MaxPriority {
		return coppice.Errorf(coppice.EInvalid, "the priority %d is out of range", n).
			WithFix("use a number from %d to %d; a higher one comes first", coppice.MinPriority, coppice.MaxPriority).WithField("priority")
	}
	return nil
}

func unknownTrack(p coppice.Project, name string) error {
	var names []string
	for _, t := range p.Policy.Tracks {
		names = append(names, t.Name)
	}
	return coppice.Errorf(coppice.EInvalid, "there is no track %s", coppice.Quote(name)).
		WithFix("the tracks of %s are: %s", p.Prefix, strings.Join(names, ", ")).WithField("track")
}

// dependencies returns the ids of tasks by key or ref. With a project, only its tasks
// exist.
func dependencies(r store.Reader, names []string, refs map[string]int64, only int64) ([]int64, error) {
	var ids []int64
	for _, name := range names {
		id, ok := refs[name]
		if !ok {
			t, err := knownTask(r, name)
			if foreign := only != 0 && err == nil && t.ProjectID != only; err != nil || foreign {
				if !foreign && coppice.ErrorCode(err) != coppice.ENotFound {
					return nil, err
				}
				return nil, coppice.Errorf(coppice.EInvalid, "there is no task %s", coppice.Quote(name)).
					WithFix("write a key as `coppice list` shows it, such as app-12").WithField("after")
			}
			id = t.ID
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// creationOrder sorts tasks of one request so that each comes after those it
// names by ref. It refuses cycles and duplicate refs.
func creationOrder(asked []coppice.NewTask) ([]int, error) {
	byRef := map[string]int{}
	for n, t := range asked {
		if t.Ref == "" {
			continue
		}
		if other, ok := byRef[t.Ref]; ok {
			return nil, coppice.Errorf(coppice.EInvalid, "tasks %d and %d have the same ref %s", other+1, n+1, coppice.Quote(t.Ref)).WithField("ref")
		}
		byRef[t.Ref] = n
	}
	const doing, done = 1, 2
	state := make([]int, len(asked))
	var order []int
	var path []string
	var visit func(n int) error
	visit = func(n int) error {
		switch state[n] {
		case done:
			return nil
		case doing:
			return cycle(append(path, asked[n].Ref))
		}
		state[n] = doing
		path = append(path, asked[n].Ref)
		for _, name := range asked[n].After {
			if m, ok := byRef[name]; ok {
				if err := visit(m); err != nil {
					return err
				}
			}
		}
		path = path[:len(path)-1]
		state[n] = done
		order = append(order, n)
		return nil
	}
	for n := range asked {
		if err := visit(n); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// cycle returns the error for tasks that come after each other.
func cycle(path []string) error {
	last := path[len(path)-1]
	first := slices.Index(path, last)
	return coppice.Errorf(coppice.EInvalid, "the dependencies form a cycle: %s", strings.Join(path[first:], " → ")).
		WithFix("remove one of these dependencies").WithField("after")
}
