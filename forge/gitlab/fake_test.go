package gitlab_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The fake follows GitLab's published description of its REST API, as far as Coppice
// uses it. An unknown path, an unknown parameter of a query or field of a body, a
// missing one, and a call without a token fail the test.

const token = "glpat-0123456789abcdefghij"

// route is a call of the API.
type route struct {
	call   *regexp.Regexp // method and path below the project
	query  []string       // the parameters that GitLab describes
	fields []string       // of the body; a star means required
	serve  func(p *project, c *call)
}

// call is a call that the fake answers.
type call struct {
	path   []string // the variable parts of the path
	query  url.Values
	body   map[string]any
	status int
	header http.Header
	answer any
}

func (c *call) fail(status int, message string) {
	c.status, c.answer = status, map[string]any{"message": message}
}

func (c *call) text(name string) string {
	s, _ := c.body[name].(string)
	return s
}

func rt(call string, query, fields []string, serve func(*project, *call)) route {
	return route{regexp.MustCompile("^" + call + "$"), query, fields, serve}
}

var listing = []string{"page", "per_page"}

const one = `/merge_requests/(\d+)`

func routes() []route {
	return append(issueRoutes(), []route{
		rt(`GET /merge_requests`, append([]string{"state", "order_by", "sort", "source_branch"}, listing...), nil, (*project).list),
		rt(`POST /merge_requests`, nil, []string{"title*", "source_branch*", "target_branch*", "description", "labels", "reviewer_ids"}, (*project).create),
		rt(`GET `+one, []string{"include_diverged_commits_count", "include_rebase_in_progress"}, nil, (*project).get),
		rt(`PUT `+one, nil, []string{"title", "description", "target_branch", "add_labels", "reviewer_ids", "state_event"}, (*project).update),
		rt(`PUT `+one+`/merge`, nil, []string{"sha", "squash", "auto_merge", "merge_when_pipeline_succeeds", "merge_commit_message", "squash_commit_message"}, (*project).accept),
		rt(`PUT `+one+`/rebase`, nil, []string{"skip_ci"}, (*project).rebase),
		rt(`GET `+one+`/discussions`, listing, nil, (*project).discussions),
		rt(`PUT `+one+`/discussions/([^/]+)`, nil, []string{"resolved*"}, (*project).resolve),
		rt(`POST `+one+`/notes`, nil, []string{"body*"}, (*project).postNote),
		rt(`GET `+one+`/approvals`, nil, nil, (*project).approvals),
		rt(`GET `+one+`/reviewers`, nil, nil, (*project).reviewers),
		rt(`GET /repository/branches/([^/]+)`, nil, nil, (*project).branch),
		rt(`GET /repository/commits/([^/]+)/statuses`, listing, nil, (*project).statuses),
		rt(`GET /pipelines/(\d+)/jobs`, listing, nil, (*project).jobs),
		rt(`GET /jobs/(\d+)/trace`, nil, nil, (*project).trace),
		rt(`GET /members/all`, append([]string{"user_ids[]"}, listing...), nil, (*project).members),
	}...)
}

// serve starts the fake.
func (p *project) serve(t *testing.T) string {
	table := routes()
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		c := &call{query: r.URL.Query(), status: http.StatusOK, header: http.Header{}}
		where := r.Method + " " + r.URL.RequestURI()
		switch r.Header.Get("Authorization") {
		case "":
			t.Errorf("%s has no token", where)
			fallthrough
		default:
			c.fail(http.StatusUnauthorized, "401 Unauthorized")
		case "Bearer " + token:
			if err := p.dispatch(table, r, c); err != nil {
				t.Errorf("%s: %v", where, err)
				c.fail(http.StatusBadRequest, err.Error())
			}
		}
		for name, values := range c.header {
			w.Header()[name] = values
		}
		if text, ok := c.answer.(string); ok {
			w.WriteHeader(c.status)
			io.WriteString(w, text)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(c.status)
		json.NewEncoder(w).Encode(c.answer)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/api/v4/"
}

func (p *project) dispatch(table []route, r *http.Request, c *call) error {
	path := r.URL.EscapedPath()
	if path == "/api/v4/users" {
		return p.findUser(c)
	}
	if path == "/api/v4/user" {
		c.answer = p.user("coppice")
		return nil
	}
	rest, below := strings.CutPrefix(path, "/api/v4/projects/"+strings.ReplaceAll(url.PathEscape(p.path), ".", "%2E"))
	if !below {
		rest, below = strings.CutPrefix(path, "/api/v4/projects/"+strconv.Itoa(projectID))
	}
	if !below {
		return fmt.Errorf("it is not below the project")
	}
	for _, route := range table {
		found := route.call.FindStringSubmatch(r.Method + " " + rest)
		if found == nil {
			continue
		}
		for name := range c.query {
			if !slices.Contains(route.query, name) {
				return fmt.Errorf("unknown parameter %s", name)
			}
		}
		if err := c.decode(r, route.fields); err != nil {
			return err
		}
		for _, part := range found[1:] {
			part, _ = url.PathUnescape(part)
			c.path = append(c.path, part)
		}
		route.serve(p, c)
		return nil
	}
	return fmt.Errorf("unknown call")
}

func (c *call) decode(r *http.Request, fields []string) error {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if len(raw) > 0 {
		if r.Header.Get("Content-Type") != "application/json" {
			return fmt.Errorf("the body is %q", r.Header.Get("Content-Type"))
		}
		if err := json.Unmarshal(raw, &c.body); err != nil {
			return err
		}
	}
	known := map[string]bool{}
	for _, f := range fields {
		name, required := strings.CutSuffix(f, "*")
		known[name] = true
		if _, ok := c.body[name]; required && !ok {
			return fmt.Errorf("the field %s is missing", name)
		}
	}
	for name := range c.body {
		if !known[name] {
			return fmt.Errorf("unknown field %s", name)
		}
	}
	return nil
}

func (p *project) findUser(c *call) error {
	name := c.query.Get("username")
	if len(c.query) != 1 || name == "" {
		return fmt.Errorf("unknown parameters %v", c.query)
	}
	list := []any{}
	for login := range p.levels {
		if strings.EqualFold(login, name) {
			list = append(list, p.user(login))
		}
	}
	c.answer = list
	return nil
}

// page answers with a part of a list.
func page[T any](c *call, list []T) {
	size, n := 20, 1
	if s := c.query.Get("per_page"); s != "" {
		size, _ = strconv.Atoi(s)
	}
	if s := c.query.Get("page"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	c.header.Set("X-Total-Pages", strconv.Itoa((len(list)+size-1)/size))
	from := min(len(list), (n-1)*size)
	if from+size < len(list) {
		c.header.Set("X-Next-Page", strconv.Itoa(n+1))
	}
	part := list[from:min(len(list), from+size)]
	if part == nil {
		part = []T{}
	}
	c.answer = part
}
