// Command bench measures Coppice against baselines: bare programs that do the
// least that could do the job, run in turns with ours on the same machine. It
// prints one table and leaves the samples as JSON.
//
//	go run ./test/bench --only start --strict
//	go run ./test/bench compare --base HEAD~20 --only start
//	go run ./test/bench soak --for 1h
//
// compare measures the working tree's program against another commit's instead.
// soak runs sessions for a long time, and fails when the server grows.
//
// Times of a machine are its own, so no time by itself passes or fails: goals
// are ratios to a baseline, or amounts of memory.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// options are the flags.
type options struct {
	program string // ours
	out     string
	only    string
	files   int // of the sample repository
	strict  bool
	profile string // file for a CPU profile of this process
}

// limit bounds a whole run.
const limit = 30 * time.Minute

// figure measures one or more rows.
type figure struct {
	name string
	rows func(context.Context, *lab) ([]row, error)
}

var figures = []figure{
	{"start", startRows},
	{"starts", startsRows},
	{"land", landRows},
	{"burst", burstRows},
	{"slots", slotRows},
	{"parallel", parallelRows},
	{"cold", coldRows},
	{"idle", idleRows},
	{"resident", residentRows},
	{"session", sessionRows},
	{"tools", toolRows},
	{"dispatch", dispatchRows},
	{"flows", flowRows},
	{"forges", forgeRows},
	{"ingest", ingestRows},
	{"commit", commitRows},
	{"output", outputRows},
	{"status", statusRows},
	{"many", manyRows},
	{"grown", grownRows},
	{"search", searchRows},
	{"overhead", overheadRows},
	{"features", featureRows},
	{"repository", repositoryRows},
	{"usage", usageRows},
	{"web", webRows},
}

var errMissed = errors.New("a goal was missed")

func main() {
	var o options
	c := &cobra.Command{
		Use: "bench", Short: "Measure Coppice against baselines", Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: within(limit, func(ctx context.Context) error { return run(ctx, o) }),
	}
	f := c.Flags()
	f.StringVar(&o.program, "program", "bin/coppice", "the program to measure")
	f.StringVar(&o.out, "out", "bench/out", "where the results go")
	f.StringVar(&o.only, "only", "", "measure only the figures whose name matches this regular expression")
	f.IntVar(&o.files, "files", 2000, "how many files the sample repository has")
	f.BoolVar(&o.strict, "strict", false, "fail when a goal is missed")
	f.StringVar(&o.profile, "profile", "", "write a CPU profile of the work in this process: dispatch and commit")
	c.AddCommand(compareCommand(), soakCommand())
	if err := c.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// within has a command end at a signal, or at its limit.
func within(limit time.Duration, f func(context.Context) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s took more than %s", c.Name(), limit))
		defer cancel()
		return f(ctx)
	}
}

func run(ctx context.Context, o options) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	if o.program, err = filepath.Abs(o.program); err != nil {
		return err
	}
	l, err := newLab(ctx, o)
	if err != nil {
		return err
	}
	defer l.close()
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	r := report{At: time.Now(), Machine: l.machine}
	fmt.Fprintf(os.Stderr, "%s\n", l.machine)
	for _, f := range figures {
		if !only.MatchString(f.name) {
			continue
		}
		began := time.Now()
		rows, err := f.rows(ctx, l)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", f.name, errors.Join(context.Cause(ctx), err))
		}
		if err != nil { // which hides none of the others
			fmt.Fprintf(os.Stderr, "%s cannot be measured: %v\n", f.name, err)
			rows = []row{unmeasured(f.name, err)}
		}
		r.Rows = append(r.Rows, rows...)
		fmt.Fprintf(os.Stderr, "measured %s in %.1f s\n", f.name, time.Since(began).Seconds())
	}
	fmt.Println()
	printTable(os.Stdout, r.Rows)
	file, err := r.save(o.out)
	if err != nil {
		return err
	}
	fmt.Printf("\nours and baseline are medians of n samples taken in turns; all samples are in %s\n", file)
	if o.strict && r.missed() > 0 {
		return fmt.Errorf("%w: %d figures are over or were not measured", errMissed, r.missed())
	}
	return nil
}
