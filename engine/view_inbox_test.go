package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/store"
)

// inboxOf returns the entries of a task of app with a status.
func inboxOf(t coppice.Task, st TaskStatus, change ...func(*InboxFacts)) []coppice.InboxEntry {
	t.Key, t.Title, t.ProjectID, st.Project = "app-7", "Add a flag", 1, "app"
	f := InboxFacts{Now: noon, Projects: []coppice.Project{{ID: 1, Prefix: "app"}}, Tasks: []coppice.Task{t}, Statuses: []TaskStatus{st}}
	for _, c := range change {
		c(&f)
	}
	return Inbox(f)
}

// none is a task that needs nobody.
var none = coppice.Task{Stage: coppice.StageQueued}

func TestInboxKinds(t *testing.T) {
	t.Parallel()
	asks := func(kind string) TaskStatus {
		return TaskStatus{Status: coppice.StatusNeedsYou, Reason: "asks", Question: &coppice.Question{ID: 3, Kind: kind, Text: "which?", Options: []string{"a", "b"}, AskedAt: noon}}
	}
	needs := func(reason string) TaskStatus { return TaskStatus{Status: coppice.StatusNeedsYou, Reason: reason} }
	person := func(class coppice.Class) coppice.Task {
		return coppice.Task{
			Stage: coppice.StageWaiting, Wait: &coppice.Wait{On: coppice.WaitPerson, Text: "fix it"}, Next: &coppice.Next{Agent: "ann"},
			Failure: &coppice.Failure{Class: class, Text: "fix it"}, Sessions: 1,
		}
	}
	need := func(n coppice.Need) func(*InboxFacts) {
		return func(f *InboxFacts) { f.Projects[0].Needs = coppice.Needs{n} }
	}
	limited := func(l coppice.AgentLimit, lanes ...coppice.Lane) func(*InboxFacts) {
		return func(f *InboxFacts) { f.Limits, f.Lanes = []coppice.AgentLimit{l}, lanes }
	}
	spent := func(lanes ...coppice.Lane) func(*InboxFacts) {
		return func(f *InboxFacts) {
			f.Projects[0].Policy.Budget.Day, f.Today, f.Lanes = 5, map[coppice.Subject]coppice.USD{app: 5}, lanes
		}
	}
	lane := coppice.Lane{ProjectID: 1, Track: "main", Agent: "ann"}
	failed := coppice.Task{Stage: coppice.StageEnded, Outcome: coppice.OutcomeFailed, Sessions: 1}
	for name, c := range map[string]struct {
		task   coppice.Task
		status TaskStatus
		change func(*InboxFacts)
		want   string // ids, each with its first command
	}{
		"question":                      {task: coppice.Task{Stage: coppice.StageSession}, status: asks(""), want: `question/app-7/3: coppice answer app-7 "…"`},
		"permission":                    {task: coppice.Task{Stage: coppice.StageSession}, status: asks("permission"), want: "permission/app-7/3: coppice answer app-7 allow"},
		"question of a stopped session": {task: person(""), status: asks(""), want: `question/app-7/3: coppice answer app-7 "…"`},
		"review":                        {task: coppice.Task{Stage: coppice.StageReview}, status: needs("review it"), want: "review/app-7: coppice land app-7"},
		"held":                          {task: coppice.Task{Stage: coppice.StageHeld}, status: needs("land it"), want: "review/app-7: coppice land app-7"},
		"waiting":                       {task: person(coppice.ClassDisk), status: needs("fix it"), want: "waiting/app-7: coppice retry app-7"},
		"interrupted":                   {task: coppice.Task{Stage: coppice.StageSession}, status: needs(wasInterrupted), want: "waiting/app-7: coppice requeue app-7"},
		"budget":                        {task: person(coppice.ClassBudget), status: needs("has cost 5 USD"), want: "budget/app-7: coppice set app-7 --budget N"},
		"limit of turns":                {task: person(coppice.ClassLimit), status: needs("has used 40 of 40 turns"), want: "budget/app-7: coppice set app-7 --until-done"},
		"failed":                        {task: failed, status: TaskStatus{Status: coppice.StatusFailed, Reason: "red"}, want: `failed/app-7: coppice continue app-7 "…"`},
		"failed and archived":           {task: coppice.Task{Stage: coppice.StageEnded, Outcome: coppice.OutcomeFailed, Archived: noon}, status: TaskStatus{Status: coppice.StatusFailed}},
		"done":                          {task: coppice.Task{Stage: coppice.StageEnded, Outcome: coppice.OutcomeDone}, status: TaskStatus{Status: coppice.StatusDone}},
		"stalled":                       {task: coppice.Task{Stage: coppice.StageSession, Warning: "stalled: no output for 10m"}, status: TaskStatus{Status: coppice.StatusWorking}, want: "stalled/app-7: coppice requeue app-7"},
		"long":                          {task: coppice.Task{Stage: coppice.StageSession, Warning: "long-running: more than 1h"}, status: TaskStatus{Status: coppice.StatusWorking}},
		"a session on a screen after a stalled one": {task: coppice.Task{Stage: coppice.StageSession, Warning: "stalled: no output for 10m"}, status: TaskStatus{Status: coppice.StatusWorking, Session: &coppice.Session{State: coppice.SessionWorking}}},
		"a warning of an earlier session":           {task: coppice.Task{Stage: coppice.StageQueued, Warning: "stalled: no output for 10m"}, status: TaskStatus{Status: coppice.StatusReady}},
		"checkout":                                  {task: none, change: need(coppice.Need{Kind: coppice.NeedCheckout, Text: "a.go is changed"}), want: "queue/app/checkout"},
		"base":                                      {task: none, change: need(coppice.Need{Kind: coppice.NeedBase, Text: "moved"}), want: "queue/app/base: coppice project confirm app --base"},
		"policy":                                    {task: none, change: need(coppice.Need{Kind: coppice.NeedPolicy, Text: "changed", Diff: "+x"}), want: "change/app/policy: coppice project confirm app --policy"},
		"trust":                                     {task: none, change: need(coppice.Need{Kind: coppice.NeedTrust, Text: "reactions"}), want: "waiting/app/trust: coppice config set trust sandboxed"},
		"another branch": {task: none, change: func(f *InboxFacts) {
			f.Queues = []coppice.Queue{{ProjectID: 1, Branch: "next", Needs: coppice.Needs{{Kind: coppice.NeedCheckout, Text: "a.go is changed"}}}}
		}, want: "queue/app/checkout/next"},
		"login with a queue":                {task: none, change: limited(coppice.AgentLimit{Agent: "ann", Class: coppice.ClassAuth, Text: "log in"}, lane), want: "limit/ann: coppice limits clear ann"},
		"login of a task":                   {task: person(coppice.ClassAuth), status: needs("log in"), change: limited(coppice.AgentLimit{Agent: "ann", Class: coppice.ClassAuth, Text: "log in"}), want: "limit/ann: coppice limits clear ann"},
		"login that is fixed":               {task: person(coppice.ClassAuth), status: needs("log in"), want: "waiting/app-7: coppice retry app-7"},
		"login that blocks nothing":         {task: none, change: limited(coppice.AgentLimit{Agent: "ann", Class: coppice.ClassAuth})},
		"login of another agent":            {task: none, change: limited(coppice.AgentLimit{Agent: "bob", Class: coppice.ClassAuth}, lane)},
		"short limit":                       {task: none, change: limited(coppice.AgentLimit{Agent: "ann", Since: noon, Until: noon.Add(time.Minute)}, lane)},
		"long limit":                        {task: none, change: limited(coppice.AgentLimit{Agent: "ann", Since: noon, Until: noon.Add(time.Hour)}, lane), want: "limit/ann: coppice limits clear ann"},
		"limit that has ended":              {task: none, change: limited(coppice.AgentLimit{Agent: "ann", Until: noon}, lane)},
		"day's budget":                      {task: none, change: spent(lane), want: "budget/app: coppice config set budget.day N"},
		"day's budget without queued tasks": {task: none, change: spent()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.change == nil {
				c.change = func(*InboxFacts) {}
			}
			var got []string
			for _, e := range inboxOf(c.task, c.status, c.change) {
				if e.Text == "" || e.Title == "" || e.Actions == nil || rank(e.Kind) < 0 || e.Mark == "" {
					t.Errorf("incomplete: %+v", e)
				}
				id := e.ID
				if len(e.Actions) > 0 {
					id += ": " + e.Actions[0].Command
				}
				got = append(got, id)
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("entries\n%s\nwant\n%s", text, c.want)
			}
		})
	}
}

// Each action says which form it needs.
func TestInboxForms(t *testing.T) {
	t.Parallel()
	q := TaskStatus{Status: coppice.StatusNeedsYou, Question: &coppice.Question{ID: 3, AskedAt: noon}}
	failed := coppice.Task{Stage: coppice.StageEnded, Outcome: coppice.OutcomeFailed, Failure: &coppice.Failure{}}
	got := map[string]coppice.InboxForm{}
	for _, e := range slices.Concat(
		inboxOf(coppice.Task{Stage: coppice.StageSession}, q), inboxOf(failed, TaskStatus{Status: coppice.StatusFailed}),
		inboxOf(none, TaskStatus{}, func(f *InboxFacts) { f.Projects[0].Needs = coppice.Needs{{Kind: coppice.NeedBase, Text: "moved"}} }),
	) {
		for _, a := range e.Actions {
			got[a.Label] = a.Form
		}
	}
	for label, want := range map[string]coppice.InboxForm{
		"Answer": coppice.InboxAnswer, "Continue": coppice.InboxText, "Archive": "", "Keep it": "", "Move it back": coppice.InboxConfirm,
	} {
		if form, ok := got[label]; form != want || !ok {
			t.Errorf("%s needs the form %q, want %q", label, form, want)
		}
	}
}

func TestInboxOrderAndBounds(t *testing.T) {
	t.Parallel()
	long := coppice.Task{Stage: coppice.StageEnded, Outcome: coppice.OutcomeFailed, EndedAt: noon.Add(-time.Hour)}
	f := InboxFacts{Now: noon}
	add := func(key string, task coppice.Task, st TaskStatus) {
		task.Key = key
		f.Tasks, f.Statuses = append(f.Tasks, task), append(f.Statuses, st)
	}
	add("app-1", long, TaskStatus{Status: coppice.StatusFailed, Reason: strings.Repeat("é", coppice.MostInboxText)})
	add("app-2", coppice.Task{Stage: coppice.StageSession, Warning: stalledPrefix, StageAt: noon}, TaskStatus{Status: coppice.StatusWorking})
	add("app-3", coppice.Task{Stage: coppice.StageSession}, TaskStatus{Status: coppice.StatusNeedsYou, Question: &coppice.Question{AskedAt: noon.Add(-time.Minute)}})
	add("app-4", coppice.Task{Stage: coppice.StageSession}, TaskStatus{Status: coppice.StatusNeedsYou, Question: &coppice.Question{AskedAt: noon.Add(-time.Hour)}})
	var keys []string
	for _, e := range Inbox(f) {
		keys = append(keys, e.Task)
		if len(e.Text) > coppice.MostInboxText || strings.Contains(e.Text, "\uFFFD") {
			t.Errorf("%s has a text of %d bytes", e.ID, len(e.Text))
		}
	}
	if want := []string{"app-4", "app-3", "app-2", "app-1"}; !slices.Equal(keys, want) {
		t.Errorf("order %v, want %v", keys, want)
	}
}

// Each task that shows that it needs a person, failed or stalled is in exactly one
// entry, and no other task is in one.
func TestInboxHasWhatStatusesSay(t *testing.T) {
	t.Parallel()
	stages := append(slices.Clone(coppice.Stages), "")
	rapid.Check(t, func(rt *rapid.T) {
		b := openApp(t)
		draw := func(what string) bool { return rapid.Bool().Draw(rt, what) }
		classes := []coppice.Class{"", coppice.ClassBudget, coppice.ClassAuth, coppice.ClassDisk}
		b.update(func(tx store.Tx) error {
			if draw("limited") {
				if err := tx.Limits.Put(coppice.AgentLimit{Agent: "ann", Class: coppice.ClassAuth, Text: "log in"}); err != nil {
					return err
				}
			}
			for n := range rapid.IntRange(1, 12).Draw(rt, "tasks") {
				k := coppice.Task{
					ProjectID: 1, Num: n + 1, Key: coppice.TaskKey("app", n+1), Title: "t", Track: "main", Agent: "ann", StageAt: noon,
					Stage: rapid.SampledFrom(stages).Draw(rt, "stage"), Next: &coppice.Next{Role: coppice.RoleImplement, Agent: "ann"},
				}
				if draw("warned") {
					k.Warning = rapid.SampledFrom([]string{stalledPrefix + "10m", "long-running: more than 1h"}).Draw(rt, "warning")
				}
				if class := rapid.SampledFrom(classes).Draw(rt, "class"); class != "" {
					k.Failure = &coppice.Failure{Class: class, Text: "it failed"}
				}
				switch k.Stage {
				case coppice.StageWaiting:
					k.Wait = &coppice.Wait{On: rapid.SampledFrom([]coppice.WaitKind{coppice.WaitPerson, coppice.WaitBackoff, coppice.WaitDependency}).Draw(rt, "on"), Text: "why"}
				case coppice.StageEnded:
					k.Outcome = rapid.SampledFrom([]coppice.Outcome{coppice.OutcomeDone, coppice.OutcomeFailed, coppice.OutcomeCancelled}).Draw(rt, "outcome")
					if k.EndedAt = noon; draw("archived") {
						k.Archived = noon
					}
				}
				session := draw("session")
				if session {
					k.Sessions = 1
				}
				if err := tx.Tasks.Put(&k); err != nil {
					return err
				}
				if !session {
					continue
				}
				s := coppice.Session{
					ProjectID: 1, TaskID: k.ID, N: 1, Key: coppice.SessionKey(k.Key, 1), Agent: "ann", Role: coppice.RoleImplement, CreatedAt: noon, StartedAt: noon, Warning: k.Warning,
					State: rapid.SampledFrom([]coppice.SessionState{coppice.SessionWorking, coppice.SessionWaiting, coppice.SessionIdle, coppice.SessionDone}).Draw(rt, "state"),
				}
				if s.State == coppice.SessionDone && draw("parked") {
					s.StopWhy = coppice.StopParked
				}
				if err := tx.Sessions.Put(&s); err != nil {
					return err
				}
				if draw("asked") {
					q := coppice.Question{TaskID: k.ID, SessionID: s.ID, Text: "which?", AskedAt: noon}
					if draw("answered") {
						q.AnsweredAt = noon
					}
					if err := tx.Questions.Put(&q); err != nil {
						return err
					}
				}
			}
			return nil
		})
		b.view(func(r store.Reader) error {
			f, err := LoadInbox(r, noon, 0)
			if err != nil {
				return err
			}
			entries := map[string]int{}
			for _, e := range Inbox(f) {
				for _, key := range append(slices.Clone(e.Tasks), e.Task) {
					entries[key]++
				}
			}
			tasks, err := r.Tasks.List(store.TaskFilter{})
			if err != nil {
				return err
			}
			statuses, err := b.engine.Statuses(t.Context(), r, tasks)
			for i, k := range tasks {
				st := statuses[i]
				want := 0
				if st.Status == coppice.StatusNeedsYou || st.Status == coppice.StatusFailed && k.Archived.IsZero() || strings.HasPrefix(st.Reason, stalledPrefix) {
					want = 1
				}
				if entries[k.Key] != want {
					rt.Errorf("%s is %s (%s, %s) and has %d entries, want %d", k.Key, st.Status, st.Reason, k.Stage, entries[k.Key], want)
				}
			}
			return err
		})
	})
}

// What the inbox reads does not grow with the number of queued and finished tasks.
func TestInboxCostsTheSame(t *testing.T) {
	t.Parallel()
	cost := func(n int) (read, entries int) {
		b := openApp(t)
		b.update(func(tx store.Tx) error {
			if err := tx.Limits.Put(coppice.AgentLimit{Agent: "ann", Class: coppice.ClassAuth, Text: "log in"}); err != nil {
				return err
			}
			for i := range 3*n + 2 {
				k := coppice.Task{
					ProjectID: 1, Num: i + 1, Key: coppice.TaskKey("app", i+1), Title: fmt.Sprint("task ", i), Track: "main", Agent: "ann", StageAt: noon,
					Stage: coppice.StageEnded, Outcome: coppice.OutcomeFailed, EndedAt: noon,
				}
				switch {
				case i < 2: // the entries
				case i%3 == 0:
					k.Outcome = coppice.OutcomeDone
				case i%3 == 1:
					k.Archived = noon
				default:
					k.Stage, k.Outcome, k.EndedAt, k.Next = coppice.StageQueued, "", time.Time{}, &coppice.Next{Role: coppice.RoleImplement, Agent: "ann"}
				}
				if err := tx.Tasks.Put(&k); err != nil {
					return err
				}
			}
			return nil
		})
		c := &counted{Store: b.store, calls: map[string]int{}}
		b.must(c.Update(t.Context(), func(tx store.Tx) error {
			f, err := LoadInbox(tx.Reader(), noon, 0)
			entries = len(Inbox(f))
			return err
		}))
		return c.rows, entries
	}
	few, entries := cost(10)
	if entries != 3 {
		t.Errorf("%d entries, want 3: two failed tasks and a login", entries)
	}
	for _, n := range []int{1000, 10_000} {
		if many, _ := cost(n); many != few {
			t.Errorf("%d rows with 10 tasks each, %d with %d", few, many, n)
		}
	}
}
