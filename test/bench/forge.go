package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/forge/gitea"
	"coppice/store"
	"coppice/store/sqlite"
)

const (
	forgePulls  = 200
	forgePasses = 15 // that are measured
	forgeHooks  = 30
	forgeEvery  = coppice.MinForgeInterval
	// forgeHot is how long requests are hot at first, so that some passes read each
	// request again.
	forgeHot = 15 * time.Second
	// forgeFull is how often in an hour a pass reads each request: see the engine.
	forgeFull  = 2
	hookSecret = "a-secret-of-webhooks"
)

// forgeBench is a server whose project has open pull requests on a fake forge.
type forgeBench struct {
	*bench
	forge *fakeForge
	hooks string // where webhooks arrive
}

// forgeConfig is a coppice.yaml whose agents never start: a paused project shows
// only what the forge costs.
const forgeConfig = `trust: unsandboxed
land: {how: pr}
forge: {kind: gitea, every: %s, webhook: FORGE_WEBHOOK}
`

// forgeUser is the user's configuration.
const forgeUser = `secrets:
  GITEA_TOKEN: {env: BENCH_TOKEN}
  FORGE_WEBHOOK: {env: BENCH_WEBHOOK}
webhooks: {listen: %q}
`

func (l *lab) forgeBench(ctx context.Context) (_ *forgeBench, err error) {
	b := &forgeBench{bench: &bench{lab: l}}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	every, _ := forgeEvery.MarshalText() // it never fails
	if b.repo, err = l.repository(ctx, 20, l.probing("", 1)+fmt.Sprintf(forgeConfig, every)); err != nil {
		return nil, err
	}
	tip, err := l.output(ctx, b.repo, "git", "rev-parse", "main")
	if err != nil {
		return nil, err
	}
	if b.forge, err = l.fakeForge(tip, forgePulls); err != nil {
		return nil, err
	}
	if err := l.run(ctx, b.repo, "git", "remote", "add", "origin", b.forge.url()); err != nil {
		return nil, err
	}
	env, address, err := l.forgeEnv()
	if err != nil {
		return nil, err
	}
	defer func(before []string) { l.env = before }(l.env)
	l.env = env
	state, err := l.state()
	if err != nil {
		return nil, err
	}
	if b.server, err = l.serve(ctx, state); err != nil {
		return nil, err
	}
	p, err := b.client.AddProject(ctx, b.repo)
	if err == nil {
		b.project, b.hooks = p.Prefix, "http://"+address+"/hooks/"+p.Prefix
		_, err = b.client.Pause(ctx, p.Prefix, "", true)
	}
	b.server.stop()
	if b.server = nil; err != nil {
		return nil, err
	}
	if err := b.seed(ctx, &past{state: state}); err != nil {
		return nil, err
	}
	if b.server, err = l.serve(ctx, state); err != nil {
		return nil, err
	}
	b.log = b.watch(ctx, 0)
	return b, nil
}

// forgeEnv writes the user's configuration. It returns the environment of the server,
// and the address at which it receives webhooks.
func (l *lab) forgeEnv() (env []string, address string, err error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	address = free.Addr().String()
	user := filepath.Join(l.disk, l.name("user"))
	err = errors.Join(free.Close(), os.MkdirAll(filepath.Join(user, "coppice"), 0o700))
	if err == nil {
		err = os.WriteFile(filepath.Join(user, "coppice", "config.yaml"), fmt.Appendf(nil, forgeUser, address), 0o600)
	}
	return []string{"XDG_CONFIG_HOME=" + user, "BENCH_TOKEN=a-token-of-the-forge", "BENCH_WEBHOOK=" + hookSecret}, address, err
}

func (b *forgeBench) close() {
	b.bench.close()
	if b.forge != nil {
		b.forge.close()
	}
}

// seed writes a task for each request, as if Coppice had read the forge just now.
func (b *forgeBench) seed(ctx context.Context, p *past) error {
	f, err := gitea.Open(forge.Remote{Kind: "gitea", API: "http://" + b.forge.addr + "/api/v1/", Owner: "team", Name: "app"}, forge.Options{})
	if err != nil {
		return err
	}
	reads := make([]coppice.PullRead, forgePulls)
	for i := range reads {
		if reads[i], err = f.Read(ctx, i+1); err != nil {
			return err
		}
	}
	return p.write(ctx, func(s *sqlite.Store) error {
		return s.Update(ctx, func(tx store.Tx) error {
			all, err := tx.Projects.All()
			if err != nil {
				return err
			}
			p.project = all[0]
			now := time.Now().UTC()
			for _, r := range reads {
				if err := p.pull(tx, now, b.forge.tip, forge.Clip(r)); err != nil {
					return err
				}
			}
			row := coppice.ForgeRow{ProjectID: p.project.ID, NextAt: now}
			row.ReadAt, row.FullAt, row.Tip = now, now, b.forge.tip
			about := coppice.ForgeSubject(p.project.ID)
			return errors.Join(tx.Projects.Put(&p.project), tx.Forges.Put(row),
				tx.Log.Append(&coppice.Event{At: now, Kind: coppice.EventForgeAsked, ProjectID: p.project.ID, About: about, Subject: p.project.Prefix}))
		})
	})
}

// pull adds a task that waits for its request.
func (p *past) pull(tx store.Tx, at time.Time, tip string, r coppice.PullRead) error {
	p.project.LastTask++
	t := coppice.Task{
		ProjectID: p.project.ID, Num: p.project.LastTask, Key: coppice.TaskKey(p.project.Prefix, p.project.LastTask), Title: "Leave a file",
		Track: "main", Agent: "probe", CreatedAt: at, Stage: coppice.StagePull, StageAt: at, Sessions: 1,
	}
	t.Pull, t.Branch = true, r.Branch
	if err := tx.Tasks.Put(&t); err != nil {
		return err
	}
	x := coppice.Session{
		ProjectID: t.ProjectID, TaskID: t.ID, N: 1, Key: t.Key + ".1", Role: coppice.RoleImplement, Agent: "probe", Track: "main", State: coppice.SessionDone,
		CreatedAt: at, StartedAt: at, EndedAt: at, Prompt: "Do what is to be done.", Summary: "done", Head: r.Head,
	}
	if err := tx.Sessions.Put(&x); err != nil {
		return err
	}
	land := coppice.Landing{ProjectID: t.ProjectID, TaskID: t.ID, SessionID: x.ID, Head: r.Head, CreatedAt: at}
	land.Candidate = coppice.Candidate{Base: tip, Tree: r.Head, Commit: r.Head, Green: true, Rules: p.project.Policy.Land.Ask.Mark(), CreatedAt: at}
	pull := coppice.Pull{ProjectID: t.ProjectID, TaskID: t.ID, Number: r.Number, HotUntil: at.Add(forgeHot)}
	pull.PullDetails = coppice.PullDetails{URL: r.URL, Branch: r.Branch, Base: r.Base, CreatedAt: at, Adopted: true, Pushed: r.Head, Report: r}
	return errors.Join(tx.Landings.Put(&land), tx.Pulls.Put(&pull),
		tx.Log.Append(&coppice.Event{At: at, Kind: coppice.EventTaskCreated, ProjectID: t.ProjectID, TaskID: t.ID, Subject: t.Key}))
}

// forgeRows measures what it costs to follow many open pull requests.
func forgeRows(ctx context.Context, l *lab) ([]row, error) {
	b, err := l.forgeBench(ctx)
	if err != nil {
		return nil, err
	}
	defer b.close()
	asked, used, err := b.hour(ctx)
	if err != nil {
		return nil, err
	}
	scaled := fmt.Sprintf("in an hour, scaled from %d passes", forgePasses)
	rows := []row{
		{Figure: fmt.Sprintf("%d open pull requests, requests %s", forgePulls, scaled), Ours: asked, Unit: "requests", N: forgePasses},
		{Figure: fmt.Sprintf("%d open pull requests, CPU of the server %s", forgePulls, scaled), Ours: used, Unit: "s", N: forgePasses},
	}
	for i := range rows {
		rows[i] = rows[i].judge(goal{})
	}
	took, err := b.messages(ctx)
	return append(rows, row{
		Figure: fmt.Sprintf("webhook → message for the agent, %d open pull requests, p99", forgePulls), Ours: took.p99(), Beside: "median", Baseline: took.median(),
		Unit: "ms", N: len(took), Samples: map[string]samples{"ours": took},
	}.judge(goal{valueMost, 200})), err
}

// hour returns the requests, and the seconds of processor time, of an hour at the
// default interval. Most passes read only what has changed, which is nothing.
func (b *forgeBench) hour(ctx context.Context) (asked, used float64, err error) {
	var each [2]struct{ asked, used samples } // a pass that reads what has changed; one that reads each request
	lastAsked, lastUsed := int64(0), time.Duration(0)
	for i := range 1 + forgePasses {
		if _, err := b.log.wait(ctx, coppice.EventForgeRead, 1); err != nil {
			return 0, 0, err
		}
		n := b.forge.asked.Load()
		cpu, err := cpuOf(b.cmd.Process.Pid)
		if err != nil {
			return 0, 0, err
		}
		kind := 0
		if n-lastAsked > forgePulls {
			kind = 1
		}
		if i > 0 { // the first pass has no answers that it could keep
			each[kind].asked = append(each[kind].asked, float64(n-lastAsked))
			each[kind].used = append(each[kind].used, (cpu - lastUsed).Seconds())
		}
		lastAsked, lastUsed = n, cpu
	}
	if len(each[0].asked) == 0 || len(each[1].asked) == 0 {
		return 0, 0, fmt.Errorf("%d of %d passes read each request", len(each[1].asked), forgePasses)
	}
	passes := float64(time.Hour/coppice.DefaultForgeInterval.D() - forgeFull)
	return passes*each[0].asked.mean() + forgeFull*each[1].asked.mean(), passes*each[0].used.mean() + forgeFull*each[1].used.mean(), nil
}

// messages measures from a webhook about a failure of CI to the event that stores the
// message for the agent. What follows is the start of an agent, which other rows
// measure. Webhooks arrive slowly enough for each to start a pass at once.
func (b *forgeBench) messages(ctx context.Context) (took samples, err error) {
	for n := 1; n <= forgeHooks; n++ {
		if err := rest(ctx, forgeEvery.D()+200*time.Millisecond); err != nil {
			return nil, err
		}
		b.forge.status(n, "failure")
		began := time.Now()
		if err := b.forge.webhook(ctx, b.hooks, hookSecret, n); err != nil {
			return nil, err
		}
		e, err := b.log.wait(ctx, coppice.EventReaction, 1)
		if err != nil {
			return nil, err
		}
		if want := coppice.TaskKey(b.project, n); e.Subject != want {
			return nil, fmt.Errorf("a message for %s follows a webhook about %s", e.Subject, want)
		}
		took = append(took, millis(time.Since(began)))
	}
	return took, nil
}
