package github_test

import (
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
