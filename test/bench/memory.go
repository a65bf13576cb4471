package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"coppice"
	"coppice/host"
)

// memory is what a process takes, in MiB, by the kernel's own account.
type memory struct {
	pss       float64 // its share of everything mapped
	private   float64 // what nobody else has mapped
	dirty     float64 // of that, what no file backs up
	anonymous float64
}

// memoryOf reads a process's account. Linux only.
func memoryOf(pid int) (memory, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return memory{}, err
	}
	return parseRollup(string(b))
}

func parseRollup(text string) (memory, error) {
	kib := map[string]float64{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		if f := strings.Fields(rest); len(f) == 2 && f[1] == "kB" {
			v, err := strconv.ParseFloat(f[0], 64)
			if err != nil {
				return memory{}, err
			}
			kib[name] = v
		}
	}
	if _, ok := kib["Pss"]; !ok {
		return memory{}, errors.New("no account of the process's memory")
	}
	return memory{
		pss: kib["Pss"] / 1024, private: (kib["Private_Clean"] + kib["Private_Dirty"]) / 1024,
		dirty: kib["Private_Dirty"] / 1024, anonymous: kib["Anonymous"] / 1024,
	}, nil
}

// settled is how long a process gets to start, or to take in what it was given.
const settled = 2 * time.Second

// idleAfter is when a server that has just started has given back what only its start
// needed: 5 seconds after its last event, and it has some when it has looked for agents.
const idleAfter = 12 * time.Second

// idleRows measures the control process at rest.
func idleRows(ctx context.Context, l *lab) ([]row, error) {
	state, err := l.state()
	if err != nil {
		return nil, err
	}
	const n = 3
	var ours, web []memory
	_, err = interleave(ctx, 0, n, func(ctx context.Context, _ int) (float64, error) {
		srv, err := l.answering(ctx, state)
		if err != nil {
			return 0, err
		}
		defer srv.stop()
		return 0, look(ctx, srv.process, idleAfter, &ours)
	}, func(ctx context.Context, _ int) (float64, error) {
		p, err := l.launch(ctx, nil, l.web)
		if err != nil {
			return 0, err
		}
		defer p.stop()
		if err := get(ctx, p.said); err != nil {
			return 0, err
		}
		return 0, look(ctx, p, idleAfter, &web)
	})
	if err != nil {
		return nil, err
	}
	private := func(m memory) float64 { return m.private }
	dirty := func(m memory) float64 { return m.dirty }
	return []row{row{
		Figure: "idle memory of the control process, private", Ours: of(ours, private).median(), Beside: "an empty Go HTTP server",
		Baseline: of(web, private).median(), Unit: "MiB", N: n,
		More: map[string]float64{"ours_dirty": of(ours, dirty).median(), "baseline_dirty": of(web, dirty).median(), "ours_pss": of(ours, func(m memory) float64 { return m.pss }).median()},
	}.judge(goal{moreMost, 40})}, nil
}

// atRest is when a server has given back what only work needs.
const atRest = 7 * time.Second

// residentRows measures how much of the server is in memory: at rest, and after
// tasks. Pages of the program itself count among that while they are mapped; the
// anonymous part is what the server takes from others.
func residentRows(ctx context.Context, l *lab) ([]row, error) {
	const n, tasks, slots = 3, 100, 5
	anonymous := map[int]samples{}
	resident := func(ctx context.Context, tasks int) (float64, error) {
		b, err := l.bench(ctx, 20, slots, false)
		if err != nil {
			return 0, err
		}
		defer b.close()
		if tasks > 0 {
			if err := b.post(ctx, tasks); err != nil {
				return 0, err
			}
			if _, err := b.log.wait(ctx, coppice.EventWorkspaceRemoved, tasks); err != nil {
				return 0, err
			}
		}
		if err := rest(ctx, atRest); err != nil {
			return 0, err
		}
		m, err := memoryOf(b.cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		anonymous[tasks] = append(anonymous[tasks], m.anonymous)
		return residentOf(b.cmd.Process.Pid)
	}
	s, err := interleave(ctx, 0, n, func(ctx context.Context, _ int) (float64, error) { return resident(ctx, 0) },
		func(ctx context.Context, _ int) (float64, error) { return resident(ctx, tasks) })
	if err != nil {
		return nil, err
	}
	figure := func(name string, s, anonymous samples) row {
		return row{Figure: name, Ours: s.median(), Beside: "anonymous", Baseline: anonymous.median(), Unit: "MiB", N: n, Samples: map[string]samples{"ours": s, "anonymous": anonymous}}
	}
	return []row{
		figure("idle memory of the control process, resident", s[0], anonymous[0]).judge(goal{valueMost, 24}),
		figure(fmt.Sprintf("  after %d tasks", tasks), s[1], anonymous[tasks]).judge(goal{valueMost, 32}),
	}, nil
}

func look(ctx context.Context, p *process, after time.Duration, into *[]memory) error {
	if err := rest(ctx, after); err != nil {
		return err
	}
	m, err := memoryOf(p.cmd.Process.Pid)
	*into = append(*into, m)
	return err
}

func of(list []memory, f func(memory) float64) samples {
	var s samples
	for _, m := range list {
		s = append(s, f(m))
	}
	return s
}

// sessionRows measures what each running session adds, its agent apart: the
// host, and what the control process grows by.
func sessionRows(ctx context.Context, l *lab) ([]row, error) {
	const n = 10
	b, err := l.bench(ctx, 20, n+1, true)
	if err != nil {
		return nil, err
	}
	defer b.close()
	// The first session makes the server grow once for all.
	if _, _, err := b.begin(ctx); err != nil {
		return nil, err
	}
	var control []memory
	if err := look(ctx, b.process, settled, &control); err != nil {
		return nil, err
	}
	if err := b.post(ctx, n); err != nil {
		return nil, err
	}
	for range n {
		if _, err := b.probes.next(ctx); err != nil {
			return nil, err
		}
	}
	if err := look(ctx, b.process, settled, &control); err != nil {
		return nil, err
	}
	var hosts []memory
	for _, dir := range b.sessions() {
		phase, st, _, err := host.Inspect(dir)
		if err != nil || phase != host.PhaseRunning {
			return nil, errors.Join(err, fmt.Errorf("the session in %s is %s", dir, phase))
		}
		m, err := memoryOf(st.PID)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, m)
	}
	dirty := of(hosts, func(m memory) float64 { return m.dirty })
	private := of(hosts, func(m memory) float64 { return m.private })
	anonymous := of(hosts, func(m memory) float64 { return m.anonymous })
	growth := max(0, control[1].dirty-control[0].dirty) / n
	return []row{
		row{
			Figure: "memory per session, private: host + growth of the server", Ours: private.mean() + growth, Unit: "MiB", N: len(hosts),
			Samples: map[string]samples{"host_private": private, "host_dirty": dirty, "host_anonymous": anonymous},
			More:    map[string]float64{"server_growth": growth},
		}.judge(goal{valueMost, 8}),
		row{Figure: "  of that the host: private dirty, anonymous beside it", Ours: dirty.mean(), Beside: "anonymous", Baseline: anonymous.mean(), Unit: "MiB", N: len(hosts)}.judge(goal{}),
	}, nil
}
