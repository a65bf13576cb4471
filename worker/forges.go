package worker

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"coppice"
	"coppice/forge"
)

// ForgeClients carries out work on forges. It finds the forge of a project by the
// address of its remote, and keeps one client for each.
type ForgeClients struct {
	Kinds map[string]forge.Opener // by the name of a coppice.ForgeKind
	// Address returns the address of a remote of a repository.
	Address func(ctx context.Context, repo, remote string) (string, error)
	// Secret resolves a secret by its name, and makes sure that its value is masked.
	Secret    func(ctx context.Context, name string) (string, error)
	Mask      func(string) string // masks the secrets in what forges report; nil if nothing has to be masked
	Transport http.RoundTripper   // nil for the default; see forge.Options
	Now       func() time.Time

	mu   sync.Mutex
	open map[clientKey]forge.Forge
}

type clientKey struct {
	forge.Remote
	token string // the name of its secret
}

// Read implements Forges.
func (c *ForgeClients) Read(ctx context.Context, s coppice.ForgeReadSpec) (coppice.ForgeReadResult, error) {
	f, err := c.For(ctx, s.ForgeSpec)
	if err != nil {
		return coppice.ForgeReadResult{}, err
	}
	return forge.Read(ctx, f, s)
}

// Write implements Forges.
func (c *ForgeClients) Write(ctx context.Context, s coppice.ForgeWriteSpec) (coppice.ForgeWriteResult, error) {
	f, err := c.For(ctx, s.ForgeSpec)
	if err != nil {
		return coppice.ForgeWriteResult{}, err
	}
	return forge.Write(ctx, f, s)
}

// Ready returns an error, with a fix, if the project's remote is not on a forge, or
// there is no token for it.
func (c *ForgeClients) Ready(ctx context.Context, s coppice.ForgeSpec) error {
	remote, err := c.Remote(ctx, s)
	if err != nil {
		return coppice.FailedRequest(err)
	}
	name := cmp.Or(s.Forge.Token, defaultToken(remote.Kind))
	token, err := c.Secret(ctx, name)
	if err == nil && token == "" {
		err = coppice.Errorf(coppice.EInvalid, "the secret %s is empty", name).WithFix("store the token of the forge: coppice secret set %s", name)
	}
	return coppice.FailedRequest(err)
}

// ReadPull reads a pull request for a person who waits for it.
func (c *ForgeClients) ReadPull(ctx context.Context, s coppice.ForgeSpec, number int) (coppice.PullRead, error) {
	f, err := c.For(ctx, s)
	if err != nil {
		return coppice.PullRead{}, coppice.FailedRequest(err)
	}
	r, err := f.Read(ctx, number)
	return forge.Clip(r), coppice.FailedRequest(err)
}

// Remote returns where a project's repository is on its forge.
func (c *ForgeClients) Remote(ctx context.Context, s coppice.ForgeSpec) (forge.Remote, error) {
	address, err := c.Address(ctx, s.Repo, s.Remote)
	if err != nil {
		return forge.Remote{}, err
	}
	return forge.Detect(address, s.Forge)
}

// For returns the forge of a project.
func (c *ForgeClients) For(ctx context.Context, s coppice.ForgeSpec) (forge.Forge, error) {
	remote, err := c.Remote(ctx, s)
	if err != nil {
		return nil, err
	}
	key := clientKey{remote, cmp.Or(s.Forge.Token, defaultToken(remote.Kind))}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.open[key]; f != nil {
		return f, nil
	}
	opener := c.Kinds[remote.Kind]
	if opener == nil {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not a kind of forge", coppice.Quote(remote.Kind)).WithField("forge.kind")
	}
	f, err := opener(remote, forge.Options{
		Token:     func(ctx context.Context) (string, error) { return c.Secret(ctx, key.token) },
		Transport: c.Transport, Now: c.Now,
	})
	if err != nil {
		return nil, err
	}
	if c.open == nil || len(c.open) > mostClients {
		c.open = map[clientKey]forge.Forge{}
	}
	if c.Mask != nil {
		f = forge.Masked(f, c.Mask)
	}
	c.open[key] = f
	return f, nil
}

// mostClients limits the clients that are kept.
const mostClients = 100

// defaultToken returns the name of the secret of a kind of forge.
func defaultToken(kind string) string {
	for _, k := range coppice.ForgeKinds {
		if k.Name == kind {
			return k.Token
		}
	}
	return ""
}

// noForges refuses work on forges where a worker has none.
type noForges struct{}

func (noForges) Read(context.Context, coppice.ForgeReadSpec) (coppice.ForgeReadResult, error) {
	return coppice.ForgeReadResult{}, errNoForges
}

func (noForges) Write(context.Context, coppice.ForgeWriteSpec) (coppice.ForgeWriteResult, error) {
	return coppice.ForgeWriteResult{}, errNoForges
}

// noTrackers refuses work on trackers where a worker has none.
type noTrackers struct{}

func (noTrackers) Read(context.Context, coppice.TrackerReadSpec) (coppice.TrackerReadResult, error) {
	return coppice.TrackerReadResult{}, errNoForges
}

func (noTrackers) Write(context.Context, coppice.TrackerWriteSpec) (coppice.TrackerWriteResult, error) {
	return coppice.TrackerWriteResult{}, errNoForges
}

// noNotifier refuses to send notifications where a worker cannot.
type noNotifier struct{}

func (noNotifier) Send(context.Context, coppice.NotifySpec) (coppice.NotifyResult, error) {
	return coppice.NotifyResult{}, coppice.Failf(coppice.ClassCapability, "this worker cannot send notifications", "")
}

var errNoForges = coppice.Failf(coppice.ClassCapability, "this worker cannot reach forges", "")
