package flow

import (
	"fmt"
	"strings"

	"coppice"
)

// stalled says why the last cycles made too little progress; empty if they did not.
// Cycles before a change of the plan by a person do not count.
func (r *cycleRun) stalled() string {
	var growth []int
	idle, excused := 0, false
	for n := 1; n < r.at.cycle; n++ {
		before, after := r.places[place{cycle: n, phase: phaseReview}], r.places[place{cycle: n + 1, phase: phaseReview}]
		if len(before) == 0 || len(after) == 0 {
			continue
		}
		a, b := before[len(before)-1], after[len(after)-1]
		if b.Saw[planDoc] > a.Saw[planDoc]+1 { // the review itself added one version
			growth, idle, excused = nil, 0, false
			continue
		}
		grown := doneIn(b) - doneIn(a)
		growth = append(growth, grown)
		switch {
		case grown > 0:
			idle, excused = 0, false
		case !excused && anyLanded(r.places[place{cycle: n, phase: phaseImplement}]):
			excused = true // work without a finished milestone counts one time in a row
		default:
			idle++
		}
	}
	if idle >= mostIdle {
		return fmt.Sprintf("%d cycles in a row made no progress", idle)
	}
	if len(growth) < meanCycles {
		return ""
	}
	sum := 0
	for _, g := range growth[len(growth)-meanCycles:] {
		sum += g
	}
	if mean := float64(sum) / meanCycles; mean < leastMean {
		return fmt.Sprintf("the last %d cycles finished %.1f milestones each, and %.1f is the minimum", meanCycles, mean, leastMean)
	}
	return ""
}

// landed reports whether a step has landed. The worklogs have the commits of steps
// that no longer count because a person resumed the flow before them.
func (r *cycleRun) landed() bool {
	for _, s := range r.Steps {
		if s.Landed != "" {
			return true
		}
	}
	for name, d := range r.Docs {
		if strings.HasPrefix(name, worklogs) && strings.HasPrefix(d.Text, commitLine) {
			return true
		}
	}
	return false
}

func anyLanded(steps []*Step) bool {
	for _, s := range steps {
		if s.Landed != "" {
			return true
		}
	}
	return false
}

func (r *cycleRun) progress() string {
	return fmt.Sprintf("%d of %d milestones done", r.milestones.Done(), len(r.milestones))
}

// note says where the flow is.
func (r *cycleRun) note(at place, p Plan) string {
	doing := phases[at.phase].doing
	switch {
	case p.Block != nil:
		doing = "blocked after " + phases[at.phase].doing
	case p.End != nil:
		doing = "finished"
	case r.last != nil && r.last.State == Open && r.last.Waits != "":
		doing += ", waiting: " + coppice.FirstLine(r.last.Waits)
	}
	switch {
	case at.cycle == 0:
		return doing
	case at.cycle > r.spec.Cycles:
		return fmt.Sprintf("after %d of %d cycles: %s (%s)", r.spec.Cycles, r.spec.Cycles, doing, r.progress())
	}
	return fmt.Sprintf("cycle %d of %d: %s (%s)", at.cycle, r.spec.Cycles, doing, r.progress())
}
