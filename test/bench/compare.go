package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice/test/baseline"
)

// Bounds on how much slower or larger the new program may be.
const (
	tightBound = 1.05
	looseBound = 1.15 // where one program differs from itself by more than the tight bound
)

// notCompared are the figures that cannot be measured with another commit's
// program, and why.
var notCompared = [][2]string{
	{"commit", "it calls the store of this tree; changes measures the same through the API"},
	{"repository", "it calls the workspaces of this tree"},
	{"overhead", "it measures an installed agent, and the host is measured by session and ingest"},
	{"output", "it writes a gigabyte; ingest measures the same path"},
	{"web", "the programs are compared without the dashboard"},
}

// compareOptions are the flags of compare.
type compareOptions struct {
	rev  string
	only string
	n    int
	json bool
}

// compareLimit bounds a whole comparison.
const compareLimit = 25 * time.Minute

func compareCommand() *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use: "compare", Short: "Measure the working tree against another commit", Args: cobra.NoArgs,
		RunE: within(compareLimit, func(ctx context.Context) error { return compare(ctx, o) }),
	}
	f := c.Flags()
	f.StringVar(&o.rev, "base", "", "the commit to compare with")
	f.StringVar(&o.only, "only", "", "measure only the figures whose name matches this regular expression")
	f.IntVar(&o.n, "n", 7, "how many samples of each program")
	f.BoolVar(&o.json, "json", false, "print the result as JSON, with all samples")
	return c
}

// compared is one row of the table.
type compared struct {
	Name   string  `json:"name"`
	Figure string  `json:"figure"`
	Unit   string  `json:"unit"`
	Base   float64 `json:"base"`   // medians
	New    float64 `json:"new"`    //
	Ratio  float64 `json:"ratio"`  // the median of new / base, pair by pair
	Spread float64 `json:"spread"` // the median factor between two samples of the base that follow each other
	Bound  float64 `json:"bound"`
	OK     bool    `json:"ok"`

	Samples map[string]samples `json:"samples"`
}

// weigh fills in what follows from the samples, which were taken in pairs.
func (c compared) weigh(base, new samples) compared {
	var ratios, factors samples
	for i, b := range base {
		ratios = append(ratios, new[i]/b)
		if i > 0 {
			factors = append(factors, max(b/base[i-1], base[i-1]/b))
		}
	}
	c.Base, c.New, c.Ratio, c.Spread = base.median(), new.median(), ratios.median(), max(1, factors.median())
	c.Bound = tightBound
	if c.Spread > tightBound {
		c.Bound = looseBound
	}
	c.OK = c.Ratio <= c.Bound
	c.Samples = map[string]samples{"base": base, "new": new}
	return c
}

func (c compared) verdict() string {
	if c.OK {
		return verdictOK
	}
	return verdictOver
}

func compare(ctx context.Context, o compareOptions) error {
	only, err := regexp.Compile(o.only)
	switch {
	case err != nil:
		return err
	case o.rev == "":
		return errors.New("no commit to compare with: run make bench-compare BASE=<commit>")
	case o.n < 3:
		return errors.New("--n is too small: a median needs 3 samples, and a verdict 7")
	}
	began := time.Now()
	commit, dir, err := baseline.Build(ctx, o.rev, baseline.Coppice)
	if err != nil {
		return err
	}
	labs, done, err := compareLabs(ctx, filepath.Join(dir, baseline.Coppice.Name))
	if err != nil {
		return err
	}
	defer done()
	fmt.Fprintf(os.Stderr, "%s\nthe working tree against %s, n = %d\n", labs[0].machine, commit[:10], o.n)
	rows, err := compareAll(ctx, labs, only, o.n)
	if err != nil {
		return err
	}
	if err := printCompared(os.Stdout, rows, o.json); err != nil {
		return err
	}
	took := time.Since(began).Round(time.Second)
	fmt.Fprintf(os.Stderr, "took %s\n", took)
	over := slices.DeleteFunc(rows, func(c compared) bool { return c.OK })
	if len(over) > 0 {
		return fmt.Errorf("%w: %d rows are over their bound", errMissed, len(over))
	}
	return nil
}

// compareLabs makes a lab for the base's program and one for the working tree's,
// both built without the dashboard.
func compareLabs(ctx context.Context, program string) (labs [2]*lab, done func(), err error) {
	done = func() {
		for _, l := range labs {
			if l != nil {
				l.close()
			}
		}
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	for i := range labs {
		if labs[i], err = newLab(ctx, options{program: program, files: 2000}); err != nil {
			return labs, nil, err
		}
	}
	labs[1].program = filepath.Join(labs[1].disk, "coppice")
	return labs, done, labs[1].buildTree(ctx)
}

// buildTree builds the working tree's program as package baseline builds the other.
func (l *lab) buildTree(ctx context.Context) error {
	root, err := l.output(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	hidden := map[string]string{} // of the dashboard, for this build
	err = filepath.WalkDir(filepath.Join(root, "web", "dist"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != ".gitkeep" {
			hidden[path] = ""
		}
		return err
	})
	if err != nil {
		return err
	}
	overlay := filepath.Join(l.disk, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": hidden})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return err
	}
	return l.run(ctx, root, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-overlay", overlay, "-o", l.program, "./cmd/coppice")
}

// compareAll measures every figure with both programs in turns.
func compareAll(ctx context.Context, labs [2]*lab, only *regexp.Regexp, n int) ([]compared, error) {
	var rows []compared
	for _, f := range comparisons {
		if !only.MatchString(f.name) {
			continue
		}
		began := time.Now()
		more, err := f.compare(ctx, labs, n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, errors.Join(context.Cause(ctx), err))
		}
		rows = append(rows, more...)
		var ratios []string
		for _, c := range more {
			ratios = append(ratios, fmt.Sprintf("%.3f × %s", c.Ratio, c.verdict()))
		}
		fmt.Fprintf(os.Stderr, "measured %s in %.1f s: %s\n", f.name, time.Since(began).Seconds(), strings.Join(ratios, ", "))
	}
	if len(rows) == 0 {
		return nil, errors.New("--only matches no figure that can be compared")
	}
	for _, left := range notCompared {
		if only.MatchString(left[0]) {
			fmt.Fprintf(os.Stderr, "left out %s: %s\n", left[0], left[1])
		}
	}
	return rows, nil
}

// compare measures one figure's rows with both programs in turns.
func (f comparison) compare(ctx context.Context, labs [2]*lab, n int) ([]compared, error) {
	var takes [2][]measurement
	for i, l := range labs {
		m, end, err := f.begin(ctx, l)
		if end != nil {
			defer end()
		}
		if err != nil {
			return nil, err
		}
		takes[i] = m
	}
	var rows []compared
	for i, figure := range f.figures {
		base, new, err := inPairs(ctx, n, takes[0][i].times(f.each), takes[1][i].times(f.each))
		if err != nil {
			return nil, err
		}
		rows = append(rows, compared{Name: f.name, Figure: figure, Unit: f.unit}.weigh(base, new))
	}
	return rows, nil
}

// inPairs takes n pairs of samples after a warm-up. Who goes first changes from
// pair to pair: what a sample leaves behind falls on both alike.
func inPairs(ctx context.Context, n int, base, new measurement) (b, w samples, err error) {
	for i := range n + 1 {
		pair := []measurement{base, new}
		if i%2 == 1 {
			slices.Reverse(pair)
		}
		s, err := interleave(ctx, 0, 1, pair...)
		if err != nil {
			return nil, nil, err
		}
		if i%2 == 1 {
			slices.Reverse(s)
		}
		if i > 0 {
			b, w = append(b, s[0]...), append(w, s[1]...)
		}
	}
	return b, w, nil
}

// times takes several samples at once, and their median for one.
func (m measurement) times(n int) measurement {
	return func(ctx context.Context, i int) (float64, error) {
		var all samples
		for range max(1, n) {
			v, err := m(ctx, i)
			if err != nil {
				return 0, err
			}
			all = append(all, v)
		}
		return all.median(), nil
	}
}

// printCompared writes the rows as a table, or as JSON.
func printCompared(w io.Writer, rows []compared, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	lines := [][]string{{"row", "base", "new", "ratio", "spread", "bound", "verdict"}}
	for _, c := range rows {
		lines = append(lines, []string{
			c.Figure, number(c.Base) + " " + c.Unit, number(c.New) + " " + c.Unit, fmt.Sprintf("%.3f ×", c.Ratio), fmt.Sprintf("%.3f ×", c.Spread), fmt.Sprintf("%.2f ×", c.Bound), c.verdict(),
		})
	}
	printLines(w, lines)
	_, err := fmt.Fprintln(w, strings.TrimSpace(`
base and new are medians. ratio is the median of new / base, pair by pair. spread is the median
factor between two base samples that follow each other; above 1.05 the bound is 1.15.`))
	return err
}
