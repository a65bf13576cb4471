package engine

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
	"coppice/store"
)

// The levels of work for which a profile names a model.
const (
	LevelSimple  = "simple"
	LevelMedium  = "medium"
	LevelComplex = "complex"
)

// Classify returns how hard a task looks, as one of the levels. The engine calls
// it in its transaction, so it does no I/O, and only for tasks without a level.
type Classify func(t coppice.Task) string

// Levels returns how hard tasks look, one level for each, in their order. It is
// called before the transaction that creates or changes them, and can take a few
// seconds. It never fails: for an empty or unknown level the rules decide.
type Levels func(ctx context.Context, tasks []coppice.Task) []string

var (
	easyWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(typos?|rename[sd]?|renaming|docs?|documentation|readme|comments?|wording|spelling|format(ting)?|bump|changelog|lint)\b`)
	})
	hardWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(refactor(s|ed|ing)?|redesign|rewrite|migrat(e|es|ed|ing|ion|ions)|architecture|concurren(t|cy)|race conditions?|deadlocks?|distributed|protocol|security|encryption|performance|transactions?)\b`)
	})
)

// Level is the rule-based Classify. A task gets a score by its length, its
// number of steps and its words. Words of the title count more than those of the
// description, hard words more than easy ones.
//
//	description: up to 400 bytes 0, up to 2,000 1, up to 6,000 2, beyond 3
//	steps:       up to 3 0, up to 7 1, beyond 2
//	hard words:  3 in the title, else 1 in the description
//	easy words:  -2 in the title, unless it has a hard word too
//
// Up to -1 is simple, as is 0 with a description of at most 120 bytes and no
// more than one step; 3 and more is complex; the rest is medium.
func Level(t coppice.Task) string {
	body := strings.TrimSpace(t.Body)
	score := 0
	for _, bound := range []int{400, 2000, 6000} {
		if len(body) > bound {
			score++
		}
	}
	for _, bound := range []int{3, 7} {
		if len(t.Steps) > bound {
			score++
		}
	}
	switch {
	case hardWords().MatchString(t.Title):
		score += 3
	case easyWords().MatchString(t.Title):
		score -= 2
	}
	if !hardWords().MatchString(t.Title) && hardWords().MatchString(body) {
		score++
	}
	switch {
	case score < 0, score == 0 && len(body) <= 120 && len(t.Steps) <= 1:
		return LevelSimple
	case score >= 3:
		return LevelComplex
	}
	return LevelMedium
}

// LevelOf returns the level of a task, and what judged it: the model or the
// rules.
func LevelOf(t coppice.Task) (level, by string) {
	if t.Level != "" {
		return t.Level, "the model"
	}
	return Level(t), "the rules"
}

// model returns the model with which a session starts. For auto it is the one
// that the agent's profile names for such work, or the agent's own choice if it
// names none.
func (t *turn) model(v *View, n *coppice.Next) string {
	if n.Model != coppice.ModelAuto {
		return n.Model
	}
	return t.auto(v, n.Agent)
}

func (t *turn) auto(v *View, agent string) string {
	if t.cfg.Models == nil {
		return ""
	}
	var own *coppice.Profile
	if p, ok := v.Project.Policy.Agents[agent]; ok {
		own = &p
	}
	models := t.cfg.Models(agent, own)
	level := v.Task.Level
	if level == "" {
		level = t.cfg.Classify(v.Task)
	}
	if m := models[level]; m != "" {
		return m
	}
	return models[LevelMedium]
}

// modelFor returns the model that a task asks for, or the policy's default.
func modelFor(p coppice.Policy, agent, model string) string {
	if model == "" && agent == p.Agent.Use {
		return p.Agent.Model
	}
	return model
}

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
		if modelFor(p.Policy, a.Agent, a.Model) == coppice.ModelAuto {
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
	if err != nil || t.Ended() {
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
		t.Model = modelFor(p.Policy, t.Agent, *c.Model)
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
