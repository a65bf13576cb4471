package github_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	gh "github.com/google/go-github/v84/github"

	"coppice"
	"coppice/forge"
	"coppice/forge/forgetest"
	"coppice/forge/github"
	"coppice/test/forges"
)

// completed is the emulator with what it lacks and the suite needs: it refuses wrong
// tokens and a second request of a branch, it has an empty list of commit statuses,
// and it has the two operations of the GraphQL API that change drafts.
type completed struct {
	t      *testing.T
	server *forges.GitHub
	proxy  *httputil.ReverseProxy
	mu     sync.Mutex // between a question and the answer to it
}

func (c *completed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !slices.Contains([]string{c.server.Token("ann"), c.server.Token("bob"), c.server.Token("eve")}, token) {
		refuse(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch {
	case r.URL.Path == "/graphql":
		c.graph(w, r, body)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pulls") && c.open(r.URL.Path, body):
		refuse(w, http.StatusUnprocessableEntity, "A pull request already exists for this branch.")
	case strings.HasSuffix(r.URL.Path, "/status"):
		io.WriteString(w, `{"state":"pending","statuses":[]}`)
	default:
		c.proxy.ServeHTTP(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"message": text})
}

// open reports whether the branch of a new request has an open one.
func (c *completed) open(path string, body []byte) bool {
	var fields struct{ Head, Base string }
	json.Unmarshal(body, &fields)
	var list []gh.PullRequest
	c.get(path+"?state=open", &list)
	return slices.ContainsFunc(list, func(p gh.PullRequest) bool {
		return p.GetHead().GetRef() == fields.Head && p.GetBase().GetRef() == fields.Base
	})
}

func (c *completed) get(path string, v any) {
	resp, err := c.call(http.MethodGet, path, nil)
	if err == nil {
		defer resp.Body.Close()
		err = json.NewDecoder(resp.Body).Decode(v)
	}
	if err != nil {
		c.t.Error(err)
	}
}

func (c *completed) call(method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(c.t.Context(), method, strings.TrimSuffix(c.server.API, "/")+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.server.Token("ann"))
	return http.DefaultClient.Do(req)
}

func (c *completed) graph(w http.ResponseWriter, _ *http.Request, body []byte) {
	key, raw, err := operation(body)
	if err != nil {
		c.t.Errorf("GraphQL: %v", err)
	}
	draft := map[string]bool{"GRAPHQL convertPullRequestToDraft": true, "GRAPHQL markPullRequestReadyForReview": false}
	to, known := draft[key]
	if !known {
		refuse(w, http.StatusNotFound, "Not Found") // as the emulator
		return
	}
	var variables struct{ ID string }
	json.Unmarshal(raw, &variables)
	var repos []gh.Repository
	c.get("/user/repos?per_page=100", &repos)
	for _, repo := range repos {
		var list []gh.PullRequest
		c.get("/repos/"+repo.GetFullName()+"/pulls", &list)
		for _, p := range list {
			if p.GetNodeID() == variables.ID {
				resp, err := c.call(http.MethodPatch, fmt.Sprintf("/repos/%s/pulls/%d", repo.GetFullName(), p.GetNumber()), strings.NewReader(fmt.Sprintf(`{"draft":%t}`, to)))
				if err != nil {
					c.t.Error(err)
					return
				}
				resp.Body.Close()
			}
		}
	}
	io.WriteString(w, `{"data":{}}`)
}

func TestSuite(t *testing.T) {
	t.Parallel()
	server := forges.StartGitHub(t, "ann", "app", "bob", "eve")
	forgetest.Run(t, func(t *testing.T) forgetest.Bundle { return bundle(t, server) })
}

// bundle is a new repository on the emulator.
func bundle(t *testing.T, server *forges.GitHub) forgetest.Bundle {
	t.Helper()
	target, err := url.Parse(server.API)
	if err != nil {
		t.Fatal(err)
	}
	c := &completed{t: t, server: server, proxy: httputil.NewSingleHostReverseProxy(target)}
	front := httptest.NewServer(c)
	t.Cleanup(front.Close)
	e := emulate(t, server)
	return forgetest.Bundle{
		Open: github.Open, Remote: forge.Remote{Kind: "github", API: front.URL + "/", Owner: "ann", Name: e.name},
		Token: server.Token("ann"), Login: "ann", Base: "main", Writer: "bob", Stranger: "eve",
		Lacks: map[forgetest.Ability]string{
			forgetest.Conflicts: "the emulator does not merge files",
			forgetest.Auto:      "the emulator does not have the GraphQL API",
		},
		Commit: func(_ *testing.T, branch, file, text string) string { return e.commit(branch, file, text) },
		SetStatus: func(_ *testing.T, sha, name string, state coppice.CIState, text string) {
			e.check(sha, name, state, text)
		},
		Review: func(_ *testing.T, number int, login string, state coppice.ReviewState, text string) {
			event := map[coppice.ReviewState]string{"": "COMMENT", coppice.ReviewApproved: "APPROVE", coppice.ReviewChanges: "REQUEST_CHANGES"}[state]
			_, _, err := e.as(login).PullRequests.CreateReview(t.Context(), "ann", e.name, number, &gh.PullRequestReviewRequest{Event: &event, Body: &text})
			e.must(err)
		},
		CommentLine: func(_ *testing.T, number int, login, path string, line int, text string) {
			_, _, err := e.as(login).PullRequests.CreateComment(t.Context(), "ann", e.name, number, &gh.PullRequestComment{Body: &text, Path: &path, Line: &line})
			e.must(err)
		},
		Comment: func(_ *testing.T, number int, login, text string) {
			_, _, err := e.as(login).Issues.CreateComment(t.Context(), "ann", e.name, number, &gh.IssueComment{Body: &text})
			e.must(err)
		},
		Asked: func(_ *testing.T, number int) (list []string) {
			p, _, err := e.as("ann").PullRequests.Get(t.Context(), "ann", e.name, number)
			e.must(err)
			for _, u := range p.RequestedReviewers {
				list = append(list, u.GetLogin())
			}
			return list
		},
		DeleteBranch: func(_ *testing.T, branch string) {
			_, err := e.as("ann").Git.DeleteRef(t.Context(), "ann", e.name, "heads/"+branch)
			e.must(err)
		},
	}
}

// check sets the result of a check run.
func (e *emulated) check(sha, name string, state coppice.CIState, text string) {
	e.t.Helper()
	run := gh.CreateCheckRunOptions{Name: name, HeadSHA: sha, Status: gh.Ptr("in_progress"), Output: &gh.CheckRunOutput{Title: &text, Summary: gh.Ptr("")}}
	if state != coppice.CIPending {
		run.Status, run.Conclusion = gh.Ptr("completed"), gh.Ptr(map[coppice.CIState]string{coppice.CIPassed: "success", coppice.CIFailed: "failure"}[state])
	}
	_, _, err := e.as("ann").Checks.CreateCheckRun(e.t.Context(), "ann", e.name, run)
	e.must(err)
}

// commit adds a commit to a branch. The emulator does not move an open request when
// its branch moves, except when GitHub itself updates the branch.
func (e *emulated) commit(branch, file, text string) string {
	e.t.Helper()
	ctx := e.t.Context()
	open, _, err := e.as("ann").PullRequests.List(ctx, "ann", e.name, &gh.PullRequestListOptions{Head: "ann:" + branch})
	e.must(err)
	if len(open) > 0 {
		_, _, err := e.as("ann").PullRequests.UpdateBranch(ctx, "ann", e.name, open[0].GetNumber(), nil)
		if _, accepted := err.(*gh.AcceptedError); !accepted {
			e.must(err)
		}
		p, _, err := e.as("ann").PullRequests.Get(ctx, "ann", e.name, open[0].GetNumber())
		e.must(err)
		return p.GetHead().GetSHA()
	}
	if _, _, err := e.as("ann").Git.GetRef(ctx, "ann", e.name, "heads/"+branch); err != nil {
		main, _, err := e.as("ann").Git.GetRef(ctx, "ann", e.name, "heads/main")
		e.must(err)
		_, _, err = e.as("ann").Git.CreateRef(ctx, "ann", e.name, gh.CreateRef{Ref: "refs/heads/" + branch, SHA: main.Object.GetSHA()})
		e.must(err)
	}
	change := &gh.RepositoryContentFileOptions{Message: gh.Ptr("work"), Content: []byte(text), Branch: &branch}
	if old, _, _, err := e.as("ann").Repositories.GetContents(ctx, "ann", e.name, file, &gh.RepositoryContentGetOptions{Ref: branch}); err == nil {
		change.SHA = old.SHA
	}
	done, _, err := e.as("ann").Repositories.CreateFile(ctx, "ann", e.name, file, change)
	e.must(err)
	return done.Commit.GetSHA()
}
