package engine

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"coppice"
)

const (
	mostMessage = 2000 // bytes of the text of a message about several notices
	mostTitles  = 3    // titles of a group
)

// noticeWords has how messages name each kind of notice: one of them, with its subject,
// and several of them.
var noticeWords = map[coppice.NoticeKind]struct{ one, noun, nouns string }{
	coppice.NoticeKind(coppice.InboxQuestion):   {"%s asks", "question", "questions"},
	coppice.NoticeKind(coppice.InboxPermission): {"%s asks for permission", "request for permission", "requests for permission"},
	coppice.NoticeKind(coppice.InboxWaiting):    {"%s waits for you", "task waits for you", "tasks wait for you"},
	coppice.NoticeKind(coppice.InboxLimit):      {"%s cannot be used", "account cannot be used", "accounts cannot be used"},
	coppice.NoticeKind(coppice.InboxBudget):     {"%s has spent its budget", "budget is spent", "budgets are spent"},
	coppice.NoticeKind(coppice.InboxQueue):      {"Landing in %s waits for you", "branch waits for you", "branches wait for you"},
	coppice.NoticeKind(coppice.InboxChange):     {"A change of %s waits for you", "change waits for you", "changes wait for you"},
	coppice.NoticeKind(coppice.InboxSchedule):   {"A schedule of %s does not run", "schedule does not run", "schedules do not run"},
	coppice.NoticeKind(coppice.InboxReview):     {"%s waits for your review", "review", "reviews"},
	coppice.NoticeKind(coppice.InboxFailed):     {"%s failed", "task failed", "tasks failed"},
	coppice.NoticeKind(coppice.InboxStalled):    {"%s is stalled", "session is stalled", "sessions are stalled"},
	coppice.NoticeLanded:                        {"%s is done", "task is done", "tasks are done"},
	coppice.NoticeAnswer:                        {"%s has an answer", "answer", "answers"},
	coppice.NoticeReaction:                      {"%s", "message of a reaction", "messages of reactions"},
	coppice.NoticeComplete:                      {"All tasks of %s have ended", "project is complete", "projects are complete"},
	coppice.NoticeProblem:                       {"A problem of %s", "problem", "problems"},
}

// message returns the message of a notifier about notices: the whole text of one, or a
// summary of several.
func message(v *NoticesView, name string, list []*coppice.Notice) coppice.Notification {
	first := list[0]
	m := coppice.Notification{Key: notificationKey(v.Now, first.ID, fmt.Sprint(len(first.Sent)+1)), Notifier: name, At: v.Now}
	m.Kind, m.Count, m.Priority = v.Policy.Notifiers[name].KindOf(name), len(list), first.Priority
	m.Project = v.Projects[first.ProjectID].Prefix
	for _, n := range list {
		m.Priority = moreUrgent(m.Priority, n.Priority)
		if p := v.Projects[n.ProjectID].Prefix; p != m.Project {
			m.Project = ""
		}
	}
	if len(list) == 1 {
		m.Title, m.Text, m.Path, m.Question = lineOf(*first, false), first.Text, pathOf(*first), first.Question
		if first.Entry != "" {
			m.Notice = first.Key
		}
		return m
	}
	groups := groupNotices(v, list)
	m.Title, m.Text, m.Path = titleOf(groups, m), textOf(groups), pathOfAll(m.Project, list)
	return m
}

// notificationKey returns the key of the message with a name among those about a thing. It has
// only digits, dashes and letters, and at most 64 characters: every receiver accepts it.
func notificationKey(at time.Time, id int64, name string) string {
	return fmt.Sprintf("%s-%d-%s", at.UTC().Format("20060102T150405"), id, name)
}

// lineOf names a notice in one line, and says in short what it is about.
func lineOf(n coppice.Notice, text bool) string {
	line := fmt.Sprintf(noticeWords[n.Kind].one, cmp.Or(n.Subject, n.Title, "Coppice"))
	if n.Title != "" && n.Title != n.Subject && n.Subject != "" {
		line += ": " + n.Title
	}
	if text && n.Text != "" {
		line += ": " + coppice.FirstLine(n.Text)
	}
	return coppice.FirstLine(line)
}

// noticeGroup has the notices of one kind in one project.
type noticeGroup struct {
	project string
	kind    coppice.NoticeKind
	list    []*coppice.Notice
}

func (g noticeGroup) header() string {
	words := noticeWords[g.kind]
	if len(g.list) == 1 {
		return "1 " + words.noun
	}
	return fmt.Sprintf("%d %s", len(g.list), words.nouns)
}

// groupNotices groups notices by project and kind. The group with the most urgent
// notice comes first.
func groupNotices(v *NoticesView, list []*coppice.Notice) (groups []noticeGroup) {
	for _, n := range list {
		project := v.Projects[n.ProjectID].Prefix
		i := slices.IndexFunc(groups, func(g noticeGroup) bool { return g.project == project && g.kind == n.Kind })
		if i < 0 {
			i = len(groups)
			groups = append(groups, noticeGroup{project: project, kind: n.Kind})
		}
		groups[i].list = append(groups[i].list, n)
	}
	rank := func(g noticeGroup) int {
		best := len(coppice.Priorities)
		for _, n := range g.list {
			best = min(best, slices.Index(coppice.Priorities, n.Priority))
		}
		return best
	}
	slices.SortStableFunc(groups, func(a, b noticeGroup) int { return cmp.Compare(rank(a), rank(b)) })
	return groups
}

// titleOf says how many notices of which kinds a message has.
func titleOf(groups []noticeGroup, m coppice.Notification) string {
	where := ""
	if m.Project != "" {
		where = m.Project + ": "
	}
	counts := map[coppice.NoticeKind]*noticeGroup{}
	var kinds []*noticeGroup
	for _, g := range groups {
		if counts[g.kind] == nil {
			counts[g.kind] = &noticeGroup{kind: g.kind}
			kinds = append(kinds, counts[g.kind])
		}
		counts[g.kind].list = append(counts[g.kind].list, g.list...)
	}
	var parts []string
	rest := m.Count
	for _, g := range kinds[:min(len(kinds), mostTitles)] {
		parts, rest = append(parts, g.header()), rest-len(g.list)
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("%d more", rest))
	}
	return where + strings.Join(parts, ", ")
}

// textOf lists the groups with their first notices. It counts those that do not fit.
func textOf(groups []noticeGroup) string {
	var b strings.Builder
	left := 0
	for _, g := range groups {
		part := g.header() + "\n"
		if g.project != "" {
			part = g.project + ": " + part
		}
		for i, n := range g.list {
			if i == mostTitles {
				part += fmt.Sprintf("- and %d more\n", len(g.list)-i)
				break
			}
			part += "- " + lineOf(*n, true) + "\n"
		}
		if b.Len()+len(part) > mostMessage-len("and 1000000 more notices") {
			left += len(g.list)
			continue
		}
		b.WriteString(part)
	}
	if left > 0 {
		fmt.Fprintf(&b, "and %d more notices", left)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// pathOf returns the page of the dashboard that a notice is about.
func pathOf(n coppice.Notice) string {
	task := "/tasks/" + url.PathEscape(n.Subject)
	switch {
	case n.Kind == coppice.NoticeProblem:
		return "/health"
	case n.Kind == coppice.NoticeKind(coppice.InboxReview):
		return task + "/review"
	case n.TaskID != 0:
		return task
	}
	return pathOfAll(n.Subject, []*coppice.Notice{&n})
}

// pathOfAll returns the page that lists what several notices are about.
func pathOfAll(project string, list []*coppice.Notice) string {
	page := "/"
	if slices.ContainsFunc(list, func(n *coppice.Notice) bool { return n.Entry != "" }) {
		page = "/inbox"
	}
	if project != "" {
		page += "?project=" + url.QueryEscape(project)
	}
	return page
}
