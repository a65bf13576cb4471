package flow

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Outline implements Kind. All loops are one: a part has the steps of each loop.
func (debateKind) Outline(v View) ([]Part, error) {
	d := debate{View: v}
	if err := json.Unmarshal(v.Spec, &d.spec); err != nil {
		return nil, fmt.Errorf("flow: the spec of %s: %w", v.Key, err)
	}
	steps, last := map[string][]string{}, -1 // by key in a loop; the last round that started
	for _, s := range v.Steps {
		_, key, in := strings.Cut(s.Key, "/")
		if !in {
			key = s.Key
		}
		steps[key] = append(steps[key], s.Key)
		var round int
		if n, _ := fmt.Sscanf(key, "r%d/", &round); n == 1 {
			last = max(last, round)
		}
	}
	d.loop = d.spec.Loops
	concluded := d.concluded() // the last loop has no further round
	var o outline
	add := func(key string, p Part) {
		part := o.at(key, p)
		for _, s := range steps[key] {
			part.ran(s)
		}
	}
	var before []string
	for n := range d.spec.Rounds {
		if concluded && n > last {
			break
		}
		var round []string
		for side, name := range sides {
			key := fmt.Sprintf("r%d/%s", n, name)
			round = append(round, key)
			add(key, Part{Name: fmt.Sprintf("Round %d, side %s", n+1, name), Agent: d.spec.Between[side], After: before, Most: d.spec.Loops, Maybe: n > 0})
		}
		before = round
	}
	if d.spec.Action != "" {
		add("action", Part{Name: "Action", Agent: d.spec.ActionBy, After: before, Most: d.spec.Loops})
		before = []string{"action"}
	}
	for n := 1; d.spec.Verify && n <= d.spec.VerifyRounds; n++ {
		verify, respond := fmt.Sprintf("verify/%d", n), fmt.Sprintf("respond/%d", n)
		add(verify, Part{Name: fmt.Sprintf("Verification %d", n), Agent: d.spec.Between[1-d.doer()], After: before, Most: d.spec.Loops, Maybe: n > 1})
		if n < d.spec.VerifyRounds {
			add(respond, Part{Name: fmt.Sprintf("Response %d", n), Agent: d.spec.ActionBy, After: []string{verify}, Most: d.spec.Loops, Maybe: true})
		}
		before = []string{respond}
	}
	if d.spec.Then != nil {
		add("then", Part{Name: "Task after the debate", Agent: d.spec.Then.Agent, After: before})
	}
	return o, nil
}
