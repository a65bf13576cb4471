package gitlab_test

import (
	"slices"
	"strconv"
	"time"

	"coppice"
	"coppice/test/forges"
)

// say adds a note, and returns the discussion.
func (p *project) say(number int, login, text string, more map[string]any) map[string]any {
	m := p.list_[number-1]
	m.updated = p.Tick()
	note := map[string]any{
		"id": p.ID(), "type": nil, "body": text, "author": p.User(login), "system": false, "created_at": p.Clock.Format(time.RFC3339Nano),
		"resolvable": false, "resolved": nil, "resolved_by": nil, "position": nil, "attachment": nil, "noteable_type": "MergeRequest",
	}
	for name, v := range more {
		note[name] = v
	}
	d := map[string]any{"id": "d" + strconv.Itoa(note["id"].(int)), "individual_note": true, "notes": []any{note}}
	m.threads = append(m.threads, d)
	return d
}

// review does what GitLab does when somebody submits a review.
func (p *project) review(number int, login string, state coppice.ReviewState, text string) {
	m, id := p.list_[number-1], p.UserID(login)
	if text != "" {
		p.say(number, login, text, nil)
	}
	if state == coppice.ReviewNone {
		return
	}
	said := p.Clock
	p.Clock = said.Add(time.Second)
	note := p.say(number, login, map[coppice.ReviewState]string{coppice.ReviewApproved: "approved this merge request", coppice.ReviewChanges: "requested changes"}[state], nil)
	fields := note["notes"].([]any)[0].(map[string]any)
	fields["system"], fields["created_at"] = true, said.Add(time.Second).Format(time.RFC3339Nano)
	if !slices.Contains(m.reviewers, id) {
		m.reviewers = append(m.reviewers, id)
	}
	delete(m.approved, id)
	m.reviewState[id] = "requested_changes"
	if state == coppice.ReviewApproved {
		m.approved[id], m.reviewState[id] = said, "approved"
	}
}

func (p *project) discussions(c *forges.GitLabCall) {
	if m := p.request(c); m != nil {
		forges.GitLabPage(c, m.threads)
	}
}

func (p *project) resolve(c *forges.GitLabCall) {
	m := p.request(c)
	if m == nil {
		return
	}
	for _, d := range m.threads {
		note := d["notes"].([]any)[0].(map[string]any)
		if d["id"] == c.Part[1] && note["resolvable"] == true {
			note["resolved"], c.Answer = c.Body["resolved"], d
			return
		}
	}
	c.Fail(404, "404 Discussion Not Found")
}

func (p *project) postNote(c *forges.GitLabCall) {
	if m := p.request(c); m != nil {
		c.Status, c.Answer = 201, p.say(m.iid, "coppice", c.Text("body"), nil)["notes"].([]any)[0]
	}
}

func (p *project) approvals(c *forges.GitLabCall) {
	m := p.request(c)
	if m == nil {
		return
	}
	list := []any{}
	for id := range m.approved {
		list = append(list, map[string]any{"user": p.User(p.Login(id))})
	}
	c.Answer = map[string]any{"approved": len(list) > 0, "approved_by": list}
}

func (p *project) reviewers(c *forges.GitLabCall) {
	m := p.request(c)
	if m == nil {
		return
	}
	list := []any{}
	for _, id := range m.reviewers {
		state := m.reviewState[id]
		if state == "" {
			state = "unreviewed"
		}
		list = append(list, map[string]any{"user": p.User(p.Login(id)), "state": state, "created_at": p.Clock.Format(time.RFC3339Nano)})
	}
	c.Answer = list
}

func (p *project) branch(c *forges.GitLabCall) {
	sha := p.branches[c.Part[0]]
	if sha == "" {
		c.Fail(404, "404 Branch Not Found")
		return
	}
	c.Answer = map[string]any{"name": c.Part[0], "commit": map[string]any{"id": sha}}
}

func (p *project) statuses(c *forges.GitLabCall) { forges.GitLabPage(c, p.status[c.Part[0]]) }

func (p *project) jobs(c *forges.GitLabCall) { forges.GitLabPage(c, p.jobList) }

func (p *project) trace(c *forges.GitLabCall) {
	id, _ := strconv.Atoi(c.Part[0])
	text, ok := p.traces[id]
	if !ok {
		c.Fail(404, "404 Not found")
		return
	}
	c.Answer = text
}
