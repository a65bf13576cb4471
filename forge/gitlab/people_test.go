package gitlab_test

import (
	"slices"
	"strconv"
	"time"

	"coppice"
)

// say adds a note, and returns the discussion.
func (p *project) say(number int, login, text string, more map[string]any) map[string]any {
	m := p.list_[number-1]
	m.updated = p.tick()
	note := map[string]any{
		"id": p.id(), "type": nil, "body": text, "author": p.user(login), "system": false, "created_at": p.clock.Format(time.RFC3339Nano),
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
	m, id := p.list_[number-1], p.userID(login)
	if text != "" {
		p.say(number, login, text, nil)
	}
	if state == coppice.ReviewNone {
		return
	}
	said := p.clock
	p.clock = said.Add(time.Second)
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

func (p *project) discussions(c *call) {
	if m := p.request(c); m != nil {
		page(c, m.threads)
	}
}

func (p *project) resolve(c *call) {
	m := p.request(c)
	if m == nil {
		return
	}
	for _, d := range m.threads {
		note := d["notes"].([]any)[0].(map[string]any)
		if d["id"] == c.path[1] && note["resolvable"] == true {
			note["resolved"], c.answer = c.body["resolved"], d
			return
		}
	}
	c.fail(404, "404 Discussion Not Found")
}

func (p *project) postNote(c *call) {
	if m := p.request(c); m != nil {
		c.status, c.answer = 201, p.say(m.iid, "coppice", c.text("body"), nil)["notes"].([]any)[0]
	}
}

func (p *project) approvals(c *call) {
	m := p.request(c)
	if m == nil {
		return
	}
	list := []any{}
	for id := range m.approved {
		list = append(list, map[string]any{"user": p.user(p.login(id))})
	}
	c.answer = map[string]any{"approved": len(list) > 0, "approved_by": list}
}

func (p *project) reviewers(c *call) {
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
		list = append(list, map[string]any{"user": p.user(p.login(id)), "state": state, "created_at": p.clock.Format(time.RFC3339Nano)})
	}
	c.answer = list
}

func (p *project) branch(c *call) {
	sha := p.branches[c.path[0]]
	if sha == "" {
		c.fail(404, "404 Branch Not Found")
		return
	}
	c.answer = map[string]any{"name": c.path[0], "commit": map[string]any{"id": sha}}
}

func (p *project) statuses(c *call) { page(c, p.status[c.path[0]]) }

func (p *project) jobs(c *call) { page(c, p.jobList) }

func (p *project) trace(c *call) {
	id, _ := strconv.Atoi(c.path[0])
	text, ok := p.traces[id]
	if !ok {
		c.fail(404, "404 Not found")
		return
	}
	c.answer = text
}

func (p *project) members(c *call) {
	list := []any{}
	for _, s := range c.query["user_ids[]"] {
		id, _ := strconv.Atoi(s)
		if level := p.levels[p.login(id)]; level > 0 {
			member := p.user(p.login(id))
			member["access_level"], member["expires_at"] = level, nil
			list = append(list, member)
		}
	}
	page(c, list)
}
