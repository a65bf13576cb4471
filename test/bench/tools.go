package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"coppice/host"
)

const (
	toolAgents  = 20
	toolCalls   = 50   // of each agent
	toolsWaited = 1000 // calls that wait at the same time
	waitedFor   = 10 * time.Second
	wakeUps     = 100 // locks that are released while another agent waits
	callPause   = 20 * time.Millisecond
)

// endpoint is where the agent of a session calls tools.
type endpoint struct {
	address, token string
	host           int // the pid
}

// endpoints reads them from the environments of the agents. Linux only.
func (b *bench) endpoints(ctx context.Context) (all []endpoint, err error) {
	for _, dir := range b.sessions() {
		phase, st, _, err := host.Inspect(dir)
		for err == nil && phase == host.PhaseRunning && st.AgentPID == 0 { // its host has just started it
			if err = rest(ctx, 10*time.Millisecond); err == nil {
				phase, st, _, err = host.Inspect(dir)
			}
		}
		if err != nil || phase != host.PhaseRunning {
			return nil, errors.Join(err, fmt.Errorf("the session in %s is %s", dir, phase))
		}
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", st.AgentPID))
		if err != nil {
			return nil, err
		}
		e := endpoint{host: st.PID}
		for _, v := range strings.Split(string(environ), "\x00") {
			name, value, _ := strings.Cut(v, "=")
			switch name {
			case "COPPICE_MCP_URL":
				e.address = value
			case "COPPICE_TOKEN":
				e.token = value
			}
		}
		all = append(all, e)
	}
	return all, nil
}

// use calls a tool.
func (e endpoint) use(ctx context.Context, tool, arguments string) error {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+e.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || bytes.Contains(text, []byte(`"isError":true`)) || bytes.Contains(text, []byte(`"error":`))) {
		err = fmt.Errorf("%s: %d %s", tool, res.StatusCode, text)
	}
	return err
}

// toolUse is a tool and its arguments for each agent.
type toolUse struct {
	name      string
	arguments func(agent int) string
}

func sameFor(arguments string) func(int) string { return func(int) string { return arguments } }

// ownFile is a file that no other agent needs.
func ownFile(agent int) string { return fmt.Sprintf(`{"files":["agent-%d.txt"]}`, agent) }

// calls has all agents call tools in turn, each at the same moment, again and again,
// and returns how long the calls of each tool took.
func calls(ctx context.Context, all []endpoint, uses ...toolUse) ([]samples, error) {
	took := make([]samples, len(uses))
	for range toolCalls {
		for n, u := range uses {
			times, failures := make(samples, len(all)), make([]error, len(all))
			var running sync.WaitGroup
			for i, e := range all {
				running.Go(func() {
					began := time.Now()
					failures[i] = e.use(ctx, u.name, u.arguments(i))
					times[i] = millis(time.Since(began))
				})
			}
			running.Wait()
			took[n] = append(took[n], times...)
			// What follows a call, such as its output, is stored during the pause.
			if err := cmp.Or(errors.Join(failures...), rest(ctx, callPause)); err != nil {
				return nil, err
			}
		}
	}
	return took, nil
}

// woken has one agent wait for a lock that another one holds, again and again. It
// returns how long it takes from the call that releases the lock to the answer for
// the agent that waits.
func woken(ctx context.Context, holder, waiter endpoint) (took samples, err error) {
	const file = `{"files":["shared.txt"]}`
	for range wakeUps {
		if err := holder.use(ctx, "lock_files", file); err != nil {
			return nil, err
		}
		got := make(chan error, 1)
		go func() { got <- waiter.use(ctx, "lock_files", file) }()
		if err := rest(ctx, settled/10); err != nil { // the call has arrived, and waits
			return nil, err
		}
		began := time.Now()
		released := make(chan error, 1)
		go func() { released <- holder.use(ctx, "release_files", file) }()
		err := <-got
		took = append(took, millis(time.Since(began)))
		if err := errors.Join(err, <-released, waiter.use(ctx, "release_files", file)); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// p99 is the value that 99 of 100 samples do not exceed.
func (s samples) p99() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[(len(sorted)*99)/100]
}

// toolRows measures the tools of agents: how long calls take when many agents call
// at the same time, and what calls cost that wait.
func toolRows(ctx context.Context, l *lab) ([]row, error) {
	b, err := l.bench(ctx, 20, toolAgents, true)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if err := b.post(ctx, toolAgents); err != nil {
		return nil, err
	}
	for range toolAgents {
		if _, err := b.probes.next(ctx); err != nil {
			return nil, err
		}
	}
	all, err := b.endpoints(ctx)
	if err != nil {
		return nil, err
	}
	defer http.DefaultClient.CloseIdleConnections()
	uses := []toolUse{
		{"write_note", sameFor(`{"key":"plan/step","value":"done"}`)},
		{"read_note", sameFor(`{"key":"plan/step"}`)},
		{"lock_files", ownFile},
		{"release_files", ownFile},
	}
	if _, err := calls(ctx, all[:1], uses...); err != nil { // the warm-up
		return nil, err
	}
	took, err := calls(ctx, all, uses...)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, u := range uses {
		rows = append(rows, row{
			Figure: fmt.Sprintf("%d agents call %s, p99", toolAgents, u.name), Ours: took[i].p99(), Beside: "median", Baseline: took[i].median(), Unit: "ms", N: len(took[i]),
		}.judge(goal{valueMost, 20}))
	}
	wakes, err := woken(ctx, all[0], all[1])
	if err != nil {
		return nil, err
	}
	rows = append(rows, row{
		Figure: "a lock is released and the agent that waits has it, p99", Ours: wakes.p99(), Beside: "median", Baseline: wakes.median(), Unit: "ms", N: len(wakes),
	}.judge(goal{valueMost, 10}))
	called, err := hostMemory(ctx, all)
	if err != nil {
		return nil, err
	}
	waiting, err := b.waiting(ctx, all)
	if err != nil {
		return nil, err
	}
	waited, err := hostMemory(ctx, all)
	return append(rows, waiting, row{
		Figure: "memory of a host after its calls, private", Ours: called.mean(), Beside: fmt.Sprintf("after %d waited at the same time", toolsWaited/len(all)), Baseline: waited.mean(),
		Unit: "MiB", N: len(called), Samples: map[string]samples{"called": called, "waited": waited},
	}.judge(goal{valueMost, 4})), err
}

// hostMemory returns the private memory of hosts at rest.
func hostMemory(ctx context.Context, all []endpoint) (samples, error) {
	if err := rest(ctx, settled); err != nil {
		return nil, err
	}
	var hosts []memory
	for _, e := range all {
		m, err := memoryOf(e.host)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, m)
	}
	return of(hosts, func(m memory) float64 { return m.private }), nil
}

// waiting measures the processor time of the server and the hosts while calls
// wait.
func (b *bench) waiting(ctx context.Context, all []endpoint) (row, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for i := range toolsWaited {
		e := all[i%len(all)]
		running.Go(func() { _ = e.use(ctx, "watch_notes", `{"keys":["never"]}`) }) // ends with ctx
	}
	used := func() (total time.Duration, err error) {
		for _, pid := range append([]int{b.cmd.Process.Pid}, pids(all)...) {
			t, err := cpuOf(pid)
			if err != nil {
				return 0, err
			}
			total += t
		}
		return total, nil
	}
	before, err := used()
	for last := time.Hour; err == nil && last > 10*time.Millisecond; { // until all calls have arrived
		if err = rest(ctx, settled); err == nil {
			now, failed := used()
			last, before, err = now-before, now, failed
		}
	}
	if err == nil {
		err = rest(ctx, atRest) // then the server cleans up
	}
	if err == nil {
		before, err = used()
	}
	if err != nil {
		return row{}, err
	}
	if err := rest(ctx, waitedFor); err != nil {
		return row{}, err
	}
	after, err := used()
	return row{
		Figure: fmt.Sprintf("%d waiting calls: server and hosts", toolsWaited), Ours: 100 * float64(after-before) / float64(waitedFor), Unit: "% of a core", N: 1,
	}.judge(goal{valueMost, 0.1}), err
}

func pids(all []endpoint) (out []int) {
	for _, e := range all {
		out = append(out, e.host)
	}
	return out
}
