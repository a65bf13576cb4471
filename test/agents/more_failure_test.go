//go:build moreagents

package agents

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
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

// commonFailures are the failures that all of these agents report. Others are in
// the table of agents.
const commonFailures = "403 429 reset 500 long login unknown "

// TestACPFailures: every failure is reported with its class.
func TestACPFailures(t *testing.T) {
	t.Parallel()
	setup := func(name string) func(*testing.T) *bench {
		return func(t *testing.T) *bench {
			b := moreBench(t, name)
			b.hurries(t)
			return b
		}
	}
	for name, m := range more {
		show(t, name+"-", setup(name), commonFailures+m.fails)
	}
	t.Run("claude-agent-acp-cut", func(t *testing.T) {
		t.Parallel()
		fails("CUT", coppice.ClassEnvironment)(t, setup("claude-agent-acp")(t))
	})
}

// TestACPEnds: agents take a large prompt, and a killed agent has not failed.
func TestACPEnds(t *testing.T) {
	t.Parallel()
	everyMore(t, "large")
	eachMore(t, "sigterm", func(t *testing.T, b *bench) {
		b.stays = false
		t.Cleanup(func() { b.release(t) }) // for a command that outlives its agent
		f := b.run(t, agent.Request{Prompt: "WAIT"}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindTool {
				pm.terminate()
			}
		})
		wantClass(t, f, coppice.ClassLost)
	})
	for name := range more {
		t.Run(name+"-stop", func(t *testing.T) { t.Parallel(); stops(t, name) })
	}
	// It names its files by the minute, and overwrites the file of a conversation
	// of this minute.
	t.Run("gemini-resume", func(t *testing.T) {
		t.Parallel()
		b := moreBench(t, "gemini")
		b.hurries(t)
		first := b.run(t, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
		b.env["COPPICE_TEST_AHEAD"] = "120000"
		second := b.run(t, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Spent: first.Usage}, nil)
		b.wantCommit(t, second, "b.txt", "2\n")
		b.wantResumed(t, first, second)
	})
}

// stops stops an agent in a real host while it runs a command, and looks whether
// the command ends with it.
func stops(t *testing.T, name string) {
	b := moreBench(t, name)
	dir := t.TempDir()
	gate, held := filepath.Join(dir, "gate"), filepath.Join(dir, "held")
	for _, path := range []string{gate, held} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, session := b.startHost(t, agent.Request{Prompt: "RUN cat " + gate + " > " + held}, "")
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
	t.Cleanup(func() { // ends the waits for the pipes
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

// TestLinesFailures: the same for agents that print events.
func TestLinesFailures(t *testing.T) {
	t.Parallel()
	for name := range lines {
		names := commonFailures + more[name].fails
		if name == "opencode" {
			names = strings.Replace(names, " reset", "", 1) // it waits that long and reports nothing
		}
		show(t, name+"-lines-", func(t *testing.T) *bench {
			b := linesBench(t, name)
			b.hurries(t)
			return b
		}, names)
	}
}
