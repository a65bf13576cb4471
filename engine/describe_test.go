package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"coppice"
)

// describe says in a line what a decision changes about a view.
func describe(v *View, d *Decision) string {
	if d == nil {
		return "nothing"
	}
	p := []string{fmt.Sprintf("%s: %s", d.By, d.Kind)}
	add := func(format string, args ...any) { p = append(p, fmt.Sprintf(format, args...)) }
	if d.Task != nil {
		p = append(p, describeTask(v, *d.Task)...)
	}
	if s := d.Session; s != nil {
		add("session %s%s", s.State, describeParked(v, *s))
		if s.Failure != nil {
			add("session fails: %s", s.Failure.Class)
		}
		if s.Verdict != nil && (v.sessionByID(s.ID) == nil || v.sessionByID(s.ID).Verdict == nil) {
			add("verdict pass=%t", s.Verdict.Pass())
		}
		if old := v.sessionByID(s.ID); old != nil && old.Path != s.Path {
			add("in %q", s.Path)
		}
		if s.StopTries > 0 {
			add("stop %d for %s", s.StopTries, s.StopWhy)
		}
	}
	if l := d.Landing; l != nil {
		p = append(p, describeLanding(*l)...)
	}
	if w := d.Workspace; w != nil {
		add("workspace ready=%t removed=%t kept=%t tries=%d", w.Ready(), !w.RemovedAt.IsZero(), w.Kept, w.Tries)
	}
	if t := d.Trash; t != nil {
		add("trash restored=%t purged=%t", !t.RestoredAt.IsZero(), !t.PurgedAt.IsZero())
	}
	if q := d.Queue; q != nil {
		was, now := v.Project, v.Project
		was.BaseCommit, was.Needs = v.Queue.Tip, v.Queue.Needs
		now.BaseCommit, now.Needs = q.Tip, q.Needs
		p = append(p, describeProject(was, now)...)
	}
	for _, a := range d.Requests {
		p = append(p, describeAsk(v, a))
	}
	for _, q := range d.Questions {
		add("question %d closed=%t", q.ID, !q.ClosedAt.IsZero())
	}
	for _, m := range d.Messages {
		add("message %d delivered=%t %s", m.ID, !m.DeliveredAt.IsZero(), m.Failed)
	}
	for _, c := range d.Checks {
		add("check %s on %s in %s: %d", c.Command, c.Tree, c.Env, c.Exit)
	}
	if d.Cancel != nil {
		add("cancel %s", d.Cancel.Kind)
	}
	if d.Settle != nil {
		add("settled")
	}
	if w := d.Offer; w != nil {
		add("offer %s %s to %s", w.Kind, w.Key, w.Pool)
	}
	for i := range p {
		p[i] = strings.TrimSpace(p[i])
	}
	return strings.Join(p, "; ")
}

// describeParked says what a decision changes about a session's being parked.
func describeParked(v *View, s coppice.Session) (text string) {
	old := v.sessionByID(s.ID)
	if old == nil || old.ParkedAt.Equal(s.ParkedAt) && old.ReadyAt.Equal(s.ReadyAt) {
		return ""
	}
	if s.Parked() {
		text += " parked"
	}
	if !s.ReadyAt.IsZero() {
		text += " ready"
	}
	if s.ParkedFor != old.ParkedFor {
		text += " after " + s.ParkedFor.D().String()
	}
	return text
}

func describeAsk(v *View, a coppice.Ask) string {
	switch a.Verb {
	case coppice.VerbLimit:
		var l coppice.AgentLimit
		if err := json.Unmarshal(a.Args, &l); err != nil {
			return err.Error()
		}
		if l.Until.IsZero() {
			return fmt.Sprintf("limit %s until a person clears it", l.Agent)
		}
		return fmt.Sprintf("limit %s for %s", l.Agent, l.Until.Sub(v.Now))
	}
	return fmt.Sprintf("asks %s to %s %s", a.Subject, a.Verb, a.Args)
}

func describeTask(v *View, t coppice.Task) (p []string) {
	add := func(format string, args ...any) { p = append(p, fmt.Sprintf(format, args...)) }
	if t.Stage != v.Task.Stage {
		add("to %s", t.Stage)
	}
	if t.Round != v.Task.Round {
		add("round %d", t.Round)
	}
	if t.Outcome != v.Task.Outcome {
		add("outcome %q", t.Outcome)
	}
	if t.Landed != v.Task.Landed {
		add("landed %s", t.Landed)
	}
	if f := t.Failure; f != nil {
		add("fails: %s", f.Class)
	}
	if w := t.Wait; w != nil {
		text := fmt.Sprintf("waits on %s: %s", w.On, w.Text)
		if !w.Until.IsZero() {
			text += fmt.Sprintf(" (%s)", w.Until.Sub(v.Now))
		}
		if w.Fix != "" {
			text += " [" + w.Fix + "]"
		}
		add("%s", text)
	}
	if n := t.Next; n != nil && (v.Task.Next == nil || *v.Task.Next != *n) {
		text := fmt.Sprintf("next %s by %s", n.Role, n.Agent)
		if n.Model != "" {
			text += "/" + n.Model
		}
		if n.Resume != "" {
			text += " resuming " + n.Resume
		}
		if n.Fork {
			text += " forked"
		}
		if n.Screen {
			text += " on a screen"
		}
		if n.Note != "" {
			text += fmt.Sprintf(" with %q", n.Note)
		}
		add("%s", text)
	}
	if t.Model != v.Task.Model {
		add("model %s", t.Model)
	}
	if t.Budget != v.Task.Budget {
		add("budget %s", dollars(t.Budget))
	}
	if t.Warning != v.Task.Warning {
		add("warns %q", t.Warning)
	}
	return p
}

func describeLanding(l coppice.Landing) (p []string) {
	switch {
	case l.Outcome != "":
		p = append(p, "landing "+string(l.Outcome))
	case !l.QueuedAt.IsZero():
		p = append(p, "landing queued")
	case l.Commit != "":
		p = append(p, fmt.Sprintf("landing %s on %s green=%t", l.Commit, l.Base, l.Green))
	default:
		p = append(p, "landing of "+l.Head)
	}
	if l.Verified {
		p = append(p, "verified")
	}
	if l.ApprovedBy != "" && l.QueuedAt.IsZero() && l.Outcome == "" {
		p = append(p, "approved by "+l.ApprovedBy)
	}
	if l.Pushed {
		p = append(p, "pushed")
	}
	if l.Waits != "" {
		pause := "at once"
		if !l.RetryAt.IsZero() {
			pause = l.RetryAt.Sub(noon).String()
		}
		p = append(p, fmt.Sprintf("put off %s (%d): %s", pause, l.Tries, l.Waits))
	}
	return p
}

func describeProject(old, p coppice.Project) (out []string) {
	if old.BaseCommit != p.BaseCommit {
		out = append(out, "base "+p.BaseCommit)
	}
	if old.CheckEnv != p.CheckEnv {
		out = append(out, "check env "+p.CheckEnv)
	}
	if !cmp.Equal(old.Strikes, p.Strikes, cmpopts.EquateEmpty()) {
		out = append(out, fmt.Sprintf("strikes %v", p.Strikes))
	}
	for _, n := range p.Needs {
		if !slices.ContainsFunc(old.Needs, func(o coppice.Need) bool { return cmp.Equal(o, n) }) {
			out = append(out, fmt.Sprintf("needs %s %q %v since %s", n.Kind, n.Text, n.Paths, n.Since.Sub(noon)))
		}
	}
	for track := range p.PausedTracks {
		out = append(out, "pauses "+track)
	}
	return out
}

// decision is one row of a decider's table: facts in, decision out.
type decision struct {
	name string
	view *View
	want string
}

func run(t *testing.T, decider func(*View) *Decision, table []decision) {
	t.Helper()
	for _, c := range table {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := fmt.Sprintf("%+v", *c.view)
			got := describe(c.view, decider(c.view))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("decision (-want +got):\n%s", d)
			}
			if after := fmt.Sprintf("%+v", *c.view); after != before {
				t.Errorf("the decider changed its view:\n%s", cmp.Diff(before, after))
			}
		})
	}
}
