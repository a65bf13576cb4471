package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/agent/claude"
	"coppice/host"
	"coppice/test/scriptedmodel"
)

// overheadCalls is how many tools the scripted model has the agent call; each
// makes two events.
const overheadCalls = 100

// overheadRows measures what a host adds to an agent's run: a real CLI that
// talks to a scripted model on loopback, alone and within a host.
func overheadRows(ctx context.Context, l *lab) ([]row, error) {
	cli, err := installedCLI(claude.Name)
	if err != nil {
		return nil, err
	}
	step := `{"shell": "true"}`
	rules, err := scriptedmodel.ParseRules([]byte(`{"rules": [{"name": "work", "match": "WORK", "steps": [` +
		strings.Repeat(step+", ", overheadCalls) + `{"text": "done"}]}]}`))
	if err != nil {
		return nil, err
	}
	model := httptest.NewServer(scriptedmodel.New(rules, nil))
	defer model.Close()
	o := overhead{l: l, cli: cli, args: []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", "--replay-user-messages"}}
	o.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": filepath.Join(l.disk, "agent-home"), "LANG": "C.UTF-8", "IS_SANDBOX": "1",
		"ANTHROPIC_BASE_URL": model.URL, "ANTHROPIC_API_KEY": "test-key",
		"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "2",
	}
	if err := os.MkdirAll(o.env["HOME"], 0o700); err != nil {
		return nil, err
	}
	const n = 13 // a run takes 5 % more or less, and 2 % are looked for
	s, err := interleave(ctx, 1, n, o.hosted, o.bare)
	if err != nil {
		return nil, err
	}
	return []row{
		row{
			Figure: fmt.Sprintf("a real agent's run of %d events in a host", 2*overheadCalls), Ours: s[0].median(), Beside: "the bare CLI",
			Baseline: s[1].median(), Unit: "s", N: n, Samples: sampled(s[0], s[1]),
		}.judge(goal{ratioMost, 1.02}),
		row{Figure: "memory of that host, private, at most", Ours: slices.Max(o.memory), Unit: "MiB", N: n}.judge(goal{valueMost, 10}),
	}, nil
}

// overhead is what both ways share.
type overhead struct {
	l      *lab
	cli    string
	args   []string
	env    map[string]string
	memory []float64 // of each host, when its agent was about done
}

// installedCLI finds an agent CLI where test/agents/install.sh puts it.
func installedCLI(name string) (string, error) {
	cache := os.Getenv("COPPICE_TEST_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(dir, "coppice-test", "agents")
	}
	path := filepath.Join(cache, "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w: run test/agents/install.sh first", err)
	}
	return path, nil
}

func (o *overhead) bare(ctx context.Context, _ int) (float64, error) {
	repo, err := o.l.repository(ctx, 20, "")
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, o.cli, o.args...)
	cmd.Dir = repo
	for k, v := range o.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdin = strings.NewReader(`{"type":"user","message":{"role":"user","content":"WORK"}}` + "\n")
	out, err := os.Create(filepath.Join(o.l.disk, o.l.name("bare")))
	if err != nil {
		return 0, err
	}
	defer out.Close()
	cmd.Stdout = out
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("the bare CLI: %w", err)
	}
	return time.Since(began).Seconds(), nil
}

func (o *overhead) hosted(ctx context.Context, _ int) (float64, error) {
	repo, err := o.l.repository(ctx, 20, "")
	if err != nil {
		return 0, err
	}
	dir := filepath.Join(o.l.disk, o.l.name("host"))
	spec := host.Spec{
		Session: "bench-1.1", Protocol: claude.Name, Env: o.env, Grace: coppice.Duration(5 * time.Second),
		Profile: coppice.Profile{Protocol: claude.Name, Command: []string{o.cli}, Args: o.args},
	}
	spec.Request.Session, spec.Request.Role, spec.Request.Dir = spec.Session, coppice.RoleImplement, repo
	began := time.Now()
	if err := host.Start(ctx, host.Launcher{Argv: []string{o.l.program, "host"}, Env: []string{"PATH=" + os.Getenv("PATH")}}, dir, spec, "WORK"); err != nil {
		return 0, err
	}
	c, err := host.Dial(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	_, st, _, err := host.Inspect(dir)
	if err != nil {
		return 0, err
	}
	// The kernel stops a process while it adds its memory up, so that is not
	// asked for each time.
	most, seen := 0.0, 0
	err = c.Follow(ctx, func(int64) {
		if seen++; seen%50 != 1 {
			return
		}
		if m, err := memoryOf(st.PID); err == nil && m.dirty > most {
			most = m.dirty
		}
	})
	took := time.Since(began).Seconds()
	if err != nil {
		return 0, err
	}
	o.memory = append(o.memory, most)
	_, _, exit, err := host.Inspect(dir)
	if err == nil && (exit == nil || exit.Outcome.Failure != nil || exit.Outcome.Summary != "done") {
		err = errors.New("the agent in the host did not do its work")
	}
	return took, err
}
