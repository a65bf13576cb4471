// Package http serves Coppice over HTTP: REST and server-sent events under
// /api/v1, the OpenAPI description of both, and endpoints for operators.
//
// It reads the store and passes every change to the engine. The server binds
// only loopback. Except for health probes and one-time sign-in links, every
// request needs the token, or a cookie that a sign-in returned. See guard.go
// for the rules.
//
// Streams read from the store's log. A slow reader costs only a goroutine, and
// a reader that reconnects names the last event that it saw.
package http

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
	"coppice/verb"
)

// Projects handles requests to projects and accounts.
type Projects interface {
	// AddProjectAs adds the project of a directory, with a prefix unless that is
	// empty. For a known one, it reads the project's policy again.
	AddProjectAs(ctx context.Context, dir, prefix string) (coppice.Project, error)
	// RenameProject gives a project another prefix.
	RenameProject(ctx context.Context, project, prefix string) (coppice.Project, error)
	// Pause pauses or resumes a project, or one track of it.
	Pause(ctx context.Context, project, track string, on bool) (coppice.Project, error)
	// ForgetRule removes the nth remembered rule, counted from 1.
	ForgetRule(ctx context.Context, project string, n int) (coppice.Rule, error)
	// Undo restores a removed workspace. An empty key means the newest one of
	// the project, or of all projects if that is empty too.
	Undo(ctx context.Context, key, project string) (coppice.Trash, error)
	// EmptyTrash removes the trash of tasks permanently, or that of a project
	// which was removed until then. One call removes at most engine.MostEmptied.
	EmptyTrash(ctx context.Context, project string, until time.Time, keys ...string) ([]coppice.Trash, error)
	// ReleaseLock releases the lock with a name, or all locks of a session.
	ReleaseLock(ctx context.Context, project, name, session string) ([]coppice.Lock, error)
	Limits(r store.Reader) ([]engine.AgentLimit, error)
	ClearLimit(ctx context.Context, agent string) error
	Notes
}

// Tasks handles requests to tasks.
type Tasks interface {
	CreateTasks(ctx context.Context, project string, tasks []coppice.NewTask) ([]coppice.Task, error)
	ChangeTask(ctx context.Context, key string, c coppice.TaskChange) (coppice.Task, error)
	// Ask adds a request to a task.
	Ask(ctx context.Context, key string, v coppice.Verb, r verb.Request) (coppice.Task, error)
	// Fork returns the new task.
	Fork(ctx context.Context, key, text string) (coppice.Task, error)
	// AdoptPull creates a task that continues a pull request of somebody else. Without a
	// description, the task only follows it.
	AdoptPull(ctx context.Context, project string, number int, n coppice.NewTask) (coppice.Task, error)
	// AddImage stores an uploaded image.
	AddImage(ctx context.Context, data []byte) (coppice.Image, error)
	// UndoTask undoes one thing about a task; an empty kind means the newest one.
	UndoTask(ctx context.Context, key string, kind coppice.UndoKind) (coppice.Undo, error)
	// WriteDocument stores a new version of a flow's document, if the document has
	// the expected version; nil means any.
	WriteDocument(ctx context.Context, key, name, text string, expected *int64) (coppice.Document, error)
	// Archive archives or unarchives an ended task.
	Archive(ctx context.Context, key string, on bool) (coppice.Task, error)
	// StartPreview asks for the app of a task's workspace, and StopPreview to
	// end it.
	StartPreview(ctx context.Context, key string) (coppice.Preview, error)
	StopPreview(ctx context.Context, key string) (coppice.Preview, error)
}

// Talk handles messages to sessions.
type Talk interface {
	Send(ctx context.Context, key, text string, images ...string) (coppice.Message, error)
	SendNext(ctx context.Context, key, text string, images ...string) (coppice.Message, error)
	Interrupt(ctx context.Context, key, text string) (coppice.Message, error)
	Model(ctx context.Context, key, model string) (coppice.Message, error)
	// Answer answers a question; 0 means the task's oldest open one.
	Answer(ctx context.Context, key string, question int64, text string) (coppice.Question, error)
}

// Reviews shows the changes of tasks, and keeps what people say about them.
type Reviews interface {
	Review(ctx context.Context, t coppice.Task, part api.ReviewPart) (api.Review, error)
	// Text returns a file of a change, whole, before and after it.
	Text(ctx context.Context, t coppice.Task, path string) (api.ReviewText, error)
	// Comment adds a draft, with the code that the server has at its lines.
	Comment(ctx context.Context, t coppice.Task, c api.NewComment) (coppice.Comment, error)
	// EditComment changes a comment's text. It is a draft again.
	EditComment(ctx context.Context, key string, id int64, text string) (coppice.Comment, error)
	ResolveComment(ctx context.Context, key string, id int64, on bool) (coppice.Comment, error)
	DropComment(ctx context.Context, key string, id int64) error
	// SendComments sends all drafts to the agent, as one message.
	SendComments(ctx context.Context, key, text string) (coppice.Message, error)
	MarkViewed(ctx context.Context, key, path, blob string, on bool) error
}

// Settings reads and changes projects' coppice.yaml and prompts, and the user's notifiers.
type Settings interface {
	Config(ctx context.Context, p coppice.Project) (api.ProjectConfig, error)
	// SetConfig makes one change. If it fails, nothing changes.
	SetConfig(ctx context.Context, p coppice.Project, c api.ConfigChange) (api.ProjectConfig, error)
	Prompts(ctx context.Context, p coppice.Project) (api.Prompts, error)
	// SetPrompt changes the prompt of a role. If it fails, nothing changes.
	SetPrompt(ctx context.Context, p coppice.Project, role string, c api.PromptChange) (api.Prompt, error)
	Notify(ctx context.Context) (api.NotifySettings, error)
	// SetNotify changes one key below notify. If it fails, nothing changes.
	SetNotify(ctx context.Context, c api.ConfigChange) (api.NotifySettings, error)
}

// Needs carries out what people decide about a project's needs.
type Needs interface {
	// Confirm applies a change that waits for a person. It fails with code
	// conflict if it is no longer the change that they saw.
	Confirm(ctx context.Context, p coppice.Project, c api.Confirmation) error
	// RestoreBase moves back a base that moved without Coppice.
	RestoreBase(ctx context.Context, p coppice.Project) error
}

// Config configures a Server. Store, Projects, Tasks, Talk, Inbox, Status, Diff,
// Backup and Token are required. The zero value of everything else is a good
// default.
type Config struct {
	Listen string   // host:port on loopback; empty means 127.0.0.1:0, port 0 picks a free one
	Names  []string // other host names of the server, such as coppice.localhost; without a port, the server's own port is meant
	Token  string   // the token of clients

	Store    store.Store
	Projects Projects // *engine.Intake implements these three
	Tasks    Tasks
	Talk     Talk
	Inbox    Inbox
	Status   Statuser
	Diff     func(ctx context.Context, t coppice.Task, since string) (string, error)
	Backup   func(ctx context.Context) (path string, err error)

	// Tools returns the handler of /mcp, for people's own MCP clients. It gets
	// the API without the checks of guard.go, which /mcp itself has. Nil means
	// that there is no /mcp.
	Tools func(rest http.Handler) http.Handler

	// Answers serves the signed links below AnswerPath that answer a question. Their
	// signature stands for a token. Nil means that there are none.
	Answers    http.Handler
	AnswerPath string

	// Add adds the project of a directory, with a prefix unless that is empty. For a
	// known one it confirms the current state of its checkout, and returns what
	// changed. Default: AddProjectAs.
	Add func(ctx context.Context, dir, prefix string) (coppice.Project, []coppice.Need, error)

	// Use adds the project of a directory. For a known one it applies a
	// person's edits of its policy. Default: AddProjectAs.
	Use func(ctx context.Context, dir string) (coppice.Project, error)

	// Bring copies a task's branch into the user's repository, or one of its stray
	// branches.
	Bring func(ctx context.Context, t coppice.Task, stray string) (api.Branch, error)

	// Remove starts to remove a project and returns what will not be removed.
	Remove func(ctx context.Context, project string, how coppice.Remove) ([]api.Left, error)
	// Disk measures disk usage for at most this long.
	Disk func(ctx context.Context, within time.Duration) (api.Disk, error)

	// Health says whether the server is healthy; agents also checks the agents
	// that projects use. nil means that nothing is known.
	Health func(ctx context.Context, agents bool) (api.Health, error)

	Warnings func(project int64) []string // problems in its checkout; nil means none

	// Intact fails while the server can answer but not change anything. nil
	// means that it never fails.
	Intact func() error

	// Live returns the commands of a work item and their output; nil if nothing
	// was reported about it. Without Live no command is known.
	Live func(work int64) LiveRun

	// Optional parts. If one is nil, its routes report that.
	Search   store.Searcher
	Reviews  Reviews
	Settings Settings
	Hooks    Hooks
	Notify   Notify
	// ConfigProblem says why the user's configuration cannot be read. Nil means that it can.
	ConfigProblem func() error
	// Looking returns until when a person looks at the dashboard, and Look changes it.
	Looking func() time.Time
	Look    func(until time.Time)
	// Schedules takes requests about schedules, and Zone is the time zone of their cron
	// lines; nil means UTC.
	Schedules Schedules
	// Issues takes requests about issues of trackers; nil means that the server has none.
	Issues    Issues
	Zone      *time.Location
	Templates Templates
	// Features reads and edits features files; nil if the server cannot.
	Features Features
	Needs    Needs
	// Agents finds the agents, with those of a project if it is not nil.
	// refresh asks for a new search.
	Agents func(ctx context.Context, p *coppice.Project, refresh bool) (api.AgentList, error)

	Web fs.FS // the built dashboard; without it, a page says that it is missing

	Attach Attach // opens terminals; nil means that there are none

	// Terminal reports whether all sessions of an agent run on a terminal. nil
	// means that only those do that a person took over.
	Terminal func(p coppice.Project, agent string) bool

	Version string
	Now     func() time.Time
	Log     *slog.Logger

	HeaderTimeout time.Duration // for a request's header; 10 s
	BodyTimeout   time.Duration // for a request's body; 30 s
	WriteTimeout  time.Duration // for a response, and for each piece of a stream; 60 s
	IdleTimeout   time.Duration // for a connection between requests; 2 min
	Followers     int           // streams that can be open at the same time; 1024
	Heartbeat     time.Duration // between heartbeats on a silent stream; 15 s
	StopTimeout   time.Duration // for requests to end at Stop; 5 s

	// Gather waits after lines of sessions were sent, so that only the last of
	// the next lines is sent. Default: a second.
	Gather func(context.Context) error
}

const (
	maxHeader = 32 << 10 // bytes of a request's header
	maxBody   = 64 << 20 // bytes of any body; most routes allow far less
	minToken  = 32       // characters of a token
)

// Server serves one Config. Start it one time. Stop can be called at any time,
// any number of times.
type Server struct {
	cfg     Config
	log     *slog.Logger
	login   *login
	traffic *traffic
	feed    *feed
	lines   lines
	answers answers
	mux     *recordingMux
	spec    func() ([]byte, error)
	handler http.Handler
	started time.Time // distinguishes runs of checks from those of an earlier server

	terminals sync.WaitGroup // of connected clients
	followers atomic.Int64   // streams that are open

	streams context.Context // ends when the server stops
	cancel  context.CancelCauseFunc

	mu     sync.Mutex
	ln     net.Listener
	hosts  map[string]bool // names with port that Host can have
	srv    *http.Server
	served chan struct{} // closed when Serve has returned
}

var errStopping = errors.New("the server is stopping")

// New checks the config and builds the server. It does not listen yet.
func New(cfg Config) (*Server, error) {
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	if _, err := Loopback(cfg.Listen); err != nil {
		return nil, err
	}
	if len(cfg.Token) < minToken {
		return nil, coppice.Errorf(coppice.EInvalid, "the server's token has %d characters, at least %d are needed", len(cfg.Token), minToken)
	}
	if cfg.Store == nil || cfg.Projects == nil || cfg.Tasks == nil || cfg.Talk == nil || cfg.Inbox == nil || cfg.Status == nil || cfg.Diff == nil || cfg.Backup == nil {
		return nil, errors.New("http: a required part of the config is missing")
	}
	cfg.defaults()
	s := &Server{
		cfg:     cfg,
		log:     cfg.Log,
		login:   newLogin(cfg.Now, cfg.Token),
		traffic: newTraffic(),
		started: cfg.Now(),
		mux:     &recordingMux{ServeMux: http.NewServeMux()},
	}
	s.answers.facts, s.answers.now = cfg.Store.FactsVersion, cfg.Now
	s.feed = &feed{pages: map[feedKey]*feedPage{}, read: func(ctx context.Context, after int64, f store.EventFilter) (api.EventPage, error) {
		return s.readEvents(ctx, after, batch, f)
	}}
	s.routes()
	s.handler = s.guard(http.HandlerFunc(s.dispatch))
	return s, nil
}

func (c *Config) defaults() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Intact == nil {
		c.Intact = func() error { return nil }
	}
	if c.Gather == nil {
		c.Gather = gather
	}
	if c.Live == nil {
		c.Live = func(int64) LiveRun { return nil }
	}
	if c.Followers <= 0 {
		c.Followers = 1024
	}
	for _, d := range []struct {
		at *time.Duration
		to time.Duration
	}{
		{&c.HeaderTimeout, 10 * time.Second},
		{&c.BodyTimeout, 30 * time.Second},
		{&c.WriteTimeout, time.Minute},
		{&c.IdleTimeout, 2 * time.Minute},
		{&c.Heartbeat, 15 * time.Second},
		{&c.StopTimeout, 5 * time.Second},
	} {
		if *d.at <= 0 {
			*d.at = d.to
		}
	}
}

// Loopback returns the address to listen on. It refuses one that other machines
// could reach.
func Loopback(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", coppice.Errorf(coppice.EInvalid, "%s is not a valid address to listen on", coppice.Quote(listen)).
			WithFix("write it as 127.0.0.1:4040").WithField("listen")
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "", coppice.Errorf(coppice.EInvalid, "%s can be reached from outside this machine", coppice.Quote(listen)).
			WithFix("listen on 127.0.0.1, [::1] or localhost; reach it from elsewhere through ssh -L").WithField("listen")
	}
	return net.JoinHostPort(host, port), nil
}

// Start listens and serves until Stop. It returns when the server accepts
// connections.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.srv != nil {
		return coppice.Errorf(coppice.EConflict, "the server was started before")
	}
	addr, err := Loopback(s.cfg.Listen)
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return coppice.Errorf(coppice.EUnavailable, "the address %s is in use", addr).
			WithFix("stop the program that listens there, or choose another address with --listen 127.0.0.1:PORT")
	}
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "cannot listen on %s: %w", addr, err).
			WithFix("choose another address with --listen 127.0.0.1:PORT")
	}
	s.streams, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.hosts = knownHosts(ln.Addr().(*net.TCPAddr).Port, s.cfg.Names)
	s.ln, s.served = ln, make(chan struct{})
	s.srv = &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: s.cfg.HeaderTimeout,
		ReadTimeout:       s.cfg.HeaderTimeout + s.cfg.BodyTimeout,
		WriteTimeout:      s.cfg.WriteTimeout,
		IdleTimeout:       s.cfg.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	go func() {
		defer close(s.served)
		if err := s.srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("http server ended", "err", err)
		}
	}()
	return nil
}

// URL returns the server's address. It is empty before Start.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ln == nil {
		return ""
	}
	return "http://" + s.ln.Addr().String()
}

// Stop ends the streams, lets running requests finish for a limited time, and
// waits until nothing of the server runs.
func (s *Server) Stop() {
	s.mu.Lock()
	srv, served, cancel, streams := s.srv, s.served, s.cancel, s.streams
	s.mu.Unlock()
	if srv == nil {
		return
	}
	cancel(errStopping)
	ctx, done := context.WithTimeout(context.WithoutCancel(streams), s.cfg.StopTimeout)
	defer done()
	if err := srv.Shutdown(ctx); err != nil {
		s.log.Warn("requests were interrupted at stop", "err", err)
		_ = srv.Close() // closes the remaining connections; there is nothing left to try
	}
	<-served
	s.terminals.Wait()
	s.answers.refreshes.Wait()
}

// knownHosts returns the Host headers that mean this server.
func knownHosts(port int, names []string) map[string]bool {
	p := strconv.Itoa(port)
	hosts := map[string]bool{}
	for _, name := range append([]string{"localhost", "127.0.0.1", "::1"}, names...) {
		if _, _, err := net.SplitHostPort(name); err == nil {
			hosts[name] = true
			continue
		}
		hosts[net.JoinHostPort(name, p)] = true
		if port == 80 {
			hosts[name] = true
		}
	}
	return hosts
}

func (s *Server) knows(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[host]
}
