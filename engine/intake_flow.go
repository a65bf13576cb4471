package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"coppice"
	"coppice/flow"
	"coppice/store"
	"coppice/verb"
)

// WithUsable makes an Intake know the agents that a project can use, the best lead
// first, for the defaults of flows.
func WithUsable(f func(coppice.Project) []flow.Agent) Option { return func(i *Intake) { i.usable = f } }

// planned makes a task a flow, if the request is for one.
func (i *Intake) planned(r store.Reader, p coppice.Project, n coppice.NewTask, t *coppice.Task) error {
	if n.Flow == nil {
		return nil
	}
	for field, set := range map[string]bool{"answer": t.Wants == coppice.WantsAnswer, "interactive": n.Interactive, "feature": n.Feature != "", "images": len(n.Images) > 0} {
		if set {
			return coppice.Errorf(coppice.EInvalid, "a flow has no %s", field).WithFix("leave it out").WithField(field)
		}
	}
	if n.Flow.Time < 0 {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid time", n.Flow.Time.D()).WithFix("use a duration such as 8h, or leave it out").WithField("flow.time")
	}
	kind, err := flow.Of(n.Flow.Kind)
	if err != nil {
		return coppice.Public(err).WithField("flow.kind")
	}
	if n.Flow.Kind == coppice.FlowGoal {
		kind = flow.Goal(p.Policy.Goal.Workers)
	}
	agents, err := i.agentsFor(r, p)
	if err != nil {
		return err
	}
	spec, err := kind.Check(n.Flow.Spec, agents)
	if err != nil {
		e := coppice.Public(err)
		return e.WithField(strings.TrimSuffix("flow.spec."+e.Field, "."))
	}
	t.Flow = &coppice.Flow{Kind: n.Flow.Kind, Spec: spec, Agents: agents, Branch: kind.Branch(spec), Time: n.Flow.Time}
	return nil
}

// flowGroup gives a flow without a group a new one, which its steps inherit. It is
// named after the flow, which is the next task of the project.
func (i *Intake) flowGroup(tx store.Tx, p coppice.Project, t *coppice.Task) (err error) {
	if t.Flow == nil || t.Group != 0 {
		return nil
	}
	t.Group, err = group(tx, coppice.Group{
		ProjectID: p.ID, Name: coppice.TaskKey(p.Prefix, p.LastTask+1), Title: t.Title, Kind: coppice.GroupFlow, CreatedBy: i.by.String(), CreatedAt: i.now().UTC(),
	}, "")
	return err
}

// requestResume checks that a flow has the step from which a person wants to resume.
// The request gets the step's key.
func requestResume(_ *Intake, tx store.Tx, t *coppice.Task, _ verb.Facts, r verb.Request, a *coppice.Ask) error {
	if r.Text == "" {
		return nil
	}
	steps, err := countedSteps(tx.Reader(), *t)
	if err != nil {
		return err
	}
	if n := stepNamed(steps, r.Text); n >= 0 {
		a.Text = steps[n].Step.Key
		return nil
	}
	var keys []string
	for _, s := range steps {
		keys = append(keys, s.Step.Key)
	}
	return coppice.Errorf(coppice.EInvalid, "%s has no step %s", t.Key, coppice.Quote(r.Text)).
		WithFix("name one of: %s", cmp.Or(strings.Join(keys[max(0, len(keys)-20):], ", "), "(it has no steps yet)")).WithField("from")
}

// WriteDocument stores a new version of a flow's document. It fails if the document
// does not have the version that the author has changed; nil means any. The flow
// plans again.
func (i *Intake) WriteDocument(ctx context.Context, key, name, text string, expected *int64) (doc coppice.Document, err error) {
	if err := coppice.ValidNoteKey(name); err != nil {
		return doc, coppice.Public(err).WithField("name")
	}
	if err := coppice.ValidText("text", text, coppice.MaxDocument); err != nil {
		return doc, err
	}
	err = i.store.Update(ctx, func(tx store.Tx) error {
		t, err := knownTask(tx.Reader(), key)
		if err != nil {
			return err
		}
		if !t.IsFlow() {
			return coppice.Errorf(coppice.EInvalid, "%s is not a flow, so it has no documents", t.Key).WithFix("share texts with `coppice note`")
		}
		all, err := tx.Documents.Newest(t.ID)
		if err != nil {
			return err
		}
		current := int64(0)
		for _, d := range all {
			if d.Name == name {
				current = d.Version
				if d.Text == text {
					doc = d // nothing changes
				}
			}
		}
		if expected != nil && *expected != current {
			return coppice.DocumentConflict(name, *expected, current)
		}
		if current == 0 && len(all) >= coppice.MaxDocuments {
			return coppice.Errorf(coppice.ETooLarge, "%s has %d documents, which is the limit", t.Key, len(all)).WithFix("write to one of them")
		}
		if doc.Version != 0 {
			return nil
		}
		doc = coppice.Document{Name: name, Text: text}
		return i.writeDocument(tx, t, &doc)
	})
	return doc, err
}

// writeDocument stores a new version of a flow's document. The flow plans again.
func (i *Intake) writeDocument(tx store.Tx, t coppice.Task, doc *coppice.Document) error {
	doc.TaskID, doc.By, doc.At = t.ID, i.by, i.now().UTC()
	if err := tx.Documents.Put(doc); err != nil {
		return err
	}
	return tx.Log.Append(&coppice.Event{
		At: doc.At, Kind: coppice.EventDocument, ProjectID: t.ProjectID, TaskID: t.ID, Subject: t.Key, By: i.by.String(),
		Reason: fmt.Sprintf("%s, version %d", doc.Name, doc.Version), Data: coppice.Raw(coppice.DocumentChange{Name: doc.Name, Version: doc.Version}),
	})
}

// FlowOf returns the flow of which a session's task is a step, and the step's key. It
// fails if there is none.
func FlowOf(r store.Reader, s coppice.Session) (f coppice.Task, step string, err error) {
	t, err := r.Tasks.Get(s.TaskID)
	if err != nil {
		return f, "", err
	}
	if t.Step == nil {
		return f, "", coppice.Errorf(coppice.EForbidden, "%s is not a step of a flow", t.Key)
	}
	f, err = r.Tasks.Get(t.Step.Flow)
	return f, t.Step.Key, err
}

// Leads reports whether sessions of a task in a role lead a goal.
func Leads(r store.Reader, t coppice.Task, role coppice.Role) (bool, error) {
	if role != coppice.RoleAnswer || t.Step == nil || !flow.IsLead(t.Step.Key) {
		return false, nil
	}
	f, err := r.Tasks.Get(t.Step.Flow)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return false, nil
	}
	return f.Flow != nil && f.Flow.Kind == coppice.FlowGoal, err
}

// AskFlow stores a request of a session to its flow, which plans again.
func (i *Intake) AskFlow(tx store.Tx, f coppice.Task, v coppice.Verb, text string, args any) error {
	if !f.Planned() || f.Ended() {
		return coppice.Errorf(coppice.EConflict, "the flow %s takes no more requests", f.Key)
	}
	a := coppice.Ask{Subject: coppice.TaskSubject(f.ID), ProjectID: f.ProjectID, Verb: v, Text: text, By: i.by, At: i.now().UTC()}
	if args != nil {
		a.Args = coppice.Raw(args)
	}
	if err := tx.Asks.Put(&a); err != nil {
		return err
	}
	return i.event(tx, coppice.EventFlowAsked, f, string(v))
}
