package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"coppice"
	"coppice/internal/disk"
)

// muchOutput is what the session of the row about output writes.
const muchOutput = 1_000_000_000

// pouring is a coppice.yaml whose agent writes that much, in lines of 1,000
// characters.
const pouring = `base: main
limits: {sessions: 1, memory: 99%%}
agent: {use: pour}
agents:
  pour: {protocol: command, command: [sh, -c, "yes $(printf '%%01000d' 7) | head -c %d; echo done >done.txt"]}
workspace: {ports: 0}
retry: {max: 0}
`

// poured is what a session's output cost.
type poured struct {
	took, disk, memory, first, last float64
}

// outputRows measures what a gigabyte of output costs with the default limit.
func outputRows(ctx context.Context, l *lab) ([]row, error) {
	ours, err := l.pour(ctx)
	if err != nil {
		return nil, err
	}
	line := func(figure string, value float64, unit string) row {
		return row{Figure: figure, Ours: value, Unit: unit, N: 1}.judge(goal{})
	}
	return []row{
		line("1 GB of output: disk used", ours.disk, "MiB"),
		line("  server memory, peak", ours.memory, "MiB"),
		line("  coppice logs: first line after", ours.first, "ms"),
		line("  coppice logs --tail 10: all of it after", ours.last, "ms"),
		line("  the session took", ours.took, "s"),
	}, nil
}

// pour runs one session that writes much.
func (l *lab) pour(ctx context.Context) (p poured, err error) {
	repo, err := l.repository(ctx, 20, fmt.Sprintf(pouring, muchOutput))
	if err != nil {
		return p, err
	}
	state, err := l.state()
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(state) // the next one needs the space
	srv, err := l.serve(ctx, state)
	if err != nil {
		return p, err
	}
	defer srv.stop()
	project, err := srv.client.AddProject(ctx, repo)
	if err != nil {
		return p, err
	}
	log := srv.watch(ctx, -1)
	defer log.stop()
	made, err := srv.client.CreateTasks(ctx, project.Prefix, []coppice.NewTask{{Title: "Pour"}})
	if err != nil {
		return p, err
	}
	began, err := log.wait(ctx, coppice.EventSessionStarted, 1)
	if err != nil {
		return p, err
	}
	ended, err := log.wait(ctx, coppice.EventSessionEnded, 1)
	if err != nil {
		return p, err
	}
	p.took = ended.At.Sub(began.At).Seconds()
	if p.first, err = l.firstLine(ctx, state, "logs", made[0].Key); err != nil {
		return p, err
	}
	if p.last, err = l.firstLine(ctx, state, "logs", made[0].Key, "--tail", "10"); err != nil {
		return p, err
	}
	if p.memory, err = peakOf(srv.cmd.Process.Pid); err != nil {
		return p, err
	}
	p.disk = float64(disk.Of(ctx, state).Bytes) / (1 << 20)
	return p, nil
}

// firstLine measures how long a command takes until its first line is there, in
// milliseconds.
func (l *lab) firstLine(ctx context.Context, state string, args ...string) (ms float64, err error) {
	cmd := l.command(ctx, l.disk, append([]string{l.program}, args...)...)
	cmd.Env = append(cmd.Env, "COPPICE_STATE="+state)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	took := time.Since(began)
	_ = cmd.Process.Kill() // the rest of it does not matter
	_ = cmd.Wait()
	if line == "" {
		return 0, errors.Join(fmt.Errorf("coppice %s printed nothing", strings.Join(args, " ")), err)
	}
	return float64(took.Microseconds()) / 1000, nil
}

// peakOf reads the most memory that a process had at once, in MiB. Linux only.
func peakOf(pid int) (float64, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("no account of the process's memory")
}
