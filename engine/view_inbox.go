package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// InboxFacts are the rows from which the entries of the inbox are derived.
type InboxFacts struct {
	Now      time.Time
	Projects []coppice.Project
	Queues   []coppice.Queue // of branches besides the base
	Tasks    []coppice.Task
	Statuses []TaskStatus // of Tasks, in the same order
	Limits   []coppice.AgentLimit
	Lanes    []coppice.Lane // those with queued tasks
	Today    map[coppice.Subject]coppice.USD
	Budgets  map[string]coppice.USD // of accounts, per day
	Snoozes  []coppice.Snooze

	Schedules []coppice.Schedule
	Happened  map[string]bool  // by entry: the event of its snooze has happened
	Keys      map[int64]string // of the tasks that snoozes name
	More      bool             // a list of tasks was cut
}

// MostEntries limits how many tasks of each kind the inbox lists.
const MostEntries = 200

// LoadInbox reads what the inbox is derived from; project 0 means all projects.
// The number of rows depends on the number of entries, live sessions, lanes and
// projects, and not on the number of other tasks.
func LoadInbox(r store.Reader, now time.Time, project int64) (InboxFacts, error) {
	tasks, more, err := inboxTasks(r, project)
	if err != nil {
		return InboxFacts{}, err
	}
	p, err := loadPage(r, tasks)
	if err != nil {
		return InboxFacts{}, err
	}
	statuses := make([]TaskStatus, len(tasks))
	for i, t := range tasks {
		statuses[i] = p.status(Capacity{}, t) // none of them is queued
	}
	f, err := InboxOf(r, now, project, tasks, statuses)
	f.More = more
	return f, err
}

// InboxOf reads what the inbox is derived from besides the tasks that might need a
// person and their statuses, which the caller has read. Tasks that do not need a
// person change nothing.
func InboxOf(r store.Reader, now time.Time, project int64, tasks []coppice.Task, statuses []TaskStatus) (InboxFacts, error) {
	f := InboxFacts{Now: now, Tasks: tasks, Statuses: statuses}
	if err := f.loadProjects(r, project); err != nil {
		return f, err
	}
	if err := f.loadLanes(r, project); err != nil {
		return f, err
	}
	return f, f.loadSnoozes(r)
}

func (f *InboxFacts) loadProjects(r store.Reader, project int64) error {
	all, err := r.Projects.All()
	if err != nil {
		return err
	}
	for _, p := range all {
		if project != 0 && p.ID != project {
			continue
		}
		f.Projects = append(f.Projects, p)
		queues, err := r.Queues.In(p.ID)
		if err != nil {
			return err
		}
		for _, q := range queues {
			if q.Branch != "" { // the project has the needs of its base
				f.Queues = append(f.Queues, q)
			}
		}
	}
	if f.Schedules, err = r.Schedules.In(project); err != nil {
		return err
	}
	if f.Today, err = r.Spend.ByScope(coppice.Day(f.Now)); err != nil {
		return err
	}
	f.Budgets, err = r.Spend.Budgets()
	return err
}

// FailedTasks chooses the failed tasks that the inbox lists.
func FailedTasks(project int64) store.TaskFilter {
	return store.TaskFilter{
		ProjectID: project, Stages: []coppice.Stage{coppice.StageEnded}, Outcomes: []coppice.Outcome{coppice.OutcomeFailed}, Archived: store.ArchivedNot, Most: MostEntries,
	}
}

// inboxTasks reads the tasks that might need a person. It reports whether a list
// was cut.
func inboxTasks(r store.Reader, project int64) (all []coppice.Task, more bool, err error) {
	lists := []store.TaskFilter{FailedTasks(project), {ProjectID: project, Stages: []coppice.Stage{coppice.StageSession}}} // there are only as many as sessions
	for _, stage := range coppice.StagesThat(coppice.Stage.Awaits) {
		lists = append(lists, store.TaskFilter{ProjectID: project, Stages: []coppice.Stage{stage}, Most: MostEntries, OldFirst: true})
	}
	if all, err = r.Tasks.Pending(store.TaskFilter{ProjectID: project, Most: MostEntries}, true); err != nil {
		return nil, false, err
	}
	more = len(all) == MostEntries
	for _, f := range lists {
		tasks, err := r.Tasks.List(f)
		if err != nil {
			return nil, false, err
		}
		all, more = append(all, tasks...), more || f.Most > 0 && len(tasks) == f.Most
	}
	return all, more, nil
}

// loadLanes reads the limits, and the lanes in which tasks might wait for them.
func (f *InboxFacts) loadLanes(r store.Reader, project int64) (err error) {
	if f.Limits, err = r.Limits.All(); err != nil {
		return err
	}
	for lane := (coppice.Lane{}); ; {
		next, ok, err := r.Lanes.Next(lane)
		if err != nil || !ok {
			return err
		}
		if lane = next; project == 0 || lane.ProjectID == project {
			f.Lanes = append(f.Lanes, lane)
		}
	}
}

// loadSnoozes reads the snoozes, and whether the events that end them have
// happened.
func (f *InboxFacts) loadSnoozes(r store.Reader) (err error) {
	if f.Snoozes, err = r.Snoozes.All(); err != nil || len(f.Snoozes) == 0 {
		return err
	}
	first, _, err := r.Log.Bounds()
	if err != nil {
		return err
	}
	f.Happened = map[string]bool{}
	var tasks []int64
	for _, s := range f.Snoozes {
		if s.Event == "" {
			continue
		}
		tasks = append(tasks, s.TaskID)
		if f.Happened[s.Entry], err = happened(r, first, s); err != nil {
			return err
		}
	}
	f.Keys, err = r.Tasks.Keys(tasks)
	return err
}

// mostEnds limits how many events of a task are read to find the one that ends a
// snooze.
const mostEnds = 100

// happened reports whether the event for which an entry is hidden has happened. If
// the log no longer has all events since then, it might have.
func happened(r store.Reader, first int64, s coppice.Snooze) (bool, error) {
	i := slices.IndexFunc(coppice.SnoozeEvents, func(e coppice.SnoozeEvent) bool { return e.Name == s.Event })
	if i < 0 || first > s.After+1 {
		return true, nil
	}
	what := coppice.SnoozeEvents[i]
	events, err := r.Log.Events(s.After, mostEnds, store.EventFilter{TaskID: s.TaskID, Kinds: what.Kinds})
	return len(events) == mostEnds || slices.ContainsFunc(events, func(e coppice.Event) bool { return strings.HasPrefix(e.Reason, what.Reason) }), err
}

// Inbox lists what needs a person: what blocks an agent first, then what blocks
// work, then results, each the oldest first. Entries that are hidden are in the
// list.
func Inbox(f InboxFacts) []coppice.InboxEntry {
	prefixes := map[int64]string{}
	for _, p := range f.Projects {
		prefixes[p.ID] = p.Prefix
	}
	list := limitEntries(f)
	covered := map[string]bool{}
	for _, e := range list {
		for _, key := range e.Tasks {
			covered[key] = true
		}
	}
	for i, t := range f.Tasks {
		if e, ok := taskEntry(f.Now, t, f.Statuses[i]); ok && !covered[t.Key] {
			list = append(list, e)
		}
	}
	for _, p := range f.Projects {
		for _, n := range p.Needs {
			list = append(list, needEntry(p, "", n))
		}
	}
	list = append(list, dayEntries(f)...)
	for _, q := range f.Queues {
		for _, n := range q.Needs {
			list = append(list, needEntry(coppice.Project{ID: q.ProjectID, Prefix: prefixes[q.ProjectID]}, q.Branch, n))
		}
	}
	for _, s := range f.Schedules {
		if e, ok := scheduleEntry(s, prefixes[s.ProjectID]); ok {
			list = append(list, e)
		}
	}
	f.snooze(list)
	for i := range list {
		list[i].Blocks, list[i].Snoozable = list[i].Kind.Blocks(), list[i].Kind.CanSnooze()
		for j := range list[i].Actions {
			list[i].Actions[j].Form = formOf(list[i].Actions[j])
		}
	}
	slices.SortFunc(list, func(a, b coppice.InboxEntry) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// rank returns the position of a kind in InboxKinds.
func rank(k coppice.InboxKind) int {
	return slices.IndexFunc(coppice.InboxKinds, func(kinds []coppice.InboxKind) bool { return slices.Contains(kinds, k) })
}

// snooze fills in which entries are hidden, and which were.
func (f InboxFacts) snooze(list []coppice.InboxEntry) {
	for i := range list {
		e := &list[i]
		for _, s := range f.Snoozes {
			if s.Entry != e.ID || s.Mark != e.Mark {
				continue
			}
			e.SnoozedUntil, e.SnoozedFor, e.SnoozedTask, e.SnoozedBy = s.Until, s.Event, f.Keys[s.TaskID], s.By.String()
			e.Back = f.Happened[e.ID] || s.Event == "" && !s.Until.After(f.Now)
			e.Snoozed = !e.Back
		}
	}
}

// NeedOf returns the kind of the entry that a task has in the inbox. It is empty if
// the task does not need a person.
func NeedOf(t coppice.Task, st TaskStatus) coppice.InboxKind {
	q, needed := st.Question, st.Status == coppice.StatusNeedsYou
	switch {
	case needed && q != nil && q.Open() && q.Kind == coppice.QuestionPermission:
		return coppice.InboxPermission
	case needed && q != nil && q.Open():
		return coppice.InboxQuestion
	case needed && t.Stage.Awaits():
		return coppice.InboxReview
	case needed && t.Failure != nil && (t.Failure.Class == coppice.ClassBudget || t.Failure.Class == coppice.ClassLimit):
		return coppice.InboxBudget
	case needed:
		return coppice.InboxWaiting
	case st.Status == coppice.StatusFailed && t.Archived.IsZero():
		return coppice.InboxFailed
	case stalled(t) && (st.Session == nil || strings.HasPrefix(st.Session.Warning, stalledPrefix)): // not the warning of an earlier session
		return coppice.InboxStalled
	}
	return ""
}

// taskEntry returns the entry of a task. It reports whether the task needs a
// person.
func taskEntry(now time.Time, t coppice.Task, st TaskStatus) (coppice.InboxEntry, bool) {
	e := coppice.InboxEntry{
		Project: st.Project, Task: t.Key, Title: t.Title, Text: st.Reason, Fix: st.Fix, Since: t.StageAt, ProjectID: t.ProjectID, TaskID: t.ID,
	}
	if e.Kind = NeedOf(t, st); e.Kind == "" {
		return e, false
	}
	e.ID = string(e.Kind) + "/" + t.Key
	switch q := st.Question; e.Kind {
	case coppice.InboxQuestion, coppice.InboxPermission:
		e.ID += fmt.Sprint("/", q.ID)
		e.Text, e.Fix, e.Options, e.Since, e.Question, e.Rule = q.Text, "", q.Options, q.AskedAt, q.ID, q.Rule
		e.Descriptions, e.Several = q.Descriptions, q.Several
	case coppice.InboxWaiting:
		if x := st.Session; verb.Unchanged(t) && x != nil && x.Answer != nil {
			e.Text += "\n\n" + x.Answer.Text
		}
	case coppice.InboxFailed:
		e.Since = t.EndedAt
	case coppice.InboxStalled:
		e.Text = t.Warning
		if st.Session != nil {
			e.Since = lastSign(st.Session)
		}
	}
	e.Actions = taskActions(now, e.Kind, t, st)
	return withMark(e), true
}

// needEntry returns the entry of a project's need, or of one of a branch on which
// work lands.
func needEntry(p coppice.Project, branch string, n coppice.Need) coppice.InboxEntry {
	e := coppice.InboxEntry{
		Kind: coppice.InboxChange, Project: p.Prefix, Title: p.Prefix, Text: n.Text, Fix: n.Fix, Diff: n.Diff, Paths: n.Paths, Since: n.Since,
		ProjectID: p.ID,
	}
	switch {
	case slices.Contains(coppice.QueueNeeds, n.Kind):
		e.Kind = coppice.InboxQueue
	case n.Kind == coppice.NeedTrust:
		e.Kind = coppice.InboxWaiting
	}
	e.ID = fmt.Sprintf("%s/%s/%s", e.Kind, p.Prefix, n.Kind)
	if branch != "" {
		e.ID += "/" + branch
		e.Title += " " + branch
	} else {
		e.Actions = needActions(p.Prefix, n)
	}
	return withMark(e)
}

// dayEntries returns an entry for each budget for the day that is spent while tasks
// wait for it: of a project, or of an account.
func dayEntries(f InboxFacts) (list []coppice.InboxEntry) {
	capacity := Capacity{Now: f.Now, Today: f.Today, Budgets: f.Budgets, Projects: map[int64]coppice.Project{}}
	for _, p := range f.Projects {
		capacity.Projects[p.ID] = p
	}
	seen := map[coppice.Subject]bool{}
	for _, l := range f.Lanes {
		b, spent := capacity.spentBudget(l)
		if !spent || seen[b.of] {
			continue
		}
		seen[b.of] = true
		why, fix, _ := capacity.dayBudgetSpent(l)
		e := coppice.InboxEntry{ID: fmt.Sprintf("%s/%s", coppice.InboxBudget, b.of), Kind: coppice.InboxBudget, Title: b.of.ID, Text: why, Fix: fix, Since: coppice.NextDay(f.Now).AddDate(0, 0, -1)}
		if b.of.Kind == coppice.SubjectProject {
			p := capacity.Projects[l.ProjectID]
			e.ID, e.Project, e.Title = fmt.Sprintf("%s/%s", coppice.InboxBudget, p.Prefix), p.Prefix, p.Prefix
			e.ProjectID, e.Actions = p.ID, dayActions(p)
		}
		list = append(list, withMark(e))
	}
	return list
}

// longLimit is how long a limit lasts that a person should know about although it
// ends automatically.
const longLimit = 15 * time.Minute

// limitEntries returns an entry for each account for which work waits: until a
// person acts, or for long. The entry has the tasks that wait for a person because
// of it.
func limitEntries(f InboxFacts) (list []coppice.InboxEntry) {
	for _, l := range f.Limits {
		if !l.Holds(f.Now) || !l.Until.IsZero() && l.Until.Sub(l.Since) < longLimit {
			continue
		}
		e := coppice.InboxEntry{
			ID: fmt.Sprintf("%s/%s", coppice.InboxLimit, l.Agent), Kind: coppice.InboxLimit, Title: l.Agent, Text: l.Text, Since: l.Since,
			Mark: string(l.Class), Actions: limitActions(l),
		}
		if e.Text == "" {
			e.Text = l.Agent + " cannot be used: " + string(l.Class)
		}
		if l.Until.IsZero() {
			e.Fix = fmt.Sprintf("fix the problem, then run `coppice limits clear %s`", l.Agent)
		} else {
			e.Fix = fmt.Sprintf("wait until %s, or give the tasks another agent with `coppice requeue KEY --agent NAME`", l.Until.UTC().Format(time.RFC3339))
		}
		waits := slices.ContainsFunc(f.Lanes, func(lane coppice.Lane) bool { return l.For(lane.Agent) })
		for _, t := range f.Tasks {
			if stuckOn(t, l.Agent) {
				e.Tasks = append(e.Tasks, t.Key)
			}
		}
		if waits || len(e.Tasks) > 0 {
			list = append(list, withMark(e))
		}
	}
	return list
}

// withMark bounds the text of an entry, and marks when it started, so that a
// snooze does not apply when the same thing happens again.
func withMark(e coppice.InboxEntry) coppice.InboxEntry {
	if len(e.Text) > coppice.MostInboxText {
		e.Text = strings.ToValidUTF8(e.Text[:coppice.MostInboxText-len("…")], "") + "…"
	}
	if e.Actions == nil {
		e.Actions = []coppice.InboxAction{}
	}
	e.Mark += " " + e.Since.UTC().Format(time.RFC3339Nano)
	return e
}
