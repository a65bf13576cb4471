package flow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"coppice"
)

// The results of a verification.
const (
	goalPass = "pass"
	goalFail = "fail"
)

// goalVerdictSchema is the schema of a verification's answer.
var goalVerdictSchema = json.RawMessage(`{"type": "object", "required": ["result", "findings"], "properties": {
  "result": {"type": "string", "enum": ["pass", "fail"]},
  "findings": {"type": "array", "items": {"type": "string"}, "description": "What to fix, one by one, with the place and how to see it; empty if there is nothing"}}}`)

type goalVerdict struct {
	Result   string   `json:"result"`
	Findings []string `json:"findings"`
}

func readGoalVerdict(s *Step) (v goalVerdict, ok bool) {
	if s.State != Done || json.Unmarshal(s.Answer, &v) != nil {
		return v, false
	}
	return v, v.Result == goalPass || v.Result == goalFail
}

// verifyFields are the fields of the text of the verifier's prompt.
type verifyFields struct {
	Key, Title, Body  string
	Summary, Criteria string // fenced
	Plan              string // fenced
	Findings          string // of the verification before, fenced
}

// check creates the verification of the whole work.
func (g *goalRun) check(summary, criteria string) (Plan, error) {
	f := verifyFields{Key: g.Key, Title: g.Title, Body: g.Body, Summary: fence(cmp.Or(strings.TrimSpace(summary), "The lead gave no summary.")), Findings: g.lastFindings()}
	if criteria != "" {
		f.Criteria = fence(criteria)
	}
	if d, ok := g.Docs[goalPlanDoc]; ok {
		f.Plan = fence(d.Text)
	}
	text, err := g.text("goal-verify", f)
	if err != nil {
		return Plan{}, err
	}
	key := verifyKey + "1"
	for n := 2; g.Step(key) != nil; n++ {
		key = verifyKey + strconv.Itoa(n)
	}
	p := Plan{Steps: []NewStep{g.answer(key, "Verify: ", text, g.spec.Verifier, goalVerdictSchema)}}
	p.Note = "the result is verified"
	if len(g.workers) > 0 {
		p.Note += "; " + plural(len(g.workers), "worker") + " done"
	}
	return p, nil
}

// lastFindings returns the findings of the newest verification that failed, fenced.
func (g *goalRun) lastFindings() string {
	for n := len(g.Steps) - 1; n >= 0; n-- {
		if s := &g.Steps[n]; strings.HasPrefix(s.Key, verifyKey) {
			if v, ok := readGoalVerdict(s); ok && v.Result == goalFail {
				return fence(v.text())
			}
		}
	}
	return ""
}

func (v goalVerdict) text() string {
	if len(v.Findings) == 0 {
		return "The verifier gave no findings."
	}
	var b strings.Builder
	for n, f := range v.Findings {
		fmt.Fprintf(&b, "%d. %s\n", n+1, strings.TrimSpace(coppice.Printable(f)))
	}
	return clip(b.String(), 8*mostReport)
}

// judge returns what follows from the newest verification.
func (g *goalRun) judge() (Plan, error) {
	if g.verify.State == Open {
		return Plan{}, nil
	}
	if g.verify.State != Done {
		return g.stopped(g.verify, "the verification"), nil
	}
	v, ok := readGoalVerdict(g.verify)
	switch {
	case !ok:
		return Plan{Block: &Block{
			Class: coppice.ClassImplementation, Text: "the answer of the verifier cannot be read",
			Fix: fmt.Sprintf("verify again with `coppice flow resume %s --from %s`", g.Key, g.verify.Key),
		}}, nil
	case v.Result == goalPass && g.count(Open) > 0: // a person restarted a worker
		return Plan{}, nil
	case v.Result == goalPass:
		return Plan{End: &End{Land: g.landed() > 0, Result: g.summary()}}, nil
	case g.fails > g.spec.Rounds+g.Resumes:
		return g.blocked(coppice.ClassVerification, fmt.Sprintf("the verification has failed after %s of fixes: %s", plural(g.fails-1, "round"), coppice.FirstLine(v.text()))), nil
	}
	return g.newLead(leadReason{findings: v.text(), keep: defaultKeep})
}

// summary returns what the lead says about the work, or what the workers say.
func (g *goalRun) summary() string {
	if g.lead != nil {
		if _, text := g.outcome(); text != "" {
			return text
		}
	}
	return strings.TrimSpace(g.workerList(defaultKeep))
}
