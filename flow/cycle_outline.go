package flow

import (
	"encoding/json"
	"strings"

	"coppice"
)

// Outline implements Kind. All steps of a phase are one part, which a cycle repeats.
func (cycle) Outline(v View) ([]Part, error) {
	spec, err := readCycle(v.Spec)
	if err != nil {
		return nil, err
	}
	o := outline{
		{Key: phaseAssess, Name: "Assess", Agent: spec.Implementer, Most: 1},
		{Key: phaseReview, Name: "Review", Agent: spec.Reviewer, After: []string{phaseAssess}, Most: spec.Cycles},
		{Key: phaseImplement, Name: "Implement", Agent: spec.Implementer, After: []string{phaseReview}, Most: spec.Cycles},
	}
	if spec.Verify != "" {
		o.at(phaseVerify, Part{Name: "Verify", Agent: spec.Reviewer, After: []string{phaseReview}, Most: spec.VerifyTries + 1})
	}
	if spec.Verify != "" && spec.VerifyTries > 0 {
		o.at(phaseFix, Part{Name: "Fix", Agent: spec.Implementer, After: []string{phaseVerify}, Most: spec.VerifyTries, Maybe: true})
	}
	seen := map[place]bool{}
	for _, s := range v.Steps {
		at, _, ok := placeOf(s.Key)
		if !ok {
			continue
		}
		p := o.at(at.phase, Part{Name: at.phase})
		p.Steps = append(p.Steps, s.Key)
		if !seen[at] {
			seen[at] = true
			p.Runs++
		}
	}
	return o, nil
}

// mostFound limits what a row says about a review, in bytes.
const mostFound = 4 << 10

// CycleRow says what one cycle has done.
type CycleRow struct {
	Cycle int
	Found string   // what its review found
	Done  []string // the milestones that the next review has checked off
	Left  int      // how many milestones are open after it
	Of    int      // how many there are
	Known bool     // the next review has ended, so Done and Left are final
	Steps []string // oldest first
}

// None returns what people read if Done is empty.
func (r CycleRow) None() string {
	switch {
	case len(r.Done) > 0:
		return ""
	case r.Known:
		return "nothing"
	case r.Of > 0 && r.Left == 0:
		return "nothing was left to do"
	}
	return "not reviewed yet"
}

// Cycles returns the cycles of a flow; none if it is of another kind. It needs the
// steps of the view with their answers.
func Cycles(kind coppice.FlowKind, v View) []CycleRow {
	if kind != coppice.FlowCycle {
		return nil
	}
	var rows []CycleRow
	plans := map[int]Milestones{} // after the review of each cycle
	for _, s := range v.Steps {
		at, _, ok := placeOf(s.Key)
		if !ok || at.cycle == 0 {
			continue
		}
		for len(rows) < at.cycle {
			rows = append(rows, CycleRow{Cycle: len(rows) + 1})
		}
		row := &rows[at.cycle-1]
		row.Steps = append(row.Steps, s.Key)
		var a planAnswer
		if at.phase == phaseReview && s.State == Done && json.Unmarshal(s.Answer, &a) == nil {
			row.Found, plans[at.cycle] = clip(strings.TrimSpace(coppice.Printable(a.log())), mostFound), ReadMilestones(a.Plan)
		}
	}
	for n := range rows {
		before, after := plans[n+1], plans[n+2]
		if rows[n].Known = after != nil; after == nil {
			after = before
		}
		rows[n].Left, rows[n].Of = len(after.Unchecked()), len(after)
		rows[n].Done = after.checked().missing(before.checked())
	}
	return rows
}
