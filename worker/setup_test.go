package worker

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/agent"
	"coppice/agent/claude"
	"coppice/agent/command"
	"coppice/agent/scripted"
	"coppice/fabric"
	"coppice/fabric/local"
	"coppice/host"
	"coppice/ingest"
	"coppice/internal/process"
	"coppice/internal/redact"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/test/ports"
	"coppice/test/testfile"
	"coppice/workspace"
	"coppice/workspace/git"
)

// roleVar makes the test binary a host or a scripted agent.
const roleVar = "WORKER_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "host":
		protocols := map[string]agent.Protocol{scripted.Name: scripted.New(), command.Name: command.New(), claude.Name: claude.New(), recorded{}.Name(): recorded{scripted.New()}}
		os.Exit(host.Main(context.Background(), os.Args[len(os.Args)-1], protocols, slog.New(slog.NewTextHandler(os.Stderr, nil))))
	case "agent":
		os.Exit(scripted.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
	case "web":
		os.Exit(serveFiles())
	case "call":
		os.Exit(callTool())
	case "keep":
		os.Exit(keepPicture(os.Args[1]))
	case "fetch":
		os.Exit(fetchFile(os.Args[1], os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

// bundle is a repository, a store with one task in it, and a worker.
type bundle struct {
	*Worker
	t        *testing.T
	ctx      context.Context
	dir      string
	repo     string
	store    *sqlite.Store
	fabric   fabric.Fabric
	ledger   *ingest.Ledger
	spaces   *workspace.Workspaces
	profile  coppice.Profile
	environ  []string
	capacity map[Group]int
	browser  []string
	secrets  func(context.Context, string) (string, error)
	redact   *redact.Redactor
	ports    workspace.PortRange
	project  coppice.Project
	task     coppice.Task
}

func setup(t *testing.T) *bundle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	dir := testfile.Dir(t)
	t.Cleanup(func() { // a verifier's worktree is read-only and could not be removed
		_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = os.Chmod(p, 0o700)
			}
			return err
		})
	})
	b := &bundle{
		t: t, ctx: ctx, dir: dir, repo: filepath.Join(dir, "repo"),
		environ: append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "HOME="+dir),
	}
	b.ports.First = ports.Block(t)
	b.ports.Last = b.ports.First + ports.Size - 1
	self, err := os.Executable()
	b.must(err)
	b.profile = coppice.Profile{Protocol: scripted.Name, Command: []string{self}, Args: []string{filepath.Join(dir, "script.yaml")}, Env: map[string]string{roleVar: "agent"}}
	b.store, err = sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory, Sync: sqlite.SyncOff})
	b.must(err)
	t.Cleanup(func() {
		if err := b.store.Close(); err != nil {
			t.Error(err)
		}
	})
	b.redact = redact.New()
	b.ledger = b.ledgerOn(b.store)
	b.fabric = local.New(local.Config{Store: b.store, Now: time.Now, Accept: b.ledger.Accept})
	runner, err := git.New(git.Config{Env: b.environ})
	b.must(err)
	b.spaces, err = workspace.New(workspace.Config{Dir: filepath.Join(dir, "ws"), Trash: filepath.Join(dir, "trash"), Git: runner, Env: b.environ, Ports: b.ports})
	b.must(err)
	b.makeRepo()
	b.makeTask()
	b.open()
	return b
}

// open creates a new worker with the same name, as after a restart.
func (b *bundle) open() {
	b.t.Helper()
	self, err := os.Executable()
	b.must(err)
	b.Worker, err = New(Config{
		Name: "local", Pools: []string{"local"}, Fabric: b.fabric, Ledger: b.ledger, Workspaces: b.spaces, Sessions: filepath.Join(b.dir, "s"),
		Host:    host.Launcher{Argv: []string{self, "host"}, Env: []string{roleVar + "=host", "PATH=" + os.Getenv("PATH")}},
		Profile: func(string, *coppice.Profile) (coppice.Profile, error) { return b.profile, nil },
		Environ: b.environ, Now: time.Now, Capacity: b.capacity, Browser: b.browser, Secrets: b.secrets,
	})
	b.must(err)
}

// ledgerOn creates the ledger of the worker's reports on a store.
func (b *bundle) ledgerOn(s store.Store) *ingest.Ledger {
	b.t.Helper()
	l, err := ingest.New(ingest.Config{Store: s, Now: time.Now, Worker: "local", Redact: b.redact})
	b.must(err)
	return l
}

// start runs the worker until the test ends, or stop is called.
func (b *bundle) start() (stop func()) {
	b.t.Helper()
	w := b.Worker
	b.must(w.Start(b.ctx))
	b.t.Cleanup(w.Stop)
	return w.Stop
}

func (b *bundle) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.repo, b.environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// own runs git in Coppice's own repository for the project.
func (b *bundle) own(args ...string) string {
	b.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(b.dir, "ws", "*", "repo.git"))
	if err != nil || len(dirs) != 1 {
		b.t.Fatalf("own repositories: %v %v", dirs, err)
	}
	return b.git(append([]string{"-C", dirs[0]}, args...)...)
}

func (b *bundle) makeRepo() {
	b.t.Helper()
	b.must(os.MkdirAll(b.repo, 0o755))
	b.git("init", "-q", "-b", "main")
	b.git("config", "user.name", "Ann")
	b.git("config", "user.email", "ann@example.org")
	b.must(os.WriteFile(filepath.Join(b.repo, "a.txt"), []byte("one\n"), 0o644))
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "first")
}

func (b *bundle) update(f func(store.Tx) error) {
	b.t.Helper()
	b.must(b.store.Update(b.ctx, f))
}

func (b *bundle) view(f func(store.Reader) error) {
	b.t.Helper()
	b.must(b.store.View(b.ctx, f))
}

func (b *bundle) makeTask() {
	b.t.Helper()
	b.update(func(tx store.Tx) error {
		b.project = coppice.Project{Prefix: "app", Path: b.repo, Policy: coppice.DefaultPolicy()}
		b.project.Policy.Base = "main"
		if err := tx.Projects.Put(&b.project); err != nil {
			return err
		}
		b.task = coppice.Task{ProjectID: b.project.ID, Num: 1, Key: "app-1", Title: "Greet", Stage: coppice.StageSession}
		return tx.Tasks.Put(&b.task)
	})
}

// offer offers work and returns its id.
func (b *bundle) offer(kind coppice.WorkKind, key string, spec any, session int64) int64 {
	b.t.Helper()
	w := coppice.Work{
		Kind: kind, Key: key, Pool: "local", ProjectID: b.project.ID, TaskID: b.task.ID, SessionID: session,
		State: coppice.WorkOffered, Spec: coppice.Raw(spec), OfferedAt: time.Now().UTC(),
	}
	b.update(func(tx store.Tx) error { return tx.Work.Put(&w) })
	return w.ID
}

func (b *bundle) work(id int64) (w coppice.Work) {
	b.t.Helper()
	b.view(func(r store.Reader) (err error) {
		w, err = r.Work.Get(id)
		return err
	})
	return w
}

// event waits until the log has an event of a kind, the nth of them.
func (b *bundle) event(kind coppice.EventKind, nth int) coppice.Event {
	b.t.Helper()
	for {
		var found []coppice.Event
		var last int64
		b.view(func(r store.Reader) (err error) {
			if _, last, err = r.Log.Bounds(); err != nil {
				return err
			}
			found, err = r.Log.Events(0, 1000, store.EventFilter{Kinds: []coppice.EventKind{kind}})
			return err
		})
		if len(found) >= nth {
			return found[nth-1]
		}
		if err := b.store.WaitEvent(b.ctx, last); err != nil {
			b.t.Fatalf("waiting for %s: %v", kind, err)
		}
	}
}

// finished waits for a work item's result.
func (b *bundle) finished(id int64) coppice.Work {
	b.t.Helper()
	for {
		var w coppice.Work
		var last int64
		b.view(func(r store.Reader) (err error) {
			if _, last, err = r.Log.Bounds(); err != nil {
				return err
			}
			w, err = r.Work.Get(id)
			return err
		})
		if w.State == coppice.WorkFinished {
			return w
		}
		if err := b.store.WaitEvent(b.ctx, last); err != nil {
			b.t.Fatalf("waiting for %s: %v", w.Key, err)
		}
	}
}

// run prepares a workspace, and offers a session that plays a script in it.
func (b *bundle) run(script string) (run int64, s coppice.Session) {
	b.t.Helper()
	if script != "" {
		b.must(os.WriteFile(filepath.Join(b.dir, "script.yaml"), []byte(script), 0o600))
	}
	ready, err := b.spaces.Prepare(b.ctx, coppice.PrepareSpec{
		Key: b.task.Key, Repo: b.repo, Branch: coppice.TaskBranch(b.task.Key), Base: "main", Policy: b.project.Policy.Workspace,
	})
	b.must(err)
	s = coppice.Session{
		ProjectID: b.project.ID, TaskID: b.task.ID, N: 1, Key: "app-1.1", Role: coppice.RoleImplement, Agent: "ann", Prompt: "Say hello.",
		State: coppice.SessionStarting, CreatedAt: time.Now().UTC(),
	}
	b.update(func(tx store.Tx) error { return tx.Sessions.Put(&s) })
	spec := coppice.RunSpec{
		Session: s, Task: b.task.Key, Title: b.task.Title, Repo: b.repo, Path: ready.Path, Branch: coppice.TaskBranch(b.task.Key),
		Ports: ready.Ports, Base: "main", Locks: b.project.Policy.Locks,
	}
	spec.Session.Prompt = ""
	b.t.Cleanup(func() { b.endHost(s.ID) })
	return b.offer(coppice.WorkRun, "session/1/run", spec, s.ID), s
}

// endHost ends a host that a failed test left behind, and only that.
func (b *bundle) endHost(session int64) {
	dir := b.sessionDir(session)
	if _, st, _, err := host.Inspect(dir); err == nil && st.PID != 0 && process.Alive(st.PID, st.Started) {
		_ = syscall.Kill(st.PID, syscall.SIGKILL)
	}
	if err := host.Kill(context.Background(), dir); err != nil {
		b.t.Error(err)
	}
}

func (b *bundle) session(id int64) (s coppice.Session) {
	b.t.Helper()
	b.view(func(r store.Reader) (err error) {
		s, err = r.Sessions.Get(id)
		return err
	})
	return s
}

// events returns the normalized events of a session that are committed.
func (b *bundle) events(session int64) (events []coppice.AgentEvent) {
	b.t.Helper()
	for _, o := range b.output(session) {
		if o.Kind != coppice.OutputEvent {
			continue
		}
		var e coppice.AgentEvent
		b.must(json.Unmarshal(o.Data, &e))
		events = append(events, e)
	}
	return events
}

func (b *bundle) output(session int64) (out []coppice.Output) {
	b.t.Helper()
	b.view(func(r store.Reader) (err error) {
		for after := int64(-1); err == nil; after = out[len(out)-1].Offset {
			var page []coppice.Output
			if page, err = r.Outputs.After(session, after, 1000); len(page) == 0 {
				break
			}
			out = append(out, page...)
		}
		return err
	})
	return out
}

// said waits until a session has written a text.
func (b *bundle) said(session int64, kind coppice.AgentEventKind, text string) {
	b.t.Helper()
	watch := b.store.Watch(store.TopicSession(session))
	defer watch.Close()
	for {
		live := b.session(session).State.Live() // read first: an ended session writes nothing more
		for _, e := range b.events(session) {
			if e.Kind == kind && e.Text == text {
				return
			}
		}
		if !live {
			b.t.Fatalf("the session ended without saying %q", text)
		}
		if _, err := watch.Wait(b.ctx); err != nil {
			b.t.Fatalf("waiting for %s %q: %v", kind, text, err)
		}
	}
}

func result[T any](b *bundle, w coppice.Work) T {
	b.t.Helper()
	if w.Failure != nil {
		b.t.Fatalf("%s failed: %s: %v", w.Key, w.Failure.Class, w.Failure)
	}
	r, err := coppice.DecodeResult[T](w)
	b.must(err)
	return r
}
