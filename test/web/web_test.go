//go:build linux

package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/test/harness"
	"coppice/test/testfile"
	"coppice/test/web/seed"
	"coppice/verb"
)

// patience ends a test that hangs. Nothing is expected to take so long.
const patience = 10 * time.Minute

var (
	out     = flag.String("out", "", "where a screenshot of every page is kept; empty keeps only those of failures, in out")
	program string // the built coppice
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(harness.RunWithProgram(m, &program))
}

// needs skips a test where the browser or the built dashboard is missing.
func needs(t *testing.T) {
	t.Helper()
	for _, file := range []string{"../../web/node_modules/playwright-core", "../../web/node_modules/axe-core", "../../web/dist/index.html", chromium()} {
		if _, err := os.Stat(file); err != nil {
			t.Skipf("%s is missing; run: make deps web", file)
		}
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is missing; run: make deps")
	}
}

func chromium() string {
	if path := os.Getenv("COPPICE_CHROMIUM"); path != "" {
		return path
	}
	return "/usr/bin/chromium"
}

// world is one person's machine: a home, a state, repositories and a server.
type world struct {
	t     *testing.T
	root  string
	state string

	listen string
	server *exec.Cmd
	failed string // what a script reported last
}

func newWorld(t *testing.T) *world {
	t.Helper()
	needs(t)
	root := testfile.Dir(t)
	w := &world{t: t, root: root, state: filepath.Join(root, "state"), listen: "127.0.0.1:0"}
	for _, dir := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"app", "manual", "screens", "asks", "proof", "words", "people", "checks", "review", "flows"} {
		w.repository(name)
	}
	t.Cleanup(w.close)
	w.serve()
	return w
}

// env is the clean environment of everything that the world starts.
func (w *world) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(w.root, "home"), "TMPDIR=" + filepath.Join(w.root, "tmp"), "COPPICE_STATE=" + w.state,
		"LANG=C.UTF-8", "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1",
	}
}

// repository makes a repository of the files in testdata.
func (w *world) repository(name string) {
	w.t.Helper()
	dir := filepath.Join(w.root, name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		w.t.Fatal(err)
	}
	config := filepath.Join(dir, "coppice.yaml")
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, []byte(strings.ReplaceAll(string(text), "{program}", program)), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"config", "user.name", "Ada"}, {"config", "user.email", "ada@example.org"},
		{"add", "--all"}, {"commit", "--quiet", "--message=Begin"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, w.env()
		if text, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("git %s: %v\n%s", args[0], err, text)
		}
	}
}

// serve starts the server, always at the same address.
func (w *world) serve() {
	w.t.Helper()
	log, err := os.OpenFile(filepath.Join(w.root, "serve.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program, "serve", "--verbose", "--listen", w.listen)
	cmd.Dir, cmd.Env, cmd.Stderr = w.root, w.env(), log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		w.t.Fatalf("the server did not start: %v\n%s", err, text)
	}
	words := strings.Fields(line)
	w.listen = strings.TrimPrefix(words[len(words)-1], "http://")
	w.server = cmd
}

// stop ends the server, by a signal.
func (w *world) stop(sig os.Signal) {
	if w.server == nil {
		return
	}
	_ = w.server.Process.Signal(sig)
	_ = w.server.Wait() // how it ended does not matter here
	w.server = nil
}

// close stops every task, then the server, so that no agent is left behind.
func (w *world) close() {
	if w.server == nil {
		w.serve()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), patience)
	defer cancel()
	c := client.New(w.state)
	defer c.Close()
	for _, status := range []string{"working", "fixing", "verifying", "needs you", "checking", "landing"} {
		page, err := c.Tasks(ctx, client.TaskQuery{Status: []string{status}, Limit: 500})
		if err != nil {
			break
		}
		for _, task := range page.Tasks {
			_, _ = c.Ask(ctx, task.Key, coppice.VerbStop, verb.Request{}) // a task that has ended cannot be stopped
		}
	}
	w.settle(ctx, c)
	w.stop(syscall.SIGTERM)
	if text, err := os.ReadFile(filepath.Join(w.root, "serve.log")); err == nil && w.t.Failed() {
		w.t.Logf("the server's log ends with:\n%s", text[max(0, len(text)-4000):])
	}
	if w.failed != "" {
		w.t.Log(w.failed) // again, where a log that is cut off still has it
	}
}

// settle waits until no session runs any more.
func (w *world) settle(ctx context.Context, c *client.Client) {
	idle := func() bool {
		projects, err := c.Projects(ctx)
		running := 0
		for _, p := range projects {
			running += p.Running
		}
		return err != nil || running == 0
	}
	errIdle := errors.New("idle")
	page, err := c.Events(ctx, client.EventQuery{Limit: 1})
	if err != nil || idle() {
		return
	}
	_ = c.FollowEvents(ctx, client.EventQuery{After: page.Last}, func(api.Event) error {
		if idle() {
			return errIdle
		}
		return nil
	}, nil)
}

// drive runs a script of browser steps to its end.
func (w *world) drive(script string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	failed, err := filepath.Abs(cmp.Or(*out, "out"))
	if err != nil {
		w.t.Fatal(err)
	}
	shots := ""
	if *out != "" {
		shots = failed
	}
	token, err := client.EnsureToken(w.state)
	if err != nil {
		w.t.Fatal(err)
	}
	given, err := json.Marshal(map[string]string{
		"url": "http://" + w.listen, "token": token, "root": w.root, "shots": shots, "failed": failed, "chromium": chromium(), "program": program,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "node", script)
	cmd.Env = append(w.env(), "COPPICE_WEB_TEST="+string(given))
	if s := os.Getenv("COPPICE_WEB_PATIENCE"); s != "" {
		cmd.Env = append(cmd.Env, "PATIENCE="+s)
	}
	cmd.WaitDelay = 10 * time.Second
	var errs bytes.Buffer
	cmd.Stderr = &errs
	answers, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	asked, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	lines := bufio.NewScanner(asked)
	for lines.Scan() {
		what, ask := strings.CutPrefix(lines.Text(), "ask ")
		if !ask {
			w.t.Log(lines.Text())
			continue
		}
		w.do(what)
		if _, err := fmt.Fprintln(answers, "done"); err != nil {
			break // it has ended; the reason is read below
		}
	}
	if err := cmd.Wait(); err != nil {
		text := errs.String()
		if _, last, ok := strings.Cut(text, "\nfailed: "); ok {
			w.failed = fmt.Sprintf("%s: %s", script, last)
		}
		w.t.Fatalf("%s: %v\n%s", script, err, text)
	}
}

func (w *world) do(what string) {
	switch what {
	case "restart":
		w.stop(syscall.SIGTERM)
		w.serve()
	case "kill":
		w.stop(syscall.SIGKILL)
	case "serve":
		w.serve()
	case "seed":
		w.seed(func(ctx context.Context, db string) error { return seed.History(ctx, db, "app", 300, time.Now()) })
	case "seed pulls":
		w.seed(func(ctx context.Context, db string) error { return seed.Pulls(ctx, db, "app", time.Now()) })
	case "seed issues":
		w.seed(func(ctx context.Context, db string) error { return seed.Issues(ctx, db, "app", time.Now()) })
	case "seed flows":
		w.seed(func(ctx context.Context, db string) error { return seed.Flows(ctx, db, "app", time.Now()) })
	case "pass CI":
		w.seed(func(ctx context.Context, db string) error { return seed.Passes(ctx, db, "app", 13, time.Now()) })
	default:
		w.t.Fatalf("the script asks for %q", what)
	}
}

// seed writes facts into the database while no server has it open.
func (w *world) seed(f func(ctx context.Context, db string) error) {
	w.stop(syscall.SIGTERM)
	if err := f(w.t.Context(), filepath.Join(w.state, "coppice.db")); err != nil {
		w.t.Fatal(err)
	}
	w.serve()
}

func TestJourney(t *testing.T)                { play(t, "journey.mjs") }
func TestRestartUnderAnOpenPage(t *testing.T) { play(t, "restart.mjs") }
func TestTerminal(t *testing.T)               { play(t, "terminal.mjs") }
func TestEveryPage(t *testing.T)              { play(t, "pages.mjs") }
func TestWordsAreLiveAndFound(t *testing.T)   { play(t, "words.mjs") }
func TestVerdicts(t *testing.T)               { play(t, "proof.mjs") }
func TestAnswers(t *testing.T)                { play(t, "answers.mjs") }
func TestPermissions(t *testing.T)            { play(t, "asks.mjs") }
func TestReview(t *testing.T)                 { play(t, "review.mjs") }
func TestInbox(t *testing.T)                  { play(t, "inbox.mjs") }
func TestForms(t *testing.T)                  { play(t, "forms.mjs") }
func TestChecksAndPreview(t *testing.T)       { play(t, "checks.mjs") }
func TestLayout(t *testing.T)                 { play(t, "layout.mjs") }
func TestBoardOnAPhone(t *testing.T)          { play(t, "phone.mjs") }
func TestFlows(t *testing.T)                  { play(t, "flows.mjs") }
func TestLongFlows(t *testing.T)              { play(t, "longflows.mjs") }
func TestPullRequests(t *testing.T)           { play(t, "pulls.mjs") }
func TestHistoryOf300Tasks(t *testing.T)      { play(t, "history.mjs") }

// play runs a script in a new world.
func play(t *testing.T, script string) {
	t.Parallel()
	newWorld(t).drive(script)
}
