package flow

import (
	"fmt"
	"slices"

	"coppice"
)

// Part is a part of the outline of a flow: the steps that do the same work, or a step
// that has no task yet.
type Part struct {
	Key   string   // unique in the outline
	Name  string   // for people
	Agent string   // who does it, as agent or agent:model, if that is known before
	After []string // the keys of the parts that come directly before it
	Steps []string // the keys of its steps that count, oldest first
	Runs  int      // how often it has started; a step that repeats another one does not count
	Most  int      // how often it can start; 0 if that is not limited
	Maybe bool     // whether it starts depends on results
}

// Outline returns the parts of a flow. It needs the spec, the steps and the documents
// of the view. A flow that is over has only parts with steps.
func Outline(kind coppice.FlowKind, v View, over bool) (parts []Part, err error) {
	defer func() {
		if r := recover(); r != nil {
			parts, err = nil, fmt.Errorf("flow: the outline of a %s panicked: %v", kind, r)
		}
	}()
	k, err := Of(kind)
	if err != nil {
		return nil, err
	}
	if parts, err = k.Outline(v); err != nil {
		return nil, err
	}
	for n := range parts {
		if p := &parts[n]; p.Most > 0 {
			p.Most = max(p.Most, p.Runs) // a person resumed the flow after the last one
		}
	}
	if !over {
		return parts, nil
	}
	parts = slices.DeleteFunc(parts, func(p Part) bool { return len(p.Steps) == 0 })
	for n := range parts {
		parts[n].After = slices.DeleteFunc(parts[n].After, func(key string) bool {
			return !slices.ContainsFunc(parts, func(p Part) bool { return p.Key == key })
		})
	}
	return parts, nil
}

// outline collects the parts of a flow.
type outline []Part

// at returns the part with a key. It adds the part if there is none.
func (o *outline) at(key string, add Part) *Part {
	n := slices.IndexFunc(*o, func(p Part) bool { return p.Key == key })
	if n < 0 {
		n, add.Key = len(*o), key
		*o = append(*o, add)
	}
	return &(*o)[n]
}

// ran adds a step to a part.
func (p *Part) ran(step string) {
	p.Steps = append(p.Steps, step)
	p.Runs++
}

// Approver is a kind whose flows can wait until a person approves a document.
type Approver interface {
	// Approves returns that document, and the document for what people say about it.
	// They are empty if the flow does not wait for an approval.
	Approves(View) (document, comments string)
}

// Approves returns the document that a person has to approve, and the document for
// their comments: see Approver.
func Approves(kind coppice.FlowKind, v View) (document, comments string) {
	if a, ok := kinds[kind].(Approver); ok {
		return a.Approves(v)
	}
	return "", ""
}

// heads names the documents that people read first in a flow of each kind.
var heads = map[coppice.FlowKind]struct{ plan, verdict string }{
	coppice.FlowGoal: {plan: goalPlanDoc}, coppice.FlowCycle: {plan: planDoc}, coppice.FlowDebate: {verdict: summaryDoc},
}

// Heads returns the documents with the plan of a flow and with its verdict. They are
// empty if the flow does not have such a document.
func Heads(kind coppice.FlowKind, v View) (plan, verdict string) {
	h := heads[kind]
	return v.Docs[h.plan].Name, v.Docs[h.verdict].Name
}
