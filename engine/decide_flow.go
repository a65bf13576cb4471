package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/flow"
	"coppice/store"
)

// flowRequests carries out what people ask of a flow: pause, resume and wrap up.
func flowRequests(v *View) *Decision {
	t := v.Task
	if t.Flow == nil || t.Flow.Lands && !t.Ended() {
		return nil
	}
	f := *t.Flow
	t.Flow = &f
	d := &Decision{By: "flow", Kind: coppice.EventTaskStage, Task: &t}
	switch a := v.asked(coppice.VerbPause, coppice.VerbWrapUp, coppice.VerbResume); {
	case a == nil || v.asked(coppice.VerbStop) != nil && !t.Ended():
		return nil
	case a.Verb == coppice.VerbPause && !t.Ended():
		f.Paused, d.Reason = true, "paused"
		t.Stage, t.Wait = coppice.StageWaiting, &coppice.Wait{On: coppice.WaitPerson, Text: "paused by " + a.By.String(), Fix: "continue it with `coppice flow resume " + t.Key + "`"}
		d.Asks = v.done(a)
	case a.Verb == coppice.VerbWrapUp:
		f.WrapUp, d.Reason, d.Asks = true, "is wrapped up", v.done(a)
		continueFlow(v, &t)
	case a.Verb == coppice.VerbResume:
		d.Kind, d.Reason, d.Asks = coppice.EventTaskRetried, "resumes", v.done(a)
		if a.Text != "" {
			d.Reason += " from " + a.Text
		}
		resumeFlow(v, d, a.Text)
	default: // a pause of a flow that has ended
		d.Kind, d.Reason, d.Task, d.Asks = coppice.EventTaskChanged, "had ended already", nil, v.done(a)
	}
	return d
}

// resumeFlow makes a flow continue after it was paused, blocked, stopped or failed.
// Steps that failed or were cancelled no longer count, so that its kind plans them
// again. Nor do the step that a person names and all that follow it: those that are
// open stop. Further items of a batch that have landed still count.
func resumeFlow(v *View, d *Decision, from string) {
	t, f := d.Task, d.Task.Flow
	first := stepNamed(v.Steps, from)
	f.Left = slices.Clone(f.Left)
	landed := v.landedItems()
	if first >= 0 {
		delete(landed, itemOf(v.Steps[first]))
	}
	for n, s := range v.Steps {
		after := first >= 0 && n >= first && !landed[itemOf(s)]
		if after || s.Restartable() {
			f.Left = append(f.Left, s.ID)
		}
		if after {
			v.stopStep(d, s, "its flow resumes from an earlier step")
		}
	}
	if f.Time > 0 {
		f.Until = v.Now.Add(f.Time.D())
	}
	f.WrapUp = false
	f.Resumes++
	continueFlow(v, t)
}

// landedItems returns the items of a batch whose work has landed on the base. They do
// not depend on the items before them, and would land a second time.
func (v *View) landedItems() map[string]bool {
	landed := map[string]bool{}
	for _, s := range v.Steps {
		if v.Task.Flow.Kind == coppice.FlowBatch && s.Landed != "" {
			landed[itemOf(s)] = true
		}
	}
	return landed
}

// itemOf returns the item of a batch to which a step belongs.
func itemOf(s coppice.Task) string {
	item, _, _ := strings.Cut(s.Step.Key, "/")
	return item
}

// stopStep requests the stop of an open step.
func (v *View) stopStep(d *Decision, s coppice.Task, why string) {
	if !s.Ended() && !v.Stopping[s.ID] {
		d.Requests = append(d.Requests, coppice.Ask{Subject: coppice.TaskSubject(s.ID), Verb: coppice.VerbStop, Text: why})
	}
}

// stepNamed returns the index of the step that a text names: by its key, by the start
// of its key up to a slash, or by its phase, such as review or c3/verify. Of the steps
// of a phase, it is the last one that does not repeat another one. It returns -1 if the
// text names none.
func stepNamed(steps []coppice.Task, text string) int {
	text = strings.TrimSuffix(text, "/")
	named := func(fits func(key string) bool) int {
		return slices.IndexFunc(steps, func(s coppice.Task) bool { return fits(s.Step.Key) })
	}
	if n := named(func(key string) bool { return key == text }); n >= 0 || text == "" {
		return n
	}
	if n := named(func(key string) bool { return strings.HasPrefix(key, text+"/") }); n >= 0 {
		return n
	}
	numbered := -1
	for n, s := range slices.Backward(steps) {
		key := "/" + s.Step.Key
		if strings.HasSuffix(key, "/"+text) {
			return n
		}
		phase := strings.TrimRight(key, "0123456789")
		if numbered < 0 && phase != key && strings.HasSuffix(phase, "/"+text+"-") {
			numbered = n
		}
	}
	return numbered
}

// continueFlow lets the kind of a flow plan again, in another round if the flow had
// ended.
func continueFlow(v *View, t *coppice.Task) {
	if t.Ended() {
		t.Round++
	}
	t.Flow.Paused, t.Flow.Lands, t.Flow.Tries = false, false, 0
	t.Stage, t.Wait, t.Failure, t.Outcome, t.EndedAt, t.Next = coppice.StageFlow, nil, nil, "", time.Time{}, nil
}

// startFlow starts the plan of a flow that no longer waits.
func startFlow(v *View) *Decision {
	t := v.Task
	f := *t.Flow
	t.Flow, t.Stage, t.Wait = &f, coppice.StageFlow, nil
	if f.Time > 0 {
		f.Until = v.Now.Add(f.Time.D())
	}
	return &Decision{Kind: coppice.EventTaskStage, Reason: "its steps start", Task: &t}
}

// flowStep carries out what the kind of a flow plans next.
func flowStep(v *View) *Decision {
	f := v.Task.Flow
	if f == nil {
		return enqueue(v, firstSession(v.Task, ""), "is not a flow")
	}
	if f.Paused || v.Plan == nil || v.open(coppice.WorkBranch) != nil {
		return nil
	}
	if f.DropRef != "" {
		return offerDrop(v)
	}
	if f.Branch && (f.Start == "" || !f.Dropped.IsZero()) {
		return offerBranch(v)
	}
	if fail := overTask(v); fail != nil {
		return blockFlow(v, flow.Plan{Block: &flow.Block{Class: fail.Class, Text: fail.Text, Fix: fail.Fix}})
	}
	p, err := v.Plan()
	if err != nil {
		p = flow.Plan{Block: &flow.Block{Class: coppice.ClassUnknown, Text: coppice.FirstLine(err.Error()), Fix: "stop it, or resume it from another step: coppice flow resume " + v.Task.Key + " --from STEP"}}
	}
	if !f.Until.IsZero() && !f.Until.After(v.Now) && p.End == nil {
		p = overTime(v)
	}
	if p.Block != nil {
		return blockFlow(v, p)
	}
	if p.End != nil {
		return endFlow(v, p)
	}
	return carryOut(v, p)
}

// overTime stops the steps of a flow whose time is over.
func overTime(v *View) flow.Plan {
	p := flow.Plan{Block: &flow.Block{
		Class: coppice.ClassTimeout, Text: fmt.Sprintf("has taken %s, which is its limit", v.Task.Flow.Time.D()),
		Fix: fmt.Sprintf("land what is done with `coppice flow wrap-up %s`, or give it the same time again with `coppice flow resume %s`", v.Task.Key, v.Task.Key),
	}}
	for _, s := range v.Steps {
		if !s.Ended() {
			p.Stop = append(p.Stop, s.Step.Key)
		}
	}
	return p
}

// carryOut creates the steps of a plan, stores its documents, and stops steps that it
// no longer needs. It returns nil if there is nothing to do.
func carryOut(v *View, p flow.Plan) *Decision {
	t := v.Task
	d := &Decision{Kind: coppice.EventFlowPlanned, Reason: p.Note}
	if err := v.addPlan(d, p); err != nil {
		return blockFlow(v, flow.Plan{Block: &flow.Block{Class: coppice.ClassImplementation, Text: coppice.FirstLine(err.Error()), Fix: coppice.Public(err).Fix}})
	}
	if f := *t.Flow; f.Note != p.Note || t.Stage != coppice.StageFlow {
		f.Note = p.Note
		t.Flow, t.Stage, t.Wait, t.Failure = &f, coppice.StageFlow, nil, nil
		d.Task = &t
	}
	if d.empty() {
		return nil
	}
	return d
}

// addPlan adds the steps, documents and requests of a plan to a decision.
func (v *View) addPlan(d *Decision, p flow.Plan) error {
	for _, n := range p.Steps {
		if slices.ContainsFunc(v.Steps, func(s coppice.Task) bool { return s.Step.Key == n.Key }) {
			continue
		}
		task, err := v.Draft(n)
		if err != nil {
			return err
		}
		for _, doc := range p.Docs { // stored with it
			if _, saw := task.Step.Saw[doc.Name]; saw {
				task.Step.Saw[doc.Name] = doc.After + 1
			}
		}
		d.Create = append(d.Create, task)
	}
	for _, n := range p.Docs {
		if now := v.Docs[n.Name].Version; n.After != now {
			return coppice.Errorf(coppice.EConflict, "its plan replaces version %d of the document %s, and the newest version is %d", n.After, n.Name, now).
				WithFix("resume it from another step: coppice flow resume %s --from STEP", v.Task.Key)
		}
		if err := coppice.ValidText(n.Name, n.Text, coppice.MaxDocument); err != nil {
			return err
		}
		d.More = append(d.More, documentRow{coppice.Document{TaskID: v.Task.ID, Name: n.Name, Text: n.Text, Step: n.Step, By: coppice.Actor{Kind: coppice.ActorEngine, Name: "flow"}, At: v.Now}})
	}
	for _, s := range v.Steps {
		if slices.Contains(p.Stop, s.Step.Key) {
			v.stopStep(d, s, "its flow no longer needs it")
		}
	}
	for _, s := range p.Settle {
		for _, a := range v.Asks {
			if a.ID == s.ID {
				a.SettledAt, a.Outcome = v.Now, s.Outcome
				d.Asks = append(d.Asks, a)
			}
		}
	}
	return nil
}

// empty reports whether a decision changes nothing.
func (d *Decision) empty() bool {
	return d.Task == nil && len(d.Create) == 0 && len(d.More) == 0 && len(d.Requests) == 0 && len(d.Asks) == 0
}

// blockFlow makes a flow wait for a person. It plans again after every change, so it
// continues when the cause is gone, for example because a person retried a step.
func blockFlow(v *View, p flow.Plan) *Decision {
	t, b := v.Task, p.Block
	d := &Decision{Kind: coppice.EventTaskStage, Reason: b.Text}
	if err := v.addPlan(d, p); err != nil {
		d = &Decision{Kind: d.Kind, Reason: b.Text}
	}
	w := &coppice.Wait{On: coppice.WaitPerson, Text: b.Text, Fix: b.Fix}
	if t.Wait == nil || *t.Wait != *w || t.Stage != coppice.StageWaiting {
		t.Stage, t.Wait, t.Failure = coppice.StageWaiting, w, coppice.Failf(b.Class, b.Text, b.Fix)
		d.Task = &t
	}
	if d.empty() {
		return nil
	}
	return d
}

// endFlow ends a flow, or opens the landing of its branch. If no step has landed
// there, there is nothing to land. Steps that are open stop first, because one of
// them could still land.
func endFlow(v *View, p flow.Plan) *Decision {
	for _, s := range v.Steps {
		if !s.Ended() {
			p.Stop, p.End = append(p.Stop, s.Step.Key), nil
		}
	}
	if p.End == nil {
		return carryOut(v, p)
	}
	var d *Decision
	t, f := v.Task, *v.Task.Flow
	f.Result, f.Note = p.End.Result, p.Note
	switch {
	case p.End.Failed:
		d = endTask(v, coppice.OutcomeFailed, coppice.Failf(coppice.ClassImplementation, cutLine(p.End.Result, "did not reach its goal"), "read its steps; then resume it with `coppice flow resume "+t.Key+"`"))
		d.Task.Flow = &f
	case p.End.Land && v.FlowTip != "" && v.FlowTip != f.Start:
		f.Lands = true
		t.Flow, t.Stage, t.Wait, t.Failure = &f, coppice.StageChecking, nil, nil
		d = &Decision{Kind: coppice.EventLandingOpened, Reason: "candidate " + short(v.FlowTip), Task: &t, Landing: openLanding(v, v.FlowTip)}
	default:
		d = endTask(v, coppice.OutcomeDone, nil)
		d.Task.Flow = &f
	}
	if err := v.addPlan(d, p); err != nil {
		return blockFlow(v, flow.Plan{Block: &flow.Block{Class: coppice.ClassUnknown, Text: coppice.FirstLine(err.Error())}})
	}
	return d
}

// cutLine returns the first line of a text, or the other one if there is none.
func cutLine(text, otherwise string) string {
	if line := coppice.FirstLine(text); line != "" {
		return line
	}
	return otherwise
}

// documentRow is a version of a document.
type documentRow struct{ coppice.Document }

func (documentRow) Owner() coppice.SubjectKind { return coppice.SubjectTask }
func (r documentRow) Put(tx store.Tx) error    { return tx.Documents.Put(&r.Document) }

// flowDue returns when the time of a flow is over.
func flowDue(v *View) time.Time {
	if t := v.Task; t.Stage == coppice.StageFlow && t.Flow != nil && t.Flow.Until.After(v.Now) {
		return t.Flow.Until
	}
	return time.Time{}
}
