//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/test/harness"
)

// patience ends a test that hangs. Nothing is expected to take so long.
const patience = harness.Patience

// policy is the coppice.yaml of most tests: no pause is longer than needed.
const policy = `base: main
agent: {use: scripted}
limits: {sessions: 8, memory: 100%}
retry: {max: 3, backoff: 100ms}
`

// world is one person's machine: a home, a state, a repository and a server.
type world struct {
	*harness.Machine
	t      *testing.T
	repo   string
	client *client.Client
}

// files are what a repository holds, by path.
type files = harness.Files

// newWorld makes a world whose repository "app" has one commit with the files;
// coppice.yaml is the common policy unless they say otherwise.
func newWorld(t *testing.T, has files) *world {
	t.Helper()
	w := bareWorld(t)
	all := files{"coppice.yaml": policy, "README.md": "an app\n"}
	maps.Copy(all, has)
	w.repo = w.NewRepo("app", all)
	return w
}

// bareWorld makes a world without a repository.
func bareWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Machine: harness.New(t, program), t: t}
	w.client = client.New(w.State)
	w.client.Wait = func(ctx context.Context, _ int, _ error) error { return harness.Tick(ctx) }
	t.Cleanup(w.client.Close)
	return w
}

func (w *world) write(dir string, has files) { w.t.Helper(); w.Write(dir, has) }

func (w *world) gitIn(dir string, args ...string) string { w.t.Helper(); return w.GitIn(dir, args...) }

// git runs git in the repository.
func (w *world) git(args ...string) string { w.t.Helper(); return w.gitIn(w.repo, args...) }

// own runs git in Coppice's own repository for the project.
func (w *world) own(args ...string) string {
	w.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.State, "workspaces", "*", "repo.git"))
	if err != nil || len(dirs) != 1 {
		w.t.Fatalf("own repositories: %v %v", dirs, err)
	}
	return w.gitIn(dirs[0], args...)
}

// checkRepository checks that the user's repository has nothing of Coppice's but
// what landed: no branch, worktree, lock or ref besides the one that keeps bases.
func (w *world) checkRepository() {
	w.t.Helper()
	if refs := w.git("for-each-ref", "--format=%(refname)", "refs/coppice", "refs/heads/coppice"); refs != "" && refs != "refs/coppice/keep" {
		w.t.Errorf("refs in the user's repository:\n%s", refs)
	}
	if trees := w.git("worktree", "list"); strings.Contains(trees, w.State) {
		w.t.Errorf("worktrees in the user's repository:\n%s", trees)
	}
	for _, dir := range []string{filepath.Join(w.repo, ".git"), filepath.Join(w.State, "workspaces")} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			name := filepath.Base(path)
			if strings.HasSuffix(name, ".lock") && !strings.HasPrefix(name, "coppice-") && name != "move.lock" && name != "keep.lock" && name != "ports.lock" {
				w.t.Errorf("a lock is left: %s", path)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			w.t.Error(err)
		}
	}
}

// spaces counts the workspaces, and those for checks.
func (w *world) spaces() (work, checks int) {
	w.t.Helper()
	names, err := filepath.Glob(filepath.Join(w.State, "workspaces", "*", "coppice-*.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasPrefix(filepath.Base(n), "coppice-check-") {
			checks++
		} else {
			work++
		}
	}
	return work, checks
}

// onBase returns a file as the base branch has it.
func (w *world) onBase(path string) string { w.t.Helper(); return w.git("show", "main:"+path) }

// wantOnBase checks a file of the base branch.
func (w *world) wantOnBase(path, text string) {
	w.t.Helper()
	if got := w.onBase(path); got != text {
		w.t.Errorf("%s landed as %q, want %q", path, got, text)
	}
}

// wantPrompt checks that a session's prompt has all parts.
func (w *world) wantPrompt(session string, parts ...string) {
	w.t.Helper()
	prompt := w.session(session).Prompt
	for _, part := range parts {
		if !strings.Contains(prompt, part) {
			w.t.Errorf("the prompt of %s does not have %q:\n%s", session, part, prompt)
		}
	}
}

// wantBlamed waits until a task's track is paused because of its environment. Its
// verifiers failed with a text, no agent was asked to fix that, and nothing landed.
func (w *world) wantBlamed(key, text string) (last coppice.Failure) {
	w.t.Helper()
	before := w.git("rev-parse", "main")
	d := w.await(key, "a paused track", func(d api.TaskDetail) bool { return strings.Contains(d.Reason, "2 environment failures in a row") })
	for _, s := range d.History {
		if s.Role != coppice.RoleVerify || s.Failure == nil {
			continue
		}
		if last = *s.Failure; last.Class != coppice.ClassEnvironment || !strings.Contains(last.Text, text) {
			w.t.Errorf("%s failed with %+v, want a failure of the environment with %q", s.Key, last, text)
		}
	}
	if w.git("rev-parse", "main") != before || slices.Contains(roles(w.task(key)), coppice.RoleFix) {
		w.t.Error("an agent was asked to fix the environment, or the work landed")
	}
	return last
}

// result is how a command went.
type result struct {
	out, err string
	code     int
}

// try runs the program in a directory.
func (w *world) try(dir, stdin string, args ...string) result {
	w.t.Helper()
	r := w.Try(dir, stdin, args...)
	return result{r.Out, r.Err, r.Code}
}

// cli runs the program in the repository; it has to succeed.
func (w *world) cli(args ...string) string {
	w.t.Helper()
	r := w.try(w.repo, "", args...)
	if r.code != 0 {
		w.t.Fatalf("coppice %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

// new creates a task by the command line and returns its key.
func (w *world) new(title string, flags ...string) string {
	w.t.Helper()
	list := decode[api.TaskList](w.t, w.cli(append([]string{"new", title, "--json"}, flags...)...))
	if len(list.Tasks) != 1 {
		w.t.Fatalf("%d tasks were created", len(list.Tasks))
	}
	return list.Tasks[0].Key
}

// create creates tasks by the API and returns their keys.
func (w *world) create(tasks ...coppice.NewTask) []string {
	w.t.Helper()
	p, err := w.client.AddProject(w.t.Context(), w.repo)
	if err != nil {
		w.t.Fatal(err)
	}
	made, err := w.client.CreateTasks(w.t.Context(), p.Prefix, tasks)
	if err != nil {
		w.t.Fatal(err)
	}
	var keys []string
	for _, t := range made {
		keys = append(keys, t.Key)
	}
	return keys
}

// task returns a task as it is now.
func (w *world) task(key string) api.TaskDetail {
	w.t.Helper()
	d, err := w.client.Task(w.t.Context(), key)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// session returns a session with its prompt.
func (w *world) session(key string) coppice.Session {
	w.t.Helper()
	s, err := w.client.Session(w.t.Context(), key)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

var errSeen = errors.New("seen")

// await follows the log until the task is as f expects it, also through restarts
// of the server.
func (w *world) await(key, what string, f func(api.TaskDetail) bool) api.TaskDetail {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	var d api.TaskDetail
	look := func() error {
		now, err := w.client.Task(ctx, key)
		if err != nil {
			return err
		}
		if d = now; f(d) {
			return errSeen
		}
		return nil
	}
	for {
		page, err := w.client.Events(ctx, client.EventQuery{Limit: 1})
		if err == nil {
			if err = look(); err == nil {
				err = w.client.FollowEvents(ctx, client.EventQuery{After: page.Last, Task: key}, func(api.Event) error { return look() }, nil)
			}
		}
		if errors.Is(err, errSeen) {
			return d
		}
		if ctx.Err() != nil || harness.Tick(ctx) != nil {
			w.t.Fatalf("%s: %s did not come about; it is %s (%s), session %s, failure %v\n%s", key, what, d.Status, d.Reason, d.Session, d.Failure, w.story(key))
		}
	}
}

// story says what happened to a task and which processes run, for a failed test.
func (w *world) story(key string) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), 5*time.Second)
	defer cancel()
	var b strings.Builder
	page, err := w.client.Events(ctx, client.EventQuery{Task: key, Limit: 1000})
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	for _, e := range page.Events[max(0, len(page.Events)-30):] {
		fmt.Fprintf(&b, "%s %s %s %s (%s)\n", e.At.Format(time.TimeOnly), e.Kind, e.Subject, e.Reason, e.By)
	}
	for _, p := range w.Processes() {
		fmt.Fprintf(&b, "process %d %q\n", p.PID, p.Argv)
	}
	logs, _ := filepath.Glob(filepath.Join(w.State, "sessions", "*", "host.log"))
	for _, name := range logs {
		if text, err := os.ReadFile(name); err == nil {
			fmt.Fprintf(&b, "%s:\n%s\n", name, text)
		}
	}
	return b.String()
}

// landed waits until tasks have landed.
func (w *world) landed(keys ...string) []api.TaskDetail {
	w.t.Helper()
	var all []api.TaskDetail
	for _, key := range keys {
		d := w.await(key, "the end", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
		if d.Outcome != coppice.OutcomeDone || d.Landed == "" {
			w.t.Fatalf("%s ended as %s: %v", key, d.Outcome, d.Failure)
		}
		all = append(all, d)
	}
	return all
}

// working waits until the newest session of a task is in a state.
func (w *world) working(key string, state coppice.SessionState) coppice.Session {
	w.t.Helper()
	d := w.await(key, "a session that is "+string(state), func(d api.TaskDetail) bool {
		return len(d.History) > 0 && !last(d.History).StartedAt.IsZero() && last(d.History).State == state
	})
	return last(d.History)
}

// said waits until a session has said a text.
func (w *world) said(session, text string) {
	w.t.Helper()
	task, _, _ := strings.Cut(session, ".")
	w.await(task, "session "+session, func(d api.TaskDetail) bool {
		return slices.ContainsFunc(d.History, func(s coppice.Session) bool { return s.Key == session })
	})
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	err := w.client.FollowOutput(ctx, session, -1, func(o api.Output) error {
		if strings.Contains(string(o.Event), text) {
			return errSeen
		}
		return nil
	}, coppice.OutputEvent)
	if !errors.Is(err, errSeen) {
		w.t.Fatalf("%s did not say %q: %v", session, text, err)
	}
}

func last[T any](s []T) T { return s[len(s)-1] }

// outcomes lists how a task's landings ended.
func outcomes(d api.TaskDetail) []coppice.LandingOutcome {
	var all []coppice.LandingOutcome
	for _, l := range d.Landings {
		all = append(all, l.Outcome)
	}
	return all
}

func want[T comparable](t *testing.T, what string, got, wanted []T) {
	t.Helper()
	if !slices.Equal(got, wanted) {
		t.Fatalf("%s: %v, want %v", what, got, wanted)
	}
}
