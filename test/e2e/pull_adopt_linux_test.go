package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"coppice"
	"coppice/api"
	"coppice/test/forges"
)

// Somebody opens a request by hand, and a task adopts it. CI fails and the agent fixes it.
// Somebody else pushes at the same time, and no commit is lost. A comment goes to the agent
// by hand, its discussion is resolved after the push, and Coppice merges the request.
func TestAdoptedPullRequestOnGitea(t *testing.T) {
	t.Parallel()
	p := newPullWorld(t, `cases:
  - {match: 'Their commits', steps: [{say: fine}]}
  - {match: 'please rename', steps: [{write: {path: renamed.txt, content: "renamed\n"}}]}
  - {match: 'undefined: foo', steps: [{write: {path: fixed.txt, content: "fixed\n"}}, {commit: Fix it}, {wait_message: true}]}
`)
	head := p.repo.Commit(t, "feature", "theirs.txt", "theirs\n")
	gitea := p.api[forges.Owner]
	request, _, err := p.api[forges.Writer].CreatePullRequest(forges.Owner, p.repo.Name, sdk.CreatePullRequestOption{Head: "feature", Base: "main", Title: "Their work", Body: "by hand"})
	if err != nil {
		t.Fatal(err)
	}
	number := fmt.Sprint(request.Index)
	if r := p.try(p.world.repo, "", "pr", "adopt", "4711"); r.code != 1 || !strings.Contains(r.err, "no project") && !strings.Contains(r.err, "not in a project") {
		t.Errorf("before the project is known: %d %s", r.code, r.err)
	}
	p.cli("project", "add")
	if r := p.try(p.world.repo, "", "pr", "adopt", "4711"); r.code != 1 || !strings.Contains(r.err, "has no pull request #4711") {
		t.Errorf("an unknown number: %d %s", r.code, r.err)
	}
	adopted := decode[api.Task](t, p.cli("pr", "adopt", number, "--json"))
	key := adopted.Key
	if again := decode[api.Task](t, p.cli("pr", "adopt", "#"+number, "--json")); again.Key != key || again.Title != "Their work" || again.PR == nil || !again.PR.Adopted {
		t.Errorf("adopted again: %+v", again)
	}
	if list := p.cli("pr"); !strings.Contains(list, "#"+number) || !strings.Contains(list, key) || !strings.Contains(list, "adopted") {
		t.Errorf("the list:\n%s", list)
	}

	p.status(head, sdk.StatusFailure)
	p.await(key, "a session that waits", func(d api.TaskDetail) bool {
		return d.Status == coppice.StatusWorking && strings.Contains(p.cli("logs", key), "Fix it")
	})
	foreign := p.repo.Commit(t, "feature", "more.txt", "more\n")
	p.cli("send", key, "go")
	d := p.await(key, "a refused push", func(d api.TaskDetail) bool {
		return d.Status == coppice.StatusNeedsYou && strings.Contains(d.Reason, "somebody else pushed "+foreign[:7])
	})
	if now, _, err := gitea.GetPullRequest(forges.Owner, p.repo.Name, request.Index); err != nil || now.Head.Sha != foreign {
		t.Errorf("the head of the request: %v, %v", now.Head, err)
	}
	p.gitIn(d.Workspace.Path, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "feature")
	p.cli("continue", key, "Their commits are merged.")
	d = p.pushed(key, head)

	_, _, err = p.api[forges.Writer].CreatePullReview(forges.Owner, p.repo.Name, request.Index, sdk.CreatePullReviewOptions{
		State: sdk.ReviewStateComment, Comments: []sdk.CreatePullReviewComment{{Path: "theirs.txt", Body: "please rename it", NewLineNum: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.await(key, "the comment", func(d api.TaskDetail) bool { return d.PR.Open == 1 })
	p.cli("pr", "resolve-comments", number, "--note", "Be quick.")
	d = p.pushed(key, d.Pull.Pushed)
	// This version of Gitea has no call that resolves discussions: it was tried one time.
	p.await(key, "the discussions to be resolved", func(d api.TaskDetail) bool {
		return slices.ContainsFunc(d.Reactions, func(r api.Reacted) bool { return r.Event == coppice.OnComment && r.Resolved })
	})

	p.status(d.Pull.Pushed, sdk.StatusSuccess)
	p.cli("pr", "merge", number)
	p.landed(key)
	for _, file := range []string{"theirs.txt", "fixed.txt", "more.txt", "renamed.txt"} {
		if got := p.onBase(file); got+".txt" != file {
			t.Errorf("%s has %q", file, got)
		}
	}
	now, _, err := gitea.GetPullRequest(forges.Owner, p.repo.Name, request.Index)
	if err != nil || !now.HasMerged || now.Title != "Their work" || now.Body != "by hand" {
		t.Errorf("the request: %+v, %v", now, err)
	}
	if heads := p.git("ls-remote", "--heads", "origin"); !strings.Contains(heads, "refs/heads/feature") || strings.Contains(heads, "coppice/") {
		t.Errorf("the branches on the forge:\n%s", heads)
	}
	if r := p.try(p.world.repo, "", "pr", "merge", number); r.code != 1 || !strings.Contains(r.err, "no open pull request") {
		t.Errorf("merged again: %d %s", r.code, r.err)
	}
}
