package gitlab_test

import (
	"cmp"
	"crypto/sha1"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"coppice/test/forges"
)

// project is the state of a project on the fake.
type project struct {
	*forges.GitLab

	branches map[string]string // the commit
	commits  map[string]commit
	list_    []*mergeRequest
	status   map[string][]map[string]any // of a commit
	required string                      // the status without which nothing is merged
	traces   map[int]string              // of jobs
	pipeline map[string]any              // of all heads
	jobList  []map[string]any
	stuck    int // how often a rebase is still in progress
}

type commit struct {
	parents []string
	files   map[string]string
}

type mergeRequest struct {
	iid                             int
	title, description, author      string
	source, target, state, sha      string
	labels                          []string
	reviewers                       []int
	reviewState                     map[int]string
	approved                        map[int]time.Time
	threads                         []map[string]any
	auto                            bool
	updated                         time.Time
	mergeCommit, squashCommit, note string
}

func newProject(levels map[string]int) *project {
	p := &project{
		GitLab: forges.NewGitLab(levels), branches: map[string]string{}, commits: map[string]commit{}, status: map[string][]map[string]any{},
		traces: map[int]string{},
	}
	p.branches["main"] = p.commit(map[string]string{"README.md": "text"})
	return p
}

func (p *project) commit(files map[string]string, parents ...string) string {
	sha := fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, parents, files, p.ID())))
	p.commits[sha] = commit{parents, files}
	return sha
}

// push adds a commit to a branch.
func (p *project) push(branch, file, text string) string {
	tip := cmp.Or(p.branches[branch], p.branches["main"])
	files := maps.Clone(p.commits[tip].files)
	files[file] = text
	sha := p.commit(files, tip)
	p.branches[branch] = sha
	for _, m := range p.list_ {
		if m.source == branch && m.state == "opened" {
			m.sha, m.updated = sha, p.Tick()
		}
	}
	return sha
}

func (p *project) ancestors(sha string) []string {
	all := []string{sha}
	for i := 0; i < len(all); i++ {
		all = append(all, p.commits[all[i]].parents...)
	}
	return all
}

// diverged returns how many commits of the target the source lacks.
func (p *project) diverged(m *mergeRequest) int {
	have := p.ancestors(m.sha)
	return len(slices.DeleteFunc(p.ancestors(p.branches[m.target]), func(s string) bool { return slices.Contains(have, s) }))
}

// merged returns the files of a merge, or false if it has conflicts.
func (p *project) merged(m *mergeRequest) (map[string]string, bool) {
	have := p.ancestors(p.branches[m.target])
	base := p.commits[m.sha]
	for _, s := range p.ancestors(m.sha) {
		if slices.Contains(have, s) {
			base = p.commits[s]
			break
		}
	}
	theirs, files := p.commits[p.branches[m.target]].files, maps.Clone(p.commits[m.sha].files)
	for name, text := range theirs {
		switch {
		case files[name] == base.files[name]:
			files[name] = text
		case text != base.files[name] && text != files[name]:
			return nil, false
		}
	}
	return files, true
}

var draftMark = regexp.MustCompile(`(?i)^\s*(\[draft\]|draft:|\(draft\))`)

// mergeStatus is the reason why a request cannot be merged.
func (p *project) mergeStatus(m *mergeRequest) string {
	_, clean := p.merged(m)
	passed := p.required == "" || slices.ContainsFunc(p.status[m.sha], func(s map[string]any) bool { return s["name"] == p.required && s["status"] == "success" })
	switch {
	case m.state != "opened":
		return "not_open"
	case draftMark.MatchString(m.title):
		return "draft_status"
	case !clean:
		return "conflict"
	case !passed:
		return "ci_must_pass"
	}
	return "mergeable"
}

func (p *project) json(m *mergeRequest) map[string]any {
	_, clean := p.merged(m)
	reviewers := []any{}
	for _, id := range m.reviewers {
		reviewers = append(reviewers, p.User(p.Login(id)))
	}
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return map[string]any{
		"id": 1000 + m.iid, "iid": m.iid, "project_id": forges.GitLabProject, "title": m.title, "description": m.description, "state": m.state,
		"draft": draftMark.MatchString(m.title), "author": p.User(m.author), "assignee": nil, "milestone": nil, "merged_by": nil,
		"source_branch": m.source, "target_branch": m.target, "source_project_id": forges.GitLabProject, "target_project_id": forges.GitLabProject,
		"sha": m.sha, "merge_commit_sha": orNull(m.mergeCommit), "squash_commit_sha": orNull(m.squashCommit), "labels": append([]string{}, m.labels...),
		"reviewers": reviewers, "updated_at": m.updated.Format(time.RFC3339Nano), "has_conflicts": !clean, "discussion_locked": nil,
		"merge_when_pipeline_succeeds": m.auto, "detailed_merge_status": p.mergeStatus(m), "merge_error": orNull(m.note),
		"web_url": "https://gitlab.test/" + p.Path + "/-/merge_requests/" + strconv.Itoa(m.iid), "head_pipeline": p.pipeline,
	}
}

// request returns the request of a call, or answers 404.
func (p *project) request(c *forges.GitLabCall) *mergeRequest {
	iid, _ := strconv.Atoi(c.Part[0])
	if iid < 1 || iid > len(p.list_) {
		c.Fail(404, "404 Not found")
		return nil
	}
	return p.list_[iid-1]
}

func (p *project) list(c *forges.GitLabCall) {
	list := []map[string]any{}
	sorted := slices.Clone(p.list_)
	if c.Query.Get("order_by") == "updated_at" {
		slices.SortFunc(sorted, func(a, b *mergeRequest) int { return a.updated.Compare(b.updated) })
	}
	for _, m := range slices.Backward(sorted) {
		if branch := c.Query.Get("source_branch"); branch == "" || branch == m.source {
			list = append(list, p.json(m))
		}
	}
	forges.GitLabPage(c, list)
}

func (p *project) create(c *forges.GitLabCall) {
	source, target := c.Text("source_branch"), c.Text("target_branch")
	for _, m := range p.list_ {
		if m.source == source && m.target == target && m.state == "opened" {
			c.Status, c.Answer = 409, map[string]any{"message": []string{fmt.Sprintf("Another open merge request already exists for this source branch: !%d", m.iid)}}
			return
		}
	}
	if p.branches[source] == "" || p.branches[target] == "" {
		c.Status, c.Answer = 400, map[string]any{"message": map[string]any{"base": []string{"You must select source and target branch"}}}
		return
	}
	m := &mergeRequest{
		iid: len(p.list_) + 1, title: c.Text("title"), description: c.Text("description"), author: "coppice", source: source, target: target,
		state: "opened", sha: p.branches[source], reviewState: map[int]string{}, approved: map[int]time.Time{}, updated: p.Tick(),
	}
	p.list_ = append(p.list_, m)
	p.assign(m, c, "labels")
	c.Status, c.Answer = 201, p.json(m)
}

func (p *project) assign(m *mergeRequest, c *forges.GitLabCall, labels string) {
	for _, l := range strings.Split(c.Text(labels), ",") {
		if l != "" && !slices.Contains(m.labels, l) {
			m.labels = append(m.labels, l)
		}
	}
	if list, ok := c.Body["reviewer_ids"].([]any); ok {
		m.reviewers = nil
		for _, id := range list {
			m.reviewers = append(m.reviewers, int(id.(float64)))
		}
	}
}

func (p *project) get(c *forges.GitLabCall) {
	m := p.request(c)
	if m == nil {
		return
	}
	fields := p.json(m)
	if c.Query.Get("include_diverged_commits_count") == "true" {
		fields["diverged_commits_count"] = p.diverged(m)
	}
	if c.Query.Get("include_rebase_in_progress") == "true" {
		fields["rebase_in_progress"] = p.stuck > 0
		p.stuck = max(0, p.stuck-1)
	}
	c.Answer = fields
}

func (p *project) update(c *forges.GitLabCall) {
	m := p.request(c)
	if m == nil {
		return
	}
	for name, field := range map[string]*string{"title": &m.title, "description": &m.description, "target_branch": &m.target} {
		if s := c.Text(name); s != "" {
			*field = s
		}
	}
	if c.Text("state_event") == "close" {
		m.state = "closed"
	}
	p.assign(m, c, "add_labels")
	m.updated = p.Tick()
	c.Answer = p.json(m)
}

func (p *project) accept(c *forges.GitLabCall) {
	m := p.request(c)
	switch {
	case m == nil:
		return
	case c.Text("sha") != m.sha:
		c.Fail(409, "SHA does not match HEAD of source branch: "+m.sha)
		return
	case p.mergeStatus(m) == "ci_must_pass" && c.Body["auto_merge"] == true && !m.auto:
		m.auto, m.updated = true, p.Tick()
		c.Answer = p.json(m)
		return
	case p.mergeStatus(m) != "mergeable":
		c.Fail(405, "405 Method Not Allowed")
		return
	}
	files, _ := p.merged(m)
	second := m.sha
	if c.Body["squash"] == true {
		second = p.commit(p.commits[m.sha].files, p.ancestors(m.sha)[1])
		m.squashCommit = second
	}
	m.mergeCommit = p.commit(files, p.branches[m.target], second)
	p.branches[m.target], m.state, m.updated = m.mergeCommit, "merged", p.Tick()
	c.Answer = p.json(m)
}

func (p *project) rebase(c *forges.GitLabCall) {
	m := p.request(c)
	if m == nil {
		return
	}
	c.Status, c.Answer = 202, map[string]any{"rebase_in_progress": true}
	files, clean := p.merged(m)
	if !clean {
		m.note = "Rebase failed: Rebase locally, resolve all conflicts, then push the branch."
		return
	}
	m.sha = p.commit(files, p.branches[m.target])
	p.branches[m.source] = m.sha
}
