package engine

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"coppice"
	"coppice/reaction"
	"coppice/store"
)

// occurrence is an event to which a rule can react.
type occurrence struct {
	reaction.Facts
	since time.Time // when it began
	seen  []string  // the comments that it is about
	text  string    // what it is about, in one line
}

// reacts reports whether a project has its own rules for events of agents. Without
// them, the inbox shows these events.
func (v *View) reacts() bool {
	for _, e := range reaction.Events {
		if _, own := v.Project.Policy.Reactions[e.Name]; own && !e.Pull {
			return true
		}
	}
	return false
}

// react applies the project's rules to the first event that has not been handled.
func react(v *View) *Decision {
	if v.asked(coppice.VerbContinue, coppice.VerbStop, coppice.VerbRequeue, coppice.VerbReport) != nil {
		return nil
	}
	for _, h := range events(v) {
		if d := reactTo(v, h); d != nil {
			d.By = "reaction"
			return d
		}
	}
	return nil
}

// reactDue returns when an event lasts long enough for its rule, or too long.
func reactDue(v *View) time.Time {
	var due time.Time
	for _, h := range events(v) {
		rule, _, ok, err := reaction.Select(h.Event, v.Project.Policy.Reactions, h.Facts)
		if err != nil || !ok {
			continue
		}
		for _, after := range []coppice.Duration{rule.Threshold, rule.EscalateAfter} {
			if at := h.since.Add(after.D()); after > 0 && at.After(v.Now) && (due.IsZero() || at.Before(due)) {
				due = at
			}
		}
	}
	return due
}

// events returns what has happened to the task's request and agent, the most
// important first.
func events(v *View) []occurrence {
	var list []occurrence
	if p := v.Pull; p != nil && p.Number != 0 && !p.Cleaned {
		list = pullEvents(v, *p)
	}
	if v.reacts() {
		list = append(list, agentEvents(v)...)
	}
	return list
}

// pullEvents returns the events of a request. While an agent works, its next commit
// decides what is still true.
func pullEvents(v *View, p coppice.Pull) []occurrence {
	r := p.Report
	add := func(list []occurrence, e coppice.ReactionEvent, key, text string, change func(*occurrence)) []occurrence {
		h := occurrence{Facts: pullFacts(v, p, e), since: v.Now, text: text}
		h.Key = string(e) + "/" + key
		if change != nil {
			change(&h)
		}
		if first := firstOf(v.Reacted, h.Key); first != nil {
			h.since = first.At
		}
		h.Age = v.Now.Sub(h.since)
		return append(list, h)
	}
	var list []occurrence
	switch {
	case r.State == coppice.PullMerged:
		return add(list, coppice.OnMerged, fmt.Sprint(p.Number), p.Name()+" is merged", nil)
	case r.State == coppice.PullClosed:
		return add(list, coppice.OnClosed, fmt.Sprint(p.Number), p.Name()+" is closed", nil)
	case v.Task.Stage != coppice.StagePull || v.open(coppice.WorkPullPush, coppice.WorkForgeWrite) != nil || r.Head != p.Pushed || v.Landing == nil || v.Landing.Head != p.Pushed:
		return nil
	}
	if r.CI == coppice.CIFailed {
		list = add(list, coppice.OnCIFailed, short(r.Head), "CI failed: "+strings.Join(names(r.Failed()), ", "), func(h *occurrence) {
			h.Checks, h.Text = names(r.Failed()), errorText(r.Failed())
		})
	}
	if r.Conflicts {
		list = add(list, coppice.OnConflicts, short(r.Head)+"/"+short(v.Queue.Tip), "it conflicts with "+p.Base, nil)
	}
	for _, c := range v.comments(p) {
		list = add(list, c.event, c.ids[len(c.ids)-1], fmt.Sprintf("%d comments by %s", len(c.ids), c.author), func(h *occurrence) {
			h.Author, h.Bot, h.Text, h.seen = c.author, c.bot, c.text, c.ids
		})
	}
	if approvedGreen(p, v.Now) {
		list = add(list, coppice.OnApprovedGreen, short(r.Head), "it is approved, and CI passed", nil)
	}
	for _, l := range r.Labels {
		if !slices.Contains(v.Project.Policy.Land.PR.Labels, l) {
			list = add(list, coppice.OnLabel, l, "the label "+coppice.Quote(l)+" was added", func(h *occurrence) { h.Label = l })
		}
	}
	return list
}

// pullFacts returns what conditions and messages can use.
func pullFacts(v *View, p coppice.Pull, e coppice.ReactionEvent) reaction.Facts {
	r := p.Report
	f := taskFacts(v, e)
	f.Number, f.URL, f.Branch, f.Base, f.Head, f.Draft, f.Author = p.Number, p.URL, p.Branch, p.Base, r.Head, r.Draft, r.Author
	f.Team = slices.Clone(v.Project.Policy.Forge.Authors)
	for _, c := range r.Comments {
		if c.Writes && len(v.Project.Policy.Forge.Authors) == 0 && !slices.Contains(f.Team, c.Author) {
			f.Team = append(f.Team, c.Author)
		}
	}
	return f
}

func taskFacts(v *View, e coppice.ReactionEvent) reaction.Facts {
	return reaction.Facts{Event: e, Task: v.Task.Key, Title: v.Task.Title, Category: v.Task.Category, Labels: v.Task.Labels}
}

// remarks are the comments of one kind that no reaction has handled.
type remarks struct {
	event  coppice.ReactionEvent
	author string
	bot    bool
	ids    []string
	text   string
}

// comments returns the comments that count and that no reaction has handled: those
// of a review that requests changes, then those of other people, then those of bots.
// With an unhandled request for changes, all comments of people belong to it.
func (v *View) comments(p coppice.Pull) []remarks {
	handled := map[string]bool{}
	for _, r := range v.Reacted {
		for _, id := range r.Seen {
			handled[id] = true
		}
	}
	by := map[coppice.ReactionEvent]*remarks{}
	changes := slices.ContainsFunc(p.Report.Comments, func(c coppice.PullComment) bool {
		return c.Review == coppice.ReviewChanges && !c.Bot && v.counts(c) && !handled[c.ID]
	})
	for _, c := range p.Report.Comments {
		if handled[c.ID] || !v.unresolved(c) {
			continue
		}
		e := coppice.OnComment
		switch {
		case c.Bot:
			e = coppice.OnBotComment
		case changes:
			e = coppice.OnChanges
		}
		r := by[e]
		if r == nil {
			r = &remarks{event: e, bot: c.Bot}
			by[e] = r
		}
		r.author = c.Author
		r.ids = append(r.ids, c.ID)
		r.text += commentText(c)
	}
	var list []remarks
	for _, e := range []coppice.ReactionEvent{coppice.OnChanges, coppice.OnComment, coppice.OnBotComment} {
		if by[e] != nil {
			list = append(list, *by[e])
		}
	}
	return list
}

// counts reports whether the author of a comment is configured, or has write access
// if nobody is. The bots of a repository were installed by its owners.
func (v *View) counts(c coppice.PullComment) bool {
	if a := v.Project.Policy.Forge.Authors; len(a) > 0 {
		return slices.Contains(a, c.Author)
	}
	return c.Writes || c.Bot
}

func commentText(c coppice.PullComment) string {
	where := ""
	if c.Path != "" {
		where = fmt.Sprintf(" on %s:%d", c.Path, c.Line)
	}
	text := strings.TrimSpace(c.Text)
	if text == "" {
		text = "(requests changes, without a text)"
	}
	return fmt.Sprintf("%s%s:\n%s\n\n", c.Author, where, text)
}

func names(checks []coppice.PullCheck) []string {
	var list []string
	for _, c := range checks {
		list = append(list, c.Name)
	}
	return list
}

// errorText returns what CI reports about failed checks.
func errorText(checks []coppice.PullCheck) string {
	var b strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&b, "%s failed", c.Name)
		if c.Text != "" {
			fmt.Fprintf(&b, ": %s", c.Text)
		}
		if c.URL != "" {
			fmt.Fprintf(&b, " (%s)", c.URL)
		}
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Log))
	}
	return b.String()
}

// agentEvents returns the events of the task's agent, and the end of the last task of
// the project.
func agentEvents(v *View) []occurrence {
	var list []occurrence
	add := func(e coppice.ReactionEvent, key, text string, since time.Time) {
		h := occurrence{Facts: taskFacts(v, e), since: since, text: coppice.FirstLine(text)}
		h.Key, h.Text, h.Age = string(e)+"/"+key, text, v.Now.Sub(since)
		list = append(list, h)
	}
	if v.Complete {
		add(coppice.OnAllComplete, fmt.Sprintf("%d/%d", v.Task.ID, v.Task.EndedAt.Unix()), "all tasks of the project have ended", v.Task.EndedAt)
	}
	s := v.lastSession()
	switch {
	case v.Task.Outcome == coppice.OutcomeFailed && v.Task.Failure != nil:
		add(coppice.OnTaskFailed, fmt.Sprint(v.Task.Round), v.Task.Failure.Error(), v.Task.EndedAt)
	case s == nil:
	case s.State == coppice.SessionFailed || s.State == coppice.SessionLost:
		if s.Failure != nil && s.StopWhy == "" {
			add(coppice.OnExited, s.Key, s.Failure.Text, s.EndedAt)
		}
	case s.State == coppice.SessionWaiting:
		for _, q := range v.Questions {
			if q.SessionID == s.ID && q.ClosedAt.IsZero() {
				add(coppice.OnNeedsInput, fmt.Sprint(q.ID), q.Text, q.AskedAt)
			}
		}
	case s.State == coppice.SessionIdle:
		add(coppice.OnIdle, s.Key+"/"+fmt.Sprint(s.OutputAt.Unix()), "its agent is idle", s.OutputAt)
	case s.State == coppice.SessionWorking && !s.OutputAt.IsZero():
		add(coppice.OnStuck, s.Key+"/"+fmt.Sprint(s.OutputAt.Unix()), "its agent prints nothing", s.OutputAt)
	}
	return list
}

// firstOf returns the entry of an event, or nil.
func firstOf(list []coppice.Reacted, key string) *coppice.Reacted {
	for i := range list {
		if list[i].Key == key {
			return &list[i]
		}
	}
	return nil
}

// reactTo applies the rule of an event, or returns nil if there is nothing to do.
func reactTo(v *View, h occurrence) *Decision {
	if first := firstOf(v.Reacted, h.Key); first != nil {
		return tooLong(v, h, *first)
	}
	rule, _, ok, err := reaction.Select(h.Event, v.Project.Policy.Reactions, h.Facts)
	e := coppice.Reacted{ProjectID: v.Project.ID, TaskID: v.Task.ID, Key: h.Key, At: v.Now}
	e.Event, e.Text, e.Head, e.Seen = h.Event, h.text, h.Head, h.seen
	if h.Event == coppice.OnAllComplete {
		e.TaskID = 0
	}
	switch {
	case err != nil:
		e.Do, e.Why = coppice.ReactNothing, coppice.Public(err).Error()
		return record(v, e)
	case !ok || rule.Threshold.D() > h.Age:
		return nil
	case rule.Do == coppice.ReactNothing:
		if _, own := v.Project.Policy.Reactions[h.Event]; !own {
			return nil // the default of an event that most people ignore
		}
	}
	if v.stackedBelow(h.Event, rule) {
		return nil // if it is still true when the requests below are merged, it counts then
	}
	e.Do, e.Priority, e.Try = rule.Do, rule.Priority, 1+v.reactions(h.Event, rule.Do)
	e.Message, e.Run = reaction.Message(h.Event, rule, h.Facts), rule.Run
	if why := v.refuses(h, rule); why != "" {
		e.Do, e.Why = coppice.ReactNothing, why
		return record(v, e)
	}
	if rule.Retries > 0 && e.Try > rule.Retries {
		e.Do, e.Why = coppice.ReactNotify, fmt.Sprintf("the rule acted %d times, which is its limit", rule.Retries)
		return escalate(v, e)
	}
	return actOn(v, e, rule)
}

// reactions counts the entries of an event on which a rule acted.
func (v *View) reactions(e coppice.ReactionEvent, do string) int {
	n := 0
	for _, r := range v.Reacted {
		if r.Event == e && r.Do == do && r.Try > 0 {
			n++
		}
	}
	return n
}

// stackedBelow reports whether a rule waits because the request is not at the bottom of
// its stack: only that one reacts, and the others follow it.
func (v *View) stackedBelow(e coppice.ReactionEvent, rule coppice.Reaction) bool {
	event, _ := reaction.Find(e)
	return event.Pull && len(v.Below) > 0 && (rule.Do == coppice.ReactSend || rule.Do == coppice.ReactMerge)
}

// refuses returns why a rule cannot act on an event now, or "".
func (v *View) refuses(h occurrence, rule coppice.Reaction) string {
	if why := reaction.Untrusted(h.Event, rule, v.Project.Policy.Trust); why != "" {
		return why
	}
	switch {
	case rule.Do == coppice.ReactTask && v.Task.CreatedBy == (coppice.Actor{Kind: coppice.ActorEngine, Name: reactionActor}).String():
		return "a reaction created this task, so it creates no other one"
	case rule.Do == coppice.ReactSend && !v.Task.Stage.Awaits() && !v.live() && !v.Task.Ended():
		return "its agent works already"
	}
	return ""
}

// live reports whether a session of the task runs.
func (v *View) live() bool {
	s := v.lastSession()
	return s != nil && s.State.Live()
}

// record stores what followed an event.
func record(v *View, e coppice.Reacted) *Decision {
	reason := fmt.Sprintf("%s: %s", e.Event, e.Text)
	if e.Why != "" {
		reason += ": " + e.Why
	}
	return &Decision{Kind: coppice.EventReaction, Reason: reason, Data: e, More: []Row{reactedRow(v, e)}}
}

func reactedRow(v *View, e coppice.Reacted) Row {
	return row{coppice.SubjectTask, func(tx store.Tx) error { return tx.Reactions.Put(&e) }, func() {
		v.Reacted = slices.Clone(v.Reacted)
		if n := slices.IndexFunc(v.Reacted, func(o coppice.Reacted) bool { return o.ID == e.ID }); n >= 0 {
			v.Reacted[n] = e
			return
		}
		v.Reacted = append(v.Reacted, e)
		sort.SliceStable(v.Reacted, func(i, j int) bool { return v.Reacted[i].ID < v.Reacted[j].ID })
	}}
}

// actOn does what a rule says. The message to the agent continues its
// conversation in the task's workspace; what follows is a candidate like any other.
func actOn(v *View, e coppice.Reacted, rule coppice.Reaction) *Decision {
	t := v.Task
	d := record(v, e)
	switch rule.Do {
	case coppice.ReactSend:
		d.Messages = []coppice.Message{{TaskID: t.ID, Text: e.Message, From: reactionActor, SentAt: v.Now}}
		if !v.live() {
			d.Requests = []coppice.Ask{{Subject: coppice.TaskSubject(t.ID), Verb: coppice.VerbContinue}}
		}
	case coppice.ReactTask:
		title := fmt.Sprintf("%s of %s", e.Event, t.Key)
		if e.TaskID == 0 {
			title = string(e.Event)
		}
		task, err := v.Follow(coppice.NewTask{Title: title, Body: e.Message})
		if err != nil {
			e.Do, e.Why = coppice.ReactNothing, coppice.Public(err).Error()
			return record(v, e)
		}
		d.Create = []coppice.Task{task}
	case coppice.ReactNotify:
		if e.Priority == coppice.PriorityUrgent || e.Priority == coppice.PriorityAction {
			t.Attention, d.Task = e.Text, &t
		}
	case coppice.ReactMerge:
		p := *v.Pull
		p.MergeBy, p.MergeHead = "reaction", e.Head
		d.More = append(d.More, pullRow(v, p))
	}
	return d
}

// reactionActor is the author of messages that a reaction sends.
const reactionActor = "reaction"

// escalate shows an event to a person, with what was tried.
func escalate(v *View, e coppice.Reacted) *Decision {
	e.Priority = coppice.PriorityAction
	d := record(v, e)
	if v.Pull == nil {
		return d
	}
	p, t := *v.Pull, v.Task
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s. %s.\n", e.Event, e.Text, e.Why)
	for _, r := range v.Reacted {
		if r.Event == e.Event {
			fmt.Fprintf(&b, "- %s, try %d at %s: %s\n", r.Do, r.Try, short(r.Head), cmp.Or(r.Result, r.Why, "no result yet"))
		}
	}
	p.Escalate = &coppice.Escalate{Event: e.Event, Text: b.String(), At: v.Now}
	t.Attention = fmt.Sprintf("%s; %s", e.Text, e.Why)
	d.More, d.Task = append(d.More, pullRow(v, p)), &t
	return d
}

// tooLong shows an event to a person that has lasted longer than its rule allows.
func tooLong(v *View, h occurrence, first coppice.Reacted) *Decision {
	rule, _, ok, err := reaction.Select(h.Event, v.Project.Policy.Reactions, h.Facts)
	if err != nil || !ok || rule.EscalateAfter == 0 || first.Do != coppice.ReactSend || h.Age < rule.EscalateAfter.D() {
		return nil
	}
	e := first
	e.ID, e.Key, e.At, e.Do, e.Try, e.Seen = 0, "escalated/"+h.Key, v.Now, coppice.ReactNotify, 0, nil
	e.Why = "it has lasted longer than " + durationText(rule.EscalateAfter.D())
	if firstOf(v.Reacted, e.Key) != nil {
		return nil
	}
	return escalate(v, e)
}

// answered returns the entries whose reaction led to a pushed commit.
func answered(v *View, head string) []Row {
	var rows []Row
	for _, e := range v.Reacted {
		if e.Waits() {
			e.Pushed, e.EndedAt, e.Result = head, v.Now, "pushed "+short(head)
			rows = append(rows, reactedRow(v, e))
		}
	}
	return rows
}
