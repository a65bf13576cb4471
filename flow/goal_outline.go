package flow

import (
	"cmp"
	"slices"
	"strings"
)

// workersKey is the part of an outline for workers that nobody has named yet, and
// fixKey that for the lead after a verification that failed.
const (
	workersKey = "workers"
	fixKey     = "fix"
)

// goalOutline builds the outline of a goal. A round has a lead, its workers and a
// verification. The first round of a goal with a plan has the plan instead of a lead.
type goalOutline struct {
	outline
	spec   GoalSpec
	head   string   // the lead of the round, or the plan
	verify string   // the verification of the round
	ends   []string // the workers of the round
	rounds int      // of fixes
}

// Outline implements Kind.
func (goal) Outline(v View) ([]Part, error) {
	spec, err := ReadGoal(v.Spec)
	if err != nil {
		return nil, err
	}
	o := &goalOutline{spec: spec}
	if spec.Plan {
		o.at(planKey, Part{Name: "Plan", Agent: spec.Lead})
		o.head = planKey
	}
	tasks, _ := parsePlan(v.Docs[goalPlanDoc].Text)
	o.planned(tasks)
	for _, s := range v.Steps {
		o.add(s)
	}
	o.rest(len(tasks) > 0)
	return o.outline, nil
}

// planned adds the tasks of a plan, each after those that it depends on.
func (o *goalOutline) planned(tasks []planTask) {
	for left := tasks; len(left) > 0; {
		var later []planTask
		for _, t := range left {
			p := Part{Name: t.Title}
			for _, id := range t.After {
				if slices.ContainsFunc(o.outline, func(p Part) bool { return p.Key == plannedWorker+id }) {
					p.After = append(p.After, plannedWorker+id)
				}
			}
			if len(p.After) < len(t.After) {
				later = append(later, t)
				continue
			}
			if len(p.After) == 0 {
				p.After = []string{planKey}
			}
			o.work(plannedWorker+t.ID, p)
		}
		left = later
	}
}

// work returns the part of a worker. The verification comes after those workers that no
// other one comes after.
func (o *goalOutline) work(key string, p Part) *Part {
	if !slices.ContainsFunc(o.outline, func(p Part) bool { return p.Key == key }) {
		o.ends = slices.DeleteFunc(o.ends, func(end string) bool { return slices.Contains(p.After, end) })
		o.ends = append(o.ends, key)
	}
	return o.at(key, p)
}

// after returns what a verification, or what follows it, comes after.
func (o *goalOutline) after() []string {
	switch {
	case o.verify != "":
		return []string{o.verify}
	case len(o.ends) > 0:
		return slices.Clone(o.ends)
	case o.head != "":
		return []string{o.head}
	}
	return nil
}

// add adds a step to its part.
func (o *goalOutline) add(s Step) {
	switch {
	case IsLead(s.Key):
		if o.verify != "" || o.head == "" || o.head == planKey {
			p := Part{Name: "Lead", After: o.after()}
			if o.verify != "" {
				o.rounds++
				p.Name = "Fixes"
			}
			o.at(s.Key, p)
			o.head, o.verify, o.ends = s.Key, "", nil
		}
		o.at(o.head, Part{}).ran(s.Key)
	case IsWorker(s.Key):
		p := Part{Name: cmp.Or(s.Title, "Worker")}
		if o.head != "" {
			p.After = []string{o.head}
		}
		o.work(s.Key, p).ran(s.Key)
	case strings.HasPrefix(s.Key, verifyKey):
		if o.verify == "" {
			o.at(s.Key, Part{Name: "Verify", After: o.after()})
			o.verify = s.Key
		}
		o.at(o.verify, Part{}).ran(s.Key)
	default:
		o.at(planKey, Part{Name: "Plan"}).ran(s.Key)
	}
}

// rest adds what has no step yet.
func (o *goalOutline) rest(tasks bool) {
	if o.head == "" {
		o.at(leadKey, Part{Name: "Lead", Agent: o.spec.Lead})
		o.head = leadKey
	}
	if o.verify == "" && len(o.ends) == 0 {
		o.work(workersKey, Part{Name: "Workers", After: []string{o.head}, Maybe: o.head != planKey || tasks})
	}
	if o.verify == "" {
		o.at(verifyKey, Part{Name: "Verify", Agent: o.spec.Verifier, After: o.after()})
		o.verify = verifyKey
	}
	if left := cmp.Or(o.spec.Rounds, defaultRounds) - o.rounds; left > 0 {
		o.at(fixKey, Part{Name: "Fixes", Agent: o.spec.Lead, After: []string{o.verify}, Most: left, Maybe: true})
	}
}
