package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/api"
	"coppice/test/web/seed"
)

const (
	webBusy   = 20                     // sessions that write at once
	webBeat   = 100 * time.Millisecond // between two things that one of them says
	webBeats  = 300                    // that are waited for in the browser
	webPieces = 200_000                // of the long session
	webTasks  = 1000                   // on the board
	webEvents = 500                    // while it is looked at
	webEvery  = 20 * time.Millisecond  // between two of them
)

// beating is a coppice.yaml whose agent says the time while it waits.
const beating = `base: main
limits: {sessions: %d, memory: %s}
agent: {use: probe}
agents:
  probe: {protocol: command, command: [%q], env: {BENCH_SOCKET: %q, BENCH_BEAT: %s}}
workspace: {ports: 0}
retry: {max: 0}
`

// webRows measures what a person sees in the browser.
func webRows(ctx context.Context, l *lab) ([]row, error) {
	var rows []row
	for _, measure := range []func(context.Context, *lab) ([]row, error){webLive, webLong, webBoard, webFirst} {
		more, err := measure(ctx, l)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// browser is Chromium on a page of a server, driven by web.mjs.
type browser struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
}

// browse opens a browser and signs it in.
func (l *lab) browse(ctx context.Context, s *server) (*browser, error) {
	link, err := s.client.LoginLink(ctx)
	if err != nil {
		return nil, err
	}
	chromium := "/usr/bin/chromium"
	if path := os.Getenv("COPPICE_CHROMIUM"); path != "" {
		chromium = path
	}
	root, err := l.output(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	for _, file := range []string{chromium, filepath.Join(root, "web", "node_modules", "playwright-core")} {
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%w: run make deps web", err)
		}
	}
	b := &browser{cmd: l.command(ctx, l.disk, "node", filepath.Join(root, "test", "bench", "web.mjs"), link.URL, chromium), stderr: &bytes.Buffer{}}
	b.cmd.Stderr = b.stderr
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReader(out)
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	if err := b.ask(map[string]any{"do": "sign in"}, nil); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// ask has the browser do something, and reads what came of it.
func (b *browser) ask(what map[string]any, answer any) error {
	line, err := json.Marshal(what)
	if err != nil {
		return err
	}
	if _, err := b.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the browser is gone: %w: %s", err, b.stderr)
	}
	said, err := b.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the browser did not answer: %w: %s", err, b.stderr)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(said, answer)
}

func (b *browser) close() {
	_ = b.in.Close()
	_ = b.cmd.Wait() // it ends with its input
}

// quantile is the sample below which a share of them lies.
func (s samples) quantile(share float64) float64 {
	if len(s) == 0 {
		return 0
	}
	o := slices.Sorted(slices.Values(s))
	return o[min(len(o)-1, int(share*float64(len(o))))]
}

// webLive measures how long it takes from an agent's write until the text is in
// the browser, while many sessions write.
func webLive(ctx context.Context, l *lab) (_ []row, err error) {
	b, err := l.benchOf(ctx, 20, func(socket string) map[string]string {
		return map[string]string{"coppice.yaml": fmt.Sprintf(beating, webBusy, "99%", l.probe, socket, webBeat)}
	})
	if err != nil {
		return nil, err
	}
	defer b.close()
	tasks := make([]coppice.NewTask, webBusy)
	for i := range tasks {
		tasks[i].Title = fmt.Sprintf("Beat %d", i)
	}
	made, err := b.client.CreateTasks(ctx, b.project, tasks)
	if err != nil {
		return nil, err
	}
	for range tasks {
		if _, err := b.probes.next(ctx); err != nil {
			return nil, err
		}
	}
	web, err := l.browse(ctx, b.server)
	if err != nil {
		return nil, err
	}
	defer web.close()
	var took samples // ms
	if err := web.ask(map[string]any{"do": "live", "task": made[0].Key, "beats": webBeats}, &took); err != nil {
		return nil, err
	}
	return []row{row{
		Figure: fmt.Sprintf("an agent's write until the browser shows it, %d busy, p99", webBusy), Ours: took.quantile(0.99), Unit: "ms", N: len(took),
		Samples: map[string]samples{"ours": took}, More: map[string]float64{"median": took.median(), "p90": took.quantile(0.9)},
	}.judge(goal{valueMost, 50})}, nil
}

// webLong measures how a session with very many events opens and scrolls.
func webLong(ctx context.Context, l *lab) (_ []row, err error) {
	b, err := l.bench(ctx, 20, 1, false)
	if err != nil {
		return nil, err
	}
	defer b.close()
	b.log.stop()
	b.log = nil
	b.server.stop()
	key, err := seed.Long(ctx, filepath.Join(b.state, "coppice.db"), b.project, webPieces, time.Now())
	if err != nil {
		return nil, err
	}
	if b.server, err = l.serve(ctx, b.state); err != nil {
		return nil, err
	}
	web, err := l.browse(ctx, b.server)
	if err != nil {
		return nil, err
	}
	defer web.close()
	const n = 5
	var opened samples
	for range n {
		var ms float64
		if err := web.ask(map[string]any{"do": "open", "task": key}, &ms); err != nil {
			return nil, err
		}
		opened = append(opened, ms)
	}
	var frames samples
	if err := web.ask(map[string]any{"do": "scroll", "task": key}, &frames); err != nil {
		return nil, err
	}
	return []row{
		row{
			Figure: fmt.Sprintf("a session with %d events opens", webPieces), Ours: opened.median(), Unit: "ms", N: n, Samples: map[string]samples{"ours": opened},
		}.judge(goal{valueMost, 1000}),
		row{
			Figure: "and scrolls to its beginning and back, frames, p99", Ours: frames.quantile(0.99), Unit: "ms", N: len(frames),
			Samples: map[string]samples{"ours": frames}, More: map[string]float64{"median": frames.median()},
		}.judge(goal{valueMost, 100}),
		row{Figure: "  the longest of those frames", Ours: slices.Max(frames), Unit: "ms", N: len(frames)}.judge(goal{}),
	}, nil
}

// webBoard measures how much script the board needs for each event.
func webBoard(ctx context.Context, l *lab) (_ []row, err error) {
	b, err := l.bench(ctx, 20, 1, false)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if _, err := b.client.Pause(ctx, b.project, "", true); err != nil {
		return nil, err
	}
	tasks := make([]coppice.NewTask, webTasks)
	for i := range tasks {
		tasks[i].Title = fmt.Sprintf("Task %d %s", i, strings.Repeat("of many ", i%5))
	}
	made, err := b.client.CreateTasks(ctx, b.project, tasks)
	if err != nil {
		return nil, err
	}
	web, err := l.browse(ctx, b.server)
	if err != nil {
		return nil, err
	}
	defer web.close()
	if err := web.ask(map[string]any{"do": "board", "tasks": webTasks}, nil); err != nil {
		return nil, err
	}
	const n = 3
	var script samples
	for i := range n {
		if err := web.ask(map[string]any{"do": "count"}, nil); err != nil {
			return nil, err
		}
		last, err := b.change(ctx, made[:webEvents], i)
		if err != nil {
			return nil, err
		}
		var ms float64
		if err := web.ask(map[string]any{"do": "counted", "seen": last}, &ms); err != nil {
			return nil, err
		}
		script = append(script, ms/webEvents)
	}
	return []row{row{
		Figure: fmt.Sprintf("the board's script for one event, %d tasks, %d events a second", webTasks, time.Second/webEvery), Ours: script.median(), Unit: "ms", N: n,
		Samples: map[string]samples{"ours": script},
	}.judge(goal{valueMost, 16})}, nil
}

// change changes tasks, one after the other at a steady pace, and returns words
// by which the board shows that it has seen the last.
func (b *bench) change(ctx context.Context, tasks []api.Task, round int) (string, error) {
	t := time.NewTicker(webEvery)
	defer t.Stop()
	title := fmt.Sprintf("The last of round %d", round)
	for i, task := range tasks {
		priority := 1 + (i+round)%5
		what := coppice.TaskChange{Priority: &priority}
		if i == len(tasks)-1 {
			priority, what.Title = 10-round, &title // above all others, so that it is in sight
		}
		if _, err := b.client.ChangeTask(ctx, task.Key, what); err != nil {
			return "", err
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	return title, nil
}
