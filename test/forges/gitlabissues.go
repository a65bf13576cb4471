package forges

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// gitlabIssue is an issue on the fake.
type gitlabIssue struct {
	iid                 int
	title, text, author string
	closed              bool
	labels              []string
	assignee            string
	notes               []map[string]any
	links               map[int]string // the kind of link, by iid
	updated             time.Time
}

const gitlabIssuePath = `/issues/(\d+)`

func (p *GitLab) issueRoutes() []GitLabRoute {
	return []GitLabRoute{
		NewGitLabRoute(`GET /issues`, append([]string{"state", "order_by", "sort", "updated_after", "labels", "assignee_username[]", "search"}, GitLabListing...), nil, p.listIssues),
		NewGitLabRoute(`GET `+gitlabIssuePath, nil, nil, func(c *GitLabCall) {
			if i := p.issue(c); i != nil {
				c.Answer = p.issueJSON(i)
			}
		}),
		NewGitLabRoute(`PUT `+gitlabIssuePath, nil, []string{"title", "description", "state_event", "add_labels", "remove_labels"}, p.updateIssue),
		NewGitLabRoute(`GET `+gitlabIssuePath+`/notes`, append([]string{"sort", "order_by"}, GitLabListing...), nil, p.issueNotes),
		NewGitLabRoute(`POST `+gitlabIssuePath+`/notes`, nil, []string{"body*"}, func(c *GitLabCall) {
			if i := p.issue(c); i != nil {
				c.Status, c.Answer = 201, p.note(i, GitLabUser, c.Text("body"), false)
			}
		}),
		NewGitLabRoute(`PUT `+gitlabIssuePath+`/notes/(\d+)`, nil, []string{"body*"}, p.editNote),
		NewGitLabRoute(`GET `+gitlabIssuePath+`/links`, GitLabListing, nil, p.issueLinks),
	}
}

// issue returns the issue of a call, or answers 404.
func (p *GitLab) issue(c *GitLabCall) *gitlabIssue {
	iid, _ := strconv.Atoi(c.Part[0])
	for _, i := range p.issues {
		if i.iid == iid {
			return i
		}
	}
	c.Fail(404, "404 Not found")
	return nil
}

func (p *GitLab) issueJSON(i *gitlabIssue) map[string]any {
	assignees := []any{}
	if i.assignee != "" {
		assignees = append(assignees, p.User(i.assignee))
	}
	var text any
	if i.text != "" {
		text = i.text
	}
	return map[string]any{
		"id": 5000 + i.iid, "iid": i.iid, "project_id": GitLabProject, "title": i.title, "description": text, "state": map[bool]string{true: "closed", false: "opened"}[i.closed],
		"author": p.User(i.author), "assignees": assignees, "labels": append([]string{}, i.labels...), "updated_at": i.updated.Format(time.RFC3339Nano),
		"web_url": fmt.Sprintf("https://gitlab.test/%s/-/issues/%d", p.Path, i.iid), "issue_type": "issue", "milestone": nil, "closed_at": nil,
	}
}

func (p *GitLab) listIssues(c *GitLabCall) {
	if c.Query.Get("order_by") != "updated_at" || c.Query.Get("sort") != "asc" {
		c.Fail(400, "the list is not sorted by the time of the change")
		return
	}
	state := cmp.Or(c.Query.Get("state"), "all")
	if !slices.Contains([]string{"all", "opened", "closed"}, state) {
		c.Fail(400, "state does not have a valid value")
		return
	}
	sorted := slices.SortedStableFunc(slices.Values(p.issues), func(a, b *gitlabIssue) int { return a.updated.Compare(b.updated) })
	var since time.Time
	if s := c.Query.Get("updated_after"); s != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, s); err != nil {
			c.Fail(400, "updated_after is invalid")
			return
		}
	}
	list := []map[string]any{}
	for _, i := range sorted {
		has := !i.updated.Before(since) && (state == "all" || (state == "closed") == i.closed)
		for l := range strings.SplitSeq(c.Query.Get("labels"), ",") {
			has = has && (l == "" || slices.Contains(i.labels, l))
		}
		for word := range strings.FieldsSeq(c.Query.Get("search")) {
			has = has && strings.Contains(strings.ToLower(i.title+" "+i.text), strings.ToLower(word))
		}
		if who := c.Query.Get("assignee_username[]"); has && (who == "" || who == i.assignee) {
			list = append(list, p.issueJSON(i))
		}
	}
	GitLabPage(c, list)
}

func (p *GitLab) updateIssue(c *GitLabCall) {
	i := p.issue(c)
	if i == nil {
		return
	}
	for name, field := range map[string]*string{"title": &i.title, "description": &i.text} {
		if s, ok := c.Body[name].(string); ok {
			*field = s
		}
	}
	for l := range strings.SplitSeq(c.Text("add_labels"), ",") {
		if l != "" && !slices.Contains(i.labels, l) {
			i.labels = append(i.labels, l)
		}
	}
	i.labels = slices.DeleteFunc(i.labels, func(l string) bool { return slices.Contains(strings.Split(c.Text("remove_labels"), ","), l) })
	switch c.Text("state_event") {
	case "close":
		i.closed = true
	case "reopen":
		i.closed = false
	case "":
	default:
		c.Fail(400, "state_event does not have a valid value")
		return
	}
	i.updated = p.Tick()
	c.Answer = p.issueJSON(i)
}

func (p *GitLab) note(i *gitlabIssue, login, text string, system bool) map[string]any {
	i.updated = p.Tick()
	n := map[string]any{"id": p.ID(), "body": text, "author": p.User(login), "system": system, "created_at": p.Clock.Format(time.RFC3339Nano), "noteable_type": "Issue"}
	i.notes = append(i.notes, n)
	return n
}

func (p *GitLab) issueNotes(c *GitLabCall) {
	i := p.issue(c)
	if i == nil {
		return
	}
	list := slices.Clone(i.notes)
	if c.Query.Get("sort") != "asc" { // the default
		slices.Reverse(list)
	}
	GitLabPage(c, list)
}

func (p *GitLab) editNote(c *GitLabCall) {
	i := p.issue(c)
	if i == nil {
		return
	}
	for _, n := range i.notes {
		if strconv.Itoa(n["id"].(int)) == c.Part[1] && n["author"].(map[string]any)["username"] == GitLabUser {
			n["body"], i.updated, c.Answer = c.Text("body"), p.Tick(), n
			return
		}
	}
	c.Fail(404, "404 Note Not Found")
}

func (p *GitLab) issueLinks(c *GitLabCall) {
	i := p.issue(c)
	if i == nil {
		return
	}
	list := []map[string]any{}
	for _, other := range p.issues {
		if kind := i.links[other.iid]; kind != "" {
			fields := p.issueJSON(other)
			fields["link_type"], fields["issue_link_id"] = kind, p.ID()
			list = append(list, fields)
		}
	}
	GitLabPage(c, list)
}

// find returns an issue by its number.
func (p *GitLab) find(id string) *gitlabIssue {
	i := slices.IndexFunc(p.issues, func(i *gitlabIssue) bool { return strconv.Itoa(i.iid) == id })
	if i < 0 {
		panic("the fake has no issue " + id)
	}
	return p.issues[i]
}

// CreateIssue creates an issue as a user, and returns its number.
func (p *GitLab) CreateIssue(login, title, text string, labels ...string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastIssue++
	p.issues = append(p.issues, &gitlabIssue{iid: p.lastIssue, title: title, text: text, author: login, labels: labels, links: map[int]string{}, updated: p.Tick()})
	return strconv.Itoa(p.lastIssue)
}

// EditIssue changes an issue as a user does.
func (p *GitLab) EditIssue(id string, e GitLabEdit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(id)
	for field, value := range map[*string]*string{&i.title: e.Title, &i.text: e.Text, &i.assignee: e.Assignee} {
		if value != nil {
			*field = *value
		}
	}
	if e.Labels != nil {
		i.labels = e.Labels
	}
	if i.updated = p.Tick(); e.Closed != nil {
		i.closed = *e.Closed
		p.note(i, e.By, "closed", true)
	}
}

// GitLabEdit is what a user changes. A nil field stays as it is.
type GitLabEdit struct {
	By                    string
	Title, Text, Assignee *string
	Labels                []string
	Closed                *bool
}

// CommentIssue comments on an issue as a user.
func (p *GitLab) CommentIssue(id, login, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(p.find(id), login, text, false)
}

// BlockIssue lets an issue wait for another one.
func (p *GitLab) BlockIssue(id, by string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link(p.find(id), p.find(by), "is_blocked_by", "blocks")
}

// PartOfIssue adds an issue to the task list of another one.
func (p *GitLab) PartOfIssue(id, parent string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, s := p.find(parent), p.find(id)
	i.text, i.updated = i.text+"\n- [ ] #"+id, p.Tick()
	if s.links[i.iid] == "" {
		p.link(s, i, "relates_to", "relates_to")
	}
}

func (p *GitLab) link(a, b *gitlabIssue, kind, back string) {
	a.links[b.iid], b.links[a.iid] = kind, back
	a.updated, b.updated = p.Tick(), p.Tick()
}

// RemoveIssue removes an issue.
func (p *GitLab) RemoveIssue(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.issues = slices.DeleteFunc(p.issues, func(i *gitlabIssue) bool { return strconv.Itoa(i.iid) == id })
}

// GitLabIssue is what people see of an issue.
type GitLabIssue struct {
	Title, Text      string
	Closed           bool
	Labels, Comments []string
}

// Issue returns what people see of an issue.
func (p *GitLab) Issue(id string) GitLabIssue {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(id)
	seen := GitLabIssue{i.title, i.text, i.closed, slices.Clone(i.labels), nil}
	for _, n := range i.notes {
		if n["system"] == false {
			seen.Comments = append(seen.Comments, n["body"].(string))
		}
	}
	return seen
}
