package webhooks

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/store"
)

const (
	// targetKept is how long the secret and the address of a project's forge are kept.
	// Resolving a secret can start a command, and anybody can send requests.
	targetKept = 10 * time.Second
	// warnEvery limits the lines of the log about refused webhooks of a project.
	warnEvery   = time.Minute
	mostTargets = 1000
)

// target is a project that receives webhooks.
type target struct {
	project int64 // 0 for one that does not exist
	prefix  string
	remote  forge.Remote
	secret  string
}

// targets finds the projects that receive webhooks.
type targets struct {
	cfg   Config
	decoy target // checked instead of a project that does not exist, so that it takes as long

	mu     sync.Mutex
	kept   map[int64]*keptTarget // by project
	warned map[int64]time.Time
}

type keptTarget struct {
	mu sync.Mutex
	target
	until time.Time
}

func newTargets(c Config) targets {
	return targets{
		cfg: c, decoy: target{remote: forge.Remote{Kind: "github"}, secret: rand.Text()},
		kept: map[int64]*keptTarget{}, warned: map[int64]time.Time{},
	}
}

// find returns the project of a prefix, with its secret.
func (t *targets) find(ctx context.Context, prefix string) (target, error) {
	var p coppice.Project
	err := t.cfg.Store.View(ctx, func(r store.Reader) (err error) {
		p, err = r.Projects.ByPrefix(prefix)
		return err
	})
	if coppice.ErrorCode(err) == coppice.ENotFound || err == nil && (p.Policy.Forge.Webhook == "" || p.Removal != nil) {
		return t.decoy, nil
	}
	if err != nil {
		return target{}, err
	}
	return t.resolve(ctx, p), nil
}

// resolve returns the secret of a project, and the address of its forge. If one cannot
// be found, every signature is wrong.
func (t *targets) resolve(ctx context.Context, p coppice.Project) target {
	t.mu.Lock()
	k := t.kept[p.ID]
	if k == nil {
		if len(t.kept) >= mostTargets {
			clear(t.kept)
			clear(t.warned)
		}
		k = &keptTarget{}
		t.kept[p.ID] = k
	}
	t.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	now := t.cfg.Now()
	if now.Before(k.until) && !now.Before(k.until.Add(-targetKept)) {
		return k.target
	}
	k.target = target{project: p.ID, prefix: p.Prefix, remote: t.decoy.remote}
	remote, err := t.cfg.Remote(ctx, coppice.ForgeSpec{Repo: p.Path, RepoID: p.ID, Remote: p.Policy.Land.Remote, Forge: p.Policy.Forge})
	if err == nil {
		k.remote = remote
		k.secret, err = t.cfg.Secret(ctx, p.Policy.Forge.Webhook)
	}
	if ctx.Err() != nil {
		return k.target // the forge did not wait; nothing is kept
	}
	if err != nil {
		t.warn(k.target, now, "they cannot be checked: "+err.Error())
	}
	k.until = now.Add(targetKept)
	return k.target
}

// warn logs why webhooks of a project are refused. Anybody can send them, so it logs
// few lines.
func (t *targets) warn(to target, now time.Time, why string) {
	if to.project == 0 {
		return
	}
	t.mu.Lock()
	last, known := t.warned[to.project]
	quiet := known && now.Sub(last) < warnEvery && !now.Before(last)
	if !quiet {
		t.warned[to.project] = now
	}
	t.mu.Unlock()
	if !quiet {
		t.cfg.Log.Warn("webhooks of a project are refused", "project", to.prefix, "reason", why)
	}
}
