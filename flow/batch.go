package flow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coppice"
)

func init() { kinds[coppice.FlowBatch] = batchKind{} }

// mostItems limits the items of a batch. With a debate, each item has a document.
const mostItems = 200

// BatchSpec is a list of tasks.
type BatchSpec struct {
	Tasks  []coppice.NewTask `json:"tasks" minItems:"1" maxItems:"200" doc:"The items; one that names others by ref in after starts when they are done"`
	Debate *DebateSpec       `json:"debate,omitempty" doc:"Each item is debated, with its title and description as the question; with an empty task as then, the item itself follows its debate"`
	Most   int               `json:"most,omitempty" minimum:"0" maximum:"200" doc:"How many items can be open at the same time; all when absent"`
}

type batchKind struct{}

func (batchKind) Check(raw json.RawMessage, agents []Agent) (json.RawMessage, error) {
	spec, err := readSpec(raw, BatchSpec{})
	if err == nil {
		err = spec.complete(agents)
	}
	if err != nil {
		return nil, err
	}
	return coppice.Raw(spec), nil
}

func (s *BatchSpec) complete(agents []Agent) error {
	most, body := mostItems, coppice.MaxBody
	if s.Debate != nil {
		most, body = coppice.MaxDocuments-1, mostQuestion
		if err := within("debate", s.Debate.complete(agents, true)); err != nil {
			return err
		}
		if then := s.Debate.Then; then != nil && len(fieldsOf(*then)) > 0 {
			return coppice.Errorf(coppice.EInvalid, "the task after the debate of an item is the item itself").WithFix(`write "then": {}, and put its fields into the items`).WithField("debate.then")
		}
	}
	if len(s.Tasks) == 0 || len(s.Tasks) > most {
		return coppice.Errorf(coppice.EInvalid, "the batch has %d tasks", len(s.Tasks)).WithFix("give 1 to %d tasks", most).WithField("tasks")
	}
	if err := inRange("most", &s.Most, 0, mostItems, 0); err != nil {
		return err
	}
	for n := range s.Tasks {
		if err := cmp.Or(checkTask(&s.Tasks[n], agents, body), s.checkDebated(s.Tasks[n])); err != nil {
			return within(fmt.Sprintf("tasks[%d]", n), err)
		}
	}
	return s.checkOrder()
}

// debatedFields are the fields of an item that the steps of its debate have.
var debatedFields = []string{"after", "context", "group", "images", "labels", "not_before", "priority", "ref", "title", "body", "track"}

// checkDebated refuses fields of an item that would have no effect, because the item is
// only debated.
func (s *BatchSpec) checkDebated(t coppice.NewTask) error {
	if s.Debate == nil || s.Debate.Then != nil {
		return nil
	}
	for _, name := range fieldsOf(t) {
		if !slices.Contains(debatedFields, name) {
			return coppice.Errorf(coppice.EInvalid, "%s has no effect on an item that is only debated", name).
				WithFix(`leave it out, or add "then": {} to debate so that the item follows its debate`).WithField(name)
		}
	}
	return nil
}

// fieldsOf lists the fields of a task that are set, sorted.
func fieldsOf(t coppice.NewTask) []string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(coppice.Raw(t), &fields); err != nil {
		panic("flow: " + err.Error()) // a task is an object
	}
	return slices.Sorted(maps.Keys(fields))
}

// refs returns the items by their ref.
func (s *BatchSpec) refs() map[string]int {
	refs := map[string]int{}
	for n, t := range s.Tasks {
		if t.Ref != "" {
			refs[t.Ref] = n
		}
	}
	return refs
}

// checkOrder refuses duplicate and unknown refs, and items that wait for each other.
func (s *BatchSpec) checkOrder() error {
	refs := s.refs()
	waits := make([][]int, len(s.Tasks))
	for n, t := range s.Tasks {
		if t.Ref != "" && refs[t.Ref] != n {
			return coppice.Errorf(coppice.EInvalid, "two tasks have the ref %s", coppice.Quote(t.Ref)).WithFix("give each task another ref").WithField(fmt.Sprintf("tasks[%d].ref", n))
		}
		for _, name := range t.After {
			if m, ok := refs[name]; ok {
				waits[n] = append(waits[n], m)
			} else if _, _, session, err := coppice.ParseKey(name); err != nil || session != 0 {
				return coppice.Errorf(coppice.EInvalid, "%s is not the ref of a task of the batch, and not a key", coppice.Quote(name)).
					WithFix("write the ref of another task of the batch, or a key such as app-12").WithField(fmt.Sprintf("tasks[%d].after", n))
			}
		}
	}
	for free := map[int]bool{}; len(free) < len(waits); {
		before := len(free)
		for n, others := range waits {
			if !slices.ContainsFunc(others, func(m int) bool { return !free[m] }) {
				free[n] = true
			}
		}
		if len(free) == before {
			n := slices.IndexFunc(s.Tasks, func(t coppice.NewTask) bool { return !free[refs[t.Ref]] && t.Ref != "" })
			return coppice.Errorf(coppice.EInvalid, "tasks wait for each other: %s", coppice.Quote(s.Tasks[n].Ref)).
				WithFix("remove a ref from after so that one of them can start first").WithField(fmt.Sprintf("tasks[%d].after", n))
		}
	}
	return nil
}

func (batchKind) Branch(json.RawMessage) bool { return false }

func (batchKind) Next(v View) (Plan, error) {
	b := batch{View: v, below: map[int][]Step{}}
	if err := json.Unmarshal(v.Spec, &b.spec); err != nil {
		return Plan{}, fmt.Errorf("flow: the spec of %s: %w", v.Key, err)
	}
	for _, s := range v.Steps {
		head, rest, _ := strings.Cut(s.Key, "/")
		if n, err := strconv.Atoi(head); err == nil {
			s.Key = rest
			b.below[n-1] = append(b.below[n-1], s)
		}
	}
	return b.plan()
}

// batch plans a batch.
type batch struct {
	View
	spec  BatchSpec
	below map[int][]Step // the steps of each item; their keys are below the item's
	items []item
}

// item is an item of a batch: one task, or a debate and the task that follows.
type item struct {
	state  State  // empty until it has a step
	task   string // the key of its newest task
	cost   float64
	result string
}

// plan returns what follows. It starts items until the limit of open ones is reached,
// and ends when none is open and none can start. A batch that wraps up starts no
// further item: its open tasks finish, and its open debates stop.
func (b *batch) plan() (Plan, error) {
	var all Plan
	b.items = make([]item, len(b.spec.Tasks))
	open := 0
	for n := range b.items {
		if len(b.below[n]) == 0 {
			continue
		}
		p, err := b.follow(n)
		if err != nil {
			return Plan{}, err
		}
		all.add(p)
		if b.items[n].state == Open {
			open++
		}
	}
	refs := b.spec.refs()
	for n, t := range b.spec.Tasks {
		waits := slices.ContainsFunc(t.After, func(name string) bool { m, ok := refs[name]; return ok && b.items[m].state != Done })
		if b.items[n].state != "" || waits || b.WrapUp || b.spec.Most > 0 && open >= b.spec.Most {
			continue
		}
		p, err := b.start(n)
		if err != nil {
			return Plan{}, err
		}
		all.add(p)
		open++
	}
	if all.Note = b.result(open); open > 0 {
		return all, nil
	}
	text := b.markdown()
	if now := b.Docs[summaryDoc]; now.Text != text {
		all.Docs = append(all.Docs, NewDoc{Name: summaryDoc, Text: text, After: now.Version})
	}
	all.End = &End{Failed: b.count(Failed) > 0 || b.count(Done) == 0, Result: all.Note}
	return all, nil
}

// add adds the steps, documents and stops of another plan.
func (p *Plan) add(q Plan) {
	p.Steps, p.Docs, p.Stop = append(p.Steps, q.Steps...), append(p.Docs, q.Docs...), append(p.Stop, q.Stop...)
}

// task returns an item as a step: the plan itself follows the refs.
func (b *batch) task(n int) coppice.NewTask {
	t, refs := b.spec.Tasks[n], b.spec.refs()
	t.Ref = ""
	t.After = slices.DeleteFunc(slices.Clone(t.After), func(name string) bool { _, ok := refs[name]; return ok })
	return t
}

// start returns the first steps of an item.
func (b *batch) start(n int) (Plan, error) {
	b.items[n].state = Open
	if b.spec.Debate == nil {
		return Plan{Steps: []NewStep{{Key: strconv.Itoa(n + 1), Task: b.task(n)}}}, nil
	}
	p, err := b.debate(n).follow()
	return b.outer(n, p), err
}

// follow finds out how an item is, and returns what its debate needs.
func (b *batch) follow(n int) (Plan, error) {
	it, steps := &b.items[n], b.below[n]
	newest := steps[len(steps)-1]
	it.state, it.task, it.result = newest.State, newest.Task, newest.Result
	open := false
	for _, s := range steps {
		it.cost += s.CostUSD
		open = open || s.State == Open
	}
	if b.spec.Debate == nil {
		return Plan{}, nil
	}
	d := b.debate(n)
	p, err := d.follow()
	switch {
	case err != nil:
		return Plan{}, err
	case p.End != nil && p.End.Failed:
		it.state, it.result = Failed, p.End.Result
	case p.End != nil:
		it.state, it.result = Done, p.End.Result
	case p.Block != nil && p.Block.Class != coppice.ClassCancelled:
		it.state, it.result = Failed, p.Block.Text
	case p.Block != nil:
		it.state, it.result = Cancelled, p.Block.Text
	case b.WrapUp:
		p, it.state, it.result = d.wrapUp(), Cancelled, "wrapped up"
		open = open || p.End == nil
	default:
		open = true
	}
	if open {
		it.state = Open
	}
	return b.outer(n, p), nil
}

// debate returns the debate of an item. It sees only the item's steps and document.
func (b *batch) debate(n int) *debate {
	t := b.task(n)
	d := &debate{View: b.View, spec: *b.spec.Debate, name: fmt.Sprintf("%s, item %d", b.Key, n+1)}
	d.Title, d.Body, d.Steps = t.Title, t.Body, b.below[n]
	d.Docs = map[string]coppice.Document{summaryDoc: b.Docs[docOf(n)]}
	d.base = coppice.NewTask{Priority: t.Priority, Track: t.Track, After: t.After, NotBefore: t.NotBefore, Context: t.Context, Images: t.Images, Labels: t.Labels, Group: t.Group}
	if d.spec.Then != nil {
		d.spec.Then = &t
	}
	return d
}

// docOf returns the document with the summary of an item's debate.
func docOf(n int) string { return fmt.Sprintf("%s-%d", summaryDoc, n+1) }

// outer returns the plan of an item's debate as a part of the batch's plan.
func (b *batch) outer(n int, p Plan) Plan {
	head := strconv.Itoa(n+1) + "/"
	for i := range p.Steps {
		s := &p.Steps[i]
		s.Key = head + s.Key
		if len(s.Saw) > 0 {
			s.Saw = []string{docOf(n)}
		}
	}
	for i := range p.Docs {
		p.Docs[i].Name, p.Docs[i].Step = docOf(n), head+p.Docs[i].Step
	}
	for i := range p.Stop {
		p.Stop[i] = head + p.Stop[i]
	}
	return Plan{Steps: p.Steps, Docs: p.Docs, Stop: p.Stop}
}

func (b *batch) count(state State) int {
	n := 0
	for _, it := range b.items {
		if it.state == state {
			n++
		}
	}
	return n
}

// stateWords names the states of items, for people.
var stateWords = map[State]string{Done: "done", Failed: "failed", Cancelled: "stopped", Open: "open", "": "not started"}

// result says in a line how the items are, as in "18 of 20 done, 2 failed: app-7, app-9".
func (b *batch) result(open int) string {
	parts := []string{fmt.Sprintf("%d of %d done", b.count(Done), len(b.items))}
	for _, state := range []State{Failed, Cancelled, Open, ""} {
		n := b.count(state)
		if n == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", n, stateWords[state])
		if open == 0 && state != "" {
			var keys []string
			for _, it := range b.items {
				if it.state == state {
					keys = append(keys, it.task)
				}
			}
			part += ": " + strings.Join(keys, ", ")
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// markdown writes the summary of the batch.
func (b *batch) markdown() string {
	var w strings.Builder
	fmt.Fprintf(&w, "# %s\n\n| Item | Task | State | Cost | Result |\n| --- | --- | --- | --- | --- |\n", b.result(0))
	for n, it := range b.items {
		fmt.Fprintf(&w, "| %d. %s | %s | %s | %.2f USD | %s |\n", n+1, cell(b.spec.Tasks[n].Title), it.task, stateWords[it.state], it.cost, cell(strings.TrimLeft(it.result, "# ")))
	}
	return clip(w.String(), coppice.MaxDocument)
}
