package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"coppice"
)

// rule is what a goal is about.
type rule int

const (
	noGoal     rule = iota
	ratioMost       // ours / baseline
	ratioLeast      // ours / baseline
	moreMost        // ours - baseline
	valueMost       // ours
)

// goal is a bound on a figure.
type goal struct {
	rule  rule
	bound float64
}

// The verdicts.
const (
	verdictOK   = "ok"
	verdictOver = "over"
	verdictNone = "-"
	verdictFail = "not measured"
)

// row is one figure and its baseline.
type row struct {
	Figure   string             `json:"figure"`
	Ours     float64            `json:"ours"`
	Beside   string             `json:"beside,omitempty"` // what the baseline is of
	Baseline float64            `json:"baseline,omitempty"`
	Unit     string             `json:"unit"`
	Ratio    float64            `json:"ratio,omitempty"`
	Goal     string             `json:"goal,omitempty"`
	Verdict  string             `json:"verdict"`
	N        int                `json:"n"`
	Samples  map[string]samples `json:"samples,omitempty"`
	More     map[string]float64 `json:"more,omitempty"` // figures for orientation
}

// judge fills in the ratio, the goal in words and the verdict.
func (r row) judge(g goal) row {
	if r.Baseline != 0 {
		r.Ratio = r.Ours / r.Baseline
	}
	met := true
	switch g.rule {
	case ratioMost:
		r.Goal, met = fmt.Sprintf("≤ %g ×", g.bound), r.Ratio <= g.bound
	case ratioLeast:
		r.Goal, met = fmt.Sprintf("≥ %g ×", g.bound), r.Ratio >= g.bound
	case moreMost:
		r.Goal, met = fmt.Sprintf("≤ %g %s more", g.bound, r.Unit), r.Ours-r.Baseline <= g.bound
	case valueMost:
		r.Goal, met = fmt.Sprintf("≤ %g %s", g.bound, r.Unit), r.Ours <= g.bound
	}
	switch {
	case g.rule == noGoal:
		r.Verdict = verdictNone
	case met:
		r.Verdict = verdictOK
	default:
		r.Verdict = verdictOver
	}
	return r
}

// unmeasured is the row of a figure that cannot be measured, with the first line
// of why not.
func unmeasured(name string, err error) row {
	return row{Figure: name, Beside: coppice.FirstLine(err.Error()), Verdict: verdictFail}
}

// number writes three significant digits, and no more.
func number(v float64) string {
	switch a := max(v, -v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// printTable writes the rows as one table.
func printTable(w io.Writer, rows []row) {
	lines := [][]string{{"figure", "ours", "beside it", "baseline", "ratio", "goal", "verdict", "n"}}
	for _, r := range rows {
		baseline, ratio := "", ""
		if r.Baseline != 0 {
			baseline, ratio = number(r.Baseline)+" "+r.Unit, number(r.Ratio)+" ×"
		}
		lines = append(lines, []string{r.Figure, number(r.Ours) + " " + r.Unit, r.Beside, baseline, ratio, r.Goal, r.Verdict, fmt.Sprint(r.N)})
	}
	printLines(w, lines)
}

// printLines writes lines of cells as a table; the first is its head.
func printLines(w io.Writer, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, c := range l {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for n, l := range lines {
		var b strings.Builder
		for i, c := range l {
			b.WriteString(c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
		if n == 0 {
			total := 2 * (len(widths) - 1)
			for _, n := range widths {
				total += n
			}
			fmt.Fprintln(w, strings.Repeat("─", total))
		}
	}
}

// report is what a run leaves as JSON.
type report struct {
	At      time.Time `json:"at"`
	Machine machine   `json:"machine"`
	Rows    []row     `json:"rows"`
}

// missed counts the figures over their goal, and those that were not measured.
func (r report) missed() int {
	n := 0
	for _, row := range r.Rows {
		if row.Verdict == verdictOver || row.Verdict == verdictFail {
			n++
		}
	}
	return n
}

// save writes the report to a file that is named by its time.
func (r report) save(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, r.At.UTC().Format("20060102T150405Z")+".json")
	return file, os.WriteFile(file, append(b, '\n'), 0o644)
}
