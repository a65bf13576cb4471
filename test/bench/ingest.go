package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
)

const (
	floodBytes = 8 << 20 // of text, before it becomes events
	floodBatch = 512     // rows of one transaction of the baseline
)

// flooding is a coppice.yaml whose agent floods.
const flooding = `base: main
limits: {sessions: 1, memory: 99%%}
agent: {use: flood}
agents:
  flood: {protocol: scripted, command: ["{coppice}", scripted], args: [%q]}
workspace: {ports: 0}
retry: {max: 0}
`

const flood = `cases:
  - steps:
      - flood: {bytes: %d}
      - write: {path: "${session}.txt", content: "done\n"}
`

// ingestRows measures how fast what an agent writes gets through its host into
// the store, from the session's start to its end.
func ingestRows(ctx context.Context, l *lab) ([]row, error) {
	script := filepath.Join(l.disk, l.name("flood")+".yaml")
	if err := os.WriteFile(script, fmt.Appendf(nil, flood, floodBytes), 0o600); err != nil {
		return nil, err
	}
	repo, err := l.repository(ctx, 20, fmt.Sprintf(flooding, script))
	if err != nil {
		return nil, err
	}
	state, err := l.state()
	if err != nil {
		return nil, err
	}
	if _, err := l.flood(ctx, state, repo); err != nil { // also the warm-up
		return nil, err
	}
	out, size, err := flooded(ctx, state)
	if err != nil {
		return nil, err
	}
	const n = 3
	s, err := interleave(ctx, 0, n, func(ctx context.Context, _ int) (float64, error) {
		took, err := l.flood(ctx, state, repo)
		return size / took.Seconds(), err
	}, func(ctx context.Context, _ int) (float64, error) {
		took, err := insert(ctx, filepath.Join(l.disk, l.name("insert")+".db"), out)
		return size / took.Seconds(), err
	})
	if err != nil {
		return nil, err
	}
	return []row{row{
		Figure: fmt.Sprintf("output ingested, %d pieces", len(out)), Ours: s[0].median(), Beside: "the same rows into a bare SQLite table",
		Baseline: s[1].median(), Unit: "MiB/s", N: n, Samples: sampled(s[0], s[1]),
		More: map[string]float64{"mib": size, "pieces": float64(len(out))},
	}.judge(goal{ratioLeast, 0.5})}, nil
}

// flood runs one session that floods, on a separate server, and returns how
// long the session took.
func (l *lab) flood(ctx context.Context, state, repo string) (took time.Duration, err error) {
	srv, err := l.serve(ctx, state)
	if err != nil {
		return 0, err
	}
	defer srv.stop()
	p, err := srv.client.AddProject(ctx, repo)
	if err != nil {
		return 0, err
	}
	log := srv.watch(ctx, -1)
	defer log.stop()
	if _, err := srv.client.CreateTasks(ctx, p.Prefix, []coppice.NewTask{{Title: "Flood"}}); err != nil {
		return 0, err
	}
	began, err := log.wait(ctx, coppice.EventSessionStarted, 1)
	if err != nil {
		return 0, err
	}
	ended, err := log.wait(ctx, coppice.EventSessionEnded, 1)
	if err != nil {
		return 0, err
	}
	_, err = log.wait(ctx, coppice.EventWorkspaceRemoved, 1)
	return ended.At.Sub(began.At), err
}

// flooded reads what the first session wrote, and how many MiB that is.
func flooded(ctx context.Context, state string) (out []coppice.Output, size float64, err error) {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(state, "coppice.db")})
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	err = s.View(ctx, func(r store.Reader) error {
		for after := int64(-1); ; {
			page, err := r.Outputs.After(1, after, 10_000)
			if err != nil || len(page) == 0 {
				return err
			}
			out = append(out, page...)
			after = page[len(page)-1].Offset
		}
	})
	for _, o := range out {
		size += float64(len(o.Data)) / (1 << 20)
	}
	if err == nil && size < floodBytes/(1<<20) {
		err = fmt.Errorf("the session wrote %g MiB only", size)
	}
	return out, size, err
}

// insert is the baseline: the rows in batches, each on disk before the next.
func insert(ctx context.Context, path string, out []coppice.Output) (took time.Duration, err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE output (session, place, at, kind, data, PRIMARY KEY (session, place)) WITHOUT ROWID"); err != nil {
		return 0, err
	}
	began := time.Now()
	for len(out) > 0 {
		n := min(len(out), floodBatch)
		if err := insertBatch(db, out[:n]); err != nil {
			return 0, err
		}
		out = out[n:]
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

func insertBatch(db *sql.DB, out []coppice.Output) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	add, err := tx.Prepare("INSERT INTO output VALUES (1, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	for _, o := range out {
		if _, err := add.Exec(o.Offset, o.At.UnixNano(), string(o.Kind), o.Data); err != nil {
			return err
		}
	}
	return tx.Commit()
}
