package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"coppice"
)

// probing is a coppice.yaml whose agent is the probe.
func (l *lab) probing(socket string, sessions int) string {
	return fmt.Sprintf(`base: main
limits: {sessions: %d, memory: 99%%}
agent: {use: probe}
agents:
  probe: {protocol: command, command: [%q], env: {BENCH_SOCKET: %q}}
workspace: {ports: 0}
retry: {max: 0}
`, sessions, l.probe, socket)
}

// bench is a server with one project whose agent is the probe.
type bench struct {
	*server
	lab     *lab
	probes  *listener
	log     *watch
	repo    string
	project string
}

func (l *lab) bench(ctx context.Context, files, sessions int, held bool) (*bench, error) {
	return l.benchOf(ctx, files, func(socket string) map[string]string {
		if !held {
			socket = ""
		}
		return map[string]string{"coppice.yaml": l.probing(socket, sessions)}
	})
}

// benchOf makes a bench whose repository has these files besides.
func (l *lab) benchOf(ctx context.Context, files int, given func(socket string) map[string]string) (_ *bench, err error) {
	b := &bench{lab: l}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.probes, err = l.listenForProbes(); err != nil {
		return nil, err
	}
	if b.repo, err = l.repositoryOf(ctx, files, given(b.probes.socket)); err != nil {
		return nil, err
	}
	state, err := l.state()
	if err != nil {
		return nil, err
	}
	if b.server, err = l.serve(ctx, state); err != nil {
		return nil, err
	}
	p, err := b.client.AddProject(ctx, b.repo)
	if err != nil {
		return nil, err
	}
	b.project = p.Prefix
	b.log = b.watch(ctx, 0)
	return b, nil
}

func (b *bench) close() {
	if b.log != nil {
		b.log.stop()
	}
	if b.probes != nil {
		b.probes.close()
	}
	if b.server != nil {
		b.server.stop()
	}
}

// post asks for tasks.
func (b *bench) post(ctx context.Context, n int) error {
	_, err := b.client.CreateTasks(ctx, b.project, titles(n))
	return err
}

// titles are tasks that differ by their titles.
func titles(n int) []coppice.NewTask {
	tasks := make([]coppice.NewTask, n)
	for i := range tasks {
		tasks[i].Title = fmt.Sprintf("Leave a file, number %d", i)
	}
	return tasks
}

// begin posts a task and waits for its agent.
func (b *bench) begin(ctx context.Context) (beginning, time.Duration, error) {
	posted := time.Now()
	if err := b.post(ctx, 1); err != nil {
		return beginning{}, 0, err
	}
	began, err := b.probes.next(ctx)
	return began, began.at.Sub(posted), err
}

// beginAndEnd measures begin, and ends the agent and its workspace.
func (b *bench) beginAndEnd(ctx context.Context, _ int) (float64, error) {
	began, d, err := b.begin(ctx)
	if err != nil {
		return 0, err
	}
	began.release()
	_, err = b.log.wait(ctx, coppice.EventWorkspaceRemoved, 1)
	return millis(d), err
}

// shellStart is the baseline: a new worktree, and the agent in it.
func (b *bench) shellStart(ctx context.Context) (time.Duration, func() error, error) {
	branch := b.lab.name("baseline")
	tree := filepath.Join(b.lab.trees, branch)
	cmd := b.lab.command(ctx, b.repo, "sh", "-c", `git worktree add -q -b "$1" "$2" main && cd "$2" && exec "$3"`, "sh", branch, tree, b.lab.probe)
	cmd.Env = append(cmd.Env, "BENCH_SOCKET="+b.probes.socket, "COPPICE_TASK="+branch)
	posted := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	began, err := b.probes.next(ctx)
	if err != nil {
		return 0, nil, err
	}
	return began.at.Sub(posted), func() error {
		began.release()
		if err := cmd.Wait(); err != nil {
			return err
		}
		return b.lab.run(ctx, b.repo, "git", "worktree", "remove", "--force", tree)
	}, nil
}

// startRows measures the time from a posted task to its agent running: in a
// worktree that must be made, and in one that an earlier task left.
func startRows(ctx context.Context, l *lab) ([]row, error) {
	b, err := l.bench(ctx, l.files, 64, true)
	if err != nil {
		return nil, err
	}
	defer b.close()
	const warm, n = 2, 12
	var held []beginning
	var after []func() error
	baseline := func(ctx context.Context, _ int) (float64, error) {
		d, end, err := b.shellStart(ctx)
		after = append(after, end)
		return millis(d), err
	}
	// While earlier agents run, their worktrees are taken: every one is new.
	cold, err := interleave(ctx, warm, n, func(ctx context.Context, _ int) (float64, error) {
		began, d, err := b.begin(ctx)
		held = append(held, began)
		return millis(d), err
	}, baseline)
	if err != nil {
		return nil, err
	}
	for _, h := range held {
		h.release()
	}
	if _, err := b.log.wait(ctx, coppice.EventWorkspaceRemoved, len(held)); err != nil {
		return nil, err
	}
	warmed, err := interleave(ctx, warm, n, b.beginAndEnd, baseline)
	if err != nil {
		return nil, err
	}
	for _, end := range after {
		if err := end(); err != nil {
			return nil, err
		}
	}
	timed := func(name string, s []samples) row {
		return row{
			Figure: "posted → agent runs, " + name, Ours: s[0].median(), Beside: fmt.Sprintf("git worktree add && exec, %d files", l.files),
			Baseline: s[1].median(), Unit: "ms", N: n, Samples: sampled(s[0], s[1]),
		}.judge(goal{ratioMost, 1.3})
	}
	return []row{timed("new worktree", cold), timed("recycled worktree", warmed)}, nil
}
