package forges

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// GitLab is a project on a fake of GitLab's REST API, with members, issues and the calls
// that a test adds. It follows GitLab's published description, as far as Coppice uses it.
// An unknown path, an unknown parameter of a query or field of a body, a missing one, and
// a call without a token fail the test.
type GitLab struct {
	Path  string    // group/name
	Clock time.Time // of the last change

	mu        sync.Mutex // from a call to its answer
	levels    map[string]int
	ids       int
	issues    []*gitlabIssue
	lastIssue int // the number of the newest issue, which might be gone
}

const (
	GitLabProject = 42                           // the id of the project
	GitLabToken   = "glpat-0123456789abcdefghij" // of GitLabUser
	GitLabUser    = "coppice"                    // as whom Coppice acts
)

// GitLabRoute is a call of the API.
type GitLabRoute struct {
	call   *regexp.Regexp // method and path below the project
	query  []string
	fields []string
	serve  func(*GitLabCall)
}

// NewGitLabRoute returns a call, by its method and its path below the project. It has the
// parameters and the fields of the body that GitLab describes. A star marks a required
// field.
func NewGitLabRoute(call string, query, fields []string, serve func(*GitLabCall)) GitLabRoute {
	return GitLabRoute{regexp.MustCompile("^" + call + "$"), query, fields, serve}
}

// GitLabCall is a call that the fake answers.
type GitLabCall struct {
	Part   []string // the variable parts of the path
	Query  url.Values
	Body   map[string]any
	Status int
	Answer any

	header http.Header
}

// Fail answers with an error.
func (c *GitLabCall) Fail(status int, message string) {
	c.Status, c.Answer = status, map[string]any{"message": message}
}

// Text returns a field of the body.
func (c *GitLabCall) Text(name string) string {
	s, _ := c.Body[name].(string)
	return s
}

// GitLabListing are the parameters of all lists.
var GitLabListing = []string{"page", "per_page"}

// GitLabPage answers with a part of a list.
func GitLabPage[T any](c *GitLabCall, list []T) {
	size, n := 20, 1
	if s := c.Query.Get("per_page"); s != "" {
		size, _ = strconv.Atoi(s)
	}
	if s := c.Query.Get("page"); s != "" {
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
	c.Answer = part
}

// NewGitLab returns a project whose members have access levels, by their login. A level
// of 0 is that of somebody who is not a member.
func NewGitLab(levels map[string]int) *GitLab {
	return &GitLab{Path: "group/sub.group/app", levels: levels, Clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// Tick moves the clock to the next change.
func (p *GitLab) Tick() time.Time {
	p.Clock = p.Clock.Add(time.Minute + time.Second)
	return p.Clock
}

// ID returns a number that nothing else has.
func (p *GitLab) ID() int {
	p.ids++
	return p.ids
}

// UserID returns the number of a user.
func (p *GitLab) UserID(login string) int {
	return 100 + slices.Index(slices.Sorted(maps.Keys(p.levels)), login)
}

// Login returns the name of the user with a number.
func (p *GitLab) Login(id int) string { return slices.Sorted(maps.Keys(p.levels))[id-100] }

// User returns a user as GitLab shows one.
func (p *GitLab) User(login string) map[string]any {
	return map[string]any{"id": p.UserID(login), "username": login, "name": login, "state": "active"}
}

// Serve starts the fake, with further calls, and returns the address of its API. It stops
// it when the test ends.
func (p *GitLab) Serve(t testing.TB, more ...GitLabRoute) string {
	t.Helper()
	table := slices.Concat(p.issueRoutes(), more)
	table = append(table, NewGitLabRoute(`GET /members/all`, append([]string{"user_ids[]"}, GitLabListing...), nil, p.members))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		c := &GitLabCall{Query: r.URL.Query(), Status: http.StatusOK, header: http.Header{}}
		where := r.Method + " " + r.URL.RequestURI()
		switch r.Header.Get("Authorization") {
		case "":
			t.Errorf("%s has no token", where)
			fallthrough
		default:
			c.Fail(http.StatusUnauthorized, "401 Unauthorized")
		case "Bearer " + GitLabToken:
			if err := p.dispatch(table, r, c); err != nil {
				t.Errorf("%s: %v", where, err)
				c.Fail(http.StatusBadRequest, err.Error())
			}
		}
		maps.Copy(w.Header(), c.header)
		if text, ok := c.Answer.(string); ok {
			w.WriteHeader(c.Status)
			_, _ = io.WriteString(w, text) // the client might have ended
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(c.Status)
		_ = json.NewEncoder(w).Encode(c.Answer) // the client might have ended
	}))
	t.Cleanup(s.Close)
	return s.URL + "/api/v4/"
}

func (p *GitLab) dispatch(table []GitLabRoute, r *http.Request, c *GitLabCall) error {
	path := r.URL.EscapedPath()
	if path == "/api/v4/users" {
		return p.findUser(c)
	}
	if path == "/api/v4/user" {
		c.Answer = p.User(GitLabUser)
		return nil
	}
	rest, below := strings.CutPrefix(path, "/api/v4/projects/"+strings.ReplaceAll(url.PathEscape(p.Path), ".", "%2E"))
	if !below {
		rest, below = strings.CutPrefix(path, "/api/v4/projects/"+strconv.Itoa(GitLabProject))
	}
	if !below {
		return errors.New("it is not below the project")
	}
	for _, route := range table {
		found := route.call.FindStringSubmatch(r.Method + " " + rest)
		if found == nil {
			continue
		}
		for name := range c.Query {
			if !slices.Contains(route.query, name) {
				return fmt.Errorf("unknown parameter %s", name)
			}
		}
		if err := c.decode(r, route.fields); err != nil {
			return err
		}
		for _, part := range found[1:] {
			part, _ = url.PathUnescape(part)
			c.Part = append(c.Part, part)
		}
		route.serve(c)
		return nil
	}
	return errors.New("unknown call")
}

func (c *GitLabCall) decode(r *http.Request, fields []string) error {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if len(raw) > 0 {
		if r.Header.Get("Content-Type") != "application/json" {
			return fmt.Errorf("the body is %q", r.Header.Get("Content-Type"))
		}
		if err := json.Unmarshal(raw, &c.Body); err != nil {
			return err
		}
	}
	known := map[string]bool{}
	for _, f := range fields {
		name, required := strings.CutSuffix(f, "*")
		known[name] = true
		if _, ok := c.Body[name]; required && !ok {
			return fmt.Errorf("the field %s is missing", name)
		}
	}
	for name := range c.Body {
		if !known[name] {
			return fmt.Errorf("unknown field %s", name)
		}
	}
	return nil
}

func (p *GitLab) findUser(c *GitLabCall) error {
	name := c.Query.Get("username")
	if len(c.Query) != 1 || name == "" {
		return fmt.Errorf("unknown parameters %v", c.Query)
	}
	list := []any{}
	for login := range p.levels {
		if strings.EqualFold(login, name) {
			list = append(list, p.User(login))
		}
	}
	c.Answer = list
	return nil
}

func (p *GitLab) members(c *GitLabCall) {
	list := []any{}
	for _, s := range c.Query["user_ids[]"] {
		id, _ := strconv.Atoi(s)
		if level := p.levels[p.Login(id)]; level > 0 {
			member := p.User(p.Login(id))
			member["access_level"], member["expires_at"] = level, nil
			list = append(list, member)
		}
	}
	GitLabPage(c, list)
}
