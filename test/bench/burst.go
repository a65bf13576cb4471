package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"coppice"
)

// Sizes of a burst: tasks that are posted at once. Each changes one of the files, so
// that the repository is as large for the last task as for the first.
const (
	burstFiles = 200
	burstSmall = 100
	burstLarge = 1000
	burstSlots = 10
)

var burstChange = fmt.Sprintf("BENCH_CHANGE: %q", fmt.Sprint(burstFiles))

// burst is what was seen while tasks were posted at once and landed.
type burst struct {
	rate   float64 // tasks a second
	cpu    float64 // of the server for a task, in milliseconds
	spaces float64 // the most workspaces at once
}

// burstOf posts tasks to a new server and waits until all have landed.
func (l *lab) burstOf(ctx context.Context, tasks, slots int) (burst, error) {
	b, err := l.benchOf(ctx, burstFiles, func(string) map[string]string {
		return map[string]string{"coppice.yaml": strings.Replace(l.probing("", slots), "env: {", "env: {"+burstChange+", ", 1)}
	})
	if err != nil {
		return burst{}, err
	}
	defer b.close()
	// A first few make the workspaces that later ones find.
	first := 2 * slots // as many as may be in use
	if err := b.post(ctx, first); err != nil {
		return burst{}, err
	}
	if _, err := b.log.wait(ctx, coppice.EventWorkspaceRemoved, first); err != nil {
		return burst{}, err
	}
	used, err := cpuOf(b.cmd.Process.Pid)
	if err != nil {
		return burst{}, err
	}
	began := time.Now()
	if err := b.post(ctx, tasks); err != nil {
		return burst{}, err
	}
	live, most := 0, 0
	b.log.look = func(e coppice.Event) {
		switch e.Kind {
		case coppice.EventWorkspaceReady:
			live++
		case coppice.EventWorkspaceRemoved:
			live--
		}
		most = max(most, live)
	}
	if _, err = b.log.wait(ctx, coppice.EventTaskEnded, tasks); err != nil {
		return burst{}, err
	}
	took := time.Since(began)
	after, err := cpuOf(b.cmd.Process.Pid)
	return burst{rate: float64(tasks) / took.Seconds(), cpu: float64(after-used) / float64(time.Millisecond) / float64(tasks), spaces: float64(most)}, err
}

// cpuOf is how much processor time a process has used.
func cpuOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0, fmt.Errorf("the system says of process %d: %s", pid, b)
	}
	user, err := strconv.ParseInt(f[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, err // clock ticks, 100 a second on Linux
}

// byHand lands tasks with git commands in a shell loop, one after the other, and
// returns how many a second.
func (l *lab) byHand(ctx context.Context, repo string, tasks int) (float64, error) {
	began := time.Now()
	err := l.run(ctx, repo, "env", fmt.Sprintf("BENCH_CHANGE=%d", burstFiles), "sh", "-c", landByHand, "sh", fmt.Sprint(tasks), l.name("hand"), filepath.Clean(l.trees), l.probe)
	return float64(tasks) / time.Since(began).Seconds(), err
}

// parallelByHand runs the part of each task that can run beside others in so many
// shells at once. It makes worktrees and lands under locks: git fails when
// worktrees of one repository are made side by side.
const parallelByHand = `set -e
seq 1 "$1" | xargs -P "$5" -I{} sh -c 'set -e
b=$1-$2
flock "$3/$1.add" git worktree add -q -b "$b" "$3/$b" main
(cd "$3/$b" && COPPICE_TASK=$b "$4")
git -C "$3/$b" add --all
git -C "$3/$b" commit -q -m "$b"
(
	flock 9
	tree=$(git merge-tree --write-tree main "$b")
	commit=$(git commit-tree "$tree" -p main -m "$b")
	git update-ref refs/heads/main "$commit"
) 9>"$3/$1.lock"
flock "$3/$1.add" git worktree remove --force "$3/$b"' sh "$2" {} "$3" "$4"`

// burstRows measures many tasks that are posted at once.
func burstRows(ctx context.Context, l *lab) ([]row, error) {
	hand, err := l.repository(ctx, burstFiles, "")
	if err != nil {
		return nil, err
	}
	var small, large [3]samples
	var baseline samples
	for range 2 {
		f, err := l.byHand(ctx, hand, burstSmall)
		if err != nil {
			return nil, err
		}
		baseline = append(baseline, f)
		for n, into := range map[int]*[3]samples{burstSmall: &small, burstLarge: &large} {
			b, err := l.burstOf(ctx, n, burstSlots)
			if err != nil {
				return nil, err
			}
			for i, v := range []float64{b.rate, b.cpu, b.spaces} {
				into[i] = append(into[i], v)
			}
		}
	}
	name := fmt.Sprintf("%d tasks posted at once, %d slots", burstLarge, burstSlots)
	beside := fmt.Sprintf("with %d tasks", burstSmall)
	rows := []row{
		row{
			Figure: name + ", landed", Ours: large[0].median(), Beside: "the git commands in a shell loop", Baseline: baseline.median(), Unit: "tasks/s", N: len(baseline),
			Samples: sampled(large[0], baseline),
		}.judge(goal{ratioLeast, 1.1}),
		row{
			Figure: name + ", landed", Ours: large[0].median(), Beside: beside, Baseline: small[0].median(), Unit: "tasks/s", N: len(baseline),
			Samples: sampled(large[0], small[0]),
		}.judge(goal{ratioLeast, 0.95}),
		row{
			Figure: name + ", the server's CPU for a task", Ours: large[1].median(), Beside: beside, Baseline: small[1].median(), Unit: "ms", N: len(baseline),
			Samples: sampled(large[1], small[1]),
		}.judge(goal{ratioMost, 1.2}),
		row{Figure: name + ", most workspaces", Ours: large[2].median(), Unit: "workspaces", N: len(baseline)}.judge(goal{valueMost, 25}),
	}
	return rows, nil
}

// parallelRows compares with the same commands in parallel shells.
func parallelRows(ctx context.Context, l *lab) ([]row, error) {
	hand, err := l.repository(ctx, burstFiles, "")
	if err != nil {
		return nil, err
	}
	r, err := l.parallelRow(ctx, hand)
	return []row{r}, err
}

// slotRows compares many slots with few.
func slotRows(ctx context.Context, l *lab) ([]row, error) {
	const tasks, many, few = 150, 40, 2
	var cpu [2]samples
	of := func(slots int, used *samples) func(context.Context, int) (float64, error) {
		return func(ctx context.Context, _ int) (float64, error) {
			b, err := l.burstOf(ctx, tasks, slots)
			*used = append(*used, b.cpu)
			return b.rate, err
		}
	}
	s, err := interleave(ctx, 0, 5, of(many, &cpu[0]), of(few, &cpu[1]))
	if err != nil {
		return nil, err
	}
	return []row{row{
		Figure: fmt.Sprintf("%d instant tasks, %d slots, landed", tasks, many), Ours: s[0].median(), Beside: fmt.Sprintf("with %d slots", few),
		Baseline: s[1].median(), Unit: "tasks/s", N: len(s[0]), Samples: sampled(s[0], s[1]),
		More: map[string]float64{"ours_server_cpu_ms": cpu[0].median(), "baseline_server_cpu_ms": cpu[1].median()},
	}.judge(goal{ratioLeast, 0.95})}, nil
}

func (l *lab) parallelRow(ctx context.Context, hand string) (row, error) {
	const tasks, slots = 100, 20
	s, err := interleave(ctx, 0, 3, func(ctx context.Context, _ int) (float64, error) {
		b, err := l.burstOf(ctx, tasks, slots)
		return b.rate, err
	}, func(ctx context.Context, _ int) (float64, error) {
		began := time.Now()
		err := l.run(ctx, hand, "env", fmt.Sprintf("BENCH_CHANGE=%d", burstFiles), "sh", "-c", parallelByHand, "sh", fmt.Sprint(tasks), l.name("hand"), filepath.Clean(l.trees), l.probe, fmt.Sprint(slots))
		return tasks / time.Since(began).Seconds(), err
	})
	if err != nil {
		return row{}, err
	}
	return row{
		Figure: fmt.Sprintf("%d instant tasks, %d slots, posted → landed", tasks, slots), Ours: s[0].median(), Beside: "the git commands in as many shells",
		Baseline: s[1].median(), Unit: "tasks/s", N: len(s[0]), Samples: sampled(s[0], s[1]),
	}.judge(goal{ratioLeast, 1}), nil
}
