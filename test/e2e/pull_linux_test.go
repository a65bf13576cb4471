package e2e

import (
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"coppice"
	"coppice/api"
	"coppice/test/forges"
)

func stopForge() { forges.Stop() }

// pullWorld is a world whose project is on a real Gitea and lands by pull request.
type pullWorld struct {
	*world
	repo forges.Repo
	api  map[string]*sdk.Client // by login

	server *server
}

func newPullWorld(t *testing.T, script string) *pullWorld {
	t.Helper()
	g := forges.Gitea(t)
	p := &pullWorld{world: newWorld(t, files{
		"coppice.yaml": policy + "land: {how: pr}\ntrust: unsandboxed\nforge: {kind: gitea, every: 5s, url: " + g.URL + "}\n" +
			"reactions: {approved-and-green: {do: merge}}\n",
		".coppice/scripted.yaml": script,
	}), repo: g.Repo(t), api: map[string]*sdk.Client{}}
	for _, name := range []string{forges.Owner, forges.Writer} {
		p.api[name] = g.API(t, name)
	}
	p.git("remote", "add", "origin", p.repo.URL(t))
	p.git("push", "--quiet", "--force", "origin", "main")
	if r := p.try(p.world.repo, g.User(t, forges.Owner)+"\n", "secret", "set", "GITEA_TOKEN"); r.code != 0 {
		t.Fatal(r.err)
	}
	p.server = p.serve()
	return p
}

// status sets the result of CI for the head of a request.
func (p *pullWorld) status(head string, state sdk.StatusState) {
	p.t.Helper()
	_, _, err := p.api[forges.Owner].CreateStatus(forges.Owner, p.repo.Name, head, sdk.CreateStatusOption{State: state, Context: "build", Description: "undefined: foo"})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pullWorld) review(number int64, state sdk.ReviewStateType, text string) {
	p.t.Helper()
	_, _, err := p.api[forges.Writer].CreatePullReview(forges.Owner, p.repo.Name, number, sdk.CreatePullReviewOptions{State: state, Body: text})
	if err != nil {
		p.t.Fatal(err)
	}
}

// pushed waits until the request shows another head than the one before, and is
// ready for review.
func (p *pullWorld) pushed(key, before string) api.TaskDetail {
	p.t.Helper()
	return p.await(key, "a pushed head", func(d api.TaskDetail) bool {
		return d.Stage == coppice.StagePull && d.Pull != nil && d.Pull.Number != 0 && d.Pull.Pushed != before && d.Pull.Report.Head == d.Pull.Pushed && !d.Pull.Report.Draft
	})
}

// A task becomes a pull request on a real forge. CI fails and the agent fixes it, a
// reviewer requests changes and the agent makes them, the request is approved and
// green, and what the forge merged lands here. The server is killed on the way.
func TestPullRequestOnGitea(t *testing.T) {
	t.Parallel()
	p := newPullWorld(t, `cases:
  - {match: 'undefined: foo', steps: [{write: {path: fixed.txt, content: "fixed\n"}}]}
  - {match: 'please rename', steps: [{write: {path: renamed.txt, content: "renamed\n"}}]}
  - steps: [{write: {path: work.txt, content: "work\n"}}]
`)
	key := p.new("Work in a request")
	d := p.pushed(key, "")
	number := int64(d.Pull.Number)
	p.status(d.Pull.Pushed, sdk.StatusFailure)
	d = p.pushed(key, d.Pull.Pushed)
	p.server.Kill()
	p.review(number, sdk.ReviewStateRequestChanges, "please rename it")
	p.serve()
	d = p.pushed(key, d.Pull.Pushed)
	p.status(d.Pull.Pushed, sdk.StatusSuccess)
	p.review(number, sdk.ReviewStateApproved, "")
	d = p.landed(key)[0]
	for _, file := range []string{"work.txt", "fixed.txt", "renamed.txt"} {
		if got := p.onBase(file); got+".txt" != file {
			t.Errorf("%s has %q", file, got)
		}
	}
	all, _, err := p.api[forges.Owner].ListRepoPullRequests(forges.Owner, p.repo.Name, sdk.ListPullRequestsOptions{State: sdk.StateAll})
	if err != nil || len(all) != 1 || !all[0].HasMerged || all[0].MergedCommitID == nil || *all[0].MergedCommitID != d.Landed {
		t.Errorf("the requests: %v, %v", all, err)
	}
	p.await(key, "the removal of the branch on the forge", func(d api.TaskDetail) bool { return d.Pull.Cleaned })
	if heads := p.git("ls-remote", "--heads", "origin"); strings.Contains(heads, d.Pull.Branch) {
		t.Errorf("the forge still has the branch:\n%s", heads)
	}
	var done []string
	for _, r := range d.Reactions {
		done = append(done, string(r.Event)+":"+r.Do)
	}
	want(t, "reactions", done, []string{"ci-failed:send-to-agent", "changes-requested:send-to-agent", "approved-and-green:merge", "pr-merged:notify"})
}
