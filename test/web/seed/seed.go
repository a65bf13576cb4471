// Package seed writes a past into a database that no server has open: tasks
// that ended, with their sessions, what these wrote and used, and what they
// waited for. The dashboard's tests and benchmarks look at it.
package seed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
)

// past is what is written, one fact after the other.
type past struct {
	tx   store.Tx
	p    coppice.Project
	made []coppice.Task
}

// open runs f on the project of the database at path.
func open(ctx context.Context, path, prefix string, f func(*past) error) (err error) {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Update(ctx, func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix(prefix)
		if err != nil {
			return fmt.Errorf("finding the project %s: %w", prefix, err)
		}
		past := &past{tx: tx, p: p}
		if err := f(past); err != nil {
			return err
		}
		return tx.Projects.Put(&past.p)
	})
}

// titles are what people ask for, in turns.
var titles = []string{
	"Add a --json flag to the list command", "Fix the crash on an empty config file", "Cache rendered templates", "Write the migration guide", "Retry uploads that time out",
	"Show the version in the footer", "Speed up the search index", "Move the settings page to the new layout", "Remove the old importer", "Test the parser with broken input",
}

// agents did them, each with its own models.
var agents = [][2]string{{"scripted", ""}, {"claude", "opus"}, {"codex", "gpt-5"}, {"claude", "sonnet"}}

// History writes n tasks that ended within the days before now. Some came after
// others, some asked a person, some were verified and fixed, some failed.
func History(ctx context.Context, path, prefix string, n int, now time.Time) error {
	return open(ctx, path, prefix, func(past *past) error {
		step := 20 * 24 * time.Hour / time.Duration(max(n, 1))
		for i := range n {
			if err := past.task(i, now.Add(-time.Duration(n-i)*step)); err != nil {
				return fmt.Errorf("task %d: %w", i, err)
			}
		}
		return nil
	})
}

// task writes one task and all that belongs to it.
func (p *past) task(i int, at time.Time) error {
	p.p.LastTask++
	who := agents[i%len(agents)]
	t := coppice.Task{
		ProjectID: p.p.ID, Num: p.p.LastTask, Key: fmt.Sprintf("%s-%d", p.p.Prefix, p.p.LastTask), Title: fmt.Sprintf("%s (%d)", titles[i%len(titles)], i+1),
		Body: "As people asked for it.", Track: "main", Agent: who[0], Model: who[1], CreatedAt: at, CreatedBy: "ada", Stage: coppice.StageEnded, StageAt: at, Outcome: coppice.OutcomeDone,
	}
	if i%3 == 0 {
		t.Track = "docs"
	}
	if i%5 != 0 && len(p.made) > 4 {
		t.After = []int64{p.made[len(p.made)-1-i%4].ID}
	}
	if i%7 == 0 {
		t.Steps = []string{"The command prints what was asked for.", "The tests pass."}
	}
	if err := p.tx.Tasks.Put(&t); err != nil {
		return err
	}
	if err := p.say(at, coppice.EventTaskCreated, t, nil, t.Title); err != nil {
		return err
	}
	end, err := p.sessions(&t, i, at.Add(time.Minute))
	if err != nil {
		return err
	}
	switch {
	case i%11 == 10:
		t.Outcome, t.Failure = coppice.OutcomeFailed, &coppice.Failure{Class: coppice.ClassImplementation, Text: "the checks did not pass in three rounds"}
	case i%17 == 16:
		t.Outcome = coppice.OutcomeCancelled
	default:
		t.Landed = fmt.Sprintf("%040x", i+1)
	}
	t.EndedAt, t.StageAt = end, end
	if i%23 == 22 {
		t.Archived = end.Add(time.Hour)
	}
	p.made = append(p.made, t)
	return errors.Join(p.tx.Tasks.Put(&t), p.say(end, coppice.EventTaskEnded, t, nil, string(t.Outcome)))
}

// sessions writes a task's sessions, one after the other, and returns when the
// last ended.
func (p *past) sessions(t *coppice.Task, i int, at time.Time) (time.Time, error) {
	roles := []coppice.Role{coppice.RoleImplement}
	if len(t.Steps) > 0 {
		roles = append(roles, coppice.RoleVerify, coppice.RoleFix, coppice.RoleVerify)
	}
	for n, role := range roles {
		took := time.Duration(5+(i*7+n*3)%50) * time.Minute
		s := p.session(t, role, at, at.Add(took))
		s.Usage = coppice.Usage{InputTokens: int64(9000 + 350*i), OutputTokens: int64(800 + 40*i), CacheRead: int64(70_000 + 900*i), CostUSD: 0.2 + float64((i*13+n*5)%90)/60, Turns: int64(3 + i%9)}
		if role == coppice.RoleVerify {
			v := coppice.Verdict{Summary: "Looked at the running program."}
			for k, text := range t.Steps {
				v.Steps = append(v.Steps, coppice.StepVerdict{N: k + 1, Text: text, Pass: n > 1 || k > 0, Evidence: "Ran it and read what it printed."})
			}
			s.Verdict = &v
		}
		words := []string{"I look at the code first.", fmt.Sprintf("The place is `list.go`; I begin with the flag. Ticket heron-%d.", i+1), "The tests pass; I commit."}
		if err := p.keep(t, s, words, i%6 == 5 && n == 0); err != nil {
			return at, err
		}
		if role == coppice.RoleVerify {
			if err := p.picture(s, len(words)); err != nil {
				return at, err
			}
		}
		at = s.EndedAt.Add(2 * time.Minute)
	}
	return at, nil
}

// session makes the next session of a task, which has ended.
func (p *past) session(t *coppice.Task, role coppice.Role, from, to time.Time) *coppice.Session {
	t.Sessions++
	exit := 0
	return &coppice.Session{
		ProjectID: p.p.ID, TaskID: t.ID, N: t.Sessions, Key: fmt.Sprintf("%s.%d", t.Key, t.Sessions), Role: role, Track: t.Track, Agent: t.Agent, Model: t.Model,
		State: coppice.SessionDone, CreatedAt: from, StartedAt: from.Add(time.Second), EndedAt: to, OutputAt: to, Exit: &exit, Summary: "Done.",
	}
}

// keep writes a session with what it said. One that asks waited for half its
// time.
func (p *past) keep(t *coppice.Task, s *coppice.Session, words []string, asks bool) error {
	if err := p.tx.Sessions.Put(s); err != nil {
		return err
	}
	if err := errors.Join(
		p.say(s.CreatedAt, coppice.EventSessionCreated, *t, s, string(s.Role)+" with "+s.Agent),
		p.say(s.StartedAt, coppice.EventSessionStarted, *t, s, ""),
	); err != nil {
		return err
	}
	if asks {
		q := coppice.Question{TaskID: t.ID, SessionID: s.ID, Ref: "q1", Text: "Should the old flag stay?", AskedAt: s.StartedAt.Add(time.Minute), Answer: "yes"}
		q.AnsweredAt = q.AskedAt.Add(s.EndedAt.Sub(s.StartedAt) / 2)
		q.ClosedAt = q.AnsweredAt
		if err := errors.Join(
			p.tx.Questions.Put(&q),
			p.say(q.AskedAt, coppice.EventQuestionAsked, *t, s, q.Text),
			p.say(q.AnsweredAt, coppice.EventQuestionAnswered, *t, nil, ""),
		); err != nil {
			return err
		}
	}
	out := make([]coppice.Output, 0, len(words))
	for n, w := range words {
		o, err := text(int64(n), s.StartedAt.Add(time.Duration(n)*time.Second), w)
		if err != nil {
			return err
		}
		out = append(out, o)
	}
	return errors.Join(p.tx.Outputs.Add(s.ID, 0, int64(len(out)), out), p.say(s.EndedAt, coppice.EventSessionEnded, *t, s, string(s.State)))
}

func text(offset int64, at time.Time, words string) (coppice.Output, error) {
	data, err := json.Marshal(map[string]any{"kind": "text", "text": words})
	return coppice.Output{Offset: offset, At: at, Kind: coppice.OutputEvent, Data: data}, err
}

func (p *past) say(at time.Time, kind coppice.EventKind, t coppice.Task, s *coppice.Session, reason string) error {
	e := &coppice.Event{At: at, Kind: kind, ProjectID: p.p.ID, TaskID: t.ID, Subject: t.Key, By: "seed", Reason: reason}
	if s != nil {
		e.SessionID, e.Subject = s.ID, s.Key
	}
	return p.tx.Log.Append(e)
}

// picture adds one to what a session wrote: a window with something in it.
func (p *past) picture(s *coppice.Session, offset int) error {
	window := image.NewRGBA(image.Rect(0, 0, 640, 400))
	fill := func(r image.Rectangle, c color.Color) {
		draw.Draw(window, r, image.NewUniform(c), image.Point{}, draw.Src)
	}
	fill(window.Bounds(), color.RGBA{R: 246, G: 248, B: 245, A: 255})
	fill(image.Rect(0, 0, 640, 48), color.RGBA{R: 21, G: 105, B: 59, A: 255})
	for i := range 5 {
		fill(image.Rect(40, 90+i*50, 260+(s.N*i*60)%320, 114+i*50), color.RGBA{R: 200, G: 214, B: 204, A: 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, window); err != nil {
		return err
	}
	from := int64(offset)
	return p.tx.Outputs.Add(s.ID, from, from+1, []coppice.Output{{Offset: from, At: s.EndedAt, Kind: coppice.OutputImage, Data: b.Bytes()}})
}

// batch is how many pieces of output are written at once.
const batch = 5000

// Long writes an ended task whose one session said n things, and returns the
// task's key.
func Long(ctx context.Context, path, prefix string, n int, now time.Time) (key string, err error) {
	err = open(ctx, path, prefix, func(p *past) error {
		p.p.LastTask++
		begin := now.Add(-24 * time.Hour)
		t := coppice.Task{
			ProjectID: p.p.ID, Num: p.p.LastTask, Key: fmt.Sprintf("%s-%d", p.p.Prefix, p.p.LastTask), Title: "Run for very long", Track: "main", Agent: "scripted",
			CreatedAt: begin, Stage: coppice.StageEnded, StageAt: now, EndedAt: now, Outcome: coppice.OutcomeDone,
		}
		if err := p.tx.Tasks.Put(&t); err != nil {
			return err
		}
		s := p.session(&t, coppice.RoleImplement, begin, now)
		if err := p.keep(&t, s, nil, false); err != nil {
			return err
		}
		for at := 0; at < n; at += batch {
			out := make([]coppice.Output, 0, batch)
			for i := at; i < min(at+batch, n); i++ {
				o, err := event(i, begin.Add(time.Duration(i)*100*time.Millisecond))
				if err != nil {
					return err
				}
				out = append(out, o)
			}
			if err := p.tx.Outputs.Add(s.ID, int64(at), int64(at+len(out)), out); err != nil {
				return fmt.Errorf("output %d: %w", at, err)
			}
		}
		key = t.Key
		return p.tx.Tasks.Put(&t)
	})
	return key, err
}

// event is one of many: texts of several lengths, and calls with their results.
func event(i int, at time.Time) (coppice.Output, error) {
	e := map[string]any{"kind": "text", "text": fmt.Sprintf("Thing %d. %s", i, strings.Repeat("It has no end. ", i%7))}
	switch i % 5 {
	case 1:
		e = map[string]any{"kind": "tool", "ref": fmt.Sprint(i), "name": "run", "tool": "run", "input": map[string]string{"command": fmt.Sprintf("make test-%d", i)}}
	case 2:
		e = map[string]any{"kind": "tool_result", "ref": fmt.Sprint(i - 1), "ok": i%50 != 2, "text": "line one\nline two\n"}
	}
	data, err := json.Marshal(e)
	return coppice.Output{Offset: int64(i), At: at, Kind: coppice.OutputEvent, Data: data}, err
}
