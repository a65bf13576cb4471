package gitlab_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/forge/forgetest"
	"coppice/forge/gitlab"
)

// ticket is an issue on the fake.
type ticket struct {
	iid                 int
	title, text, author string
	closed              bool
	labels              []string
	assignee            string
	notes               []map[string]any
	links               map[int]string // the kind of link, by iid
	updated             time.Time
}

const issuePath = `/issues/(\d+)`

func issueRoutes() []route {
	return []route{
		rt(`GET /issues`, append([]string{"state", "order_by", "sort", "updated_after", "labels", "assignee_username[]", "search"}, listing...), nil, (*project).listIssues),
		rt(`GET `+issuePath, nil, nil, func(p *project, c *call) {
			if i := p.ticket(c); i != nil {
				c.answer = p.issueJSON(i)
			}
		}),
		rt(`PUT `+issuePath, nil, []string{"title", "description", "state_event", "add_labels", "remove_labels"}, (*project).updateIssue),
		rt(`GET `+issuePath+`/notes`, append([]string{"sort", "order_by"}, listing...), nil, (*project).issueNotes),
		rt(`POST `+issuePath+`/notes`, nil, []string{"body*"}, func(p *project, c *call) {
			if i := p.ticket(c); i != nil {
				c.status, c.answer = 201, p.note(i, "coppice", c.text("body"), false)
			}
		}),
		rt(`PUT `+issuePath+`/notes/(\d+)`, nil, []string{"body*"}, (*project).editNote),
		rt(`GET `+issuePath+`/links`, listing, nil, (*project).issueLinks),
	}
}

// ticket returns the issue of a call, or answers 404.
func (p *project) ticket(c *call) *ticket {
	iid, _ := strconv.Atoi(c.path[0])
	for _, i := range p.tickets {
		if i.iid == iid {
			return i
		}
	}
	c.fail(404, "404 Not found")
	return nil
}

func (p *project) issueJSON(i *ticket) map[string]any {
	assignees := []any{}
	if i.assignee != "" {
		assignees = append(assignees, p.user(i.assignee))
	}
	var text any
	if i.text != "" {
		text = i.text
	}
	return map[string]any{
		"id": 5000 + i.iid, "iid": i.iid, "project_id": projectID, "title": i.title, "description": text, "state": map[bool]string{true: "closed", false: "opened"}[i.closed],
		"author": p.user(i.author), "assignees": assignees, "labels": append([]string{}, i.labels...), "updated_at": i.updated.Format(time.RFC3339Nano),
		"web_url": fmt.Sprintf("https://gitlab.test/%s/-/issues/%d", p.path, i.iid), "issue_type": "issue", "milestone": nil, "closed_at": nil,
	}
}

func (p *project) listIssues(c *call) {
	if c.query.Get("order_by") != "updated_at" || c.query.Get("sort") != "asc" {
		c.fail(400, "the list is not sorted by the time of the change")
		return
	}
	sorted := slices.SortedStableFunc(slices.Values(p.tickets), func(a, b *ticket) int { return a.updated.Compare(b.updated) })
	var since time.Time
	if s := c.query.Get("updated_after"); s != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, s); err != nil {
			c.fail(400, "updated_after is invalid")
			return
		}
	}
	list := []map[string]any{}
	for _, i := range sorted {
		has := true
		for l := range strings.SplitSeq(c.query.Get("labels"), ",") {
			has = has && (l == "" || slices.Contains(i.labels, l))
		}
		state := cmp.Or(c.query.Get("state"), "all")
		words := i.title + " " + i.text
		if who := c.query.Get("assignee_username[]"); has && !i.updated.Before(since) && (who == "" || who == i.assignee) && (state == "all" || (state == "closed") == i.closed) && strings.Contains(words, c.query.Get("search")) {
			list = append(list, p.issueJSON(i))
		}
	}
	page(c, list)
}

func (p *project) updateIssue(c *call) {
	i := p.ticket(c)
	if i == nil {
		return
	}
	for name, field := range map[string]*string{"title": &i.title, "description": &i.text} {
		if s, ok := c.body[name].(string); ok {
			*field = s
		}
	}
	for l := range strings.SplitSeq(c.text("add_labels"), ",") {
		if l != "" && !slices.Contains(i.labels, l) {
			i.labels = append(i.labels, l)
		}
	}
	i.labels = slices.DeleteFunc(i.labels, func(l string) bool { return slices.Contains(strings.Split(c.text("remove_labels"), ","), l) })
	switch c.text("state_event") {
	case "close":
		i.closed = true
	case "reopen":
		i.closed = false
	case "":
	default:
		c.fail(400, "state_event does not have a valid value")
		return
	}
	i.updated = p.tick()
	c.answer = p.issueJSON(i)
}

func (p *project) note(i *ticket, login, text string, system bool) map[string]any {
	i.updated = p.tick()
	n := map[string]any{"id": p.id(), "body": text, "author": p.user(login), "system": system, "created_at": p.clock.Format(time.RFC3339Nano), "noteable_type": "Issue"}
	i.notes = append(i.notes, n)
	return n
}

func (p *project) issueNotes(c *call) {
	i := p.ticket(c)
	if i == nil {
		return
	}
	list := slices.Clone(i.notes)
	if c.query.Get("sort") != "asc" { // the default
		slices.Reverse(list)
	}
	page(c, list)
}

func (p *project) editNote(c *call) {
	i := p.ticket(c)
	if i == nil {
		return
	}
	for _, n := range i.notes {
		if strconv.Itoa(n["id"].(int)) == c.path[1] && n["author"].(map[string]any)["username"] == "coppice" {
			n["body"], i.updated, c.answer = c.text("body"), p.tick(), n
			return
		}
	}
	c.fail(404, "404 Note Not Found")
}

func (p *project) issueLinks(c *call) {
	i := p.ticket(c)
	if i == nil {
		return
	}
	list := []map[string]any{}
	for _, other := range p.tickets {
		if kind := i.links[other.iid]; kind != "" {
			fields := p.issueJSON(other)
			fields["link_type"], fields["issue_link_id"] = kind, p.id()
			list = append(list, fields)
		}
	}
	page(c, list)
}

func trackerBundle(t *testing.T) forgetest.TrackerBundle {
	t.Helper()
	p := newProject(map[string]int{"coppice": 40, "bob": 30, "eve": 20})
	remote := forge.Remote{Kind: "gitlab", API: p.serve(t), Owner: "group/sub.group", Name: "app"}
	find := func(id string) *ticket {
		i := p.ticket(&call{path: []string{id}})
		if i == nil {
			t.Fatalf("there is no issue %s", id)
		}
		return i
	}
	link := func(id, other, kind, back string) {
		a, b := find(id), find(other)
		a.links[b.iid], b.links[a.iid] = kind, back
		a.updated, b.updated = p.tick(), p.tick()
	}
	return forgetest.TrackerBundle{
		Open: gitlab.OpenTracker, Remote: remote, Token: token, Login: "coppice", Writer: "bob", Stranger: "eve",
		Lacks: map[forgetest.Ability]string{
			forgetest.Parents: "task lists name only the parts", forgetest.Pulls: "merge requests have their own numbers",
			forgetest.States: "GitLab has only open and closed", forgetest.Commas: "labels of GitLab have no commas",
		},
		Create: func(_ *testing.T, login, title, text string, labels ...string) string {
			p.issueIDs++
			p.tickets = append(p.tickets, &ticket{iid: p.issueIDs, title: title, text: text, author: login, labels: labels, links: map[int]string{}, updated: p.tick()})
			return strconv.Itoa(p.issueIDs)
		},
		Close: func(_ *testing.T, id string) {
			i := find(id)
			i.closed = true
			p.note(i, "bob", "closed", true)
		},
		Assign: func(_ *testing.T, id, login string) {
			i := find(id)
			i.assignee, i.updated = login, p.tick()
		},
		Comment: func(_ *testing.T, id, login, text string) { p.note(find(id), login, text, false) },
		Block:   func(_ *testing.T, id, by string) { link(id, by, "is_blocked_by", "blocks") },
		Part: func(_ *testing.T, id, parent string) {
			i := find(parent)
			i.text, i.updated = i.text+"\n- [ ] #"+id, p.tick()
			if s := find(id); s.links[i.iid] == "" {
				link(id, parent, "relates_to", "relates_to")
			}
		},
		Remove: func(_ *testing.T, id string) {
			p.tickets = slices.DeleteFunc(p.tickets, func(i *ticket) bool { return strconv.Itoa(i.iid) == id })
		},
	}
}

func TestTracker(t *testing.T) {
	t.Parallel()
	forgetest.RunTracker(t, trackerBundle)
}

// TestManyNotes reads an issue with more comments and issues than a page has.
func TestManyNotes(t *testing.T) {
	t.Parallel()
	b := trackerBundle(t)
	f, err := b.Open(b.Remote, forge.Options{Token: func(context.Context) (string, error) { return token, nil }})
	if err != nil {
		t.Fatal(err)
	}
	id := b.Create(t, "bob", "Many", "text")
	if _, err := forge.WriteIssue(t.Context(), f, coppice.TrackerWriteSpec{Issue: id, Key: "k", Comment: "first"}); err != nil {
		t.Fatal(err)
	}
	for n := range 250 {
		b.Comment(t, id, "bob", fmt.Sprint("comment ", n))
		b.Create(t, "bob", fmt.Sprint("issue ", n), "")
	}
	if _, err := forge.WriteIssue(t.Context(), f, coppice.TrackerWriteSpec{Issue: id, Key: "k", Comment: "second"}); err != nil {
		t.Fatal(err)
	}
	list, err := f.Comments(t.Context(), id)
	if err != nil || len(list) != 251 || !strings.HasPrefix(list[0].Text, "second") || list[250].Text != "comment 249" {
		t.Errorf("%d comments, %v", len(list), err)
	}
	r := forge.ClipIssue(coppice.IssueRead{Comments: list})
	if len(r.Comments) != coppice.MaxIssueComments || r.Comments[0].Text != "comment 200" {
		t.Errorf("the newest comments: %+v", r.Comments[0])
	}
	first, err := f.Issues(t.Context(), forge.IssueQuery{})
	if err != nil || len(first) < forge.MostIssues {
		t.Fatalf("%d issues, %v", len(first), err)
	}
	rest, err := f.Issues(t.Context(), forge.IssueQuery{Since: first[len(first)-1].UpdatedAt})
	if err != nil || len(first)+len(rest) < 251 {
		t.Errorf("%d and %d issues, %v", len(first), len(rest), err)
	}
}
