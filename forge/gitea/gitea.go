// Package gitea is the forge Gitea. Forgejo has the same API.
//
// Gitea has no drafts: a request whose title starts with "WIP:" is one. It tests in
// the background whether a request merges, and does not say that the test is not
// finished. So this package asks again for some seconds before it reports conflicts.
package gitea

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"coppice"
	"coppice/forge"
)

const (
	pageSize  = 50 // the most that Gitea returns by default
	mostPages = 20 // of a list that is searched

	draftPrefix = "WIP: "
)

// pauses are how long to wait for a test of Gitea's, each time: 10 seconds in all. A
// busy Gitea needs several, and to report conflicts too early costs a session.
var pauses = []time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second, 4 * time.Second,
}

// Forge is a repository on a Gitea.
type Forge struct {
	remote  forge.Remote
	options forge.Options
	address string // of Gitea, without the path of its API
	http    *http.Client
	now     func() time.Time

	mu        sync.Mutex
	self      login
	writers   map[string]access   // by login
	conflicts map[int64][2]string // by number: the head and base that do not merge
	labelling sync.Mutex          // Gitea would create a label twice
}

// login is the account of the token.
type login struct {
	login string
	at    time.Time
}

// access is whether somebody can write to the repository.
type access struct {
	writes bool
	at     time.Time
}

var _ forge.Opener = Open

// Open connects to a repository on a Gitea or Forgejo.
func Open(r forge.Remote, o forge.Options) (forge.Forge, error) {
	client, err := forge.Client(r, o)
	if err != nil {
		return nil, err
	}
	f := &Forge{
		remote: r, options: o, http: client, now: o.Now, address: strings.TrimSuffix(r.API, "api/v1/"),
		writers: map[string]access{}, conflicts: map[int64][2]string{},
	}
	if f.now == nil {
		f.now = time.Now
	}
	return f, nil
}

// api returns a client for the calls of one method. The library has one context for
// each client. It does not ask for the version of the server.
func (f *Forge) api(ctx context.Context) (*sdk.Client, error) {
	return sdk.NewClient(f.address, sdk.SetHTTPClient(f.http), sdk.SetContext(ctx), sdk.SetGiteaVersion(""))
}

// Recent implements forge.Forge.
func (f *Forge) Recent(ctx context.Context) ([]forge.Brief, error) {
	var list []forge.Brief
	err := f.eachPull(ctx, "recentupdate", 100/pageSize, func(p *sdk.PullRequest) bool {
		list = append(list, f.brief(p))
		return true
	})
	return list, err
}

// Find implements forge.Forge. Gitea cannot search by branch. It lists the newest
// request first.
func (f *Forge) Find(ctx context.Context, branch string) (forge.Brief, error) {
	var found *sdk.PullRequest
	err := f.eachPull(ctx, "", mostPages, func(p *sdk.PullRequest) bool {
		if !foreign(p) && branchOf(p) == branch {
			found = p
		}
		return found == nil
	})
	if err != nil {
		return forge.Brief{}, err
	}
	if found == nil {
		return forge.Brief{}, coppice.Errorf(coppice.ENotFound, "the branch %s has no pull request", coppice.Quote(branch))
	}
	api, err := f.api(ctx)
	if err == nil {
		err = f.mergedHead(api, found)
	}
	return f.brief(found), forge.Cause(err)
}

// eachPull calls visit for each request, until it returns false.
func (f *Forge) eachPull(ctx context.Context, sort string, pages int, visit func(*sdk.PullRequest) bool) error {
	api, err := f.api(ctx)
	if err != nil {
		return forge.Cause(err)
	}
	return eachPage(pages, func(o sdk.ListOptions) (int, bool, error) {
		list, _, err := api.ListRepoPullRequests(f.remote.Owner, f.remote.Name, sdk.ListPullRequestsOptions{ListOptions: o, State: sdk.StateAll, Sort: sort})
		for _, p := range list {
			if err == nil && p != nil && !visit(p) {
				return 0, false, nil
			}
		}
		return len(list), true, err
	})
}

// eachPage calls next for each page of a list. It ends with a page that is not full,
// or when next says so.
func eachPage(most int, next func(sdk.ListOptions) (n int, more bool, err error)) error {
	full := pageSize
	for page := 1; page <= most; page++ {
		n, more, err := next(sdk.ListOptions{Page: page, PageSize: pageSize})
		if err != nil {
			return forge.Cause(err)
		}
		if page == 1 && n > 0 {
			full = min(full, n) // the server can have smaller pages
		}
		if !more || n < full || n == 0 {
			return nil
		}
	}
	return nil
}

// Tip implements forge.Forge.
func (f *Forge) Tip(ctx context.Context, branch string) (string, error) {
	api, err := f.api(ctx)
	if err != nil {
		return "", forge.Cause(err)
	}
	b, _, err := api.GetRepoBranch(f.remote.Owner, f.remote.Name, branch)
	switch {
	case err != nil:
		return "", forge.Cause(err)
	case b.Commit == nil:
		return "", coppice.Errorf(coppice.ENotFound, "the branch %s has no commit", coppice.Quote(branch))
	}
	return b.Commit.ID, nil
}

func (f *Forge) brief(p *sdk.PullRequest) forge.Brief {
	return forge.Brief{
		Number: int(p.Index), URL: p.HTMLURL, State: stateOf(p), Branch: branchOf(p), Head: headOf(p), Body: p.Body, UpdatedAt: timeOf(p.Updated),
	}
}

func stateOf(p *sdk.PullRequest) coppice.PullState {
	switch {
	case p.HasMerged:
		return coppice.PullMerged
	case p.State == sdk.StateClosed:
		return coppice.PullClosed
	}
	return coppice.PullOpen
}

// branchOf returns the name of the branch also after the branch was deleted.
func branchOf(p *sdk.PullRequest) string {
	if p.Head == nil {
		return ""
	}
	return p.Head.Name
}

func headOf(p *sdk.PullRequest) string {
	if p.Head == nil {
		return ""
	}
	return p.Head.Sha
}

// mergedHead sets the head of a merged request to the commit that was merged. Gitea says
// where its branch is now, which can have later commits.
func (f *Forge) mergedHead(api *sdk.Client, p *sdk.PullRequest) error {
	if stateOf(p) != coppice.PullMerged || p.Head == nil {
		return nil
	}
	name := fmt.Sprintf("refs/pull/%d/head", p.Index)
	refs, _, err := api.GetRepoRefs(f.remote.Owner, f.remote.Name, name)
	for _, r := range refs {
		if r != nil && r.Object != nil && r.Ref == name {
			p.Head.Sha = r.Object.SHA
		}
	}
	if coppice.ErrorCode(forge.Cause(err)) == coppice.ENotFound {
		return nil
	}
	return err
}

func foreign(p *sdk.PullRequest) bool {
	return p.Head == nil || p.Base == nil || p.Head.RepoID != p.Base.RepoID
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func loginOf(u *sdk.User) string {
	if u == nil {
		return ""
	}
	return u.UserName
}

// bare returns a title without the marks of a draft.
func bare(title string) string {
	for {
		title = strings.TrimSpace(title)
		upper, before := strings.ToUpper(title), title
		for _, prefix := range []string{"WIP:", "[WIP]"} {
			if strings.HasPrefix(upper, prefix) {
				title = title[len(prefix):]
				break
			}
		}
		if title == before {
			return title
		}
	}
}
