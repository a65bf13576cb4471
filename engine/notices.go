package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// collectTime is how long a notice waits for others before a message is sent. An urgent
// one does not wait.
const collectTime = 3 * time.Second

// noticing collects what the events of a turn are about, for notices. It is nil if
// nobody gets notifications.
type noticing struct {
	policy  coppice.NotifyPolicy
	tasks   []int64
	seen    map[int64]bool
	ended   map[int64]bool // tasks that ended in this turn
	others  bool           // something happened that entries without a task depend on
	acted   []coppice.Event
	warned  []coppice.Event
	project map[int64]coppice.Project
}

// changesNothing lists kinds of event of a task after which no person has to do
// anything else than before.
var changesNothing = map[coppice.EventKind]bool{
	coppice.EventSessionUsage: true, coppice.EventSessionTurn: true, coppice.EventSessionReport: true, coppice.EventSessionCreated: true,
	coppice.EventSessionStarted: true, coppice.EventReviewChanged: true, coppice.EventTaskForgotten: true, coppice.EventMessageDelivered: true,
	coppice.EventWorkspaceReady: true, coppice.EventWorkspaceRemoved: true, coppice.EventWorkspaceRestored: true, coppice.EventTrashEmptied: true,
	coppice.EventCheckStarted: true, coppice.EventCheckEnded: true, coppice.EventPreviewStarted: true, coppice.EventPreviewReady: true,
	coppice.EventPreviewStop: true, coppice.EventPreviewEnded: true, coppice.EventWorkOffered: true, coppice.EventWorkFinished: true,
	coppice.EventWorkExpired: true, coppice.EventWorkCancelled: true, coppice.EventHookEnded: true, coppice.EventHookTested: true,
	coppice.EventNoteChanged: true, coppice.EventLocksChanged: true, coppice.EventDocument: true, coppice.EventUndoAsked: true,
}

// changesOthers lists the kinds of event on which entries of the inbox depend that are
// about a project, a schedule or an account.
var changesOthers = map[coppice.EventKind]bool{
	coppice.EventProjectChanged: true, coppice.EventNeedBegan: true, coppice.EventNeedEnded: true, coppice.EventBaseMoved: true,
	coppice.EventAgentLimited: true, coppice.EventAgentCleared: true, coppice.EventBudgetsChanged: true, coppice.EventScheduleChanged: true,
	coppice.EventScheduleRun: true, coppice.EventSessionUsage: true, coppice.EventTaskStage: true, coppice.EventTaskCreated: true,
	coppice.EventLandingWaits: true, coppice.EventLandingRetried: true, coppice.EventSessionEnded: true,
}

// see remembers what an event is about. Each event passes here once, in the turn that
// reads or writes it.
func (n *noticing) see(ev *coppice.Event) {
	if n == nil {
		return
	}
	n.others = n.others || changesOthers[ev.Kind]
	switch ev.Kind {
	case coppice.EventReaction:
		if dataOf[coppice.Reacted](ev).Do == coppice.ReactNotify {
			n.acted = append(n.acted, *ev)
		}
	case coppice.EventProjectWarned:
		n.warned = append(n.warned, *ev)
	case coppice.EventTaskEnded:
		n.ended[ev.TaskID] = true
	}
	if ev.TaskID != 0 && !changesNothing[ev.Kind] && !n.seen[ev.TaskID] {
		n.seen[ev.TaskID] = true
		n.tasks = append(n.tasks, ev.TaskID)
	}
}

// noticing returns what collects notices in this turn.
func (e *Engine) noticing() *noticing {
	p := e.cfg.Notify()
	if len(p.AllRoutes()) == 0 {
		return nil
	}
	return &noticing{policy: p, seen: map[int64]bool{}, ended: map[int64]bool{}}
}

// takeNotices stores a notice of each thing that happened in this turn and that some
// notifier gets.
func (t *turn) takeNotices() error {
	n := t.notices
	if n == nil {
		return nil
	}
	t.notices = t.noticing() // what follows from the notices is seen in the next round
	tasks, statuses, err := noticedTasks(t.tx.Reader(), n.tasks)
	if err != nil {
		return err
	}
	entries, err := t.entriesOf(n, tasks, statuses)
	if err != nil {
		return err
	}
	var list []coppice.Notice
	for _, e := range entries {
		list = append(list, entryNotice(e))
	}
	n.addReactions(&list, tasks)
	for i, task := range tasks {
		if n.ended[task.ID] && task.Outcome == coppice.OutcomeDone && task.Step == nil {
			list = append(list, doneNotice(task, statuses[i]))
		}
	}
	if err := t.addComplete(n, &list, tasks); err != nil {
		return err
	}
	for _, ev := range n.warned {
		list = append(list, coppice.Notice{
			Key: fmt.Sprintf("problem/%s/%d", ev.Subject, ev.Seq), ProjectID: ev.ProjectID,
			NoticeDetails: coppice.NoticeDetails{Kind: coppice.NoticeProblem, Subject: ev.Subject, Text: ev.Reason},
		})
	}
	return t.putNotices(n, list)
}

// noticedTasks reads tasks and their statuses. A queued task never needs a person.
func noticedTasks(r store.Reader, ids []int64) (tasks []coppice.Task, statuses []TaskStatus, err error) {
	some, err := r.Tasks.Some(ids)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		if task, ok := some[id]; ok && task.Stage != coppice.StageQueued {
			tasks = append(tasks, task)
		}
	}
	if len(tasks) == 0 {
		return nil, nil, nil
	}
	p, err := loadPage(r, tasks)
	for _, task := range tasks {
		statuses = append(statuses, p.status(Capacity{}, task))
	}
	return tasks, statuses, err
}

// entriesOf returns the entries that the inbox has for the tasks, and those without a
// task if something happened to them. It leaves out what a person has hidden.
func (t *turn) entriesOf(n *noticing, tasks []coppice.Task, statuses []TaskStatus) ([]coppice.InboxEntry, error) {
	if !n.others && len(tasks) == 0 {
		return nil, nil
	}
	f := InboxFacts{Now: t.now, Tasks: tasks, Statuses: statuses}
	var err error
	if n.others {
		f, err = InboxOf(t.tx.Reader(), t.now, 0, tasks, statuses)
	} else if f.Limits, err = t.tx.Limits.All(); err == nil {
		err = f.loadSnoozes(t.tx.Reader())
	}
	return slices.DeleteFunc(Inbox(f), func(e coppice.InboxEntry) bool { return e.Snoozed }), err
}

// EntryKey names what an entry is about. It differs if the same thing happens again.
func EntryKey(e coppice.InboxEntry) string { return e.ID + " " + strings.TrimSpace(e.Mark) }

func entryNotice(e coppice.InboxEntry) coppice.Notice {
	kind := coppice.NoticeKind(e.Kind)
	return coppice.Notice{Key: EntryKey(e), ProjectID: e.ProjectID, TaskID: e.TaskID, NoticeDetails: coppice.NoticeDetails{
		Kind: kind, Subject: cmp.Or(e.Task, e.Project), Title: e.Title, Text: e.Text, Entry: e.ID, Question: e.Question,
	}}
}

// doneNotice is about a task that is done.
func doneNotice(t coppice.Task, st TaskStatus) coppice.Notice {
	n := coppice.Notice{
		Key: fmt.Sprintf("%s/%s %s", coppice.NoticeLanded, t.Key, t.EndedAt.UTC().Format(time.RFC3339Nano)), ProjectID: t.ProjectID, TaskID: t.ID,
		NoticeDetails: coppice.NoticeDetails{Kind: coppice.NoticeLanded, Subject: t.Key, Title: t.Title, Text: "done"},
	}
	switch {
	case t.IsFlow() || t.Wants == coppice.WantsAnswer:
		n.Kind = coppice.NoticeAnswer
		if st.Session != nil && st.Session.Answer != nil {
			n.Text = st.Session.Answer.Text
		}
	case t.Landed != "":
		n.Text = "landed as " + short(t.Landed)
	case t.Note != "":
		n.Text = t.Note
	}
	return n
}

// addReactions adds what rules pass to people. A message about a task that needs a
// person because of the same event replaces the text of that notice, and its priority
// if it is more urgent.
func (n *noticing) addReactions(list *[]coppice.Notice, tasks []coppice.Task) {
	for _, ev := range n.acted {
		e := dataOf[coppice.Reacted](&ev)
		if e.Event == coppice.OnAllComplete {
			continue
		}
		text := cmp.Or(e.Message, e.Text)
		if e.Why != "" { // the rule gave up
			text = e.Text + ": " + e.Why
		}
		if i := slices.IndexFunc(*list, func(o coppice.Notice) bool { return o.TaskID == ev.TaskID && o.TaskID != 0 && o.Entry != "" }); i >= 0 {
			o := &(*list)[i]
			if most := moreUrgent(e.Priority, o.Priority); o.Priority == "" || most != o.Priority {
				o.Priority = most
				if o.Question == 0 {
					o.Text = text
				}
			}
			continue
		}
		title := ""
		if i := slices.IndexFunc(tasks, func(t coppice.Task) bool { return t.ID == ev.TaskID }); i >= 0 {
			title = tasks[i].Title
		}
		*list = append(*list, coppice.Notice{
			Key: fmt.Sprintf("%s/%s/%s", coppice.NoticeReaction, ev.Subject, e.Key), ProjectID: ev.ProjectID, TaskID: ev.TaskID,
			NoticeDetails: coppice.NoticeDetails{Kind: coppice.NoticeReaction, Priority: e.Priority, Subject: ev.Subject, Title: title, Text: text},
		})
	}
}

// addComplete adds that all tasks of a project have ended, for each project in which
// one ended in this turn.
func (t *turn) addComplete(n *noticing, list *[]coppice.Notice, tasks []coppice.Task) error {
	done := map[int64]bool{}
	for _, task := range tasks {
		if !n.ended[task.ID] || !task.Ended() || done[task.ProjectID] {
			continue
		}
		done[task.ProjectID] = true
		p, err := t.noticedProject(n, task.ProjectID)
		if err != nil {
			return err
		}
		notice := coppice.Notice{
			Key: fmt.Sprintf("%s/%s %s", coppice.NoticeComplete, p.Prefix, task.EndedAt.UTC().Format(time.RFC3339Nano)), ProjectID: p.ID,
			NoticeDetails: coppice.NoticeDetails{Kind: coppice.NoticeComplete, Priority: n.completePriority(p.ID), Subject: p.Prefix, Text: "all tasks of " + p.Prefix + " have ended"},
		}
		if len(receivers(n.policy, p, &notice)) == 0 {
			continue
		}
		open, err := t.tx.Tasks.List(store.TaskFilter{ProjectID: p.ID, Stages: openStages, Most: 1})
		if err != nil {
			return err
		}
		if len(open) == 0 {
			*list = append(*list, notice)
		}
	}
	return nil
}

// completePriority returns the priority of a rule that followed the end of all tasks of
// a project, or "".
func (n *noticing) completePriority(project int64) coppice.Priority {
	for _, ev := range n.acted {
		if e := dataOf[coppice.Reacted](&ev); ev.ProjectID == project && e.Event == coppice.OnAllComplete {
			return e.Priority
		}
	}
	return ""
}

// noticedProject returns a project; 0 is that of notices which belong to none.
func (t *turn) noticedProject(n *noticing, id int64) (coppice.Project, error) {
	if p, ok := n.project[id]; ok || id == 0 {
		return p, nil
	}
	p, err := t.tx.Projects.Get(id)
	if n.project == nil {
		n.project = map[int64]coppice.Project{}
	}
	n.project[id] = p
	return p, ignoreGone(err)
}

// putNotices stores the notices that some notifier gets, and wakes their subject.
func (t *turn) putNotices(n *noticing, list []coppice.Notice) error {
	for _, notice := range list {
		p, err := t.noticedProject(n, notice.ProjectID)
		if err != nil {
			return err
		}
		stored, err := putNotice(t.tx, n.policy, p, notice, t.now)
		if err != nil {
			return err
		}
		if stored {
			t.dirty.add(coppice.NoticesSubject())
		}
	}
	return nil
}

// putNotice stores a notice that some notifier gets, unless it was noticed before. Of
// notices that were removed, only their age is known.
func putNotice(tx store.Tx, policy coppice.NotifyPolicy, p coppice.Project, n coppice.Notice, now time.Time) (bool, error) {
	n.At, n.DueAt = now, now.Add(collectTime)
	n.Priority = moreUrgent(n.Priority, coppice.NoticePriorities[n.Kind])
	n.Title, n.Text = coppice.FirstLine(n.Title), shorten(coppice.Printable(n.Text), coppice.MaxNoticeText-len(" …"))
	if len(receivers(policy, p, &n)) == 0 {
		return false, nil
	}
	_, err := tx.Notices.ByKey(n.Key)
	if coppice.ErrorCode(err) != coppice.ENotFound {
		return false, err
	}
	since, err := tx.Notices.KeptSince()
	if err != nil || markedAt(n.Key).Before(since) {
		return false, err
	}
	if n.Priority == coppice.PriorityUrgent {
		n.DueAt = now
	}
	return true, tx.Notices.Put(&n)
}

// markedAt returns the time at the end of a key; a key without one is new.
func markedAt(key string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, key[strings.LastIndexByte(key, ' ')+1:])
	if err != nil {
		return time.Unix(1<<40, 0)
	}
	return at
}

// moreUrgent returns the more urgent of two priorities. One of them can be empty.
func moreUrgent(a, b coppice.Priority) coppice.Priority {
	if b == "" || a != "" && slices.Index(coppice.Priorities, a) < slices.Index(coppice.Priorities, b) {
		return a
	}
	return b
}
