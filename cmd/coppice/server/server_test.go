package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/agent/scripted"
	"coppice/api"
	"coppice/api/client"
	"coppice/cmd/coppice/protocols"
	"coppice/host"
	"coppice/internal/process"
	"coppice/store/sqlite"
	"coppice/test/gitrepo"
	"coppice/test/testfile"
)

// The test binary is the coppice program for hosts and scripted agents.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "host" {
		os.Exit(host.Main(context.Background(), os.Args[2], protocols.All(), slog.New(slog.NewTextHandler(os.Stderr, nil))))
	}
	if len(os.Args) > 1 && os.Args[1] == "scripted" {
		os.Exit(scripted.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
	}
	goleak.VerifyTestMain(m)
}

// bundle is a state directory and what a server needs to run on it.
type bundle struct {
	t     *testing.T
	ctx   context.Context
	dir   string
	state string
	cfg   Config
}

func setup(t *testing.T) *bundle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	dir := testfile.Dir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle{t: t, ctx: ctx, dir: dir, state: filepath.Join(dir, "state")}
	b.cfg = Config{
		State: b.state, Self: self, Listen: "127.0.0.1:0", Version: "test",
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_GLOBAL=/dev/null"},
	}
	return b
}

func (b *bundle) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// start starts a server. The test's end stops it.
func (b *bundle) start() *Server {
	b.t.Helper()
	s, err := New(b.cfg)
	b.must(err)
	b.must(s.Start(b.ctx))
	b.t.Cleanup(s.Stop)
	return s
}

// refused wants Start to fail with a code.
func (b *bundle) refused(code coppice.Code) error {
	b.t.Helper()
	s, err := New(b.cfg)
	b.must(err)
	err = s.Start(b.ctx)
	if err == nil {
		s.Stop()
		b.t.Fatal("the server started")
	}
	if coppice.ErrorCode(err) != code {
		b.t.Errorf("got %v (%s), want %s", err, coppice.ErrorCode(err), code)
	}
	return err
}

func (b *bundle) client() *client.Client {
	c := client.New(b.state)
	b.t.Cleanup(c.Close)
	return c
}

func TestBootsAndStops(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.start()
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") {
		t.Errorf("listens on %s", s.URL())
	}
	c := b.client()
	v, err := c.Version(b.ctx)
	b.must(err)
	if v.Version != "test" {
		t.Errorf("version %+v", v)
	}
	if path, err := c.Backup(b.ctx); err != nil || !strings.HasPrefix(path, filepath.Join(b.state, "backups")) {
		t.Errorf("backup %s: %v", path, err)
	}
	s.Stop()
	if _, err := c.Version(b.ctx); coppice.ErrorCode(err) != coppice.EUnavailable {
		t.Errorf("a stopped server: %v", err)
	}
	s.Stop() // a second Stop does nothing
	b.start()
	if _, err := c.Version(b.ctx); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

func TestStateIsPrivate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(os.Mkdir(b.state, 0o755))
	b.must(os.Chmod(b.state, 0o755))
	b.start()
	for _, name := range []string{"", "coppice.db", "token", "server.json", "workspaces"} {
		st, err := os.Stat(filepath.Join(b.state, name))
		b.must(err)
		if st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q has mode %s", name, st.Mode())
		}
	}
}

func TestStateThatCannotBe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(os.WriteFile(b.state, nil, 0o600))
	b.refused(coppice.EUnavailable)
	b.cfg.State = filepath.Join(b.state, "below")
	b.refused(coppice.EUnavailable)
	if _, err := New(Config{State: "x"}); err == nil {
		t.Error("a server without its own program was made")
	}
}

func TestSecondServer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.start()
	err := b.refused(coppice.EConflict)
	if coppice.Public(err).Fix == "" {
		t.Errorf("no way out: %v", err)
	}
	if _, err := b.client().Version(b.ctx); err != nil {
		t.Errorf("the first server is gone: %v", err)
	}
	first.Stop()
	b.start()
}

// A server that cannot listen releases everything.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	b.must(err)
	defer l.Close()
	b.cfg.Listen = l.Addr().String()
	if err := b.refused(coppice.EUnavailable); coppice.Public(err).Fix == "" {
		t.Errorf("no way out: %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.state, "server.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("clients still find a server: %v", err)
	}
	s, err := sqlite.Open(b.ctx, sqlite.Config{Path: filepath.Join(b.state, "coppice.db")})
	b.must(err)
	b.must(s.Close())
	b.cfg.Listen = "127.0.0.1:0"
	b.start()
}

// repo makes a repository with these files committed.
func (b *bundle) repo(files map[string]string) string {
	b.t.Helper()
	return gitrepo.New(b.t, filepath.Join(b.dir, "app"), b.cfg.Environ, files).Dir
}

func (b *bundle) write(path, text string) {
	b.t.Helper()
	testfile.Write(b.t, path, text)
}

const asks = `cases:
  - steps:
      - ask: Which greeting?
      - write: {path: hello.txt, content: "${answer}\n"}
      - commit: Greet
`

var errSeen = errors.New("seen")

// added is a client of the server, which gets a project.
func (b *bundle) added(repo string) (*client.Client, api.Project) {
	b.t.Helper()
	c := b.client()
	p, err := c.AddProject(b.ctx, repo)
	b.must(err)
	return c, p
}

// await follows the log, from its beginning, until an event of a kind.
func (b *bundle) await(c *client.Client, kind coppice.EventKind) (found coppice.Event) {
	b.t.Helper()
	err := c.FollowEvents(b.ctx, client.EventQuery{}, func(e api.Event) error {
		if e.Kind == kind {
			found = e.Event
			return errSeen
		}
		return nil
	}, nil)
	if !errors.Is(err, errSeen) {
		b.t.Fatalf("waiting for %s: %v", kind, err)
	}
	return found
}

// A session continues while no server runs, and the next server finds it.
func TestRestartAdopts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo := b.repo(map[string]string{
		"coppice.yaml":           "agent: {use: scripted}\nbase: main\nlimits: {memory: 100%}\nchecks: [test -f hello.txt]\n",
		".coppice/scripted.yaml": asks,
	})
	s := b.start()
	c, p := b.added(repo)
	made := b.create(c, p, coppice.NewTask{Title: "Greet"})
	asked := b.await(c, coppice.EventQuestionAsked)
	s.Stop()
	phase, st, _, err := host.Inspect(filepath.Join(b.state, "sessions", "1"))
	b.must(err)
	if phase != host.PhaseRunning || !process.Alive(st.PID, st.Started) {
		t.Fatalf("the session did not outlive the server: %s", phase)
	}
	b.start()
	if _, err := c.Answer(b.ctx, made.Key, 0, "Servus"); err != nil {
		t.Fatal(err)
	}
	b.await(c, coppice.EventTaskEnded)
	d, err := c.Task(b.ctx, made.Key)
	b.must(err)
	if d.Outcome != coppice.OutcomeDone || d.Landed == "" || len(d.History) != 1 || d.History[0].ID != asked.SessionID {
		t.Errorf("task %s, landed %q, %d sessions", d.Outcome, d.Landed, len(d.History))
	}
	if got, err := os.ReadFile(filepath.Join(repo, "hello.txt")); err != nil || string(got) != "Servus\n" {
		t.Errorf("main has %q: %v", got, err)
	}
	if text, err := c.Diff(b.ctx, made.Key, false); err != nil || !strings.Contains(text, "+Servus") {
		t.Errorf("diff %q: %v", text, err)
	}
}

func TestKnownAgents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, err := New(b.cfg)
	b.must(err)
	own := coppice.Project{Policy: coppice.Policy{Agents: map[string]coppice.Profile{
		"mine":    {Protocol: "command", Command: []string{"sh"}},
		"missing": {Protocol: "command", Command: []string{"no-such-program"}},
	}}}
	for name, ok := range map[string]bool{"scripted": true, "mine": true, "missing": false, "nobody": false} {
		err := s.known(own, name)
		if (err == nil) != ok || err != nil && coppice.ErrorCode(err) == coppice.EInternal {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHostEnv(t *testing.T) {
	t.Parallel()
	got := hostEnv([]string{"PATH=/bin", "HOME=/h", "SECRET=s", "TMPDIR=", "PATHS=x"})
	if strings.Join(got, " ") != "PATH=/bin HOME=/h" {
		t.Errorf("a host gets %v", got)
	}
}
