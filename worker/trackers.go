package worker

import (
	"cmp"
	"context"
	"sync"

	"coppice"
	"coppice/forge"
)

// TrackerClients carries out work on trackers. It finds a source of issues by its
// entry in the configuration and the project's forge, and keeps one client for each.
type TrackerClients struct {
	Kinds  map[string]forge.TrackerOpener // by the name of a coppice.TrackerKind
	Forges *ForgeClients                  // its Address, Secret, Mask, Transport and Now

	mu   sync.Mutex
	open map[clientKey]forge.Tracker
}

// Read implements Trackers.
func (c *TrackerClients) Read(ctx context.Context, s coppice.TrackerReadSpec) (coppice.TrackerReadResult, error) {
	t, err := c.For(ctx, s.TrackerSpec)
	if err != nil {
		return coppice.TrackerReadResult{}, err
	}
	return forge.ReadIssues(ctx, t, s)
}

// Write implements Trackers.
func (c *TrackerClients) Write(ctx context.Context, s coppice.TrackerWriteSpec) (coppice.TrackerWriteResult, error) {
	t, err := c.For(ctx, s.TrackerSpec)
	if err != nil {
		return coppice.TrackerWriteResult{}, err
	}
	return forge.WriteIssue(ctx, t, s)
}

// Ready returns an error, with a fix, if nobody can know where the issues are, or there
// is no token for them.
func (c *TrackerClients) Ready(ctx context.Context, s coppice.TrackerSpec) error {
	key, err := c.key(ctx, s)
	if err != nil {
		return coppice.FailedRequest(err)
	}
	token, err := c.Forges.Secret(ctx, key.token)
	if err == nil && token == "" {
		err = coppice.Errorf(coppice.EInvalid, "the secret %s is empty", key.token).WithFix("store the token of the tracker: coppice secret set %s", key.token)
	}
	return coppice.FailedRequest(err)
}

// ReadIssue reads an issue for a person who waits for it.
func (c *TrackerClients) ReadIssue(ctx context.Context, s coppice.TrackerSpec, id string) (coppice.IssueRead, error) {
	t, err := c.For(ctx, s)
	if err != nil {
		return coppice.IssueRead{}, coppice.FailedRequest(err)
	}
	r, err := t.Issue(ctx, id)
	return forge.ClipIssue(r), coppice.FailedRequest(err)
}

// key returns where a source is, and the name of its token.
func (c *TrackerClients) key(ctx context.Context, s coppice.TrackerSpec) (clientKey, error) {
	address, err := c.Forges.Address(ctx, s.Repo, s.Remote)
	if err != nil && (ctx.Err() != nil || s.Tracker.Kind == "" || s.Tracker.Kind == "auto") {
		return clientKey{}, err
	}
	// A tracker that is not on the project's forge needs no remote.
	remote, ofForge, err := forge.DetectTracker(address, s.Forge, s.Tracker)
	if err != nil {
		return clientKey{}, err
	}
	token := s.Tracker.Token
	if ofForge {
		token = cmp.Or(token, s.Forge.Token)
	}
	for _, k := range coppice.TrackerKinds {
		if k.Name == remote.Kind {
			token = cmp.Or(token, k.Token)
		}
	}
	return clientKey{remote, token}, nil
}

// For returns a source of issues.
func (c *TrackerClients) For(ctx context.Context, s coppice.TrackerSpec) (forge.Tracker, error) {
	key, err := c.key(ctx, s)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.open[key]; t != nil {
		return t, nil
	}
	opener := c.Kinds[key.Kind]
	if opener == nil {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not a kind of tracker", coppice.Quote(key.Kind)).WithField("tracker.kind")
	}
	t, err := opener(key.Remote, forge.Options{
		Token:     func(ctx context.Context) (string, error) { return c.Forges.Secret(ctx, key.token) },
		Transport: c.Forges.Transport, Now: c.Forges.Now, Key: "tracker",
	})
	if err != nil {
		return nil, err
	}
	if c.open == nil || len(c.open) > mostClients {
		c.open = map[clientKey]forge.Tracker{}
	}
	if c.Forges.Mask != nil {
		t = forge.MaskedTracker(t, c.Forges.Mask)
	}
	c.open[key] = t
	return t, nil
}
