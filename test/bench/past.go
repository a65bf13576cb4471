package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
)

// past is a state directory with a history that nobody had to wait for: the rows
// are those of finished tasks, written straight into the database.
type past struct {
	state   string
	project coppice.Project
}

// past makes a state directory with one project.
func (l *lab) past(ctx context.Context) (*past, error) {
	repo, err := l.repository(ctx, 20, l.probing("", 1))
	if err != nil {
		return nil, err
	}
	state, err := l.state()
	if err != nil {
		return nil, err
	}
	srv, err := l.serve(ctx, state)
	if err != nil {
		return nil, err
	}
	_, err = srv.client.AddProject(ctx, repo)
	srv.stop()
	if err != nil {
		return nil, err
	}
	p := &past{state: state}
	return p, p.write(ctx, func(s *sqlite.Store) error {
		return s.View(ctx, func(r store.Reader) error {
			all, err := r.Projects.All()
			if err == nil {
				p.project = all[0]
			}
			return err
		})
	})
}

func (p *past) database() string { return filepath.Join(p.state, "coppice.db") }

// write opens the database for f.
func (p *past) write(ctx context.Context, f func(*sqlite.Store) error) error {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: p.database(), Sync: sqlite.SyncOff})
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// finish adds so many finished tasks. Output is called with each session.
func (p *past) finish(ctx context.Context, tasks int, output func(tx store.Tx, session int64, i int) error) error {
	const batch = 500
	return p.write(ctx, func(s *sqlite.Store) error {
		for done := 0; done < tasks; done += batch {
			err := s.Update(ctx, func(tx store.Tx) error {
				for i := done; i < min(done+batch, tasks); i++ {
					id, err := p.task(tx)
					if err == nil && output != nil {
						err = output(tx, id, i)
					}
					if err != nil {
						return err
					}
				}
				return tx.Projects.Put(&p.project)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// task adds one finished task and returns its session.
func (p *past) task(tx store.Tx) (session int64, err error) {
	p.project.LastTask++
	at := time.Now().UTC().Add(-time.Hour)
	t := coppice.Task{
		ProjectID: p.project.ID, Num: p.project.LastTask, Key: coppice.TaskKey(p.project.Prefix, p.project.LastTask), Title: "Leave a file", Body: strings.Repeat("What is to be done. ", 10),
		Track: "main", Agent: "probe", CreatedAt: at, Stage: coppice.StageEnded, StageAt: at, EndedAt: at, Outcome: coppice.OutcomeDone, Sessions: 1,
	}
	if err := tx.Tasks.Put(&t); err != nil {
		return 0, err
	}
	x := coppice.Session{
		ProjectID: t.ProjectID, TaskID: t.ID, N: 1, Key: t.Key + ".1", Role: coppice.RoleImplement, Agent: "probe", Track: "main", State: coppice.SessionDone,
		CreatedAt: at, StartedAt: at, EndedAt: at, Prompt: strings.Repeat("Do what is to be done. ", 20), Summary: "done", Usage: coppice.Usage{CostUSD: 0.01},
	}
	if err := tx.Sessions.Put(&x); err != nil {
		return 0, err
	}
	land := coppice.Landing{ProjectID: t.ProjectID, TaskID: t.ID, SessionID: x.ID, CreatedAt: at, EndedAt: at, Outcome: coppice.LandingLanded}
	check := coppice.Check{ProjectID: t.ProjectID, TaskID: t.ID, Command: "make test", EndedAt: at, Log: "all is well\n"}
	err = errors.Join(tx.Landings.Put(&land), tx.Checks.Put(&check))
	for _, kind := range []coppice.EventKind{coppice.EventTaskCreated, coppice.EventSessionCreated, coppice.EventSessionStarted, coppice.EventSessionEnded, coppice.EventLandingEnded, coppice.EventTaskEnded} {
		err = errors.Join(err, tx.Log.Append(&coppice.Event{At: at, Kind: kind, ProjectID: t.ProjectID, TaskID: t.ID, SessionID: x.ID, Subject: t.Key}))
	}
	return x.ID, err
}

// grow adds finished tasks until the database takes so many bytes, most of them in
// pictures, which can neither be compressed nor searched.
func (p *past) grow(ctx context.Context, size int64) error {
	const each, piece = 1 << 20, 32 << 10
	random := rand.NewChaCha8([32]byte{1})
	write := func(tx store.Tx, session int64, _ int) error {
		var out []coppice.Output
		for at := range int64(each / piece) {
			data := make([]byte, piece)
			_, _ = random.Read(data) // which never fails
			out = append(out, coppice.Output{Offset: at, At: time.Now(), Kind: coppice.OutputImage, Data: data})
		}
		return tx.Outputs.Add(session, 0, int64(len(out)), out)
	}
	for {
		info, err := os.Stat(p.database())
		if err != nil || info.Size() >= size {
			return err
		}
		if err := p.finish(ctx, min(64, max(1, int((size-info.Size())/each))), write); err != nil {
			return err
		}
	}
}

// say adds finished tasks whose sessions wrote lines, each also as an event, as
// those of a command do.
func (p *past) say(ctx context.Context, tasks, lines int) error {
	word := words()
	return p.finish(ctx, tasks, func(tx store.Tx, session int64, i int) error {
		var out []coppice.Output
		for n := range lines {
			line := fmt.Sprintf("line %d of session%d: %s", n, i, word())
			data, err := json.Marshal(struct {
				Kind string `json:"kind"`
				Text string `json:"text"`
			}{"text", line})
			if err != nil {
				return err
			}
			at := int64(2 * n)
			out = append(out, coppice.Output{Offset: at, At: time.Now(), Kind: coppice.OutputStdout, Data: []byte(line + "\n")},
				coppice.Output{Offset: at + 1, At: time.Now(), Kind: coppice.OutputEvent, Data: data})
		}
		return tx.Outputs.Add(session, 0, int64(len(out)), out)
	})
}

// words returns texts in which few words are common and many are rare, as in what
// agents write.
func words() func() string {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.2, 4, 60_000)
	return func() string {
		var b strings.Builder
		for range 4 {
			b.WriteString(" " + wordOf(zipf.Uint64()))
		}
		return b.String()
	}
}

// wordOf makes a word of its rank: the common ones are short.
func wordOf(rank uint64) string {
	const syllables = "balodemirukatoneshupaviregokima"
	b := []byte(syllables[2*(rank%15):][:2])
	for rank /= 15; rank > 0; rank /= 15 {
		b = append(b, syllables[2*(rank%15):][:2]...)
	}
	return string(b) + "n"
}
