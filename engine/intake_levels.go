package engine

import (
	"context"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
)

// Levels returns how hard tasks look, one level for each, in their order. It is
// called before the transaction that creates or changes them, and can take a few
// seconds. It never fails: for an empty or unknown level the rules decide.
type Levels func(ctx context.Context, tasks []coppice.Task) []string

// levelsOf asks for the levels of those tasks whose model is auto, by their
// index in the request. It skips requests that cannot become tasks.
func (i *Intake) levelsOf(ctx context.Context, project string, asked []coppice.NewTask) map[int]string {
	if i.levels == nil {
		return nil
	}
	var p coppice.Project
	err := i.store.View(ctx, func(r store.Reader) (err error) {
		p, err = r.Projects.ByPrefix(project)
		return err
	})
	if err != nil {
		return nil // the transaction fails with the same error
	}
	var places []int
	var tasks []coppice.Task
	for n, a := range asked {
		if coppice.ValidTitle(a.Title) != nil || coppice.ValidText("body", a.Body, coppice.MaxBody) != nil {
			return nil // the whole request is refused
		}
		if a.Agent == "" {
			a.Agent = p.Policy.AgentFor(a.Role())
		}
		if p.Policy.ModelFor(a.Agent, a.Model) == coppice.ModelAuto {
			places = append(places, n)
			tasks = append(tasks, coppice.Task{ProjectID: p.ID, Title: strings.TrimSpace(a.Title), Body: a.Body, Steps: a.Steps})
		}
	}
	answers := map[int]string{}
	for n, level := range i.askLevels(ctx, tasks) {
		answers[places[n]] = level
	}
	return answers
}

// levelAfter asks for the level of a task after a change, and returns the task
// with it. It returns the zero task if no level is needed.
func (i *Intake) levelAfter(ctx context.Context, key string, c coppice.TaskChange) coppice.Task {
	if i.levels == nil || c.Title == nil && c.Body == nil && c.Steps == nil && c.Model == nil {
		return coppice.Task{}
	}
	var t coppice.Task
	var p coppice.Project
	err := i.store.View(ctx, func(r store.Reader) (err error) {
		if t, err = r.Tasks.ByKey(key); err == nil {
			p, err = r.Projects.Get(t.ProjectID)
		}
		return err
	})
	if err != nil || t.Ended() && !t.Restartable() {
		return coppice.Task{}
	}
	if c.Title != nil {
		t.Title = strings.TrimSpace(*c.Title)
	}
	if c.Body != nil {
		t.Body = *c.Body
	}
	if c.Steps != nil {
		t.Steps = *c.Steps
	}
	if c.Agent != nil {
		t.Agent = *c.Agent
	}
	if c.Model != nil {
		t.Model = p.Policy.ModelFor(t.Agent, *c.Model)
	}
	if t.Model != coppice.ModelAuto || coppice.ValidTitle(t.Title) != nil || coppice.ValidText("body", t.Body, coppice.MaxBody) != nil {
		return coppice.Task{}
	}
	t.Level = ""
	for _, level := range i.askLevels(ctx, []coppice.Task{t}) {
		t.Level = level
	}
	return t
}

// relevel sets the level that was asked for, if the task is what was asked
// about. Otherwise the level no longer applies.
func relevel(t *coppice.Task, was, judged coppice.Task) {
	same := func(o coppice.Task) bool {
		return t.Title == o.Title && t.Body == o.Body && t.Model == o.Model && slices.Equal(t.Steps, o.Steps)
	}
	switch {
	case same(was):
	case t.Model == coppice.ModelAuto && judged.ID == t.ID && same(judged):
		t.Level = judged.Level
	default:
		t.Level = ""
	}
}

// askLevels asks for levels and keeps only valid ones, at most one per task.
func (i *Intake) askLevels(ctx context.Context, tasks []coppice.Task) []string {
	if len(tasks) == 0 {
		return nil
	}
	levels := i.levels(ctx, slices.Clone(tasks))
	levels = slices.Clone(levels[:min(len(levels), len(tasks))])
	for n, l := range levels {
		if l != LevelSimple && l != LevelMedium && l != LevelComplex {
			levels[n] = ""
		}
	}
	return levels
}
