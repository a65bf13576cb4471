package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/api/client"
	"coppice/verb"
)

// comparison is one or more rows that need only a program and its API. The less
// a sample is, the better.
type comparison struct {
	name    string
	unit    string
	figures []string
	each    int // samples at once, of which the median counts; 1 when 0
	// begin prepares a program and returns how a sample of each figure is taken.
	// The function that ends it all may be there even with an error.
	begin func(context.Context, *lab) ([]measurement, func(), error)
}

const (
	longQueue   = 10_000 // tasks that wait while another starts
	heldTasks   = 10     // that land at once
	manyChanges = 400    // of tasks, by several clients
	clients     = 8
)

var comparisons = []comparison{
	{name: "cold", unit: "ms", each: 7, figures: []string{"program started → first answer"}, begin: compareCold},
	{name: "start", unit: "ms", each: 5, figures: []string{"posted → agent runs, new worktree", "posted → agent runs, recycled worktree"}, begin: compareStart},
	{name: "land", unit: "ms", figures: []string{fmt.Sprintf("%d instant tasks, %d slots, posted → landed", landTasks, landSlots)}, begin: compareLand},
	{name: "held", unit: "ms", each: 3, figures: []string{fmt.Sprintf("%d held tasks, land asked → landed", heldTasks)}, begin: compareHeld},
	{name: "features", unit: "ms", each: 3, figures: []string{"5 instant features, file written → landed"}, begin: compareFeatures},
	{name: "ingest", unit: "ms", figures: []string{fmt.Sprintf("%d MiB of output, session started → ended", floodBytes>>20)}, begin: compareIngest},
	{name: "dispatch", unit: "ms", each: 7, figures: []string{fmt.Sprintf("posted → agent runs, %d queued", longQueue), fmt.Sprintf("status and a page of tasks, %d queued", longQueue)}, begin: compareDispatch},
	{name: "changes", unit: "ms", each: 3, figures: []string{fmt.Sprintf("%d changes of tasks by %d clients", manyChanges, clients)}, begin: compareChanges},
	{name: "idle", unit: "MiB", figures: []string{"idle memory of the server, private"}, begin: compareIdle},
	{name: "session", unit: "MiB", figures: []string{"memory of a session: host and growth of the server, private"}, begin: compareSession},
}

func compareCold(_ context.Context, l *lab) ([]measurement, func(), error) {
	return l.ofNewServer(func(_ context.Context, srv *server) (float64, error) { return millis(time.Since(srv.began)), nil })
}

// ofNewServer measures a server that has just answered for the first time.
func (l *lab) ofNewServer(measure func(context.Context, *server) (float64, error)) ([]measurement, func(), error) {
	state, err := l.state()
	return []measurement{func(ctx context.Context, _ int) (float64, error) {
		srv, err := l.answering(ctx, state)
		if err != nil {
			return 0, err
		}
		defer srv.stop()
		return measure(ctx, srv)
	}}, nil, err
}

func compareStart(ctx context.Context, l *lab) ([]measurement, func(), error) {
	b, err := l.bench(ctx, l.files, 64, true)
	if err != nil {
		return nil, nil, err
	}
	var held []beginning
	return []measurement{func(ctx context.Context, _ int) (float64, error) {
		began, d, err := b.begin(ctx) // while earlier agents run, their worktrees are taken
		held = append(held, began)
		return millis(d), err
	}, func(ctx context.Context, _ int) (float64, error) {
		for _, h := range held {
			h.release()
		}
		if _, err := b.log.wait(ctx, coppice.EventWorkspaceRemoved, len(held)); len(held) > 0 && err != nil {
			return 0, err
		}
		began, d, err := b.begin(ctx)
		held = []beginning{began}
		return millis(d), err
	}}, b.close, nil
}

func compareLand(ctx context.Context, l *lab) ([]measurement, func(), error) {
	b, err := l.bench(ctx, 20, landSlots, false)
	if err != nil {
		return nil, nil, err
	}
	return []measurement{func(ctx context.Context, _ int) (float64, error) {
		began := time.Now()
		if err := b.post(ctx, landTasks); err != nil {
			return 0, err
		}
		_, err := b.log.wait(ctx, coppice.EventTaskEnded, landTasks)
		return millis(time.Since(began)), err
	}}, b.close, nil
}

func compareHeld(ctx context.Context, l *lab) ([]measurement, func(), error) {
	b, err := l.benchOf(ctx, 20, func(string) map[string]string {
		return map[string]string{"coppice.yaml": l.probing("", heldTasks) + "land: {how: branch}\n"}
	})
	if err != nil {
		return nil, nil, err
	}
	return []measurement{func(ctx context.Context, _ int) (float64, error) {
		made, err := b.client.CreateTasks(ctx, b.project, titles(heldTasks))
		if err != nil {
			return 0, err
		}
		for range made {
			if err := b.log.held(ctx); err != nil {
				return 0, err
			}
		}
		began := time.Now()
		for _, t := range made {
			if _, err := b.client.Ask(ctx, t.Key, coppice.VerbLand, verb.Request{}); err != nil {
				return 0, err
			}
		}
		_, err = b.log.wait(ctx, coppice.EventTaskEnded, heldTasks)
		return millis(time.Since(began)), err
	}}, b.close, nil
}

// held waits until one more task is held.
func (w *watch) held(ctx context.Context) error {
	for {
		e, err := w.wait(ctx, coppice.EventTaskStage, 1)
		if err != nil || strings.Contains(e.Reason, "proven") {
			return err
		}
	}
}

func compareFeatures(ctx context.Context, l *lab) ([]measurement, func(), error) {
	b, err := l.featureBench(ctx, 1)
	if err != nil {
		return nil, nil, err
	}
	return []measurement{func(ctx context.Context, _ int) (float64, error) {
		seconds, err := b.run(ctx, 5)
		return 1000 * seconds, err
	}}, b.close, nil
}

func compareIngest(ctx context.Context, l *lab) ([]measurement, func(), error) {
	script := filepath.Join(l.disk, l.name("flood")+".yaml")
	if err := os.WriteFile(script, fmt.Appendf(nil, flood, floodBytes), 0o600); err != nil {
		return nil, nil, err
	}
	repo, err := l.repository(ctx, 20, fmt.Sprintf(flooding, script))
	if err != nil {
		return nil, nil, err
	}
	state, err := l.state()
	return []measurement{func(ctx context.Context, _ int) (float64, error) {
		took, err := l.flood(ctx, state, repo)
		return millis(took), err
	}}, nil, err
}

// compareDispatch has one track full, with a long queue, and starts tasks in
// another.
func compareDispatch(ctx context.Context, l *lab) ([]measurement, func(), error) {
	b, err := l.benchOf(ctx, 20, func(socket string) map[string]string {
		return map[string]string{"coppice.yaml": l.probing(socket, 64) + "tracks: [{name: main, default: true, limit: 63}, {name: full, limit: 1}]\n"}
	})
	if err != nil {
		return nil, nil, err
	}
	for left := longQueue; left > 0; left -= queuePage {
		tasks := titles(min(left, queuePage))
		for i := range tasks {
			tasks[i].Track = "full"
		}
		if _, err := b.client.CreateTasks(ctx, b.project, tasks); err != nil {
			return nil, b.close, err
		}
	}
	if _, err := b.probes.next(ctx); err != nil { // the one that fills it
		return nil, b.close, err
	}
	return []measurement{b.beginAndEnd, func(ctx context.Context, _ int) (float64, error) {
		began := time.Now()
		if _, err := b.client.Status(ctx, b.project); err != nil {
			return 0, err
		}
		_, err := b.client.Tasks(ctx, client.TaskQuery{Limit: 100})
		return millis(time.Since(began)), err
	}}, b.close, nil
}

// compareChanges changes tasks of a paused project.
func compareChanges(ctx context.Context, l *lab) ([]measurement, func(), error) {
	b, err := l.bench(ctx, 20, 1, false)
	if err != nil {
		return nil, nil, err
	}
	if _, err := b.client.Pause(ctx, b.project, "", true); err != nil {
		return nil, b.close, err
	}
	made, err := b.client.CreateTasks(ctx, b.project, titles(manyChanges))
	if err != nil {
		return nil, b.close, err
	}
	return []measurement{func(ctx context.Context, round int) (float64, error) {
		priority := 1 + round%5
		errs := make([]error, clients)
		var wg sync.WaitGroup
		began := time.Now()
		for c := range clients {
			wg.Go(func() {
				for i := c; i < len(made) && errs[c] == nil; i += clients {
					_, errs[c] = b.client.ChangeTask(ctx, made[i].Key, coppice.TaskChange{Priority: &priority})
				}
			})
		}
		wg.Wait()
		took := time.Since(began)
		for _, err := range errs {
			if err != nil {
				return 0, err
			}
		}
		return millis(took), nil
	}}, b.close, nil
}

func compareIdle(_ context.Context, l *lab) ([]measurement, func(), error) {
	return l.ofNewServer(func(ctx context.Context, srv *server) (float64, error) {
		var m []memory
		if err := look(ctx, srv.process, idleAfter, &m); err != nil {
			return 0, err
		}
		return m[0].private, nil
	})
}

func compareSession(_ context.Context, l *lab) ([]measurement, func(), error) {
	return []measurement{l.sessionMemory}, nil, nil
}

// sessionMemory measures what each of several sessions of a new server adds.
func (l *lab) sessionMemory(ctx context.Context, _ int) (float64, error) {
	const n = 10
	b, err := l.bench(ctx, 20, n+1, true)
	if err != nil {
		return 0, err
	}
	defer b.close()
	if _, _, err := b.begin(ctx); err != nil { // the first makes the server grow once for all
		return 0, err
	}
	var control []memory
	if err := look(ctx, b.process, settled, &control); err != nil {
		return 0, err
	}
	if err := b.post(ctx, n); err != nil {
		return 0, err
	}
	for range n {
		if _, err := b.probes.next(ctx); err != nil {
			return 0, err
		}
	}
	if err := look(ctx, b.process, settled, &control); err != nil {
		return 0, err
	}
	hosts, err := b.hosts()
	return of(hosts, func(m memory) float64 { return m.private }).mean() + max(0, control[1].dirty-control[0].dirty)/n, err
}

// hosts measures the hosts of a server by what /proc shows, which is the same for
// every release.
func (s *server) hosts() ([]memory, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	var all []memory
	for _, file := range files {
		text, err := os.ReadFile(file)
		args := strings.Split(string(text), "\x00")
		if err != nil || len(args) < 3 || args[1] != "host" || !strings.HasPrefix(args[2], s.state+"/") {
			continue // it has ended, or is not a host of this server
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		m, err := memoryOf(pid)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no host of %s runs", s.state)
	}
	return all, nil
}
