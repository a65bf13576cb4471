package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"coppice"
	"coppice/agent"
	"coppice/internal/process"
)

const runMain = "COPPICE_TEST_SCRIPTED_MAIN"

// TestMain lets the test binary be the program itself, for steps that end the
// process.
func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
	}
	process.CatchIgnored(syscall.SIGHUP)
	goleak.VerifyTestMain(m)
}

// stage is a repository with a script, and the environment of an agent in it.
type stage struct {
	dir string
	env []string
}

func newStage(t *testing.T, script string) *stage {
	t.Helper()
	s := &stage{dir: t.TempDir(), env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "COPPICE_BASE=main"}}
	s.git(t, "init", "--quiet", "--initial-branch=main")
	s.file(t, DefaultFile, script)
	s.file(t, "README", "one\ntwo\nthree\n")
	s.commit(t, "start")
	return s
}

func (s *stage) file(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) commit(t *testing.T, message string) {
	t.Helper()
	s.git(t, "add", "--all")
	s.git(t, "-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "--message", message)
}

func (s *stage) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func (s *stage) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// played is the result of a session.
type played struct {
	agent.Outcome
	events []coppice.AgentEvent
	code   int
	stderr string
}

func (p played) texts(k coppice.AgentEventKind) string {
	var out []string
	for _, e := range p.events {
		if e.Kind == k {
			out = append(out, e.Text)
		}
	}
	return strings.Join(out, "|")
}

// run plays a session in this process, between the driver and the program. on
// gets each event and can return steps of the driver to carry out.
func (s *stage) run(t *testing.T, r agent.Request, on func(agent.Driver, coppice.AgentEvent) []agent.Step) played {
	t.Helper()
	if r.Role == "" {
		r.Role = coppice.RoleImplement
	}
	if r.Session == "" {
		r.Session = "app-1.1"
	}
	d := New().Driver(coppice.Profile{}, r)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		c := play(t.Context(), s.dir, DefaultFile, inR, outW, &stderr, s.env)
		outW.Close()
		inR.CloseWithError(io.ErrClosedPipe)
		code <- c
	}()
	var p played
	feed := make(chan agent.Step, 1000)
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		for st := range feed {
			if len(st.Write) > 0 {
				_, _ = inW.Write(st.Write) // the program may have ended
			}
			if st.CloseStdin {
				_ = inW.Close()
			}
		}
	}()
	var apply func(agent.Step)
	apply = func(st agent.Step) {
		if len(st.Write) > 0 || st.CloseStdin {
			feed <- st
		}
		for _, e := range st.Events {
			p.events = append(p.events, e)
			if on != nil {
				for _, next := range on(d, e) {
					apply(next)
				}
			}
		}
	}
	apply(d.Start())
	buf := make([]byte, 4096)
	for {
		n, err := outR.Read(buf)
		apply(d.Output(agent.Stdout, buf[:n]))
		if err != nil {
			break
		}
	}
	p.code = <-code
	p.stderr = stderr.String()
	apply(d.Output(agent.Stderr, stderr.Bytes()))
	st, o := d.Exit(agent.Exit{Code: p.code})
	apply(st)
	close(feed)
	<-fed
	p.Outcome = o
	return p
}

func must(t *testing.T) func(agent.Step, error) []agent.Step {
	return func(s agent.Step, err error) []agent.Step {
		if err != nil {
			t.Error(err)
		}
		return []agent.Step{s}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
cases:
  - match: 'Greet (\w+)'
    steps:
      - think: who is it
      - say: I greet $1.
      - write: {path: a/b/hello.txt, content: "hello $1\n"}
      - append: {path: a/b/hello.txt, content: "bye\n"}
      - replace: {path: README, old: two, new: deux}
      - write: {path: gone.txt, content: x}
      - delete: gone.txt
      - run: echo ran > ran.txt
      - tool: {name: look, kind: read, paths: [README], output: seen}
      - usage: {input_tokens: 10, cost_usd: 0.25}
      - usage: {input_tokens: 5}
      - commit: Greet $1
      - commit: nothing is left
      - say: done
`)
	p := s.run(t, agent.Request{Prompt: "Title\n\nGreet Bob please"}, nil)
	if p.Failure != nil || p.code != 0 {
		t.Fatalf("failure %v, exit %d, %s", p.Failure, p.code, p.stderr)
	}
	if got := s.read(t, "a/b/hello.txt"); got != "hello Bob\nbye\n" {
		t.Errorf("hello.txt holds %q", got)
	}
	if got := s.read(t, "README"); got != "one\ndeux\nthree\n" {
		t.Errorf("README holds %q", got)
	}
	if got := s.git(t, "log", "--format=%s"); got != "Greet Bob\nstart\n" {
		t.Errorf("log is %q", got)
	}
	if got := s.git(t, "status", "--porcelain"); got != "" {
		t.Errorf("left over: %s", got)
	}
	if p.Summary != "done" || p.Usage.InputTokens != 15 || p.Usage.CostUSD != 0.25 || p.Conversation != "scripted-app-1-1" {
		t.Errorf("outcome %+v", p.Outcome)
	}
	if got := p.texts(coppice.KindText); got != "I greet Bob.|done" {
		t.Errorf("said %q", got)
	}
}

func TestFirstCaseThatFits(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
cases:
  - {role: fix, steps: [{say: fix}]}
  - {match: special, session: 2, steps: [{say: second}]}
  - {match: special, steps: [{say: first}]}
`)
	for _, c := range []struct {
		r    agent.Request
		want string
	}{
		{agent.Request{Prompt: "x", Role: coppice.RoleFix}, "fix"},
		{agent.Request{Prompt: "special", Session: "app-7.2"}, "second"},
		{agent.Request{Prompt: "special", Session: "app-7.1"}, "first"},
	} {
		if p := s.run(t, c.r, nil); p.texts(coppice.KindText) != c.want {
			t.Errorf("%+v: said %q, want %q", c.r, p.texts(coppice.KindText), c.want)
		}
	}
	if p := s.run(t, agent.Request{Prompt: "other"}, nil); p.Failure == nil || p.Failure.Class != coppice.ClassImplementation {
		t.Errorf("no case fits, and the failure is %+v", p.Failure)
	}
}

// The script merges a conflict with its own resolution.
func TestMerge(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
cases:
  - match: unresolved
    steps: [{merge: {}}]
  - role: fix
    steps:
      - merge: {resolve: {README: "one\nboth\nthree\n"}, message: "Merge ${base}"}
  - steps:
      - replace: {path: README, old: two, new: task}
      - commit: task
`)
	s.git(t, "switch", "--quiet", "--create", "coppice/app-1")
	s.run(t, agent.Request{Prompt: "x"}, nil)
	s.git(t, "switch", "--quiet", "main")
	s.file(t, "README", "one\nbase\nthree\n")
	s.file(t, "other", "new on main\n")
	s.commit(t, "base")
	s.git(t, "switch", "--quiet", "coppice/app-1")

	if p := s.run(t, agent.Request{Prompt: "unresolved"}, nil); p.Failure == nil || !strings.Contains(p.Failure.Text, "README conflicts") {
		t.Errorf("failure %+v", p.Failure)
	}
	if got := s.git(t, "status", "--porcelain"); got != "" {
		t.Errorf("a merge that failed leaves %q", got)
	}
	if p := s.run(t, agent.Request{Prompt: "it conflicts", Role: coppice.RoleFix}, nil); p.Failure != nil {
		t.Fatalf("failure %+v", p.Failure)
	}
	if got := s.read(t, "README") + s.read(t, "other"); got != "one\nboth\nthree\nnew on main\n" {
		t.Errorf("merged to %q", got)
	}
	s.git(t, "merge-base", "--is-ancestor", "main", "HEAD")
	if got := s.git(t, "log", "-1", "--format=%s"); got != "Merge main\n" {
		t.Errorf("message %q", got)
	}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
cases:
  - match: ask
    steps:
      - ask: {text: Which colour?, options: [red, blue]}
      - say: it is ${answer}
      - wait_message: true
      - say: got ${answer}
  - match: hang
    steps: [{hang: true}, {say: continued}]
  - match: late
    steps: [{say: over}]
`)
	send := must(t)
	p := s.run(t, agent.Request{Prompt: "ask"}, func(d agent.Driver, e coppice.AgentEvent) []agent.Step {
		switch {
		case e.Kind == coppice.KindQuestion:
			return send(d.Send("blue", e.Ref))
		case e.State == coppice.SessionIdle && e.Kind == coppice.KindState:
			if st, err := d.Send("hello", ""); err == nil {
				return []agent.Step{st}
			}
		}
		return nil
	})
	if got := p.texts(coppice.KindText); p.Failure != nil || got != "it is blue|got hello" {
		t.Errorf("failure %v, said %q", p.Failure, got)
	}

	p = s.run(t, agent.Request{Prompt: "hang"}, func(d agent.Driver, e coppice.AgentEvent) []agent.Step {
		switch {
		case e.Kind == coppice.KindInit:
			return send(d.Interrupt())
		case e.Kind == coppice.KindTurn && e.Reason == "interrupted":
			return send(d.Send("continue", ""))
		}
		return nil
	})
	if p.Failure != nil || p.texts(coppice.KindText) != "continued" {
		t.Errorf("failure %v, said %q", p.Failure, p.texts(coppice.KindText))
	}

	p = s.run(t, agent.Request{Prompt: "late"}, func(d agent.Driver, e coppice.AgentEvent) []agent.Step {
		if e.Kind == coppice.KindText {
			return send(d.Send("one more thing", ""))
		}
		return nil
	})
	if got := p.texts(coppice.KindNotice); p.Failure != nil || !strings.Contains(got, "one more thing") {
		t.Errorf("a late message is lost: failure %v, notices %q", p.Failure, got)
	}

	p = s.run(t, agent.Request{Prompt: "hang"}, func(d agent.Driver, e coppice.AgentEvent) []agent.Step {
		if e.Kind == coppice.KindInit {
			return []agent.Step{d.Stop()}
		}
		return nil
	})
	if p.Failure == nil || p.Failure.Class != coppice.ClassCancelled || p.code != 1 {
		t.Errorf("stopped: failure %+v, exit %d", p.Failure, p.code)
	}
}

func TestWritesStayInside(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../out", "/etc/out", "link/out", ".git/config", "a/../../out", ".GIT/x", "file-link"} {
		s := newStage(t, "cases: [{steps: [{write: {path: "+path+", content: x}}]}]")
		outside := t.TempDir()
		target := filepath.Join(outside, "file")
		if err := errors.Join(os.WriteFile(target, []byte("kept"), 0o644), os.Symlink(outside, filepath.Join(s.dir, "link")), os.Symlink(target, filepath.Join(s.dir, "file-link"))); err != nil {
			t.Fatal(err)
		}
		if p := s.run(t, agent.Request{Prompt: "x"}, nil); p.Failure == nil {
			t.Errorf("%s was written", path)
		}
		if b, err := os.ReadFile(target); err != nil || string(b) != "kept" {
			t.Errorf("%s reached a file outside: %q %v", path, b, err)
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
			t.Errorf("%s made a file outside: %v %v", path, entries, err)
		}
	}
}

func TestFailuresAndFlood(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
cases:
  - match: limit
    steps: [{fail: {class: rate_limit, text: no more, retry_at: 2026-01-01T00:00:00Z}}]
  - match: run
    steps: [{run: "echo why >&2; exit 3"}]
  - match: flood
    steps: [{flood: {bytes: 100000}}, {sleep: 1ms}, {sleep: 2}]
`)
	p := s.run(t, agent.Request{Prompt: "limit"}, nil)
	if p.Failure == nil || p.Failure.Class != coppice.ClassRateLimit || p.Failure.RetryAt.Year() != 2026 || p.code != 1 {
		t.Errorf("limit: %+v, exit %d", p.Failure, p.code)
	}
	if p = s.run(t, agent.Request{Prompt: "run"}, nil); p.Failure == nil || !strings.Contains(p.Failure.Text, "why") || !strings.Contains(p.Failure.Text, "line 6") {
		t.Errorf("run: %+v", p.Failure)
	}
	if p = s.run(t, agent.Request{Prompt: "flood"}, nil); p.Failure != nil || len(strings.ReplaceAll(p.texts(coppice.KindText), "|", "")) != 100000 {
		t.Errorf("flood: %v, %d bytes", p.Failure, len(p.texts(coppice.KindText)))
	}
}

// process runs the program as a separate process and returns how it ended.
func (s *stage) process(t *testing.T, started func(*os.Process)) *os.ProcessState {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Dir, cmd.Env = s.dir, append(s.env, runMain+"=1")
	start, err := json.Marshal(input{Type: inputStart, Session: "app-1.1", Role: coppice.RoleImplement, Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = bytes.NewReader(append(start, '\n'))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	for buf := make([]byte, 1024); ; {
		n, err := out.Read(buf)
		seen.Write(buf[:n])
		if started != nil && strings.Contains(seen.String(), `"hanging"`) {
			started(cmd.Process)
			started = nil
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // the state shows it
	return cmd.ProcessState
}

func TestCrash(t *testing.T) {
	t.Parallel()
	signalled := func(p *os.ProcessState) syscall.Signal { return p.Sys().(syscall.WaitStatus).Signal() }
	if p := newStage(t, "cases: [{steps: [{crash: {exit: 7}}]}]").process(t, nil); p.ExitCode() != 7 {
		t.Errorf("ended with %v", p)
	}
	for name, sig := range signals {
		if p := newStage(t, "cases: [{steps: [{crash: {signal: "+name+"}}]}]").process(t, nil); p.Exited() || signalled(p) != sig {
			t.Errorf("%s: ended with %v", name, p)
		}
	}
}

// A deaf process survives SIGTERM. Only SIGKILL ends it.
func TestHangDeaf(t *testing.T) {
	t.Parallel()
	p := newStage(t, "cases: [{steps: [{hang: deaf}]}]").process(t, func(p *os.Process) {
		_ = p.Signal(syscall.SIGTERM)
		_ = p.Signal(syscall.SIGKILL)
	})
	if got := p.Sys().(syscall.WaitStatus).Signal(); p.Exited() || got != syscall.SIGKILL {
		t.Errorf("ended with %v", p)
	}
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := Main(t.Context(), []string{"a", "b"}, strings.NewReader(""), &out, &out, nil); code != 2 {
		t.Errorf("two files: exit %d", code)
	}
	out.Reset()
	if code := Main(t.Context(), nil, strings.NewReader("what?\n"), &out, &out, nil); code != 2 || !strings.Contains(out.String(), "no start line") {
		t.Errorf("no start line: exit %d, %s", code, out.String())
	}
	s := newStage(t, "cases: [")
	if p := s.run(t, agent.Request{Prompt: "x"}, nil); p.Failure == nil || p.Failure.Class != coppice.ClassEnvironment || !strings.Contains(p.Failure.Text, DefaultFile+":1:") {
		t.Errorf("broken script: %+v", p.Failure)
	}
}

// A verifier reports for each step how its command ended.
func TestVerdict(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
cases:
  - match: 'Look at (\w+)'
    steps:
      - verdict: [grep two $1, 'echo it has no four; grep -q four $1', 'true']
`)
	p := s.run(t, agent.Request{Prompt: "Look at README", Role: coppice.RoleVerify}, nil)
	if p.code != 0 || p.Failure != nil {
		t.Fatalf("exit %d, %v", p.code, p.Failure)
	}
	if want := "STEP 1: PASS two\nSTEP 2: FAIL it has no four\nSTEP 3: PASS"; p.Summary != want || p.texts(coppice.KindText) != want {
		t.Errorf("it says %q", p.Summary)
	}
}
