package flow

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

// Whatever leads, workers, verifiers and people do, a goal ends or blocks, and never
// has more open workers than allowed.
func TestGoalRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 4).Draw(t, "workers")
		g := playGoal(t, fmt.Sprintf(`{"workers":%d,"rounds":%d,"plan":%v}`, most, rapid.IntRange(1, 3).Draw(t, "rounds"), rapid.Bool().Draw(t, "plan")))
		spawned, resumes := 0, 0
		for move := 0; ; move++ {
			g.plan()
			open := 0
			for _, s := range g.open() {
				if IsWorker(s.Key) {
					open++
				}
			}
			if open > most {
				t.Fatalf("%d workers are open, %d are allowed", open, most)
			}
			if g.end != nil {
				if g.end.Result == "" {
					t.Fatalf("the end has no result: %+v", g.end)
				}
				return
			}
			if g.block != nil && len(g.open()) == 0 {
				if resumes == 5 {
					return
				}
				resumes++
				g.view.Resumes++
				g.leave(func(s Step) bool { return s.State == Failed || s.State == Cancelled })
				continue
			}
			if move > 400 {
				t.Fatalf("the goal neither ends nor blocks: %+v", g.view.Steps)
			}
			randomMove(t, g, &spawned)
		}
	})
}

// randomMove ends one open step, or makes a request of a lead.
func randomMove(t *rapid.T, g *goalGame, spawned *int) {
	open := g.open()
	if len(open) == 0 {
		return
	}
	s := rapid.SampledFrom(open).Draw(t, "step")
	switch how := rapid.IntRange(0, 9).Draw(t, "how"); {
	case how == 0:
		g.finish(s.Key, Step{State: Failed, Class: coppice.ClassUnknown, Result: "failed: bad luck"})
	case how == 1:
		g.finish(s.Key, Step{State: Cancelled})
	case how == 2 && rapid.IntRange(0, 5).Draw(t, "wrap") == 0:
		g.view.WrapUp = true
	case IsLead(s.Key) && how < 7 && *spawned < 20:
		*spawned++
		g.spawn(s.Key, WorkerKey(*spawned), rapid.SampledFrom(Perspectives).Draw(t, "perspective").Name)
	case IsLead(s.Key):
		text := rapid.SampledFrom([]string{"GOAL_DONE: x", "GOAL_FAILED: y", "LEAD_CONTINUES: 1", "LEAD_CONTINUES: x", "well"}).Draw(t, "final message")
		if m, said := ReadMark(text, MarkDone); m != "" && rapid.Bool().Draw(t, "asks") {
			g.ask(s.Key, coppice.VerbGoalDone, said, nil)
		}
		g.done(s.Key, text)
	case strings.HasPrefix(s.Key, verifyKey):
		g.verdict(s.Key, rapid.SampledFrom([]string{goalPass, goalFail, "other"}).Draw(t, "result"), "a finding")
	case strings.HasPrefix(s.Key, planKey):
		n := rapid.IntRange(0, 4).Draw(t, "tasks")
		tasks := make([]planTask, n)
		for i := range tasks {
			tasks[i] = planTask{ID: fmt.Sprintf("t%d", i), Title: "x", Effort: "low", Scope: []string{"a"}}
			if i > 0 && rapid.Bool().Draw(t, "after") {
				tasks[i].After = []string{"t0"}
			}
		}
		g.finish(s.Key, Step{State: Done, Answer: coppice.Raw(map[string]any{"tasks": tasks})})
	default:
		landed := ""
		if !s.Task.Answer {
			landed = "abc"
		}
		g.finish(s.Key, Step{State: Done, Landed: landed, Result: "WORKER_DONE: it"})
	}
}
