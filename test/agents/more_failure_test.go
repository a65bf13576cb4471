//go:build moreagents

package agents

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/agent/acp"
	"coppice/agent/jsonl"
	"coppice/host"
)

// hurry is loaded into agents that run on Node.js. It shortens their pauses
// between attempts, of which some take minutes, and can set their clock ahead.
const hurry = `'use strict'
const wait = globalThis.setTimeout
globalThis.setTimeout = Object.assign((then, ms, ...rest) => wait(then, ms >= 1000 && ms <= 45000 ? ms / 20 : ms, ...rest), wait)
const ahead = Number(process.env.COPPICE_TEST_AHEAD || 0), real = Date
if (ahead) {
  const now = () => real.now() + ahead
  globalThis.Date = new Proxy(real, {
    construct: (target, args, self) => Reflect.construct(target, args.length ? args : [now()], self),
    apply: () => new real(now()).toString(),
    get: (target, key) => key === 'now' ? now : Reflect.get(target, key),
  })
}
`

func (b *bench) hurries(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hurry.cjs")
	put(t, path, hurry)
	b.env["NODE_OPTIONS"] = "--require=" + path
}

// logOut takes away what an agent logs in with.
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

// failures are the ways in which a run fails, and what is told of each. Those of
// only some agents name them.
var failures = []struct {
	name, prompt, resume string
	class                coppice.Class // "" when the agent gets over it
	only                 string
}{
	{name: "403", prompt: "FAIL403", class: coppice.ClassAuth},
	{name: "429", prompt: "FAIL429", class: coppice.ClassRateLimit},
	{name: "reset", prompt: "FAILRESET", class: coppice.ClassRateLimit},
	{name: "500", prompt: "FAIL500", class: coppice.ClassOverload},
	{name: "529", prompt: "FAIL529", class: coppice.ClassOverload, only: "claude-agent-acp"},
	{name: "503", prompt: "FAIL503", class: coppice.ClassOverload, only: "codex-acp gemini opencode qwen"},
	{name: "long", prompt: "FAILLONG", class: coppice.ClassContext},
	{name: "dropped", prompt: "DROP", only: "claude-agent-acp codex-acp opencode"},
	{name: "cut", prompt: "CUT", class: coppice.ClassOverload, only: "codex-acp gemini qwen"},
	{name: "cut", prompt: "CUT", class: coppice.ClassEnvironment, only: "claude-agent-acp"},
	{name: "login", prompt: "SAY hi", class: coppice.ClassAuth},
	{name: "unknown", prompt: "SAY hi", resume: "00000000-0000-4000-8000-000000000099", class: coppice.ClassUnknown},
}

// TestACPFailures: whatever goes wrong is told for what it is.
func TestACPFailures(t *testing.T) {
	t.Parallel()
	for name := range maps.Keys(more) {
		for _, c := range failures {
			if c.only != "" && !strings.Contains(c.only, name) {
				continue
			}
			t.Run(name+"-"+c.name, func(t *testing.T) {
				t.Parallel()
				b, on := moreBench(t, name)
				b.hurries(t)
				if c.name == "login" {
					b.logOut(t)
				}
				f := b.run(t, acp.New(), agent.Request{Prompt: c.prompt, Resume: c.resume, Model: more[name].model}, on)
				if c.class != "" {
					wantClass(t, f, c.class)
				} else if f.Failure != nil || f.Summary != "went on" {
					t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
				}
				if t.Failed() {
					b.tell(t, f)
				}
			})
		}
	}
}

// tell shows what happened.
func (b *bench) tell(t *testing.T, f finished) {
	t.Helper()
	t.Logf("exit %+v, failure %+v", f.exit, f.Failure)
	for _, e := range b.model.Log() {
		t.Logf("%s %s: %s", e.Time.Format("04:05.000"), e.Path, e.Did)
	}
	for _, e := range f.events {
		t.Logf("%s %s %s %.1000s", e.Kind, e.Name, e.Reason, e.Text)
	}
}

// TestACPEnds: agents take a large prompt, and a killed one is no failed one.
func TestACPEnds(t *testing.T) {
	t.Parallel()
	for name := range maps.Keys(more) {
		t.Run(name+"-large", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			task := "WRITE foo.txt=hello"
			prompt := strings.Repeat("x ", (1<<20-len(task))/2) + task
			b.wantCommit(t, b.run(t, acp.New(), agent.Request{Prompt: prompt, Model: more[name].model}, on), "foo.txt", "hello\n")
		})
		t.Run(name+"-sigterm", func(t *testing.T) {
			t.Parallel()
			b, _ := moreBench(t, name)
			t.Cleanup(func() { b.goOn(t) }) // for a command that outlives its agent
			f := b.run(t, acp.New(), agent.Request{Prompt: "WAIT", Model: more[name].model}, func(pm *pump, e coppice.AgentEvent) {
				if e.Kind == coppice.KindTool {
					_ = syscall.Kill(-pm.cmd.Process.Pid, syscall.SIGTERM)
				}
			})
			wantClass(t, f, coppice.ClassLost)
		})
		t.Run(name+"-stop", func(t *testing.T) { t.Parallel(); stops(t, name) })
	}
	// It names its files by the minute, and begins the file anew that a
	// conversation of this minute has.
	t.Run("gemini-resume", func(t *testing.T) {
		t.Parallel()
		b, on := moreBench(t, "gemini")
		b.hurries(t)
		model := more["gemini"].model
		first := b.run(t, acp.New(), agent.Request{Prompt: "WRITE a.txt=1", Model: model}, on)
		b.env["COPPICE_TEST_AHEAD"] = "120000"
		second := b.run(t, acp.New(), agent.Request{Prompt: "WRITE b.txt=2", Model: model, Resume: first.Conversation, Spent: first.Usage}, on)
		b.wantCommit(t, second, "b.txt", "2\n")
		b.wantResumed(t, first, second)
	})
}

// stops stops an agent in a real host while it runs a command, and looks whether
// the command ends with it.
func stops(t *testing.T, name string) {
	b, _ := moreBench(t, name)
	dir := t.TempDir()
	gate, held := filepath.Join(dir, "gate"), filepath.Join(dir, "held")
	for _, path := range []string{gate, held} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, session := b.startHost(t, agent.Request{Prompt: "RUN cat " + gate + " > " + held, Model: more[name].model}, "")
	runs, gone := make(chan error, 1), make(chan error, 1)
	go func() {
		f, err := os.Open(held) // once the command writes to it, which it never does
		runs <- err
		if err == nil {
			_, err = io.ReadAll(f) // until nobody is left who could
			_ = f.Close()          // it was only read
		}
		gone <- err
	}()
	t.Cleanup(func() { // whoever waits there waits no more
		for _, path := range []string{held, gate} {
			if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
				_ = f.Close()
			}
		}
	})
	wait := func(what string, c <-chan error) {
		t.Helper()
		select {
		case err := <-c:
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		case <-ctx.Done():
			t.Fatalf("%s: it did not happen; events %+v", what, spooled(t, session))
		}
	}
	wait("the command runs", runs)
	c, err := host.Dial(ctx, session)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Stop(ctx, time.Second); err != nil {
		t.Fatal(err)
	}
	if err := c.Follow(ctx, func(int64) {}); err != nil && !errors.Is(err, host.ErrGone) {
		t.Fatal(err)
	}
	_, _, x, err := host.Inspect(session)
	if err != nil || x == nil {
		t.Fatalf("no end: %v", err)
	}
	wantClass(t, finished{Outcome: x.Outcome}, coppice.ClassCancelled)
	wait("the command ends", gone)
}

// lines are the modes in which agents print events, as their profiles describe
// them.
var lines = map[string]coppice.Profile{
	"gemini":   {Protocol: "jsonl-gemini", Args: []string{"-y", "-o", "stream-json", "--skip-trust"}, Resume: []string{"--resume", "{conversation}"}},
	"opencode": {Protocol: "jsonl-opencode", Args: []string{"run", "--format", "json"}, Resume: []string{"--session", "{conversation}"}},
	"qwen":     {Protocol: "jsonl-messages", Args: []string{"-y", "-o", "stream-json"}, Resume: []string{"--resume", "{conversation}"}},
}

// linesBench sets an agent up in that mode.
func linesBench(t *testing.T, name string) (*bench, agent.Protocol) {
	t.Helper()
	b, _ := moreBench(t, name)
	b.profile.Protocol, b.profile.Args, b.profile.Resume = lines[name].Protocol, lines[name].Args, lines[name].Resume
	put(t, filepath.Join(b.home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
	for _, p := range jsonl.Protocols() {
		if p.Name() == lines[name].Protocol {
			return b, p
		}
	}
	t.Fatalf("no protocol %s", lines[name].Protocol)
	return nil, nil
}

// TestLinesFailures: the same for agents that print events.
func TestLinesFailures(t *testing.T) {
	t.Parallel()
	for name := range maps.Keys(lines) {
		for _, c := range failures {
			if c.only != "" && !strings.Contains(c.only, name) {
				continue
			}
			if name == "opencode" && c.name == "reset" {
				continue // it waits for that long, and hears nothing meanwhile
			}
			t.Run(name+"-lines-"+c.name, func(t *testing.T) {
				t.Parallel()
				b, p := linesBench(t, name)
				b.hurries(t)
				if c.name == "login" {
					b.logOut(t)
				}
				f := b.run(t, p, agent.Request{Prompt: c.prompt, Resume: c.resume, Model: more[name].model}, nil)
				if c.class != "" {
					wantClass(t, f, c.class)
				} else if f.Failure != nil || f.Summary != "went on" {
					t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
				}
				if t.Failed() {
					b.tell(t, f)
				}
			})
		}
		t.Run(name+"-lines-large", func(t *testing.T) {
			t.Parallel()
			b, p := linesBench(t, name)
			task := "WRITE foo.txt=hello"
			prompt := strings.Repeat("x ", (1<<20-len(task))/2) + task
			b.wantCommit(t, b.run(t, p, agent.Request{Prompt: prompt, Model: more[name].model}, nil), "foo.txt", "hello\n")
		})
		t.Run(name+"-lines-sigterm", func(t *testing.T) {
			t.Parallel()
			b, p := linesBench(t, name)
			t.Cleanup(func() { b.goOn(t) })
			f := b.run(t, p, agent.Request{Prompt: "HANG", Model: more[name].model}, func(pm *pump, e coppice.AgentEvent) {
				if e.Kind == coppice.KindInit {
					_ = syscall.Kill(-pm.cmd.Process.Pid, syscall.SIGTERM)
				}
			})
			wantClass(t, f, coppice.ClassLost)
		})
	}
}
