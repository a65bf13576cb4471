package main

import (
	"context"
	"path/filepath"
	"time"
)

// coldRows measures from the start of the program to its first answer. The
// database is there already, as it is at every start but the first.
func coldRows(ctx context.Context, l *lab) ([]row, error) {
	state, err := l.state()
	if err != nil {
		return nil, err
	}
	l.findNATS(ctx)
	const warm, n = 2, 11
	var line samples
	s, err := interleave(ctx, warm, n, func(ctx context.Context, _ int) (float64, error) {
		srv, err := l.serve(ctx, state)
		if err != nil {
			return 0, err
		}
		defer srv.stop()
		_, err = srv.client.Version(ctx)
		line = append(line, millis(srv.up.Sub(srv.began)))
		return millis(time.Since(srv.began)), err
	}, func(ctx context.Context, _ int) (float64, error) {
		p, err := l.launch(ctx, nil, l.web)
		if err != nil {
			return 0, err
		}
		defer p.stop()
		err = get(ctx, p.said)
		return millis(time.Since(p.began)), err
	}, func(ctx context.Context, _ int) (float64, error) {
		p, err := l.launch(ctx, nil, l.opener, filepath.Join(state, "coppice.db"))
		if err != nil {
			return 0, err
		}
		p.stop()
		return millis(p.up.Sub(p.began)), nil
	}, func(ctx context.Context, _ int) (float64, error) {
		if l.nats == "" {
			return 0, nil
		}
		dir := filepath.Join(l.disk, l.name("nats"))
		p, err := l.launchUntil(ctx, nil, "Server is ready", "sh", "-c", `exec "$0" -a 127.0.0.1 -p -1 -js -sd "$1" 2>&1`, l.nats, dir)
		if err != nil {
			return 0, err
		}
		p.stop()
		return millis(p.up.Sub(p.began)), nil
	})
	if err != nil {
		return nil, err
	}
	more := map[string]float64{"ours_line_ms": line.median()}
	all := map[string]samples{"ours": s[0], "http": s[1], "sqlite": s[2], "nats": s[3]}
	web := row{
		Figure: "program started → first answer", Ours: s[0].median(), Beside: "an empty Go HTTP server + a bare SQLite open",
		Baseline: s[1].median() + s[2].median(), Unit: "ms", N: n, Samples: all, More: more,
	}
	if l.nats == "" {
		web.Beside += " (nats-server cannot be had here)"
		return []row{web.judge(goal{ratioMost, 2})}, nil
	}
	nats := web
	nats.Beside, nats.Baseline = "nats-server alone + a bare SQLite open", s[3].median()+s[2].median()
	return []row{nats.judge(goal{ratioMost, 2}), web.judge(goal{})}, nil
}
