// Package server connects the parts of the control process: the store, the
// engine, the fabric, a worker, the HTTP server and the backups. The command
// `coppice serve` and the tests start the same Server.
package server

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"coppice"
	"coppice/agent/profiles"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/cmd/coppice/protocols"
	"coppice/config"
	"coppice/control"
	"coppice/control/agents"
	"coppice/control/answerlink"
	"coppice/control/checkout"
	"coppice/control/levels"
	"coppice/control/review"
	"coppice/control/tools"
	"coppice/control/webhooks"
	"coppice/engine"
	"coppice/fabric/local"
	"coppice/host"
	"coppice/ingest"
	"coppice/internal/clock"
	"coppice/internal/environ"
	"coppice/internal/redact"
	"coppice/internal/smallmodel"
	"coppice/internal/startstop"
	"coppice/store/sqlite"
	"coppice/web"
	"coppice/worker"
	"coppice/workspace"
	"coppice/workspace/git"
)

// Config configures a Server. State and Self are required. Every other zero
// value is a good default.
type Config struct {
	State  string // the state directory
	Self   string // path of the coppice program, which also runs hosts
	Listen string // host:port on loopback
	// ListenFrom is the source of Listen for people: environment, default or a
	// file; empty means the flag.
	ListenFrom string
	Names      []string // other host names of the server
	Version    string
	Environ    []string // Coppice's own environment
	Logger     *slog.Logger
	Redact     *redact.Redactor // hides secrets; its values grow as secrets are resolved
	Now        func() time.Time

	MaxSessions int           // of all projects together; 0 for no limit
	KeepEvents  int           // how many events the log keeps; 200,000 when 0
	KeepFor     time.Duration // and for how long; 90 days when 0
	Backups     int           // how many automatic backups are kept; 7 when 0
	BackupEvery time.Duration // 6 hours when 0
	// LandingPause is the first pause before a blocked landing is retried
	// although nothing changed. It doubles up to a minute. 2 seconds when 0.
	LandingPause time.Duration
}

// Defaults.
const (
	DefaultListen      = "127.0.0.1:4040" // of `coppice serve`
	defaultKeepEvents  = 200_000
	defaultKeepFor     = 90 * 24 * time.Hour
	defaultBackups     = 7
	defaultBackupEvery = 6 * time.Hour
)

// Database is the name of the database in the state directory.
const Database = "coppice.db"

// Server is the control process. Start it one time. Stop leaves sessions
// running.
type Server struct {
	cfg      Config
	profiles profiles.Set
	prices   *config.Prices

	set       *startstop.Set
	store     *sqlite.Store
	spaces    *workspace.Workspaces
	work      *worker.Worker
	terminals control.Terminals
	hooks     latest[coppice.Hooks]
	notify    latest[coppice.NotifyPolicy]
	looking   latest[time.Time] // until when a person looks at the dashboard
	templates control.Templates
	live      *ingest.Live
	http      *apihttp.Server
	index     *sqlite.Index // nil if it cannot be opened
	look      *agents.Cache
	tools     *tools.Server
	endTools  context.CancelFunc // ends the sessions of people's MCP clients; nil before Start
	forges    *worker.ForgeClients
	trackers  *worker.TrackerClients
	webhooks  *webhooks.Server // nil if none are received
	answers   *answerlink.Pages
}

// New checks the config.
func New(c Config) (*Server, error) {
	if c.State == "" || c.Self == "" {
		return nil, errors.New("server: State and Self are required")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Redact == nil {
		c.Redact = redact.New()
	}
	for _, d := range []struct {
		at *int
		to int
	}{{&c.KeepEvents, defaultKeepEvents}, {&c.Backups, defaultBackups}} {
		if *d.at == 0 {
			*d.at = d.to
		}
	}
	if c.KeepFor == 0 {
		c.KeepFor = defaultKeepFor
	}
	if c.BackupEvery == 0 {
		c.BackupEvery = defaultBackupEvery
	}
	set, err := profiles.Load()
	if err != nil {
		return nil, err
	}
	return &Server{cfg: c, profiles: set, prices: &config.Prices{Environ: c.Environ, Logger: c.Logger}}, nil
}

// URL returns the address of a started server.
func (s *Server) URL() string { return s.http.URL() }

// Start opens the state and starts everything. If something fails, everything
// that was started is stopped again.
func (s *Server) Start(ctx context.Context) (err error) {
	if err := privateDir(s.cfg.State); err != nil {
		return err
	}
	s.store, err = sqlite.Open(ctx, sqlite.Config{Path: s.path(Database), Logger: s.cfg.Logger})
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		if s.index != nil {
			err = errors.Join(err, s.index.Close())
		}
		err = errors.Join(err, s.store.Close())
	}()
	if err := s.wire(ctx); err != nil {
		return err
	}
	return s.set.Start(ctx)
}

// Stop stops everything. It waits for git to finish what it writes. Waiting
// reports what it waits for, and Hurry ends pushes. Sessions continue, and the
// next Start finds them.
func (s *Server) Stop() {
	if s.set == nil {
		return
	}
	s.set.Stop()
	if s.endTools != nil {
		s.endTools()
	}
	s.look.Stop()
	if s.index != nil {
		if err := s.index.Close(); err != nil {
			s.cfg.Logger.Error("closing the search index failed", "error", err)
		}
	}
	if err := s.store.Close(); err != nil {
		s.cfg.Logger.Error("closing the store failed", "error", err)
	}
}

func (s *Server) path(names ...string) string {
	return filepath.Join(append([]string{s.cfg.State}, names...)...)
}

// wire creates the parts.
func (s *Server) wire(ctx context.Context) error {
	runner, err := git.New(git.Config{Env: s.cfg.Environ})
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "git cannot be used: %w", err).WithFix("install git 2.38 or newer")
	}
	s.spaces, err = workspace.New(workspace.Config{
		Dir: s.path("workspaces"), Trash: s.path("trash"), Git: runner, Now: s.cfg.Now, Logger: s.cfg.Logger,
		Env: s.cfg.Environ,
	})
	if err != nil {
		return err
	}
	s.live = ingest.NewLive(s.cfg.Redact)
	secrets := config.Secrets{Environ: s.cfg.Environ, Redact: s.cfg.Redact}.Resolve
	s.forges = &worker.ForgeClients{Kinds: forges, Address: s.spaces.Remote, Secret: secrets, Mask: s.cfg.Redact.String, Now: s.cfg.Now}
	s.trackers = &worker.TrackerClients{Kinds: trackers, Forges: s.forges}
	intake := s.newIntake()
	s.tools, err = tools.New(tools.Config{Store: s.store, Intake: intake, Now: s.cfg.Now, Redact: s.cfg.Redact.String, Version: s.cfg.Version, Logger: s.cfg.Logger})
	if err != nil {
		return err
	}
	ledger, err := ingest.New(ingest.Config{
		Store: s.store, Now: s.cfg.Now, Worker: engine.PoolLocal, Redact: s.cfg.Redact, Live: s.live,
		Publish: s.spaces.Published, Prices: s.prices.Load,
		Tools: s.tools.Session,
	})
	if err != nil {
		return err
	}
	fab := local.New(local.Config{Store: s.store, Now: s.cfg.Now, Accept: ledger.Accept})
	self := &machine{state: s.cfg.State, now: s.cfg.Now}
	nodes := func(ctx context.Context) ([]coppice.Node, error) {
		if err := fab.Announce(ctx, self.figures()); err != nil {
			return nil, err
		}
		return fab.Nodes(ctx)
	}
	eng, err := engine.New(engine.Config{
		Store: s.store, Now: s.cfg.Now, Nodes: nodes, Logger: s.cfg.Logger, MaxSessions: s.cfg.MaxSessions,
		KeepEvents: s.cfg.KeepEvents, KeepFor: s.cfg.KeepFor, Models: s.models, Resumes: s.resumes, Tools: s.toolLines, Pause: s.cfg.LandingPause,
		Hooks: s.hooks.get, Notify: s.notify.get, Looking: s.looking.get, Known: s.known, Usable: s.usable, Zone: time.Local,
	})
	if err != nil {
		return err
	}
	own, _, err := config.UserOf(s.cfg.Environ)
	if err != nil {
		s.cfg.Logger.Error("the limits of the user's configuration cannot be read; using the defaults", "error", err)
	}
	s.hooks.set(own.Hooks)
	s.notify.set(own.Notify)
	token, err := client.EnsureToken(s.cfg.State)
	if err != nil {
		return err
	}
	s.answers = answerlink.New(answerlink.Config{
		Key: answerlink.Key(token), Store: s.store, Mask: s.cfg.Redact.String, Now: s.cfg.Now, Log: s.cfg.Logger,
		Answer: intake.As(coppice.Actor{Kind: coppice.ActorPerson, Name: "answer-link"}).Answer,
	})
	s.addWebhooks(own.Webhooks.Listen, intake, secrets)
	s.work, err = worker.New(worker.Config{
		Name: engine.PoolLocal, Pools: []string{engine.PoolControl, engine.PoolLocal}, Fabric: fab, Ledger: ledger,
		Workspaces: s.spaces, Sessions: s.path("sessions"), Host: host.Launcher{Argv: []string{s.cfg.Self, "host"}, Env: hostEnv(s.cfg.Environ)},
		Browser: []string{s.cfg.Self, "browser"},
		Profile: s.profile, Environ: s.cfg.Environ, Now: s.cfg.Now, Logger: s.cfg.Logger,
		Secrets: secrets, Forges: s.forges, Trackers: s.trackers, Notifier: s.notifiers(secrets),
		Capacity: map[worker.Group]int{worker.GroupGit: max(4, 2*runtime.NumCPU()), worker.GroupPush: 8, worker.GroupCheck: cmp.Or(own.Limits.Checks, runtime.NumCPU()), worker.GroupSession: 1024},
	})
	if err != nil {
		return err
	}
	s.terminals = control.Terminals{Of: ingest.Terminals(s.work, s.cfg.Redact)}
	return s.wireControl(ctx, eng, intake, token)
}

// newIntake returns the Intake of people's requests.
func (s *Server) newIntake() *engine.Intake {
	inspect := func(ctx context.Context, dir string) (coppice.Project, error) {
		return checkout.Inspect(ctx, s.spaces, dir)
	}
	return engine.NewIntake(s.store, s.cfg.Now, inspect, s.known, s.screen, engine.WithLevels(s.levels()), engine.WithRedact(s.cfg.Redact.String), engine.WithHooks(s.hooks.get), engine.WithUsable(s.usable),
		engine.WithFreeBranch(func(ctx context.Context, p coppice.Project, name string) error {
			return s.spaces.FreeBranch(ctx, p.Path, name)
		}), engine.WithZone(time.Local), engine.WithTemplates(s.templates.Expand), engine.WithForges(s.forges), engine.WithTrackers(s.trackers), engine.WithNotify(s.notify.get))
}

// wireControl creates the parts that people use, and sets the order in which
// everything starts.
func (s *Server) wireControl(ctx context.Context, eng *engine.Engine, intake *engine.Intake, token string) error {
	limits := control.Limits{Environ: s.cfg.Environ, Events: s.cfg.KeepEvents, EventsFor: s.cfg.KeepFor, Backups: s.cfg.Backups}
	backups := &sqlite.Backups{Store: s.store, Folder: s.path("backups"), Keep: s.cfg.Backups, Most: limits.BackupsSize}
	follower, err := checkout.New(ctx, checkout.Config{
		Store: s.store, Intake: intake, Spaces: s.spaces, Old: s.path("features"), Redact: s.cfg.Redact.String, Clock: clock.Real(), Log: s.cfg.Logger,
	})
	if err != nil {
		return err
	}
	remover := control.NewRemover(s.store, intake, s.spaces, s.path("sessions"), clock.Real(), s.cfg.Logger)
	keeper := &control.Keeper{Store: s.store, Intake: intake, Limits: limits, Pack: s.store.Pack, Clock: clock.Real(), Log: s.cfg.Logger}
	changes := control.Changes{Store: s.store, Spaces: s.spaces}
	s.look = agents.NewCache(agents.Search{Self: s.cfg.Self, Env: s.cfg.Environ, Can: protocols.Abilities}, s.cfg.Now, profiles.Patience)
	if err := s.openIndex(ctx); err != nil {
		return err
	}
	served := apihttp.Config{
		Features: &control.Features{Warnings: follower.FeatureWarnings, Last: follower.LastFeatures},
		Agents:   s.look.Agents, Settings: &control.Settings{Spaces: s.spaces, Intake: intake, Server: s.cfg.Settings(), Limits: limits, UseNotify: s.notify.set},
		Listen: s.cfg.Listen, Names: s.cfg.Names, Token: token, Store: s.store, Intact: s.store.Intact, Version: s.cfg.Version, Now: s.cfg.Now, Log: s.cfg.Logger,
		Projects: intake, Tasks: intake, Talk: intake, Inbox: intake, Hooks: intake, Notify: intake, ConfigProblem: s.configProblem, Looking: s.looking.get, Look: s.looking.set, Schedules: intake, Issues: intake, Zone: time.Local, Templates: &s.templates, Add: follower.Add, Use: follower.Use, Needs: follower, Warnings: follower.Warnings, Status: eng, Web: web.Files(),
		Answers: s.answers, AnswerPath: answerlink.Path, Reviews: review.New(s.store, s.spaces, intake), Diff: changes.Diff, Bring: changes.Bring, Remove: remover.Remove, Attach: s.terminals.Attach, Terminal: s.terminal,
		Disk:   control.NewDisk(s.cfg.State, Database, sqlite.IndexFile, s.store, s.spaces, limits, s.cfg.Now).Usage,
		Backup: func(ctx context.Context) (string, error) { return backups.MakeManual(ctx, s.cfg.Now()) },
	}
	health := control.Health{
		Store: s.store, Now: s.cfg.Now, State: s.cfg.State, Started: s.cfg.Now(), Intact: s.store.Intact, Agents: s.look.Agents,
		Notify: s.notify.get, Config: s.configProblem,
		DiskFree: func() uint64 { return thisNode(s.cfg.State).DiskFree }, Backup: func() (time.Time, error) { return newest(backups) },
	}
	if s.webhooks != nil {
		health.Webhooks = s.webhooks.Problem
	}
	served.Health = health.Check
	served.Live = func(work int64) apihttp.LiveRun {
		if r := s.live.Run(work); r != nil {
			return r
		}
		return nil
	}
	if s.index != nil {
		served.Search = s.index
	}
	sessions, end := context.WithCancel(context.WithoutCancel(ctx))
	s.endTools = end
	served.Tools = func(rest http.Handler) http.Handler { return s.tools.People(sessions, rest) }
	if s.http, err = apihttp.New(served); err != nil {
		return err
	}
	s.set = &startstop.Set{}
	if s.index != nil {
		s.set.Add("search", background(s.index.Run))
	}
	s.set.Add("http", s.http)
	s.set.Add("integrity", background(s.store.Check))
	s.set.Add("git settings", once(follower.AdoptGit))
	s.set.Add("workspaces", once(func(ctx context.Context) error { return s.spaces.Sweep(ctx) }))
	s.set.Add("worker", s.work)
	budgets := &control.Budgets{Environ: s.cfg.Environ, Set: intake.SetBudgets, Hooks: s.hooks.set, Notify: s.notify.set, Log: s.cfg.Logger}
	s.set.Add("budgets", background(budgets.Run))
	s.set.Add("started", background(func(ctx context.Context) error {
		err := intake.ServerStarted(context.WithoutCancel(ctx))
		if err != nil {
			s.cfg.Logger.Error("the start of the server cannot be recorded; hooks of it do not run", "error", err)
		}
		return err
	}))
	s.set.Add("engine", background(eng.Run))
	if s.webhooks != nil {
		s.set.Add("webhooks", s.webhooks)
	}
	s.set.Add("features", background(follower.Run))
	s.set.Add("removals", background(remover.Run))
	s.set.Add("history", background(keeper.Run))
	problems := &control.Problems{Check: health.Check, Notice: intake.NoticeProblems, Every: 5 * time.Minute, Log: s.cfg.Logger}
	s.set.Add("problems", background(problems.Run))
	s.addRest()
	s.set.Add("backups", background(s.backupLoop(backups)))
	s.set.Add("endpoint", endpoint{s})
	return nil
}

// endpoint publishes the server's address to clients while the server runs.
type endpoint struct{ s *Server }

func (e endpoint) Start(context.Context) error {
	return client.WriteEndpoint(e.s.cfg.State, client.Endpoint{URL: e.s.http.URL(), PID: os.Getpid()})
}

func (e endpoint) Stop() {
	if err := client.RemoveEndpoint(e.s.cfg.State, os.Getpid()); err != nil {
		e.s.cfg.Logger.Warn("removing the endpoint failed", "error", err)
	}
}

// backupLoop makes a backup whenever the newest one is old enough.
func (s *Server) backupLoop(b *sqlite.Backups) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			wait := s.cfg.BackupEvery
			if last, err := newest(b); err == nil && !last.IsZero() {
				wait -= s.cfg.Now().Sub(last)
			}
			timer := time.NewTimer(max(wait, time.Minute))
			select {
			case <-ctx.Done():
				timer.Stop()
				return nil
			case <-timer.C:
			}
			if _, err := b.Make(ctx, s.cfg.Now()); err != nil && ctx.Err() == nil {
				s.cfg.Logger.Error("automatic backup failed", "error", err)
			}
		}
	}
}

// newest returns when the newest backup was written; zero if there is none.
func newest(b *sqlite.Backups) (time.Time, error) {
	list, err := b.List()
	if err != nil || len(list) == 0 {
		return time.Time{}, err
	}
	st, err := os.Stat(list[0])
	if err != nil {
		return time.Time{}, err
	}
	return st.ModTime(), nil
}

// profile finds an agent's profile, the project's own first.
func (s *Server) profile(name string, own *coppice.Profile) (coppice.Profile, error) {
	set := s.profiles
	if own != nil {
		var err error
		if set, err = set.With(map[string]coppice.Profile{name: *own}); err != nil {
			return coppice.Profile{}, err
		}
	}
	return set.Self(s.cfg.Self).Get(name)
}

// known returns an error unless a project can use an agent: it has a profile,
// and its program is installed.
func (s *Server) known(p coppice.Project, name string) error {
	profile, err := s.profileIn(p, name)
	if err != nil {
		return err
	}
	return profiles.Installed(name, profile, s.cfg.Environ)
}

// levels judges tasks whose model is auto. It is nil if the environment has no
// key for any model.
func (s *Server) levels() engine.Levels {
	ask, err := smallmodel.FromEnv(func(name string) string { return environ.Get(s.cfg.Environ, name) })
	if err != nil {
		s.cfg.Logger.Warn("only rules judge how hard tasks are", "error", err)
	}
	if ask == nil {
		return nil
	}
	return levels.New(levels.Config{
		Ask: ask, Store: s.store, Now: s.cfg.Now, Logger: s.cfg.Logger, Redact: s.cfg.Redact.String, Prices: s.prices.Load,
	})
}

// privateDir creates a directory that only its owner can read.
func privateDir(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	var st fs.FileInfo
	if err == nil {
		st, err = os.Stat(dir)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return coppice.Errorf(coppice.EUnavailable, "the disk is full: %s cannot be created", dir).WithFix("free some space")
	case err != nil:
		return coppice.Errorf(coppice.EUnavailable, "the state directory cannot be used: %w", err).
			WithFix("make %s writable, or name another directory with COPPICE_STATE", dir)
	case !st.IsDir():
		return coppice.Errorf(coppice.EUnavailable, "%s is not a directory", dir).WithFix("name another directory with COPPICE_STATE")
	case st.Mode().Perm()&0o077 != 0:
		if err := os.Chmod(dir, 0o700); err != nil {
			return coppice.Errorf(coppice.EForbidden, "other users can read the state directory %s, and chmod failed: %w", dir, err).
				WithFix("run chmod 700 on it, or name another directory with COPPICE_STATE")
		}
	}
	return nil
}

// hostEnv returns the few variables that a host itself needs.
func hostEnv(environ []string) []string {
	var env []string
	for _, kv := range environ {
		for _, name := range []string{"PATH=", "HOME=", "TMPDIR="} {
			if len(kv) > len(name) && kv[:len(name)] == name {
				env = append(env, kv)
			}
		}
	}
	return env
}

// once is a service that runs one function when it starts.
type once func(context.Context) error

func (f once) Start(ctx context.Context) error { return f(ctx) }
func (once) Stop()                             {}

// background makes a service from a function that runs until its context ends.
func background(f func(context.Context) error) startstop.Service { return &loop{f: f} }

type loop struct {
	f      func(context.Context) error
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func (l *loop) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	l.wg.Go(func() { _ = l.f(ctx) }) // the function ends with its context, and logs its errors
	return nil
}

func (l *loop) Stop() {
	if l.cancel != nil {
		l.cancel()
	}
	l.wg.Wait()
}
