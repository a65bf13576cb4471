//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gh "github.com/google/go-github/v84/github"

	"coppice"
	"coppice/api"
	"coppice/test/forges"
	"coppice/test/gitrepo"
)

// githubRepo is the API of the repository app on the emulator.
const githubRepo = "/repos/" + forges.Owner + "/app"

// github is the emulator with what it lacks. Its branches are those of a repository
// on disk, to which git pushes. It marks drafts as ready, has an empty list of commit
// statuses, and merges with git.
type github struct {
	t        *testing.T
	emulator *forges.GitHub
	api      *gh.Client // of the emulator itself
	dir      string     // the repository on disk
	prove    func()     // lets the first check pass

	mu     sync.Mutex        // from a request to its answer
	heads  map[string]string // the branches that the emulator knows, with their commits
	copied map[string]bool   // the commits that the emulator knows
	head   string            // of the request when it was merged
	merged string            // the commit of the merge
	writes map[string]int    // what Coppice changed, by method and path
}

// githubClient returns a client of an API that acts as a user.
func githubClient(t *testing.T, server *forges.GitHub, address, login string) *gh.Client {
	t.Helper()
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	c := gh.NewClient(nil).WithAuthToken(server.Token(login))
	c.BaseURL = base
	return c
}

// must ends the answer to a request. It is not called by the test's own goroutine.
func (g *github) must(err error) {
	if err != nil {
		g.t.Error(err)
		panic(http.ErrAbortHandler)
	}
}

// git runs git in the repository on disk.
func (g *github) git(args ...string) string {
	cmd := exec.Command("git", append([]string{"-c", "user.name=GitHub", "-c", "user.email=noreply@example.org"}, args...)...)
	cmd.Dir, cmd.Env = g.dir, gitrepo.Env()
	out, err := cmd.Output()
	if err != nil {
		g.must(fmt.Errorf("git %s: %w", strings.Join(args, " "), err))
	}
	return string(out)
}

func (g *github) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.Method != http.MethodGet && r.Header.Get("Authorization") == "Bearer "+g.emulator.Token(forges.Owner) {
		g.writes[r.Method+" "+r.URL.Path]++
	}
	g.sync()
	body, err := io.ReadAll(r.Body)
	g.must(err)
	switch {
	case r.URL.Path == "/graphql":
		g.ready(body)
		_, _ = io.WriteString(w, `{"data":{}}`) // the server might have ended
	case strings.HasSuffix(r.URL.Path, "/status"):
		_, _ = io.WriteString(w, `{"state":"pending","statuses":[]}`)
	default:
		g.forward(w, r, body)
	}
}

// forward sends a request to the emulator. The emulator does not move the head of a
// request when its branch moves, and merges no files: both come from the repository.
func (g *github) forward(w http.ResponseWriter, r *http.Request, body []byte) {
	target, err := url.Parse(g.emulator.API)
	g.must(err)
	var merge *gh.PullRequest
	if strings.HasSuffix(r.URL.Path, "/merge") {
		if merge, body = g.mergeable(r.URL.Path, body); merge == nil {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"message":"Head branch was modified."}`)
			return
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Accept-Encoding")
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // connections of a server that was stopped
	proxy.ModifyResponse = func(resp *http.Response) error {
		if resp.StatusCode >= http.StatusMultipleChoices || !strings.HasPrefix(r.URL.Path, githubRepo+"/pulls") {
			return nil
		}
		var answer any
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			return err
		}
		resp.Body.Close()
		if merge != nil {
			answer.(map[string]any)["sha"] = g.merge(merge, body)
		}
		g.correct(answer)
		text, err := json.Marshal(answer)
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		resp.Header.Set("Content-Length", fmt.Sprint(len(text)))
		return err
	}
	proxy.ServeHTTP(w, r)
}

// correct puts the commits of the repository into requests, or a list of them.
func (g *github) correct(answer any) {
	list, ok := answer.([]any)
	if !ok {
		list = []any{answer}
	}
	for _, one := range list {
		pull, _ := one.(map[string]any)
		head, _ := pull["head"].(map[string]any)
		if head == nil {
			continue
		}
		if pull["state"] == "open" {
			head["sha"] = g.heads["refs/heads/"+head["ref"].(string)]
		} else {
			head["sha"], pull["merge_commit_sha"] = g.head, g.merged
		}
	}
}

// mergeable returns the request that is to be merged and what the emulator is asked
// for that, nil if the request has another head.
func (g *github) mergeable(path string, body []byte) (*gh.PullRequest, []byte) {
	pull := new(gh.PullRequest)
	req, err := g.api.NewRequest(http.MethodGet, strings.TrimPrefix(strings.TrimSuffix(path, "/merge"), "/"), nil)
	g.must(err)
	_, err = g.api.Do(g.t.Context(), req, pull)
	g.must(err)
	fields := map[string]any{}
	g.must(json.Unmarshal(body, &fields))
	if fields["sha"] != g.heads["refs/heads/"+pull.GetHead().GetRef()] {
		return nil, nil
	}
	delete(fields, "sha") // the emulator knows only the first head
	body, err = json.Marshal(fields)
	g.must(err)
	return pull, body
}

// merge squashes a request in the repository, and returns the commit.
func (g *github) merge(pull *gh.PullRequest, body []byte) string {
	var fields struct {
		Title   string `json:"commit_title"`
		Message string `json:"commit_message"`
		Method  string `json:"merge_method"`
	}
	g.must(json.Unmarshal(body, &fields))
	if fields.Method != "squash" {
		g.must(fmt.Errorf("the method of the merge is %q", fields.Method))
	}
	base := "refs/heads/" + pull.GetBase().GetRef()
	g.head = g.heads["refs/heads/"+pull.GetHead().GetRef()]
	tree := strings.TrimSpace(g.git("merge-tree", "--write-tree", base, g.head))
	g.merged = strings.TrimSpace(g.git("commit-tree", tree, "-p", base, "-m", fields.Title, "-m", fields.Message))
	g.git("update-ref", base, g.merged, g.heads[base])
	g.sync()
	return g.merged
}

// ready carries out the operations of the GraphQL API that mark a request as a draft, or as
// ready.
func (g *github) ready(body []byte) {
	var operation struct {
		Query     string
		Variables struct{ ID string }
	}
	g.must(json.Unmarshal(body, &operation))
	draft := strings.Contains(operation.Query, "convertPullRequestToDraft(")
	if !draft && !strings.Contains(operation.Query, "markPullRequestReadyForReview(") {
		g.must(fmt.Errorf("no such operation: %s", operation.Query))
	}
	list, _, err := g.api.PullRequests.List(g.t.Context(), forges.Owner, "app", nil)
	g.must(err)
	i := slices.IndexFunc(list, func(p *gh.PullRequest) bool { return p.GetNodeID() == operation.Variables.ID })
	if i < 0 {
		g.must(fmt.Errorf("no request %q", operation.Variables.ID))
	}
	req, err := g.api.NewRequest(http.MethodPatch, fmt.Sprintf("%s/pulls/%d", githubRepo[1:], list[i].GetNumber()), map[string]bool{"draft": draft})
	g.must(err)
	_, err = g.api.Do(g.t.Context(), req, nil)
	g.must(err)
}

// sync gives the emulator the branches of the repository, with their commits.
func (g *github) sync() {
	heads := map[string]string{}
	for line := range strings.Lines(g.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")) {
		ref, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		heads[ref] = commit
	}
	if maps.Equal(heads, g.heads) {
		return
	}
	for _, commit := range strings.Fields(g.git("rev-list", "--topo-order", "--reverse", "--branches")) {
		if !g.copied[commit] {
			g.copy(commit)
			g.copied[commit] = true
		}
	}
	ctx := g.t.Context()
	for ref, commit := range heads {
		var err error
		switch before, known := g.heads[ref]; {
		case !known:
			_, _, err = g.api.Git.CreateRef(ctx, forges.Owner, "app", gh.CreateRef{Ref: ref, SHA: commit})
		case before != commit:
			_, _, err = g.api.Git.UpdateRef(ctx, forges.Owner, "app", ref, gh.UpdateRef{SHA: commit, Force: gh.Ptr(true)})
		}
		g.must(err)
	}
	for ref := range g.heads {
		if heads[ref] == "" {
			_, err := g.api.Git.DeleteRef(ctx, forges.Owner, "app", ref)
			g.must(err)
		}
	}
	g.heads = heads
}

// copy gives the emulator a commit whose parents it has.
func (g *github) copy(commit string) {
	var entries []*gh.TreeEntry
	for line := range strings.Lines(g.git("ls-tree", "-r", "--format=%(objectmode) %(objectname) %(path)", commit)) {
		parts := strings.SplitN(strings.TrimSpace(line), " ", 3)
		text := g.git("cat-file", "blob", parts[1])
		entries = append(entries, &gh.TreeEntry{Mode: &parts[0], Type: gh.Ptr("blob"), Content: &text, Path: &parts[2]})
	}
	tree, _, err := g.api.Git.CreateTree(g.t.Context(), forges.Owner, "app", "", entries)
	g.must(err)
	fields := strings.SplitN(g.git("show", "-s", "--format=%P%n%an%n%ae%n%aI%n%cn%n%ce%n%cI%n%B", commit), "\n", 8)
	person := func(name, email, at string) map[string]string {
		return map[string]string{"name": name, "email": email, "date": at}
	}
	req, err := g.api.NewRequest(http.MethodPost, githubRepo[1:]+"/git/commits", map[string]any{ // the emulator needs a list of parents, even an empty one
		"tree": tree.GetSHA(), "message": strings.TrimRight(fields[7], "\n"), "parents": append([]string{}, strings.Fields(fields[0])...),
		"author": person(fields[1], fields[2], fields[3]), "committer": person(fields[4], fields[5], fields[6]),
	})
	g.must(err)
	var made gh.Commit
	_, err = g.api.Do(g.t.Context(), req, &made)
	g.must(err)
	if made.GetSHA() != commit {
		g.must(fmt.Errorf("the emulator has %s as %s", commit, made.GetSHA()))
	}
}

// newGitHubWorld makes a world whose project is on the emulator, and the API as the
// reviewer sees it.
func newGitHubWorld(t *testing.T) (*world, *github, *gh.Client) {
	t.Helper()
	server := forges.StartGitHub(t, forges.Owner, "app", forges.Writer)
	g := &github{
		t: t, emulator: server, api: githubClient(t, server, server.API, forges.Owner),
		heads: map[string]string{"refs/heads/main": ""}, copied: map[string]bool{}, writes: map[string]int{},
	}
	if _, _, err := g.api.Repositories.AddCollaborator(t.Context(), forges.Owner, "app", forges.Writer, nil); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(g)
	w := newWorld(t, files{".coppice/scripted.yaml": loopScript})
	t.Cleanup(func() { // requests of the server end before the repository does
		w.Close()
		front.Close()
	})
	gate, open := w.Gate("gate")
	g.prove = func() {
		open()
		if err := os.Remove(gate); err != nil {
			t.Fatal(err)
		}
	}
	w.write(w.repo, files{"coppice.yaml": policy + fmt.Sprintf("trust: unsandboxed\nforge: {kind: github, every: 5s, repo: %s/app, url: %s}\nchecks: ['[ ! -e %s ] || cat %[3]s']\n", forges.Owner, front.URL, gate) +
		loopConfig(filepath.Join(t.TempDir(), "hooks"))})
	w.git("commit", "--quiet", "--all", "--message=Use the forge")
	g.dir = filepath.Join(w.Root, "origin.git")
	w.git("clone", "--quiet", "--bare", w.repo, g.dir)
	w.git("remote", "add", "origin", g.dir)
	if r := w.try(w.repo, server.Token(forges.Owner)+"\n", "secret", "set", "GITHUB_TOKEN"); r.code != 0 {
		t.Fatal(r.err)
	}
	return w, g, githubClient(t, server, front.URL+"/", forges.Writer)
}

// A task becomes a pull request on GitHub. CI fails and the agent fixes it, a reviewer
// requests changes and the agent makes them, and what is approved and green is merged
// and lands here. Each change of the forge happens one time.
func TestPullRequestOnGitHub(t *testing.T) {
	t.Parallel()
	w, g, reviewer := newGitHubWorld(t)
	check := func(head, conclusion string) {
		t.Helper()
		_, _, err := reviewer.Checks.CreateCheckRun(t.Context(), forges.Owner, "app", gh.CreateCheckRunOptions{
			Name: "build", HeadSHA: head, Status: gh.Ptr("completed"), Conclusion: &conclusion, Output: &gh.CheckRunOutput{Title: gh.Ptr("undefined: foo"), Summary: gh.Ptr("")},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	review := func(number int, event, text string) {
		t.Helper()
		_, _, err := reviewer.PullRequests.CreateReview(t.Context(), forges.Owner, "app", number, &gh.PullRequestReviewRequest{Event: &event, Body: &text})
		if err != nil {
			t.Fatal(err)
		}
	}
	// The next result need not wait until Coppice has read the push before it.
	fixed := func(key, before string) api.TaskDetail {
		t.Helper()
		return w.await(key, "a pushed fix", func(d api.TaskDetail) bool { return d.Stage == coppice.StagePull && d.Pull.Pushed != before })
	}
	w.serve()
	key := w.new("Work in a request")
	w.await(key, "a draft", func(d api.TaskDetail) bool { return d.Pull != nil && d.Pull.Number != 0 })
	g.prove()
	d := w.pushed(key, "")
	check(d.Pull.Pushed, "failure")
	d = fixed(key, d.Pull.Pushed)
	review(d.Pull.Number, "REQUEST_CHANGES", "please rename it")
	d = fixed(key, d.Pull.Pushed)
	check(d.Pull.Pushed, "success")
	review(d.Pull.Number, "APPROVE", "")
	w.landed(key)
	d = w.cleaned(key)

	for file, text := range map[string]string{"work.txt": "work", "fixed.txt": "fixed", "renamed.txt": "renamed"} {
		w.wantOnBase(file, text)
	}
	list, _, err := reviewer.PullRequests.List(t.Context(), forges.Owner, "app", &gh.PullRequestListOptions{State: "all"})
	if err != nil || len(list) != 1 || list[0].MergedAt == nil || list[0].GetMergeCommitSHA() != d.Landed || len(list[0].Labels) != 1 {
		t.Errorf("the requests: %v, %v", list, err)
	}
	pull := fmt.Sprintf("%s/pulls/%d", githubRepo, d.Pull.Number)
	g.mu.Lock()
	// The request is ready, with a text that has the checks. While a fix is checked, it can
	// be a draft again: that depends on how long the checks take.
	for _, update := range []string{"POST /graphql", "PATCH " + pull} {
		if n := g.writes[update]; n < 1 || n > 5 {
			t.Errorf("%s was called %d times", update, n)
		}
		delete(g.writes, update)
	}
	if wanted := map[string]int{
		"POST " + githubRepo + "/pulls": 1, fmt.Sprintf("POST %s/issues/%d/labels", githubRepo, d.Pull.Number): 1,
		"POST " + pull + "/requested_reviewers": 1, "PUT " + pull + "/merge": 1,
	}; !maps.Equal(g.writes, wanted) {
		t.Errorf("Coppice changed %v, want %v", g.writes, wanted)
	}
	g.mu.Unlock()
	if heads := w.git("ls-remote", "--heads", "origin"); heads != d.Landed+"\trefs/heads/main" {
		t.Errorf("the branches of the forge:\n%s", heads)
	}
	want(t, "reactions", reactions(d), []string{
		"ci-failed:send-to-agent", "changes-requested:send-to-agent", "approved-and-green:merge", "pr-merged:notify",
	})
	if main := w.git("rev-parse", "main"); main != d.Landed {
		t.Errorf("%s landed, and main is %s", d.Landed, main)
	}
	w.checkHooks(key)
	w.checkRepository()
}
