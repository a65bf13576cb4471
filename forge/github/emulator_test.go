package github_test

import (
	"strings"
	"testing"

	gh "github.com/google/go-github/v84/github"

	"coppice/test/forges"
)

// emulated is a repository on the emulator of GitHub.
type emulated struct {
	t      *testing.T
	server *forges.GitHub
	name   string // of the repository
}

// emulate creates a repository that has the name of the test, and in which bob can write.
func emulate(t *testing.T, server *forges.GitHub) *emulated {
	t.Helper()
	e := &emulated{t: t, server: server, name: strings.ReplaceAll(strings.ToLower(t.Name()), "/", "-")}
	_, _, err := e.as("ann").Repositories.Create(t.Context(), "", &gh.Repository{Name: &e.name, AutoInit: gh.Ptr(true)})
	e.must(err)
	_, _, err = e.as("ann").Repositories.AddCollaborator(t.Context(), "ann", e.name, "bob", nil)
	e.must(err)
	return e
}

func (e *emulated) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// as returns a client of a person, to do what people and CI do.
func (e *emulated) as(login string) *gh.Client {
	c, err := gh.NewClient(nil).WithAuthToken(e.server.Token(login)).WithEnterpriseURLs(e.server.API, e.server.API)
	e.must(err)
	c.BaseURL.Path = "/"
	return c
}
