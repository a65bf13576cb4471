// Package apitest starts the real HTTP server with the real intake on a store
// that the test chooses, so that tests of handlers, client and commands use
// what people run. It has no engine: a test writes the facts that the engine
// would write.
package apitest

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/api/http"
	"coppice/engine"
	"coppice/store"
)

// Token is the token that the server expects.
const Token = "test-token-0123456789-0123456789-0123456789"

// Bundle is a running server with its parts.
type Bundle struct {
	T      testing.TB
	Ctx    context.Context
	Store  store.Store
	Intake *engine.Intake
	Server *http.Server
	Config http.Config
	Client *client.Client
	Clock  *Clock
	Log    *Log
	Pull   coppice.PullRead     // the one pull request on the forge
	Notify coppice.NotifyPolicy // of the user

	Reported []coppice.IssueRead // the issues on the tracker
}

// Read implements engine.Trackers.
func (b *Bundle) Read(_ context.Context, s coppice.TrackerReadSpec) (r coppice.TrackerReadResult, err error) {
	for _, i := range b.Reported {
		if slices.Contains(s.Named, i.ID) {
			r.Issues = append(r.Issues, i)
		}
	}
	return r, nil
}

// Ready implements engine.Forges.
func (b *Bundle) Ready(context.Context, coppice.ForgeSpec) error { return nil }

// ReadPull implements engine.Forges.
func (b *Bundle) ReadPull(_ context.Context, _ coppice.ForgeSpec, number int) (coppice.PullRead, error) {
	if number != b.Pull.Number {
		return coppice.PullRead{}, coppice.Errorf(coppice.ENotFound, "there is no request %d", number)
	}
	return b.Pull, nil
}

// Start starts a server on the store and stops it when the test ends. Change
// can alter the config first.
func Start(t testing.TB, s store.Store, change ...func(*http.Config)) *Bundle {
	t.Helper()
	b := &Bundle{T: t, Ctx: t.Context(), Store: s, Clock: NewClock(), Log: &Log{}}
	b.Intake = engine.NewIntake(s, b.Clock.Now, Inspect, func(_ coppice.Project, agent string) error {
		if agent == "absent" {
			return coppice.Errorf(coppice.EInvalid, "the agent %q is not installed", agent).WithFix("install it").WithField("agent")
		}
		return nil
	}, func(_ coppice.Project, agent string) error {
		if agent == "blind" {
			return coppice.Errorf(coppice.EConflict, "%s has no screen that a person can take over", agent).WithFix("send it messages")
		}
		return nil
	}, engine.WithForges(b), engine.WithTrackers(b), engine.WithNotify(func() coppice.NotifyPolicy { return b.Notify }))
	b.Config = http.Config{
		Token: Token, Store: s, Projects: b.Intake, Tasks: b.Intake, Talk: b.Intake, Inbox: b.Intake, Hooks: b.Intake, Notify: b.Intake, Schedules: b.Intake, Issues: b.Intake, Status: Statuser{}, Version: "test",
		Now: b.Clock.Now, Log: slog.New(slog.NewTextHandler(b.Log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Diff: func(_ context.Context, t coppice.Task, since string) (string, error) {
			if since == api.SinceSession {
				return "", nil
			}
			return "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+" + t.Title + "\n", nil
		},
		Backup: func(context.Context) (string, error) { return "/state/backups/1.db", nil },
	}
	for _, f := range change {
		f(&b.Config)
	}
	b.Boot()
	c, err := client.At(b.Server.URL(), Token)
	b.Must(err)
	b.Client = c
	t.Cleanup(func() { c.Close(); b.Server.Stop() })
	return b
}

// Boot starts a server with the bundle's config.
func (b *Bundle) Boot() {
	b.T.Helper()
	srv, err := http.New(b.Config)
	b.Must(err)
	b.Must(srv.Start(b.Ctx))
	b.Server = srv
}

// Must ends the test on an error.
func (b *Bundle) Must(err error) {
	b.T.Helper()
	if err != nil {
		b.T.Fatal(err)
	}
}

// Update changes the facts.
func (b *Bundle) Update(f func(store.Tx) error) {
	b.T.Helper()
	b.Must(b.Store.Update(b.Ctx, f))
}

// Change changes one task.
func (b *Bundle) Change(key string, f func(*coppice.Task)) coppice.Task {
	b.T.Helper()
	var t coppice.Task
	b.Update(func(tx store.Tx) (err error) {
		if t, err = tx.Tasks.ByKey(key); err != nil {
			return err
		}
		f(&t)
		return tx.Tasks.Put(&t)
	})
	return t
}

// Project adds the project of a directory.
func (b *Bundle) Project(dir string) coppice.Project {
	b.T.Helper()
	p, err := b.Intake.AddProject(b.Ctx, dir)
	b.Must(err)
	return p
}

// Task creates a task.
func (b *Bundle) Task(project string, n coppice.NewTask) coppice.Task {
	b.T.Helper()
	tasks, err := b.Intake.CreateTasks(b.Ctx, project, []coppice.NewTask{n})
	b.Must(err)
	return tasks[0]
}

// Session gives a task a session in a state.
func (b *Bundle) Session(key string, state coppice.SessionState, f func(*coppice.Session)) coppice.Session {
	b.T.Helper()
	var s coppice.Session
	b.Update(func(tx store.Tx) error {
		t, err := tx.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		before, err := tx.Sessions.Of(t.ID)
		if err != nil {
			return err
		}
		n := len(before) + 1
		s = coppice.Session{
			ProjectID: t.ProjectID, TaskID: t.ID, N: n, Key: coppice.SessionKey(key, n), Role: coppice.RoleImplement, Track: t.Track,
			Agent: t.Agent, State: state, CreatedAt: b.Clock.Now(), StartedAt: b.Clock.Now(),
		}
		if f != nil {
			f(&s)
		}
		return tx.Sessions.Put(&s)
	})
	return s
}

// Write appends output to a session.
func (b *Bundle) Write(session int64, kind coppice.OutputKind, pieces ...string) {
	b.T.Helper()
	b.Update(func(tx store.Tx) error {
		s, err := tx.Sessions.Get(session)
		if err != nil {
			return err
		}
		at := s.Cursor
		var out []coppice.Output
		for _, p := range pieces {
			out = append(out, coppice.Output{SessionID: session, Offset: at, At: b.Clock.Now(), Kind: kind, Data: []byte(p)})
			at += int64(len(p)) + 8
		}
		return tx.Outputs.Add(session, s.Cursor, at, out)
	})
}

// Inspect accepts any absolute directory as a checkout, with its name as the
// prefix.
func Inspect(_ context.Context, dir string) (coppice.Project, error) {
	if !filepath.IsAbs(dir) || strings.Contains(dir, "norepo") {
		return coppice.Project{}, coppice.Errorf(coppice.EInvalid, "%s is not in a git repository", dir).WithFix("run git init")
	}
	p := coppice.DefaultPolicy()
	p.Base, p.Agent.Use = "main", "robot"
	return coppice.Project{Prefix: filepath.Base(dir), Path: dir, Policy: p}, nil
}

// Statuser derives statuses from the rows alone; lanes are never blocked.
type Statuser struct{}

// Statuses implements http.Statuser.
func (Statuser) Statuses(_ context.Context, r store.Reader, tasks []coppice.Task) ([]engine.TaskStatus, error) {
	out := make([]engine.TaskStatus, len(tasks))
	for i, t := range tasks {
		s := &out[i]
		project, err := r.Projects.Get(t.ProjectID)
		if err != nil {
			return nil, err
		}
		s.Project, s.Serves = project.Prefix, project.Policy.Workspace.Serve.Set()
		if s.Sessions, err = r.Sessions.Of(t.ID); err != nil {
			return nil, err
		}
		if n := len(s.Sessions); n > 0 {
			s.Session = &s.Sessions[n-1]
		}
		if s.Landing, err = r.Landings.Last(t.ID); err != nil {
			return nil, err
		}
		if s.Question, err = r.Questions.Open(t.ID); err != nil {
			return nil, err
		}
		if s.Asks, err = r.Asks.Open(coppice.TaskSubject(t.ID)); err != nil {
			return nil, err
		}
		s.Status, s.Reason = t.Status(s.Session, s.Landing, s.Question, "")
		if t.Wait != nil {
			s.Fix = t.Wait.Fix
		}
	}
	return out, nil
}

// Clock is a clock that only moves when a test moves it.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock makes a clock at a fixed time.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move moves the clock forward.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Log keeps what the server logged.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// String returns everything logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
