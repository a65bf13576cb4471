package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/host"
	"coppice/store"
)

// stopGrace bounds each step of a stop that the host takes by itself.
const stopGrace = 5 * time.Second

// Bounds of one batch of output: what is committed together.
const (
	mostFrames = 512
	mostBytes  = 1 << 20
)

// follower brings one session's output into the store, from where the store's
// cursor stands. Its drain may be called from one goroutine at a time.
type follower struct {
	w   *Worker
	id  int64
	dir string

	mu           sync.Mutex
	cursor       int64
	from         string
	usage        coppice.Usage
	conversation string
}

func (w *Worker) sessionID(ctx context.Context, key string) (id int64, err error) {
	err = w.cfg.Store.View(ctx, func(r store.Reader) error {
		s, err := r.Sessions.ByKey(key)
		id = s.ID
		return err
	})
	return id, err
}

// load takes up where the store stands, after a restart as at the start.
func (f *follower) load(ctx context.Context) error {
	return f.w.cfg.Store.View(ctx, func(r store.Reader) error {
		s, err := r.Sessions.Get(f.id)
		f.cursor, f.from, f.usage, f.conversation = s.Cursor, s.From, s.Usage, s.Conversation
		return err
	})
}

// begin records that the session runs from now on, and from which commit. It
// returns the session's prompt, and what the conversation it continues has used
// so far.
func (f *follower) begin(ctx context.Context, head string) (prompt string, spent coppice.Usage, err error) {
	err = f.record(ctx, func(tx store.Tx, s *coppice.Session) error {
		prompt = s.Prompt
		if spent, err = used(tx.Reader(), s); err != nil || !s.StartedAt.IsZero() {
			return err
		}
		s.StartedAt, s.State, s.From = f.w.cfg.Now().UTC(), coppice.SessionWorking, head
		if err := tx.Sessions.Put(s); err != nil {
			return err
		}
		return f.event(tx, s, coppice.EventSessionStarted, "")
	})
	return prompt, spent, err
}

// used sums what earlier sessions of the conversation have used.
func used(r store.Reader, s *coppice.Session) (sum coppice.Usage, err error) {
	if s.Resume == "" {
		return sum, nil
	}
	all, err := r.Sessions.Of(s.TaskID)
	for _, o := range all {
		if o.ID != s.ID && o.Conversation == s.Resume {
			sum = sum.Add(o.Usage)
		}
	}
	return sum, err
}

// record adds facts to a session that is live; one that the engine has given up
// gets none.
func (f *follower) record(ctx context.Context, add func(store.Tx, *coppice.Session) error) error {
	return f.w.cfg.Store.Update(ctx, func(tx store.Tx) error {
		s, err := tx.Sessions.Get(f.id)
		if err != nil || !s.State.Live() {
			return err
		}
		return add(tx, &s)
	})
}

func (f *follower) event(tx store.Tx, s *coppice.Session, kind coppice.EventKind, reason string) error {
	return tx.Log.Append(&coppice.Event{
		At: f.w.cfg.Now().UTC(), Kind: kind, ProjectID: s.ProjectID, TaskID: s.TaskID, SessionID: s.ID, Subject: s.Key,
		By: f.w.cfg.Name, Reason: reason,
	})
}

// drain commits everything in the spool that is not committed yet, in batches.
func (f *follower) drain(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := host.OpenSpool(f.dir, f.cursor)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		frames, end, err := batch(r)
		if err != nil {
			return err
		}
		if len(frames) > 0 {
			if err := f.commit(ctx, frames); err != nil {
				return err
			}
			f.cursor = frames[len(frames)-1].Next
			if err := host.TrimSpool(f.dir, f.cursor); err != nil {
				return err
			}
		}
		if end {
			return nil
		}
	}
}

// batch reads the next frames; end tells that there are no more at present. A
// torn or damaged tail is the end: what lies behind it cannot be read.
func batch(r *host.Reader) (frames []host.Frame, end bool, err error) {
	for size := 0; len(frames) < mostFrames && size < mostBytes; {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return frames, true, nil
		}
		if err != nil {
			return frames, true, err
		}
		frames = append(frames, f)
		size += len(f.Data)
	}
	return frames, false, nil
}

// commit writes one batch: the output, where the cursor stands behind it, and
// the facts that its events tell, all or nothing.
func (f *follower) commit(ctx context.Context, frames []host.Frame) error {
	out := make([]coppice.Output, len(frames))
	for i, fr := range frames {
		out[i] = fr.Output
		out[i].SessionID = f.id
		if fr.Kind != coppice.OutputImage { // whose bytes are no text
			out[i].Data = f.w.cfg.Redact.Bytes(fr.Data)
		}
	}
	to := frames[len(frames)-1].Next
	return f.w.cfg.Store.Update(ctx, func(tx store.Tx) error {
		s, err := tx.Sessions.Get(f.id)
		if err != nil {
			return err
		}
		if err := tx.Outputs.Add(f.id, f.cursor, to, out); err != nil {
			return err
		}
		if !s.State.Live() {
			return nil
		}
		return f.facts(tx, &s, out)
	})
}

// telling tells whether an event is of a kind that facts follow from. Most are
// not, and decoding every one would cost more than storing it.
func telling(data []byte) bool {
	rest, ok := bytes.CutPrefix(data, []byte(`{"kind":"`))
	if !ok {
		return true // not written the way we write them: look closer
	}
	for _, k := range agent.Deciding {
		if after, ok := bytes.CutPrefix(rest, []byte(k)); ok && bytes.HasPrefix(after, []byte(`"`)) {
			return true
		}
	}
	notice := bytes.HasPrefix(rest, []byte(agent.KindNotice+`"`))
	return notice && (bytes.Contains(rest, []byte(`"name":"`+agent.NameUndelivered+`"`)) || bytes.Contains(rest, []byte(`"name":"`+agent.NameDropped+`"`)))
}

// facts draws from events what others decide by: questions, state, usage and
// the agent's own name for the conversation.
func (f *follower) facts(tx store.Tx, s *coppice.Session, out []coppice.Output) error {
	before := *s
	for _, o := range out {
		if o.Kind != coppice.OutputEvent && o.Kind != coppice.OutputHost || !telling(o.Data) {
			continue
		}
		var e agent.Event
		if err := json.Unmarshal(o.Data, &e); err != nil {
			continue // not ours to judge; the bytes are kept
		}
		if o.Kind == coppice.OutputHost { // whose notices are its own, and nothing else of it decides
			if e.Name == agent.NameDropped {
				s.Dropped = e.Bytes
			}
			continue
		}
		switch e.Kind {
		case agent.KindInit:
			if e.Conversation != "" {
				s.Conversation = e.Conversation
			}
			if e.Model != "" && s.Model == "" {
				s.Model = e.Model
			}
		case agent.KindUsage:
			if e.Usage != nil {
				s.Usage = s.Usage.Add(*e.Usage)
			}
		case agent.KindState:
			if e.State.Live() {
				s.State = e.State
			}
		case agent.KindQuestion:
			if err := f.question(tx, s, e, o.At); err != nil {
				return err
			}
		case agent.KindNotice:
			if e.Name == agent.NameUndelivered {
				if err := f.undelivered(tx, s, e); err != nil {
					return err
				}
			}
		}
	}
	f.usage, f.conversation = s.Usage, s.Conversation
	if before.State == s.State && before.Usage == s.Usage && before.Conversation == s.Conversation && before.Model == s.Model && before.Dropped == s.Dropped {
		return nil
	}
	if err := tx.Sessions.Put(s); err != nil {
		return err
	}
	if before.Usage.CostUSD != s.Usage.CostUSD {
		if err := f.event(tx, s, coppice.EventSessionUsage, fmt.Sprintf("%.2f USD", s.Usage.CostUSD)); err != nil {
			return err
		}
	}
	if before.State == s.State {
		return nil
	}
	return f.event(tx, s, coppice.EventSessionState, string(s.State))
}

func (f *follower) question(tx store.Tx, s *coppice.Session, e agent.Event, at time.Time) error {
	q := &coppice.Question{TaskID: s.TaskID, SessionID: s.ID, Ref: e.Ref, Text: e.Text, Options: e.Options, AskedAt: at}
	if e.Rule != nil {
		q.Kind, q.Rule = coppice.QuestionPermission, e.Rule
	}
	if err := tx.Questions.Put(q); err != nil {
		return err
	}
	return f.event(tx, s, coppice.EventQuestionAsked, e.Text)
}

// undelivered takes back that a message was delivered: the agent had taken it
// and ended before it read it. The next session gets it.
func (f *follower) undelivered(tx store.Tx, s *coppice.Session, e agent.Event) error {
	all, err := tx.Messages.Of(s.TaskID)
	if err != nil {
		return err
	}
	for _, m := range all {
		said := f.w.cfg.Redact.String(agent.Text([]byte(m.Text)))
		delivered := m.SessionID == s.ID && !m.DeliveredAt.IsZero()
		unsettled := m.SessionID != s.ID && m.DeliveredAt.IsZero() // nobody has taken note of its delivery yet
		if !delivered && !unsettled || said != e.Text {
			continue
		}
		m.SessionID, m.DeliveredAt, m.Failed = s.ID, time.Time{}, e.Reason
		if err := tx.Messages.Put(&m); err != nil {
			return err
		}
		return f.event(tx, s, coppice.EventMessageFailed, e.Reason)
	}
	return nil
}
