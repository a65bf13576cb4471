package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/flow"
	"coppice/store"
)

// mostStepResult limits what a flow reads of a step's result, in bytes.
const mostStepResult = 64 << 10

// viewFlow reads the steps and the documents of a flow, for its kind.
func (t *turn) viewFlow(v *View) error {
	v.Steps, v.Stopping, v.StepsOpen = nil, map[int64]bool{}, false
	if v.asked(reopening...) != nil {
		closed, err := closedFlow(t.tx.Reader(), v.Task)
		if err != nil {
			return err
		}
		if closed != nil {
			v.Closed = closed.Key
		}
	}
	f := v.Task.Flow
	if f != nil && v.Task.Ended() && f.Branch && f.Dropped.IsZero() {
		err := eachBelow(t.tx.Reader(), v.Task.ID, func(coppice.Task) error { v.StepsOpen = true; return nil })
		if err != nil {
			return err
		}
	}
	if f == nil || f.Lands && !v.Task.Ended() || v.Task.Ended() && v.asked(coppice.VerbResume, coppice.VerbRetry, coppice.VerbUnstop, coppice.VerbWrapUp) == nil {
		return nil
	}
	r := t.tx.Reader()
	in, all, err := flowView(r, v.Task)
	if err != nil {
		return err
	}
	v.Steps, v.Docs, in.Prompts = all, in.Docs, v.Project.Policy.Prompts
	for n, task := range all {
		spent, err := Spent(r, task.ID)
		if err != nil {
			return err
		}
		if in.Steps[n].CostUSD = float64(spent); task.Ended() {
			continue
		}
		asks, err := r.Asks.Open(coppice.TaskSubject(task.ID))
		if err != nil {
			return err
		}
		v.Stopping[task.ID] = coppice.Asked(asks, coppice.VerbStop) != nil
	}
	for _, a := range v.Asks {
		if a.By.Kind == coppice.ActorSession {
			in.Asks = append(in.Asks, a)
		}
	}
	v.Plan = func() (flow.Plan, error) { return flow.Next(f.Kind, in) }
	v.Draft = func(n flow.NewStep) (coppice.Task, error) { return t.draftStep(v, in, n) }
	if v.FlowTip, err = t.flowTip(v.Task); err != nil {
		return err
	}
	return nil
}

// flowView returns a flow as its kind sees it, with the tasks of the steps that count.
// It does not have requests, prompts and costs.
func flowView(r store.Reader, t coppice.Task) (in flow.View, all []coppice.Task, err error) {
	f := t.Flow
	in = flow.View{
		Key: t.Key, Title: t.Title, Body: t.Body, Spec: f.Spec, Agents: f.Agents, WrapUp: f.WrapUp, Resumes: f.Resumes, Docs: map[string]coppice.Document{},
	}
	if all, err = countedSteps(r, t); err != nil {
		return in, nil, err
	}
	sessions, err := sessionsOfEnded(r, all)
	if err != nil {
		return in, nil, err
	}
	for _, task := range all {
		in.Steps = append(in.Steps, stepOf(task, sessions[task.ID]))
	}
	docs, err := r.Documents.Newest(t.ID)
	for _, d := range docs {
		in.Docs[d.Name] = d
	}
	return in, all, err
}

// countedSteps returns the steps of a flow that count, oldest first.
func countedSteps(r store.Reader, t coppice.Task) ([]coppice.Task, error) {
	all, err := r.Families.Steps(t.ID)
	return slices.DeleteFunc(all, func(s coppice.Task) bool { return slices.Contains(t.Flow.Left, s.ID) }), err
}

// FlowOutline is what people see of a flow's plan.
type FlowOutline struct {
	Parts    []flow.Part
	Cycles   []flow.CycleRow
	Rounds   []flow.Round
	Approves string // the document that waits for an approval; empty if none does
	Plan     string // the document with the plan; empty if there is none
	Verdict  string // the document with the verdict; empty if there is none
}

// OutlineOf returns the outline of a flow. A flow that its kind cannot plan waits with
// that error: here it has no parts, so that people still see its steps.
func OutlineOf(r store.Reader, t coppice.Task) (out FlowOutline, err error) {
	in, _, err := flowView(r, t)
	if err != nil {
		return out, err
	}
	out.Cycles, out.Rounds = flow.Cycles(t.Flow.Kind, in), flow.Rounds(in)
	out.Plan, out.Verdict = flow.Heads(t.Flow.Kind, in)
	if !t.Ended() {
		out.Approves, _ = flow.Approves(t.Flow.Kind, in)
	}
	out.Parts, _ = flow.Outline(t.Flow.Kind, in, t.Ended() || t.Flow.Lands) // the flow itself reports why
	return out, nil
}

// sessionsOfEnded returns the sessions of those tasks that have ended.
func sessionsOfEnded(r store.Reader, all []coppice.Task) (map[int64][]coppice.Session, error) {
	var ids []int64
	for _, t := range all {
		if t.Ended() {
			ids = append(ids, t.ID)
		}
	}
	return r.Sessions.OfEach(ids)
}

// stepOf returns a step as its flow sees it, with the sessions of one that has ended.
func stepOf(t coppice.Task, sessions []coppice.Session) flow.Step {
	s := flow.Step{Key: t.Step.Key, Task: t.Key, Title: t.Title, State: flow.Open, Landed: t.Landed, Agent: t.Agent, Model: t.Model, Saw: t.Step.Saw}
	if !t.Ended() {
		if w := t.Wait; w != nil && w.On == coppice.WaitPerson {
			s.Waits = w.Text
		}
		return s
	}
	s.State = map[coppice.Outcome]flow.State{coppice.OutcomeDone: flow.Done, coppice.OutcomeCancelled: flow.Cancelled}[t.Outcome]
	s.State = cmp.Or(s.State, flow.Failed)
	if t.Failure != nil {
		s.Class = t.Failure.Class
	}
	s.Result = cut(resultText(t, sessions), mostStepResult)
	for i := len(sessions) - 1; i >= 0 && s.State == flow.Done; i-- {
		if a := sessions[i].Answer; a != nil && a.Value != nil {
			s.Answer = a.Value
			break
		}
	}
	return s
}

// StepView is what people see of a step besides its task.
type StepView struct {
	flow.Place
	Said   *flow.Statement // if it is a statement of a debate
	Result string          // what it says
}

// ViewStep returns what people see of a step, with at most most bytes of the result.
func ViewStep(t coppice.Task, sessions []coppice.Session, most int) StepView {
	v := StepView{Place: flow.PlaceOf(t.Step.Key)}
	text := resultText(t, sessions)
	if v.Side > 0 {
		v.Said = flow.StatementOf(stepOf(t, sessions).Answer)
	}
	if v.Said != nil {
		text = v.Said.Text()
	}
	v.Result = cut(text, most)
	return v
}

// flowTip returns the commit at which the branch of a flow is. It is empty if no step
// has landed there.
func (t *turn) flowTip(task coppice.Task) (string, error) {
	branch := task.FlowBranch()
	if branch == "" {
		return "", nil
	}
	q, err := t.tx.Queues.Of(task.ProjectID, branch)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return "", nil
	}
	return q.Tip, err
}

// draftStep returns the task of a new step, complete and not stored. It fails if the
// project cannot have such a task.
func (t *turn) draftStep(v *View, in flow.View, n flow.NewStep) (coppice.Task, error) {
	i := t.intake("flow")
	task, err := i.draft(v.Project, n.Task)
	if err != nil {
		return task, err
	}
	task.Next = firstSession(task, "")
	f := v.Task
	task.Parent, task.Onto, task.Group = f.ID, cmp.Or(f.FlowBranch(), f.Onto), cmp.Or(task.Group, f.Group)
	if n.Below != "" {
		above := slices.IndexFunc(v.Steps, func(s coppice.Task) bool { return s.Step.Key == n.Below })
		if above < 0 {
			return task, fmt.Errorf("there is no step %s", coppice.Quote(n.Below))
		}
		task.Parent = v.Steps[above].ID
	}
	task.Step = &coppice.Step{Key: n.Key, Flow: f.ID}
	for _, name := range n.Saw {
		if task.Step.Saw == nil {
			task.Step.Saw = map[string]int64{}
		}
		task.Step.Saw[name] = in.Docs[name].Version
	}
	return task, nil
}

// intake returns an Intake whose requests are a part of the turn's transaction.
func (t *turn) intake(by string) *Intake {
	return &Intake{store: within{tx: t.tx}, now: func() time.Time { return t.now }, known: t.cfg.Known, usable: t.cfg.Usable, by: coppice.Actor{Kind: coppice.ActorEngine, Name: by}}
}

// createTasks numbers and stores new tasks: the steps of a flow, or the run of a
// schedule.
func (t *turn) createTasks(v view, d *Decision) error {
	if len(d.Create) == 0 {
		return nil
	}
	p, err := t.tx.Projects.Get(v.base().Project.ID)
	if err != nil {
		return err
	}
	i := t.intake(d.By)
	for n := range d.Create {
		ev, err := i.number(t.tx, &p, &d.Create[n])
		if err != nil {
			return err
		}
		if err := t.tx.Log.Append(&ev); err != nil {
			return err
		}
		if err := t.fire(&ev); err != nil {
			return err
		}
		t.dirty.add(coppice.TaskSubject(d.Create[n].ID))
	}
	v.base().Project = p
	return t.tx.Projects.Put(&p)
}

// followFlow reads the steps of a flow again after a decision about it, and wakes the
// flow of a step that ended or continues, and the schedule of a run that ended.
func (t *turn) followFlow(v *View, d *Decision) error {
	if s := v.Task.Schedule; s != 0 && d.Kind == coppice.EventTaskEnded {
		t.dirty.add(coppice.ScheduleSubject(s))
	}
	if s := v.Task.Step; s != nil && (d.Kind == coppice.EventTaskEnded || d.Kind == coppice.EventTaskRetried) {
		t.dirty.add(coppice.TaskSubject(s.Flow))
	}
	if v.Task.Flow == nil {
		return nil
	}
	return t.viewFlow(v)
}
