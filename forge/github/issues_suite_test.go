package github_test

import (
	"strconv"
	"testing"

	gh "github.com/google/go-github/v84/github"

	"coppice/forge"
	"coppice/forge/forgetest"
	"coppice/forge/github"
	"coppice/test/forges"
)

func TestTracker(t *testing.T) {
	t.Parallel()
	server := forges.StartGitHub(t, "ann", "app", "bob", "eve")
	forgetest.RunTracker(t, func(t *testing.T) forgetest.TrackerBundle { return issuesBundle(t, server) })
}

// issuesBundle is a new repository on the emulator.
func issuesBundle(t *testing.T, server *forges.GitHub) forgetest.TrackerBundle {
	t.Helper()
	e := emulate(t, server)
	issues := server.Issues(t, "ann", e.name)
	number := func(id string) int {
		n, err := strconv.Atoi(id)
		e.must(err)
		return n
	}
	return forgetest.TrackerBundle{
		Open: github.OpenTracker, Remote: forge.Remote{Kind: "github", API: issues.API, Owner: "ann", Name: e.name},
		Token: server.Token("ann"), Login: "ann", Writer: "bob", Stranger: "eve",
		Lacks: map[forgetest.Ability]string{forgetest.States: "GitHub has only open and closed", forgetest.Removing: "the emulator does not delete issues"},
		Create: func(t *testing.T, login, title, text string, labels ...string) string {
			labels = append([]string{}, labels...)
			i, _, err := e.as(login).Issues.Create(t.Context(), "ann", e.name, &gh.IssueRequest{Title: &title, Body: &text, Labels: &labels})
			e.must(err)
			return strconv.Itoa(i.GetNumber())
		},
		Close: func(t *testing.T, id string) {
			_, _, err := e.as("bob").Issues.Edit(t.Context(), "ann", e.name, number(id), &gh.IssueRequest{State: gh.Ptr("closed")})
			e.must(err)
		},
		Assign: func(t *testing.T, id, login string) {
			_, _, err := e.as("bob").Issues.AddAssignees(t.Context(), "ann", e.name, number(id), []string{login})
			e.must(err)
		},
		Comment: func(t *testing.T, id, login, text string) {
			_, _, err := e.as(login).Issues.CreateComment(t.Context(), "ann", e.name, number(id), &gh.IssueComment{Body: &text})
			e.must(err)
		},
		Block: func(_ *testing.T, id, by string) { issues.Block(id, by) },
		Part:  func(_ *testing.T, id, parent string) { issues.Part(id, parent) },
		Pull: func(t *testing.T) string {
			e.commit("topic", "topic.txt", "text")
			p, _, err := e.as("ann").PullRequests.Create(t.Context(), "ann", e.name, &gh.NewPullRequest{Title: gh.Ptr("t"), Head: gh.Ptr("topic"), Base: gh.Ptr("main")})
			e.must(err)
			return strconv.Itoa(p.GetNumber())
		},
	}
}
