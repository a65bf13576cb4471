// Package forge is the contract with services that host pull requests: GitHub,
// GitLab, Gitea and Forgejo. Implementations are in the directories below it, and
// package forgetest has the suite that each of them passes.
//
// Write and Read carry out the work of the engine on any forge:
//
//	remote, err := forge.Detect(address, spec.Forge)
//	f, err := openers[remote.Kind](remote, forge.Options{Token: token})
//	result, err := forge.Write(ctx, f, spec)
//
// Client is the HTTP client of all implementations.
package forge

import (
	"context"
	"net/http"
	"time"

	"coppice"
)

// Forge is one repository on a forge. All methods are safe for concurrent use. They
// return promptly when ctx ends.
//
// A method fails with a *coppice.Failure that says what a person can do: ClassAuth
// for a token that is missing, wrong or lacks a permission, ClassRateLimit with
// RetryAt when the forge asks to wait, ClassEnvironment if the forge cannot be
// reached or answers with an error. What does not exist fails with a
// *coppice.Error of code not_found.
//
// Texts that a method returns are as the forge has them. The caller masks secrets
// and limits their length.
type Forge interface {
	// Recent returns the pull requests that changed last, newest first: open and
	// ended ones, at most 100.
	Recent(ctx context.Context) ([]Brief, error)
	// Read returns a pull request with its reviews, comments, labels, and the result
	// of CI for its head. Failed checks have the end of their log where the forge
	// offers it.
	Read(ctx context.Context, number int) (coppice.PullRead, error)
	// Find returns the newest pull request of a branch of this repository, open or
	// not. It fails with code not_found.
	Find(ctx context.Context, branch string) (Brief, error)
	// Tip returns the commit of a branch.
	Tip(ctx context.Context, branch string) (string, error)

	// Create opens a pull request. Its labels and reviewers are part of the text. If
	// the repository does not allow drafts, the request is not a draft. It fails with
	// code conflict if the branch has an open request already.
	Create(ctx context.Context, text coppice.PullText) (Brief, error)
	// Update makes an open pull request look like text: title, body, base, draft or
	// not, further labels, reviewers. It writes only what differs.
	Update(ctx context.Context, number int, text coppice.PullText) error
	// Merge merges a pull request whose head is Head. It returns a *Refused with the
	// forge's text if its rules do not allow that now, or the head is another one.
	// With Auto, it may return an empty commit: the forge merges it later.
	Merge(ctx context.Context, number int, m Merge) (commit string, err error)
	// Comment adds a comment to a pull request.
	Comment(ctx context.Context, number int, text string) error
	// Resolve marks a discussion as resolved. A forge without that does nothing.
	Resolve(ctx context.Context, number int, thread string) error
	// Close closes a pull request without merging it.
	Close(ctx context.Context, number int) error
}

// Brief is an entry of a list of pull requests.
type Brief struct {
	Number    int
	URL       string
	State     coppice.PullState
	Branch    string
	Head      string
	Body      string
	UpdatedAt time.Time
}

// Merge says how to merge a pull request.
type Merge struct {
	Head    string // the commit that is merged; any other is refused
	Method  string // one of coppice.PullMerges
	Title   string // of the commit, for a squash or a merge; empty for the forge's own
	Message string
	Auto    bool // leave it to the forge's auto-merge or merge queue
}

// Refused is the error of a forge whose rules do not allow a merge now.
type Refused struct{ Text string }

func (e *Refused) Error() string { return e.Text }

// Options connect to a forge.
type Options struct {
	// Token returns the secret. It is called for each request, so that a token that
	// changes is used. An empty token means none.
	Token func(context.Context) (string, error)
	// Transport sends the requests. Nil means one that all forges of the process share:
	// a Conditional one that respects the proxies of the environment and
	// SSL_CERT_FILE.
	Transport http.RoundTripper
	// Wait pauses between two questions to a forge that is still computing. Nil means
	// a timer.
	Wait func(context.Context, time.Duration) error
	Now  func() time.Time
	Key  string // of coppice.yaml, which has the address and the token; empty means forge
}

// Remote is the address of a repository on a forge.
type Remote struct {
	Kind  string // the name of a coppice.ForgeKind
	API   string // the base address of the API, such as https://api.github.com/
	Owner string // the owner; of GitLab, all groups: a/b
	Name  string
}

// Opener connects to a repository on one kind of forge.
type Opener func(Remote, Options) (Forge, error)

// Pause waits as Options says. It fails when ctx ends.
func (o Options) Pause(ctx context.Context, d time.Duration) error {
	if o.Wait != nil {
		return o.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
