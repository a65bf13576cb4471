package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in           samples
		median, mean float64
	}{
		{nil, 0, 0},
		{samples{3}, 3, 3},
		{samples{9, 1, 2}, 2, 4},
		{samples{8, 1, 2, 4}, 3, 3.75},
	} {
		if got := c.in.median(); got != c.median {
			t.Errorf("median of %v: %g, want %g", c.in, got, c.median)
		}
		if got := c.in.mean(); got != c.mean {
			t.Errorf("mean of %v: %g, want %g", c.in, got, c.mean)
		}
	}
}

func TestMedianHalves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := samples(rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "samples"))
		first, m := in[0], in.median()
		below, above := 0, 0
		for _, v := range in {
			if v <= m {
				below++
			}
			if v >= m {
				above++
			}
		}
		if 2*below < len(in) || 2*above < len(in) {
			t.Fatalf("%g does not halve %v", m, in)
		}
		if in[0] != first {
			t.Fatal("the samples were put in another order")
		}
	})
}

func TestInterleave(t *testing.T) {
	t.Parallel()
	var order strings.Builder
	take := func(name string) measurement {
		return func(_ context.Context, i int) (float64, error) {
			order.WriteString(name)
			return float64(i), nil
		}
	}
	got, err := interleave(t.Context(), 1, 2, take("a"), take("b"))
	if err != nil {
		t.Fatal(err)
	}
	if order.String() != "ababab" {
		t.Errorf("order %s", order.String())
	}
	for _, s := range got {
		if len(s) != 2 || s[0] != 1 || s[1] != 2 {
			t.Errorf("samples %v: the warm-up does not count", got)
		}
	}
	failed := errors.New("failed")
	if _, err := interleave(t.Context(), 0, 2, func(context.Context, int) (float64, error) { return 0, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := interleave(ctx, 0, 1, take("c")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ours, baseline float64
		goal           goal
		verdict        string
		words          string
	}{
		{130, 100, goal{ratioMost, 1.3}, verdictOK, "≤ 1.3 ×"},
		{131, 100, goal{ratioMost, 1.3}, verdictOver, "≤ 1.3 ×"},
		{80, 100, goal{ratioLeast, 0.8}, verdictOK, "≥ 0.8 ×"},
		{79, 100, goal{ratioLeast, 0.8}, verdictOver, "≥ 0.8 ×"},
		{46, 6, goal{moreMost, 40}, verdictOK, "≤ 40 MiB more"},
		{47, 6, goal{moreMost, 40}, verdictOver, "≤ 40 MiB more"},
		{8, 0, goal{valueMost, 8}, verdictOK, "≤ 8 MiB"},
		{9, 0, goal{valueMost, 8}, verdictOver, "≤ 8 MiB"},
		{9, 1, goal{}, verdictNone, ""},
	} {
		r := row{Ours: c.ours, Baseline: c.baseline, Unit: "MiB"}.judge(c.goal)
		if r.Verdict != c.verdict || r.Goal != c.words {
			t.Errorf("%g beside %g: %q %q, want %q %q", c.ours, c.baseline, r.Goal, r.Verdict, c.words, c.verdict)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	printTable(&b, []row{
		row{Figure: "posted → runs", Ours: 324.4, Beside: "a shell", Baseline: 132, Unit: "ms", N: 12}.judge(goal{ratioMost, 1.3}),
		row{Figure: "memory", Ours: 2.949, Unit: "MiB", N: 10}.judge(goal{valueMost, 8}),
	})
	want := `figure         ours      beside it  baseline  ratio   goal     verdict  n
──────────────────────────────────────────────────────────────────────────
posted → runs  324 ms    a shell    132 ms    2.46 ×  ≤ 1.3 ×  over     12
memory         2.95 MiB                               ≤ 8 MiB  ok       10
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := report{At: at, Rows: []row{{Figure: "a", Verdict: verdictOver}, {Figure: "b", Verdict: verdictOK}, {Figure: "c", Verdict: verdictNone}}}
	if r.missed() != 1 {
		t.Errorf("%d missed", r.missed())
	}
	file, err := r.save(t.TempDir() + "/out")
	if err != nil || !strings.HasSuffix(file, "/20260301T120000Z.json") {
		t.Fatal(file, err)
	}
	b, err := os.ReadFile(file)
	var back report
	if err != nil || json.Unmarshal(b, &back) != nil || len(back.Rows) != 3 || !back.At.Equal(at) {
		t.Fatalf("%v: %s", err, b)
	}
}

func TestParseRollup(t *testing.T) {
	t.Parallel()
	m, err := parseRollup("00400000-7fff ---p 00000000 00:00 0   [rollup]\nRss: 20480 kB\nPss:  10240 kB\nPrivate_Clean: 1024 kB\nPrivate_Dirty: 2048 kB\nAnonymous: 512 kB\n")
	if err != nil || m != (memory{pss: 10, private: 3, dirty: 2, anonymous: 0.5}) {
		t.Errorf("%+v %v", m, err)
	}
	if _, err := parseRollup(""); err == nil {
		t.Error("an empty account is not refused")
	}
}

func TestWeigh(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what                 string
		base, new            samples
		ratio, spread, bound float64
		ok                   bool
	}{
		{"alike", samples{100, 100, 100}, samples{100, 104, 105}, 1.04, 1, 1.05, true},
		{"slower", samples{100, 100, 100}, samples{106, 106, 90}, 1.06, 1, 1.05, false},
		{"slower by as much as the base differs from itself", samples{100, 120, 100}, samples{110, 132, 110}, 1.1, 1.2, 1.15, true},
		{"slower by more than the loose bound", samples{100, 120, 100}, samples{116, 139.2, 116}, 1.16, 1.2, 1.15, false},
		{"faster", samples{100, 100, 100}, samples{50, 50, 50}, 0.5, 1, 1.05, true},
	} {
		got := compared{}.weigh(c.base, c.new)
		near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
		if !near(got.Ratio, c.ratio) || !near(got.Spread, c.spread) || got.Bound != c.bound || got.OK != c.ok {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

func TestInPairs(t *testing.T) {
	t.Parallel()
	var order strings.Builder
	take := func(name string, v float64) measurement {
		return func(context.Context, int) (float64, error) {
			order.WriteString(name)
			return v, nil
		}
	}
	base, new, err := inPairs(t.Context(), 3, take("b", 1), take("n", 2))
	if err != nil || order.String() != "bnnbbnnb" {
		t.Errorf("order %s, %v", order.String(), err)
	}
	if len(base) != 3 || len(new) != 3 || base.mean() != 1 || new.mean() != 2 {
		t.Errorf("base %v, new %v", base, new)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	all := samples{5, 1, 3}
	taken := 0
	got, err := measurement(func(context.Context, int) (float64, error) { taken++; return all[taken-1], nil }).times(3)(t.Context(), 0)
	if err != nil || got != 3 || taken != 3 {
		t.Errorf("%g after %d samples, %v", got, taken, err)
	}
}

func TestComparedTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	rows := []compared{compared{Figure: "start", Unit: "ms"}.weigh(samples{100, 100, 100}, samples{120, 120, 120}), compared{Figure: "idle", Unit: "MiB"}.weigh(samples{28, 28, 28}, samples{28, 28, 28})}
	if err := printCompared(&b, rows, false); err != nil {
		t.Fatal(err)
	}
	want := `row    base      new       ratio    spread   bound   verdict
────────────────────────────────────────────────────────────
start  100 ms    120 ms    1.200 ×  1.000 ×  1.05 ×  over
idle   28.0 MiB  28.0 MiB  1.000 ×  1.000 ×  1.05 ×  ok
`
	if got := b.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	b.Reset()
	var back []compared
	if err := printCompared(&b, rows, true); err != nil || json.Unmarshal([]byte(b.String()), &back) != nil || len(back) != 2 || back[0].OK || len(back[0].Samples["new"]) != 3 {
		t.Errorf("%v: %s", err, b.String())
	}
}
