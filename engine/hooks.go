package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
)

// hookRule says that hooks follow an event of the log.
type hookRule struct {
	event coppice.HookEvent
	when  func(*firing) bool // nil means always
}

// hookRules has the hooks that follow each kind of event. Every event of the log
// passes here once, in the turn that reads or writes it.
var hookRules = map[coppice.EventKind][]hookRule{
	coppice.EventTaskCreated:     {{event: coppice.HookTaskCreated}},
	coppice.EventSessionCreated:  {{event: coppice.HookTaskAssigned}},
	coppice.EventSessionStarted:  {{event: coppice.HookSessionStarted}},
	coppice.EventSessionEnded:    {{event: coppice.HookSessionEnded, when: func(f *firing) bool { return f.session != nil }}},
	coppice.EventQuestionAsked:   {{event: coppice.HookQuestionAsked}},
	coppice.EventCheckEnded:      {{event: coppice.HookChecksDone, when: func(f *firing) bool { return !dataOf[onBase](f.ev).OnBase }}},
	coppice.EventLandingVerified: {{event: coppice.HookVerified}},
	coppice.EventLandingReady:    {{event: coppice.HookBeforeLand}},
	coppice.EventLandingEnded: {{event: coppice.HookLanded, when: func(f *firing) bool {
		return f.landing != nil && f.landing.Outcome == coppice.LandingLanded
	}}},
	coppice.EventTaskEnded: {{event: coppice.HookTaskFailed, when: func(f *firing) bool {
		return f.task != nil && f.task.Outcome == coppice.OutcomeFailed
	}}},
	coppice.EventProjectChanged: {
		{event: coppice.HookPaused, when: func(f *firing) bool { return dataOf[coppice.PauseChange](f.ev).Paused }},
		{event: coppice.HookResumed, when: func(f *firing) bool { return len(f.ev.Data) > 0 && !dataOf[coppice.PauseChange](f.ev).Paused }},
	},
	coppice.EventServerStarted: {{event: coppice.HookServerStarted}},
	coppice.EventPullOpened:    {{event: coppice.HookPullOpened}},
	coppice.EventPullCI:        {{event: coppice.HookCIDone}},
	coppice.EventReaction:      {{event: coppice.HookReaction}},
}

// onBase is the data of the event that ends checks.
type onBase struct {
	OnBase bool `json:"on_base,omitempty"`
}

// dataOf returns the data of an event. Data of another form gives the zero value.
func dataOf[T any](ev *coppice.Event) (v T) {
	if json.Unmarshal(ev.Data, &v) != nil {
		var zero T
		return zero
	}
	return v
}

// configured is a hook with its origin.
type configured struct {
	coppice.Hook
	user bool
}

// hooksOf returns the hooks of an event: the project's, then the user's.
func hooksOf(event coppice.HookEvent, project, user coppice.Hooks) []configured {
	var all []configured
	for _, h := range project[event] {
		all = append(all, configured{h, false})
	}
	for _, h := range user[event] {
		all = append(all, configured{h, true})
	}
	return all
}

// userHooks returns the hooks of the user's configuration.
func (e *Engine) userHooks() coppice.Hooks {
	if e.cfg.Hooks == nil {
		return nil
	}
	return e.cfg.Hooks()
}

// fire stores a run of each hook that follows an event. Nothing more is read for
// an event without hooks.
func (t *turn) fire(ev *coppice.Event) error {
	t.notices.see(ev)
	rules := hookRules[ev.Kind]
	if len(rules) == 0 {
		return nil
	}
	if ev.Kind == coppice.EventServerStarted {
		return t.fireServer(ev)
	}
	if ev.Kind == coppice.EventReaction {
		return t.fireReaction(ev)
	}
	p, err := t.tx.Projects.Get(ev.ProjectID)
	if err != nil {
		return ignoreGone(err)
	}
	var f *firing
	for _, r := range rules {
		hooks := hooksOf(r.event, p.Policy.Hooks, t.userHooks())
		if len(hooks) == 0 {
			continue
		}
		if f == nil {
			if f, err = loadFiring(t.tx.Reader(), ev, p); err != nil {
				return err
			}
		}
		if r.when != nil && !r.when(f) {
			continue
		}
		if err := t.putRuns(f.runs(r.event, hooks)); err != nil {
			return err
		}
	}
	return nil
}

// fireServer stores the runs that follow the start of the server: the user's
// belong to no project, and each project has its own.
func (t *turn) fireServer(ev *coppice.Event) error {
	projects, err := t.tx.Projects.All()
	if err != nil {
		return err
	}
	n := 0
	put := func(p coppice.Project, hooks []configured) error {
		runs := (&firing{ev: ev, project: p, first: n}).runs(coppice.HookServerStarted, hooks)
		n += len(runs)
		return t.putRuns(runs)
	}
	for _, p := range projects {
		if err := put(p, hooksOf(coppice.HookServerStarted, p.Policy.Hooks, nil)); err != nil {
			return err
		}
	}
	return put(coppice.Project{}, hooksOf(coppice.HookServerStarted, nil, t.userHooks()))
}

// fireReaction stores the run of a reaction's own command.
func (t *turn) fireReaction(ev *coppice.Event) error {
	e := dataOf[coppice.Reacted](ev)
	if e.Do != coppice.ReactRun {
		return nil
	}
	p, err := t.tx.Projects.Get(ev.ProjectID)
	if err != nil {
		return ignoreGone(err)
	}
	f, err := loadFiring(t.tx.Reader(), ev, p)
	if err != nil {
		return err
	}
	return t.putRuns(f.runs(coppice.HookReaction, []configured{{Hook: coppice.Hook{Run: e.Run}}}))
}

func (t *turn) putRuns(runs []coppice.HookRun) error {
	for i := range runs {
		if err := t.tx.Hooks.Put(&runs[i]); err != nil {
			return err
		}
		t.dirty.add(coppice.HooksSubject(runs[i].ProjectID))
	}
	return nil
}

// ignoreGone ignores that a subject was removed.
func ignoreGone(err error) error {
	if gone(err) == errGone { //nolint:errorlint // gone returns it unchanged
		return nil
	}
	return err
}

// firing is an event that hooks follow, and the facts that they get.
type firing struct {
	ev        *coppice.Event
	project   coppice.Project
	task      *coppice.Task
	session   *coppice.Session
	landing   *coppice.Landing
	workspace *coppice.Workspace
	question  *coppice.Question
	pull      *coppice.Pull
	test      bool
	first     int // number of earlier runs of the event
}

// loadFiring reads the facts about an event as they are now.
func loadFiring(r store.Reader, ev *coppice.Event, p coppice.Project) (*firing, error) {
	f := &firing{ev: ev, project: p}
	if ev.TaskID == 0 {
		return f, nil
	}
	task, err := r.Tasks.Get(ev.TaskID)
	if err != nil {
		return f, ignoreGone(err)
	}
	f.task = &task
	if f.workspace, err = r.Workspaces.Of(task.ID); err != nil {
		return f, err
	}
	if f.landing, err = r.Landings.Last(task.ID); err != nil {
		return f, err
	}
	if task.Pull {
		if f.pull, err = r.Pulls.Of(task.ID); err != nil {
			return f, err
		}
	}
	if ev.SessionID == 0 {
		return f, nil
	}
	s, err := r.Sessions.Get(ev.SessionID)
	if err != nil {
		return f, ignoreGone(err)
	}
	f.session = &s
	if ev.Kind == coppice.EventQuestionAsked {
		all, err := r.Questions.Of(task.ID)
		if err != nil {
			return f, err
		}
		f.question = questionOf(all, ev)
	}
	return f, nil
}

// questionOf returns the newest question that an event reports, or nil.
func questionOf(all []coppice.Question, ev *coppice.Event) *coppice.Question {
	for _, q := range slices.Backward(all) {
		if q.SessionID == ev.SessionID && q.Text == ev.Reason {
			return &q
		}
	}
	return nil
}

// runs returns a run of each hook. The runs of a task are carried out one after
// another, in the order of its events. The runs before a landing that one of them
// can block have their own lane, so that no earlier hook delays the landing.
func (f *firing) runs(event coppice.HookEvent, hooks []configured) []coppice.HookRun {
	blocks := func(h configured) bool { return h.Failure() == coppice.HookBlock && event.Blocks() && !f.test }
	lane, subject := fmt.Sprintf("project/%d", f.project.ID), f.project.Prefix
	if f.task != nil {
		lane, subject = fmt.Sprintf("task/%d", f.task.ID), f.task.Key
	}
	if f.test || slices.ContainsFunc(hooks, blocks) {
		lane = fmt.Sprintf("event/%d", f.ev.Seq)
	}
	var list []coppice.HookRun
	for i, h := range hooks {
		run := coppice.HookRun{
			Key: fmt.Sprintf("h%d-%d", f.ev.Seq, f.first+i+1), ProjectID: f.project.ID, Event: event, Lane: lane, Blocks: blocks(h),
			HookRunDetails: coppice.HookRunDetails{Hook: h.Hook, User: h.user, Test: f.test, Subject: subject, Dir: f.project.Path, At: f.ev.At},
		}
		if f.task != nil {
			run.TaskID = f.task.ID
		}
		if event == coppice.HookBeforeLand && f.landing != nil && !f.test {
			run.LandingID, run.Commit, run.QueueID = f.landing.ID, f.landing.Commit, f.landing.QueueID
		}
		run.Input = coppice.Raw(f.input(run))
		list = append(list, run)
	}
	return list
}

// input returns what a run gets on stdin.
func (f *firing) input(run coppice.HookRun) coppice.HookInput {
	in := coppice.HookInput{ID: run.Key, Event: run.Event, At: f.ev.At, Reason: bounded(f.ev.Reason), Test: f.test}
	if p := f.project; p.ID != 0 {
		in.Project = &coppice.HookProject{Prefix: p.Prefix, Path: p.Path, Base: p.Policy.Base, Track: dataOf[coppice.PauseChange](f.ev).Track}
	}
	if p := f.pull; p != nil && p.Number != 0 {
		in.Pull = &coppice.HookPull{Number: p.Number, URL: p.URL, Branch: p.Branch, Base: p.Base, Head: p.Pushed, CI: p.Report.CI, Review: p.Report.Review, Failed: names(p.Report.Failed())}
	}
	if f.ev.Kind == coppice.EventReaction {
		e := dataOf[coppice.Reacted](f.ev)
		in.Reaction = &coppice.HookReacted{Event: e.Event, Text: bounded(e.Text), Message: bounded(e.Message)}
	}
	if t := f.task; t != nil {
		in.Task = &coppice.HookTask{
			Key: t.Key, Title: bounded(t.Title), Stage: t.Stage, Outcome: t.Outcome, Branch: t.BranchName(), Track: t.Track, Category: t.Category,
			Labels: t.Labels, Agent: t.Agent, Feature: t.Feature, Landed: t.Landed, Failure: failureText(t.Failure),
		}
		if ws := f.workspace; ws != nil && ws.RemovedAt.IsZero() && ws.Ready() {
			in.Task.Workspace = ws.Path
		}
	}
	if s := f.session; s != nil {
		in.Session = &coppice.HookSession{
			Key: s.Key, Role: s.Role, Agent: s.Agent, Model: s.Model, State: s.State, Exit: s.Exit, Summary: bounded(s.Summary),
			CostUSD: s.Usage.CostUSD, Failure: failureText(s.Failure),
		}
	}
	if l := f.landing; l != nil && f.task != nil && concernsLanding[run.Event] {
		in.Landing = &coppice.HookLanding{
			Onto: ontoOf(f.project, *f.task), Head: l.Head, Base: l.Base, Commit: l.Commit, Tree: l.Tree, Green: l.Green, Outcome: l.Outcome, Reverts: l.Reverts != "",
		}
	}
	if q := f.question; q != nil {
		in.Question = &coppice.HookQuestion{ID: q.ID, Kind: q.Kind, Text: bounded(q.Text)}
		for _, o := range q.Options[:min(len(q.Options), mostHookOptions)] {
			in.Question.Options = append(in.Question.Options, bounded(o))
		}
	}
	return in
}

// mostHookOptions is how many options of a question a hook gets.
const mostHookOptions = 20

// concernsLanding lists the events whose input has the landing.
var concernsLanding = map[coppice.HookEvent]bool{
	coppice.HookChecksDone: true, coppice.HookVerified: true, coppice.HookBeforeLand: true, coppice.HookLanded: true,
}

// ontoOf returns the branch on which a task lands.
func ontoOf(p coppice.Project, t coppice.Task) string {
	if t.Onto != "" {
		return t.Onto
	}
	return p.Policy.Base
}

func failureText(f *coppice.Failure) string {
	if f == nil {
		return ""
	}
	return bounded(f.Text)
}

// bounded cuts a text for the input of a hook.
func bounded(s string) string {
	if len(s) <= coppice.MaxHookText {
		return s
	}
	return strings.ToValidUTF8(s[:coppice.MaxHookText], "") + " …"
}
