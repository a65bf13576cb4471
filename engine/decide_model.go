package engine

import (
	"regexp"
	"strings"
	"sync"

	"coppice"
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
