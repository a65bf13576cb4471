package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/agent/agenttest"
	"coppice/agent/profiles"
	"coppice/test/scriptedmodel"
)

// bench is what one test works with: a model, a repository and a home.
type bench struct {
	model   *scriptedmodel.Server
	url     string
	repo    string
	home    string
	env     map[string]string
	profile coppice.Profile
	private string // of the latest run
	noHook  bool   // nobody answers hooks

	protocol agent.Protocol
	use      string // the model of requests that name none
	stays    bool   // when its stdin is closed; the host ends such an agent
	asksBy   string // the method of its requests for permission
	recorded func(*testing.T, agent.Request)
}

// parseRules returns the rules of rules.json, after further ones.
func parseRules(t *testing.T, further ...string) *scriptedmodel.Rules {
	t.Helper()
	data, err := os.ReadFile("rules.json")
	if err != nil {
		t.Fatal(err)
	}
	all := &scriptedmodel.Rules{}
	for _, text := range append(further, string(data)) {
		r, err := scriptedmodel.ParseRules([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r.Rules = append(all.Rules, r.Rules...)
		all = r
	}
	return all
}

// serveModel starts a scripted model and returns its address.
func serveModel(t *testing.T, model *scriptedmodel.Server) string {
	t.Helper()
	srv := httptest.NewServer(model)
	t.Cleanup(srv.CloseClientConnections)
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections) // before Close, which waits for the hanging ones
	return srv.URL
}

func newBench(t *testing.T, name string, rules ...string) *bench {
	t.Helper()
	path := program(t, name)
	shows(t, name)
	set, err := profiles.Load()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{model: scriptedmodel.New(parseRules(t, rules...), nil), repo: t.TempDir(), home: t.TempDir(), profile: set[name]}
	b.profile.Command = append([]string{path}, b.profile.Command[1:]...)
	b.url = serveModel(t, b.model)
	b.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": b.home, "TERM": "dumb", "LANG": "C.UTF-8",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Agent", "GIT_AUTHOR_EMAIL": "agent@coppice.invalid",
		"GIT_COMMITTER_NAME": "Agent", "GIT_COMMITTER_EMAIL": "agent@coppice.invalid",
	}
	b.git(t, "init", "--quiet", "--initial-branch=main")
	b.git(t, "commit", "--quiet", "--allow-empty", "--message=start")
	return b
}

func (b *bench) environ() []string {
	var out []string
	for k, v := range b.env {
		out = append(out, k+"="+v)
	}
	return out
}

func (b *bench) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.repo, b.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// pump carries bytes between a real process and a driver.
type pump struct {
	cmd   *exec.Cmd
	on    func(*pump, coppice.AgentEvent) // called with mu held
	feed  chan []byte                     // to stdin; closed when stdin is to be
	stays bool                            // when its stdin is closed

	mu     sync.Mutex
	driver agent.Driver
	events []coppice.AgentEvent
	ops    agenttest.Transcript
	queue  []func() // what on asked for, done after the step
	closed bool
}

// finished is how a run went.
type finished struct {
	agent.Outcome
	events []coppice.AgentEvent
	exit   agent.Exit
}

func (f finished) has(k coppice.AgentEventKind) (coppice.AgentEvent, bool) {
	for _, e := range f.events {
		if e.Kind == k {
			return e, true
		}
	}
	return coppice.AgentEvent{}, false
}

// deadline is a safety net only; no test waits for it.
const deadline = 3 * time.Minute

// run starts the agent and follows it to its end. on sees each event and may
// send, interrupt, stop or signal through the pump.
func (b *bench) run(t *testing.T, r agent.Request, on func(*pump, coppice.AgentEvent)) finished {
	t.Helper()
	p := b.protocol
	r.Model = cmp.Or(r.Model, b.use)
	if r.Session == "" {
		r.Session, r.Role = "app-1.1", coppice.RoleImplement
	}
	r.Dir, r.Private = b.repo, t.TempDir()
	b.private = r.Private
	hooks := newHooks(t, p.Driver(b.profile, r), b.noHook)
	r.HookURL = hooks.url
	launch, err := p.Launch(b.profile, r)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range launch.Files {
		put(t, filepath.Join(r.Private, name), string(data))
	}
	cmd := exec.Command(launch.Argv[0], launch.Argv[1:]...)
	cmd.Dir, cmd.Env = b.repo, append(b.environ(), agent.HookTokenVar+"="+hookToken, agent.TokenVar+"="+r.Token)
	for k, v := range launch.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(deadline, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	pm := &pump{cmd: cmd, on: on, stays: b.stays, feed: make(chan []byte, 1000), driver: p.Driver(b.profile, r)}
	hooks.answer(pm)
	var wg sync.WaitGroup
	wg.Go(func() { write(stdin, pm.feed) })
	pm.do(func() (agent.Step, error) { return pm.driver.Start(), nil })
	var readers sync.WaitGroup
	readers.Go(func() { pm.read(stdout, agent.Stdout, "out") })
	readers.Go(func() { pm.read(stderr, agent.Stderr, "err") })
	readers.Wait()
	exit := exitOf(cmd.Wait())
	// A wrapper that was killed may leave the real program behind.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if !timer.Stop() {
		t.Fatalf("the agent did not end within %s", deadline)
	}
	f := finished{exit: exit}
	pm.do(func() (agent.Step, error) {
		var s agent.Step
		s, f.Outcome = pm.driver.Exit(exit)
		s.CloseStdin = true
		return s, nil
	})
	wg.Wait()
	f.events = pm.events
	if *record {
		b.save(t, r, pm.ops, exit)
	}
	return f
}

func write(w io.WriteCloser, feed <-chan []byte) {
	for b := range feed {
		// The agent may have ended; its exit is reported.
		_, _ = w.Write(b)
	}
	_ = w.Close()
}

func (p *pump) read(r io.Reader, s agent.Stream, name string) {
	buf := make([]byte, 32<<10)
	var lines agent.Lines
	for {
		n, err := r.Read(buf)
		p.do(func() (agent.Step, error) {
			lines.Add(buf[:n], func(l []byte) { p.ops = append(p.ops, agenttest.Op{Name: name, Arg: string(l)}) })
			return p.driver.Output(s, buf[:n]), nil
		})
		if err != nil {
			return
		}
	}
}

// do calls the driver and carries out what follows.
func (p *pump) do(call func() (agent.Step, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apply(call())
	for len(p.queue) > 0 {
		next := p.queue[0]
		p.queue = p.queue[1:]
		next()
	}
}

func (p *pump) apply(s agent.Step, err error) {
	if err != nil {
		p.events = append(p.events, coppice.AgentEvent{Kind: coppice.KindError, Text: err.Error()})
	}
	if !p.closed && len(s.Write) > 0 {
		p.feed <- s.Write
	}
	if !p.closed && s.CloseStdin {
		p.closed = true
		close(p.feed)
	}
	for _, e := range s.Events {
		p.events = append(p.events, e)
		if p.on != nil {
			p.on(p, e)
		}
		if p.stays && e.Kind == coppice.KindState && e.State == coppice.SessionIdle && p.closed {
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}

func (p *pump) send(text, ref string) {
	p.queue = append(p.queue, func() {
		op := agenttest.Op{Name: "send", Arg: text}
		if ref != "" {
			op = agenttest.Op{Name: "answer", Arg: ref + " " + text}
		}
		p.ops = append(p.ops, op)
		p.apply(p.driver.Send(text, ref))
	})
}

func (p *pump) interrupt() {
	p.queue = append(p.queue, func() {
		p.ops = append(p.ops, agenttest.Op{Name: "interrupt"})
		p.apply(p.driver.Interrupt())
	})
}

func (p *pump) model(name string) {
	p.queue = append(p.queue, func() {
		p.ops = append(p.ops, agenttest.Op{Name: "model", Arg: name})
		p.apply(p.driver.(agent.Switcher).Model(name))
	})
}

func (p *pump) stop() {
	p.queue = append(p.queue, func() {
		p.ops = append(p.ops, agenttest.Op{Name: "stop"})
		p.apply(p.driver.Stop(), nil)
	})
}

func exitOf(err error) agent.Exit {
	var x *exec.ExitError
	if !errors.As(err, &x) {
		return agent.Exit{}
	}
	ws, ok := x.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		names := map[syscall.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL", syscall.SIGINT: "SIGINT"}
		return agent.Exit{Code: -1, Signal: names[ws.Signal()]}
	}
	return agent.Exit{Code: x.ExitCode()}
}

// save writes the transcript of a run into the protocol's testdata.
func (b *bench) save(t *testing.T, r agent.Request, ops agenttest.Transcript, x agent.Exit) {
	t.Helper()
	if len(r.Prompt) > 4000 {
		return
	}
	asked := map[string]any{"Session": r.Session, "Role": r.Role, "Prompt": r.Prompt, "Resume": r.Resume, "Spent": r.Spent}
	if len(b.profile.Model) == 0 {
		asked["Model"] = r.Model // else arguments tell it, and the driver need not
	}
	if agent.Restricts(r.Permissions) {
		asked["Permissions"], asked["Dir"], asked["HookURL"] = r.Permissions, r.Dir, r.HookURL
	}
	if r.Fork {
		asked["Fork"] = true
	}
	if len(r.MCP) > 0 {
		asked["MCP"] = r.MCP
	}
	if len(r.Schema) > 0 {
		asked["Schema"] = r.Schema
	}
	if r.Effort != "" {
		asked["Effort"] = r.Effort
	}
	if r.Budget > 0 {
		asked["Budget"] = r.Budget
	}
	request, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	all := append(agenttest.Transcript{{Name: "request", Arg: string(request)}}, ops...)
	all = append(all, agenttest.Op{Name: "exit", Arg: strings.TrimSpace(strconv.Itoa(x.Code) + " " + x.Signal)})
	_, name, _ := strings.Cut(t.Name(), "/")
	if r.Resume != "" && strings.Contains(name, "resume") {
		name += "-second"
	}
	folder, dialect, _ := strings.Cut(b.protocol.Name(), "-") // a protocol with dialects has a folder for each
	if strings.Contains(name, "-messages") {
		dialect = "now" // their messages do not wait for the end of the turn
	}
	dir := filepath.Join("..", "..", "agent", folder, "testdata", dialect, strings.ReplaceAll(name, "_", "-"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "transcript.txt"), []byte(b.scrub(all.String())), 0o644); err != nil {
		t.Fatal(err)
	}
	if b.recorded != nil {
		b.recorded(t, r)
	}
}

// failRequest answers the agent's latest request of a method with an error,
// past the driver.
func (p *pump) failRequest(t *testing.T, method string) {
	for _, op := range slices.Backward(p.ops) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if op.Name == "out" && json.Unmarshal([]byte(op.Arg), &m) == nil && m.Method == method {
			p.queue = append(p.queue, func() {
				p.feed <- []byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32603,"message":"nobody decides"}}` + "\n")
			})
			return
		}
	}
	t.Errorf("the agent did not ask for %s: %+v", method, agenttest.Transcript(p.ops))
}

// logOut removes the agent's credentials.
func (b *bench) logOut(t *testing.T) {
	t.Helper()
	for _, k := range []string{"ANTHROPIC_API_KEY", "SCRIPTED_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"} {
		delete(b.env, k)
	}
	config := filepath.Join(b.home, ".config", "opencode", "opencode.json")
	if data, err := os.ReadFile(config); err == nil {
		put(t, config, strings.ReplaceAll(string(data), `"apiKey":"test-key",`, ""))
	}
}

// logRun logs what happened in a run.
func (b *bench) logRun(t *testing.T, f finished) {
	t.Helper()
	t.Logf("exit %+v, failure %+v", f.exit, f.Failure)
	for _, e := range b.model.Log() {
		t.Logf("%s %s: %s", e.Time.Format("04:05.000"), e.Path, e.Did)
	}
	for _, e := range f.events {
		t.Logf("%s %s %s %.1000s", e.Kind, e.Name, e.Reason, e.Text)
	}
}
