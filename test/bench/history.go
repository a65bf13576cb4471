package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"coppice/api/client"
)

const (
	fewTasks   = 20
	manyTasks  = 20_000
	grownBytes = 1 << 30
	findTasks  = 10
	findLines  = 40_000 // of each
)

// statusRows measures a status with a long history beside one with a short one.
func statusRows(ctx context.Context, l *lab) ([]row, error) {
	var servers []*server
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	for _, n := range []int{manyTasks, fewTasks} {
		p, err := l.past(ctx)
		if err != nil {
			return nil, err
		}
		if err := p.finish(ctx, n, nil); err != nil {
			return nil, err
		}
		srv, err := l.serve(ctx, p.state)
		if err != nil {
			return nil, err
		}
		servers = append(servers, srv)
		if err := caughtUp(ctx, srv); err != nil {
			return nil, err
		}
	}
	const warm, n, calls = 2, 21, 20
	ask := func(f func(context.Context, *client.Client) error) ([]samples, error) {
		one := func(srv *server) measurement {
			return func(ctx context.Context, _ int) (float64, error) {
				began := time.Now()
				for range calls {
					if err := f(ctx, srv.client); err != nil {
						return 0, err
					}
				}
				return millis(time.Since(began)) / calls, nil
			}
		}
		return interleave(ctx, warm, n, one(servers[0]), one(servers[1]))
	}
	var rows []row
	for _, asked := range []struct {
		name string
		f    func(context.Context, *client.Client) error
	}{
		{"GET /status", func(ctx context.Context, c *client.Client) error { _, err := c.Status(ctx, ""); return err }},
		{"GET /tasks?status=failed", func(ctx context.Context, c *client.Client) error {
			_, err := c.Tasks(ctx, client.TaskQuery{Status: []string{"failed"}})
			return err
		}},
	} {
		s, err := ask(asked.f)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{
			Figure: fmt.Sprintf("%s, %d finished tasks", asked.name, manyTasks), Ours: s[0].median(), Beside: fmt.Sprintf("with %d", fewTasks),
			Baseline: s[1].median(), Unit: "ms", N: n, Samples: map[string]samples{"many": s[0], "few": s[1]},
		}.judge(goal{ratioMost, 1.5}))
	}
	return rows, nil
}

// caughtUp waits until the search index has read everything.
func caughtUp(ctx context.Context, srv *server) error {
	for {
		page, err := srv.client.Search(ctx, client.SearchQuery{Text: "nothing", Most: 1})
		if err != nil || !page.Behind {
			return err
		}
		if err := rest(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// grownRows measures a start with a large database beside one with an empty one.
func grownRows(ctx context.Context, l *lab) ([]row, error) {
	grown, err := l.past(ctx)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(grown.state) // it is large
	if err := grown.grow(ctx, grownBytes); err != nil {
		return nil, err
	}
	empty, err := l.past(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range []*past{grown, empty} { // the first start makes the search index
		srv, err := l.serve(ctx, p.state)
		if err != nil {
			return nil, err
		}
		err = caughtUp(ctx, srv)
		srv.stop()
		if err != nil {
			return nil, err
		}
	}
	const warm, n = 1, 9
	var rows []row
	for _, c := range []struct {
		name         string
		drop, killed bool
	}{{name: "warm"}, {name: "not in the page cache", drop: true}, {name: "killed before, not in the page cache", drop: true, killed: true}} {
		start := func(p *past) measurement {
			return func(ctx context.Context, _ int) (float64, error) { return l.firstAnswer(ctx, p, c.drop, c.killed) }
		}
		s, err := interleave(ctx, warm, n, start(grown), start(empty))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{
			Figure: "start → first answer, 1 GiB database, " + c.name, Ours: s[0].median(), Beside: "an empty database",
			Baseline: s[1].median(), Unit: "ms", N: n, Samples: map[string]samples{"grown": s[0], "empty": s[1]},
		}.judge(goal{ratioMost, 2}))
	}
	return rows, nil
}

// firstAnswer measures from the start of a server to its first answer.
func (l *lab) firstAnswer(ctx context.Context, p *past, drop, killed bool) (float64, error) {
	if drop {
		if err := p.drop(); err != nil {
			return 0, err
		}
	}
	srv, err := l.serve(ctx, p.state)
	if err != nil {
		return 0, err
	}
	defer srv.stop()
	_, err = srv.client.Status(ctx, "")
	took := millis(time.Since(srv.began))
	if killed {
		err = errors.Join(err, srv.cmd.Process.Kill())
	}
	return took, err
}

// drop takes the databases out of the page cache.
func (p *past) drop() error {
	files, err := filepath.Glob(filepath.Join(p.state, "*.db*"))
	if err != nil {
		return err
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = errors.Join(f.Sync(), dropCached(f), f.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

// searchRows measures searches over many lines, by the kind of query.
func searchRows(ctx context.Context, l *lab) ([]row, error) {
	p, err := l.past(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.say(ctx, findTasks, findLines); err != nil {
		return nil, err
	}
	srv, err := l.serve(ctx, p.state)
	if err != nil {
		return nil, err
	}
	defer srv.stop()
	if err := caughtUp(ctx, srv); err != nil {
		return nil, err
	}
	const n = 100
	var rows []row
	common, rare := func(i int) string { return wordOf(uint64(15 + i%20)) }, func(i int) string { return wordOf(uint64(30_000 + 97*i)) }
	for _, kind := range []struct {
		name string
		text func(i int) string
	}{
		{"a rare word", rare}, {"a common word", common},
		{"two words", func(i int) string { return common(i) + " " + common(i+3) }},
		{"three words", func(i int) string { return common(i) + " " + common(i+3) + " " + common(i+7) }},
		{"a phrase", func(i int) string { return `"` + common(i) + " " + common(i+3) + `"` }},
		{"nothing", func(i int) string { return fmt.Sprintf("missing%d", i) }},
		{"a prefix of every line", func(i int) string { return "session"[:2+i%6] }},
		{"a prefix of many words", func(i int) string { return wordOf(uint64(i % 15))[:2] }},
	} {
		var took samples
		for i := range n {
			text := kind.text(i)
			began := time.Now()
			if _, err := srv.client.Search(ctx, client.SearchQuery{Text: text}); err != nil {
				return nil, err
			}
			took = append(took, millis(time.Since(began)))
		}
		sorted := slices.Sorted(slices.Values(took))
		rows = append(rows, row{
			Figure: fmt.Sprintf("search %d lines for %s, p99", findTasks*findLines, kind.name), Ours: sorted[n*99/100-1], Unit: "ms", N: n,
			Samples: map[string]samples{"ours": took}, More: map[string]float64{"median": took.median()},
		}.judge(goal{valueMost, 50}))
	}
	return rows, nil
}
