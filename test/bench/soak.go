package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"coppice"
)

// soakOptions are the flags of soak.
type soakOptions struct {
	program  string
	during   time.Duration
	every    time.Duration
	sessions int
	seed     int
}

func soakCommand() *cobra.Command {
	var o soakOptions
	c := &cobra.Command{
		Use: "soak", Short: "Run sessions for a long time and see whether anything grows", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			return within(o.during+time.Hour, func(ctx context.Context) error { return soakFor(ctx, o, os.Stdout) })(c, args)
		},
	}
	f := c.Flags()
	f.StringVar(&o.program, "program", "bin/coppice", "the program to run")
	f.DurationVar(&o.during, "for", time.Hour, "how long")
	f.DurationVar(&o.every, "every", time.Minute, "how often to measure")
	f.IntVar(&o.sessions, "sessions", 20, "how many sessions run at once")
	f.IntVar(&o.seed, "seed", 1, "how long each agent works follows from this number and its task")
	return c
}

// soaking is a coppice.yaml whose agents say something for a while and end. What
// is left of their workspaces is soon removed.
const soaking = `base: main
limits: {sessions: %d, memory: 100%%}
agent: {use: probe}
agents:
  probe: {protocol: command, command: [%q], env: {BENCH_BEAT: %s, BENCH_BEATS: "%d", BENCH_SEED: "%d"}}
workspace: {ports: 0}
retry: {max: 0}
trash: {ttl: 1m}
`

// soakKept bounds the history, so that it is full before the first comparison.
const (
	soakKept   = "keep: {tasks_most: 100}\n"
	soakEvents = "2000"
)

// soak is a server with sessions that follow each other.
type soak struct {
	*bench

	mu   sync.Mutex
	took samples // what answers took since the last look
}

// soak starts a server. Its agents say up to so many things, one each beat.
func (l *lab) soak(ctx context.Context, o soakOptions, beat time.Duration, beats int) (*soak, error) {
	user := filepath.Join(l.disk, "user")
	if err := os.MkdirAll(filepath.Join(user, "coppice"), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(user, "coppice", "config.yaml"), []byte(soakKept), 0o600); err != nil {
		return nil, err
	}
	l.env, l.flags = []string{"XDG_CONFIG_HOME=" + user}, []string{"--keep-events", soakEvents}
	b, err := l.benchOf(ctx, 20, func(string) map[string]string {
		return map[string]string{"coppice.yaml": fmt.Sprintf(soaking, o.sessions, l.probe, beat, beats, o.seed)}
	})
	return &soak{bench: b}, err
}

// follow posts another task for each that ends, until ctx ends or so many have
// ended; 0 means no end.
func (s *soak) follow(ctx context.Context, most int) error {
	for n := 1; ; n++ {
		_, err := s.log.wait(ctx, coppice.EventTaskEnded, 1)
		if err == nil && n == most {
			return nil
		}
		if err == nil {
			err = s.post(ctx, 1)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// poll asks for the status at a steady pace until ctx ends.
func (s *soak) poll(ctx context.Context) error {
	for rest(ctx, 200*time.Millisecond) == nil {
		ms, err := s.timed(context.WithoutCancel(ctx), "/api/v1/status")
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.took = append(s.took, ms)
		s.mu.Unlock()
	}
	return nil
}

// grown is what may grow over time, and must not.
type grown [7]float64

// grownParts are the parts of grown: what each is, and how much more it may be
// besides a fifth. Objects of the projects' repositories are kept for a day, so an
// hour cannot show whether they stay: they are shown and have no bound.
var grownParts = [len(grown{})]struct {
	name, unit string
	more       float64
}{
	{"memory", "MiB", 8}, {"descriptors", "", 16}, {"goroutines", "", 32}, {"state directory", "MiB", 16}, {"status p50", "ms", 3}, {"status p99", "ms", 25}, {"git objects", "MiB", math.Inf(1)},
}

// look measures the server.
func (s *soak) look(ctx context.Context) (g grown, err error) {
	pid := s.cmd.Process.Pid
	if g[0], err = residentOf(pid); err != nil {
		return g, err
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return g, err
	}
	g[1] = float64(len(fds))
	if g[2], err = s.metric(ctx, "coppice_goroutines"); err != nil {
		return g, err
	}
	for _, dir := range []string{s.state, filepath.Join(s.state, "workspaces") + "/"} { // the second is a link
		all, objects := sizeOf(dir)
		g[3], g[6] = g[3]+all-objects, g[6]+objects
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g[4], g[5] = s.took.median(), s.took.quantile(0.99)
	s.took = nil
	return g, nil
}

// residentOf is how many MiB of a process are in memory.
func residentOf(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), " ")
	pages, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(pages)
	return float64(n*os.Getpagesize()) / (1 << 20), err
}

// sizeOf is how many MiB the files below a directory have, and those among them
// that are objects of git. Files that vanish in the meantime do not count.
func sizeOf(dir string) (size, objects float64) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			n := float64(info.Size()) / (1 << 20)
			if size += n; strings.Contains(path, ".git/objects/") {
				objects += n
			}
		}
		return nil
	})
	return size, objects
}

// metric reads a number that the server reports about itself.
func (s *server) metric(ctx context.Context, name string) (float64, error) {
	body, err := s.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(body) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(rest), 64)
		}
	}
	return 0, fmt.Errorf("the server does not report %s", name)
}

// at is what was measured around a place: the median of up to five in a row that
// end there.
func at(all []grown, place int) (g grown) {
	for part := range g {
		var some samples
		for _, one := range all[max(0, place-5):place] {
			some = append(some, one[part])
		}
		g[part] = some.median()
	}
	return g
}

// flat compares what was measured after a sixth of the time with what was
// measured after half of it and at the end. It returns a table and what grew.
func flat(all []grown, every time.Duration) (table [][]string, grew []string) {
	n := len(all)
	places := []int{max(1, n/6), max(1, n/2), n}
	head := []string{"part"}
	for _, p := range places {
		head = append(head, (time.Duration(p) * every).String())
	}
	table = [][]string{append(head, "bound", "verdict")}
	for i, part := range grownParts {
		first := at(all, places[0])[i]
		bound := 1.2*first + part.more
		line, verdict := []string{part.name}, verdictOK
		for _, p := range places {
			v := at(all, p)[i]
			if line = append(line, number(v)+" "+part.unit); v > bound {
				verdict = verdictOver
			}
		}
		if verdict == verdictOver {
			grew = append(grew, part.name)
		}
		table = append(table, append(line, number(bound)+" "+part.unit, verdict))
	}
	return table, grew
}

var errGrew = errors.New("not flat")

// soakFor runs sessions, prints what it measures and fails when something grew.
func soakFor(ctx context.Context, o soakOptions, out io.Writer) (err error) {
	if o.during < 6*o.every {
		return fmt.Errorf("--for %s is less than six times --every %s", o.during, o.every)
	}
	if o.program, err = filepath.Abs(o.program); err != nil {
		return err
	}
	l, err := newLab(ctx, options{program: o.program})
	if err != nil {
		return err
	}
	defer l.close()
	s, err := l.soak(ctx, o, 200*time.Millisecond, 100)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.post(ctx, 2*o.sessions); err != nil { // so many are always open
		return err
	}
	var all []grown
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	for _, run := range []func(context.Context) error{func(ctx context.Context) error { return s.follow(ctx, 0) }, s.poll} {
		wg.Go(func() {
			if err := run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	defer wg.Wait()
	defer cancel(nil)
	for elapsed := o.every; elapsed <= o.during; elapsed += o.every {
		if err := rest(ctx, o.every); err != nil {
			return err
		}
		g, err := s.look(ctx)
		if err != nil {
			return err
		}
		all = append(all, g)
		fmt.Fprintf(out, "%8s", elapsed)
		for i, part := range grownParts {
			fmt.Fprintf(out, "  %s %s", part.name, strings.TrimSpace(number(g[i])+" "+part.unit))
		}
		fmt.Fprintln(out)
	}
	table, grew := flat(all, o.every)
	printLines(out, table)
	if len(grew) > 0 {
		return fmt.Errorf("%w: %s", errGrew, strings.Join(grew, ", "))
	}
	return nil
}
