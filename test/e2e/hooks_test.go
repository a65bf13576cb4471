//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

const writesA = "cases: [{steps: [{write: {path: a, content: b}}]}]\n"

// pipe makes a named pipe from which the test reads one line at a time.
func (w *world) pipe(name string) (path string, line func() string) {
	w.t.Helper()
	path = filepath.Join(w.Root, name)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path, func() string {
		w.t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}
}

// A hook that runs when the server is killed runs again with the same id after the
// restart, and what is left of the first run is ended before that.
func TestAHookSurvivesAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": writesA})
	started, line := w.pipe("started")
	gate, open := w.Gate("gate")
	w.write(w.repo, files{"coppice.yaml": policy + fmt.Sprintf(`hooks:
  task-created:
    - run: "cat > %[1]s/input; echo $COPPICE_HOOK $COPPICE_HOOK_ID $COPPICE_TASK > %[2]s; cat %[3]s; echo over"
      timeout: 10m
`, w.Root, started, gate)})
	w.git("commit", "--quiet", "--all", "--message=Hooks")
	s := w.serve()
	key := w.new("Write")
	first := line()
	s.Kill()
	w.serve()
	again := line()
	if first != again || !strings.HasPrefix(first, "task-created h") || !strings.HasSuffix(first, " "+key) {
		t.Errorf("the hook ran as %q, and then as %q", first, again)
	}
	readers := 0
	for _, p := range w.Processes() {
		if len(p.Argv) > 0 && strings.HasSuffix(p.Argv[0], "cat") {
			readers++
		}
	}
	if readers > 1 {
		t.Errorf("%d runs of the hook are alive", readers)
	}
	open()
	id := strings.Fields(first)[1]
	run, err := w.client.WaitHook(t.Context(), id)
	if err != nil || run.State != coppice.HookPassed || run.Output != "go\nover\n" || run.Task != key {
		t.Errorf("%+v, %v", run, err)
	}
	in := decode[coppice.HookInput](t, string(must(os.ReadFile(filepath.Join(w.Root, "input")))))
	if in.ID != id || in.Event != coppice.HookTaskCreated || in.Task.Key != key || in.Project.Path != w.repo {
		t.Errorf("input %+v", in)
	}
	w.landed(key)
	page, err := w.client.HookRuns(t.Context(), client.HookQuery{Task: key})
	if err != nil || len(page.Runs) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
}

// A hook before a landing refuses it until the agent has fixed what the hook says.
func TestAHookBlocksALanding(t *testing.T) {
	t.Parallel()
	w := bareWorld(t)
	allowed := filepath.Join(w.Root, "allowed")
	w.repo = w.NewRepo("app", files{
		"coppice.yaml": policy + fmt.Sprintf(`hooks:
  before-land:
    - {run: "test -e %s || { echo the changelog has no line; exit 3; }", on_failure: block}
  landed:
    - {run: "git log -1 --format=%%s main; exit 4"}
    - {run: "exit 5", on_failure: ignore}
`, allowed),
		".coppice/scripted.yaml": "cases:\n  - {role: fix, steps: [{write: {path: c, content: d}}, {run: \"touch " + allowed + "\"}]}\n  - {steps: [{write: {path: a, content: b}}]}\n",
	})
	w.serve()
	key := w.new("Write")
	d := w.landed(key)[0]
	want(t, "landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingRefused, coppice.LandingLanded})
	if len(d.History) != 2 || d.History[1].Role != coppice.RoleFix {
		t.Fatalf("%+v", d.History)
	}
	w.wantPrompt(d.History[1].Key, "the changelog has no line")
	d = w.await(key, "a warning of the failed hook", func(d api.TaskDetail) bool { return d.Warning != "" })
	if !strings.HasPrefix(d.Warning, "the hook landed (git log") || !strings.HasSuffix(d.Warning, "failed with exit code 4") {
		t.Errorf("warning %q", d.Warning)
	}
	if got := w.cli("hooks"); !strings.Contains(got, "before-land") || !strings.Contains(got, "failed (4)") {
		t.Errorf("coppice hooks says\n%s", got)
	}
	if got := w.cli("hooks", "log", "--event", "landed"); !strings.Contains(got, "    Write\n") {
		t.Errorf("coppice hooks log says\n%s", got)
	}
	r := w.try(w.repo, "", "hooks", "test", "landed", "--task", key)
	if r.code != 1 || !strings.Contains(r.out, "    Write\n") || !strings.Contains(r.out, "failed (5)") {
		t.Errorf("coppice hooks test: %+v", r)
	}
	if r := w.try(w.repo, "", "hooks", "test", "landd"); r.code != 1 || !strings.Contains(r.err, `did you mean "landed"?`) {
		t.Errorf("an unknown event: %+v", r)
	}
}

// The user's hooks follow all projects, and the start of the server one time.
func TestHooksOfTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": writesA})
	line, next := w.pipe("pipe")
	dir := filepath.Join(w.Home, ".config", "coppice")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("hooks:\n  server-started: [{run: \"echo $COPPICE_HOOK $PWD > %[1]s\"}]\n  task-created: [{run: \"echo $COPPICE_TASK $PWD > %[1]s\"}]\n", line)
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.serve()
	if got := next(); got != "server-started "+w.Home {
		t.Errorf("at the start: %q", got)
	}
	key := w.new("Write")
	if got := next(); got != key+" "+w.repo {
		t.Errorf("after a task was created: %q", got)
	}
	if got := w.cli("hooks", "--json"); !strings.Contains(got, `"from": "user"`) {
		t.Errorf("coppice hooks --json says\n%s", got)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
