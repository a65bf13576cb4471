package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coppice"
)

// featureList is the name of the features file.
const featureList = "features.json"

// featureRows measures how long a features file takes from its being written to
// its last feature landed: with one track against the same git work in a shell
// loop, and with five tracks against one.
func featureRows(ctx context.Context, l *lab) ([]row, error) {
	var rows []row
	for _, n := range []int{5, 20} {
		one, err := l.featureBench(ctx, 1)
		if err != nil {
			return nil, err
		}
		five, err := l.featureBench(ctx, 5)
		if err != nil {
			one.close()
			return nil, err
		}
		r, err := featureRow(ctx, l, n, one, five)
		one.close()
		five.close()
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

func featureRow(ctx context.Context, l *lab, n int, one, five *featureBench) ([]row, error) {
	samples := 100 / n // few features are over in no time, and differ the more
	hand, err := l.repository(ctx, 20, "")
	if err != nil {
		return nil, err
	}
	s, err := interleave(ctx, 1, samples, // the first makes the worktrees that later ones find
		func(ctx context.Context, _ int) (float64, error) { return one.run(ctx, n) },
		func(ctx context.Context, _ int) (float64, error) { return five.run(ctx, n) },
		func(ctx context.Context, _ int) (float64, error) {
			began := time.Now()
			err := l.run(ctx, hand, "sh", "-c", landByHand, "sh", fmt.Sprint(n), l.name("hand"), filepath.Clean(l.trees), l.probe)
			return time.Since(began).Seconds(), err
		})
	if err != nil {
		return nil, err
	}
	back := one.back[1:] // without the first
	what := fmt.Sprintf("%d instant features, file written → all landed", n)
	return []row{
		row{Figure: what + ", 1 track", Ours: s[0].median(), Beside: "the git commands in a shell loop", Baseline: s[2].median(), Unit: "s", N: samples,
			Samples: sampled(s[0], s[2])}.judge(goal{ratioMost, 1.5}),
		row{Figure: what + ", 5 tracks", Ours: s[1].median(), Beside: "1 track", Baseline: s[0].median(), Unit: "s", N: samples,
			Samples: sampled(s[1], s[0])}.judge(goal{ratioMost, 1}),
		row{Figure: fmt.Sprintf("%d instant features, file written → all written back, 1 track", n), Ours: back.median(), Beside: "the git commands in a shell loop",
			Baseline: s[2].median(), Unit: "s", N: samples, Samples: sampled(back, s[2])}.judge(goal{ratioMost, 1.3}),
	}, nil
}

func sampled(ours, baseline samples) map[string]samples {
	return map[string]samples{"ours": ours, "baseline": baseline}
}

// featureBench is a server with a project that keeps a features file.
type featureBench struct {
	*bench
	tracks int
	list   []map[string]any
	back   samples // how long each run took until the file said so
}

func (l *lab) featureBench(ctx context.Context, tracks int) (*featureBench, error) {
	var config strings.Builder
	config.WriteString(l.probing("", tracks))
	fmt.Fprintf(&config, "features: %s\nverify: {by: none}\ntracks:\n", featureList)
	for i := range tracks {
		fmt.Fprintf(&config, "  - {name: t%d, limit: 1, categories: [c%d]}\n", i, i)
	}
	b, err := l.benchOf(ctx, 20, func(string) map[string]string {
		return map[string]string{"coppice.yaml": config.String(), featureList: "[]\n"}
	})
	return &featureBench{bench: b, tracks: tracks}, err
}

// run adds so many open features to the file and waits until all have landed.
func (b *featureBench) run(ctx context.Context, n int) (float64, error) {
	for range n {
		id := len(b.list) + 1
		b.list = append(b.list, map[string]any{
			"id": id, "name": fmt.Sprintf("Feature %d", id), "category": fmt.Sprintf("c%d", id%b.tracks), "status": "open",
		})
	}
	text, err := json.MarshalIndent(b.list, "", "  ")
	if err != nil {
		return 0, err
	}
	file := filepath.Join(b.repo, featureList)
	began := time.Now()
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return 0, err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return 0, err
	}
	_, err = b.log.wait(ctx, coppice.EventTaskEnded, n)
	took := time.Since(began).Seconds()
	for passed := 0; err == nil && passed < len(b.list); {
		if text, err = os.ReadFile(file); err == nil {
			passed = strings.Count(string(text), `"passed"`)
			err = rest(ctx, time.Millisecond)
		}
	}
	b.back = append(b.back, time.Since(began).Seconds())
	for _, f := range b.list {
		f["status"] = "passed" // as the file says by now, or will in a moment
	}
	return took, err
}
