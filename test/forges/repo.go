//go:build linux

package forges

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"coppice/test/gitrepo"
)

// The users of the Gitea, and their access to every repository. Their names are
// their logins.
const (
	Owner    = "ann"    // the owner of the repositories
	Writer   = "rita"   // can write to them
	Stranger = "sam"    // can only read them
	Bot      = "ci-bot" // can write to them
)

// Repo is a repository on the Gitea, with a first commit on main, and a clone of it.
type Repo struct {
	Server *Server
	Name   string
	Clone  gitrepo.Repo
}

var repos atomic.Int64

// Repo creates a public repository of Owner.
func (s *Server) Repo(t testing.TB) Repo {
	t.Helper()
	r := Repo{Server: s, Name: fmt.Sprintf("repo-%d", repos.Add(1))}
	api := s.API(t, Owner)
	if _, _, err := api.CreateRepo(sdk.CreateRepoOption{Name: r.Name, DefaultBranch: "main", AutoInit: true}); err != nil {
		t.Fatal(err)
	}
	write := sdk.AccessModeWrite
	for _, name := range []string{Writer, Bot} {
		if _, err := api.AddCollaborator(Owner, r.Name, name, sdk.AddCollaboratorOption{Permission: &write}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	r.Clone = gitrepo.Repo{Dir: filepath.Join(dir, "clone"), Env: append(gitrepo.Env(), "GIT_TERMINAL_PROMPT=0")}
	gitrepo.Run(t, dir, r.Clone.Env, "git", "clone", "-q", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", r.URL(t), "clone")
	return r
}

// URL returns the address of the repository for git, with the token of Owner.
func (r Repo) URL(t testing.TB) string {
	t.Helper()
	return strings.Replace(r.Server.URL, "://", "://"+Owner+":"+r.Server.User(t, Owner)+"@", 1) + "/" + Owner + "/" + r.Name + ".git"
}

// Commit adds a commit to a branch of the repository and returns it. A branch that
// does not exist starts at main.
func (r Repo) Commit(t testing.TB, branch, file, text string) string {
	t.Helper()
	git := func(args ...string) string {
		return gitrepo.Run(t, r.Clone.Dir, r.Clone.Env, append([]string{"git"}, args...)...)
	}
	start := "origin/main"
	git("fetch", "-q", "--prune", "origin")
	if git("branch", "-r", "--list", "origin/"+branch) != "" {
		start = "origin/" + branch
	}
	git("checkout", "-q", "--detach", start)
	r.Clone.Write(t, file, text)
	git("add", "-A")
	git("commit", "-q", "-m", "change "+file)
	git("push", "-q", "origin", "HEAD:refs/heads/"+branch)
	return git("rev-parse", "HEAD")
}

// API returns a client of Gitea's library that acts as a user.
func (s *Server) API(t testing.TB, name string) *sdk.Client {
	t.Helper()
	c, err := sdk.NewClient(s.URL, sdk.SetToken(s.User(t, name)), sdk.SetGiteaVersion(version), sdk.SetContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var tokens atomic.Int64

// Token creates a token of a user with only some scopes.
func (s *Server) Token(t testing.TB, name string, scopes ...sdk.AccessTokenScope) string {
	t.Helper()
	c, err := sdk.NewClient(s.URL, sdk.SetBasicAuth(name, password), sdk.SetGiteaVersion(version), sdk.SetContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := c.CreateAccessToken(sdk.CreateAccessTokenOption{Name: fmt.Sprintf("token-%d", tokens.Add(1)), Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	return token.Token
}
