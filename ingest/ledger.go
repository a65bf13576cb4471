// Package ingest turns the reports of workers into facts. It is the control side
// of a session's output, results and terminals. It masks secrets, and decides
// what an agent's events mean. Draw, which decides that, is a pure function, and
// the simulation runs it too.
package ingest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/fabric"
	"coppice/internal/redact"
	"coppice/price"
	"coppice/store"
)

// Config has the dependencies of a Ledger. All fields except Publish, Prices,
// Live and Tools are required.
type Config struct {
	Store  store.Store
	Now    func() time.Time
	Worker string // the name of the worker that reports
	Redact *redact.Redactor
	// Publish makes sure that a commit, the head of a branch, is in the
	// repository in which work lands. Nil means that it always is.
	Publish func(ctx context.Context, repo, branch, commit string) error
	// Prices returns the prices of models from the user's configuration. Nil
	// means that it has none.
	Prices func() map[string]coppice.Price
	// Live keeps the running commands for people. Nil means that nobody reads
	// them.
	Live *Live
	// Tools answers the calls of a live session's agent. Of the session it gets what
	// Sessions.Caller returns. Nil means that there are no tools.
	Tools func(ctx context.Context, s coppice.Session, c fabric.Call) (fabric.Reply, error)
}

// Ledger stores a worker's reports.
type Ledger struct {
	cfg    Config
	recent recents
}

var _ fabric.Ledger = (*Ledger)(nil)

// New returns a Ledger.
func New(c Config) (*Ledger, error) {
	if c.Store == nil || c.Now == nil || c.Worker == "" || c.Redact == nil {
		return nil, errors.New("ingest: Store, Now, Worker and Redact are required")
	}
	if c.Publish == nil {
		c.Publish = func(context.Context, string, string, string) error { return nil }
	}
	if c.Prices == nil {
		c.Prices = func() map[string]coppice.Price { return nil }
	}
	if c.Live == nil {
		c.Live = NewLive(c.Redact)
	}
	return &Ledger{cfg: c}, nil
}

// Session returns the id of the session with a key.
func (l *Ledger) Session(ctx context.Context, key string) (int64, error) {
	s, err := store.Read(ctx, l.cfg.Store, func(r store.Reader) (coppice.Session, error) { return r.Sessions.ByKey(key) })
	return s.ID, err
}

// Begin records that a session runs.
func (l *Ledger) Begin(ctx context.Context, session int64, head string) (at fabric.Standing, err error) {
	begun := false
	err = l.cfg.Store.View(ctx, func(r store.Reader) error {
		s, err := r.Sessions.Get(session)
		if err != nil {
			return err
		}
		begun = !s.StartedAt.IsZero() || !s.State.Live()
		at, err = began(r, s)
		return err
	})
	if err != nil || begun {
		return at, err
	}
	err = l.cfg.Store.Update(ctx, func(tx store.Tx) error {
		s, err := tx.Sessions.Get(session)
		if err != nil {
			return err
		}
		if s.StartedAt.IsZero() && s.State.Live() {
			s.StartedAt, s.State, s.From = l.cfg.Now().UTC(), coppice.SessionWorking, head
			f := Facts{Session: &s}
			f.log(s, coppice.EventSessionStarted, "")
			if err := l.write(tx, f); err != nil {
				return err
			}
		}
		at, err = began(tx.Reader(), s)
		return err
	})
	return at, err
}

// began returns a session's Standing, with the usage of earlier sessions of its
// conversation.
func began(r store.Reader, s coppice.Session) (fabric.Standing, error) {
	at := standing(s)
	if s.Resume == "" {
		return at, nil
	}
	all, err := r.Sessions.Of(s.TaskID)
	for _, o := range all {
		if o.ID != s.ID && o.Conversation == s.Resume {
			if o.Usage.Priced { // calculated here: the agent's own sums do not include it
				o.Usage.CostUSD = 0
			}
			at.Spent = at.Spent.Add(o.Usage)
		}
	}
	return at, err
}

func standing(s coppice.Session) fabric.Standing {
	return fabric.Standing{Cursor: s.Cursor, From: s.From, Usage: s.Usage, Conversation: s.Conversation}
}

// Prompt returns the session's first message.
func (l *Ledger) Prompt(ctx context.Context, session int64) (string, error) {
	s, err := store.Read(ctx, l.cfg.Store, func(r store.Reader) (coppice.Session, error) { return r.Sessions.Get(session) })
	return s.Prompt, err
}

// Image returns the bytes of an image.
func (l *Ledger) Image(ctx context.Context, id string) (data []byte, err error) {
	err = l.cfg.Store.View(ctx, func(r store.Reader) error {
		img, err := r.Images.Get(id)
		data = img.Data
		return err
	})
	return data, err
}

// Record accepts output. In one transaction it writes the masked output, the
// cursor after it, and the facts that follow.
func (l *Ledger) Record(ctx context.Context, b fabric.Batch) (at fabric.Standing, err error) {
	last, known := l.recent.get(b.Session)
	if !known {
		err = l.cfg.Store.View(ctx, func(r store.Reader) error {
			last.mask, err = r.Outputs.Mask(b.Session)
			return err
		})
		if err != nil {
			return at, err
		}
	}
	before, err := decodeMasks(last.mask)
	if err != nil {
		return at, err
	}
	out, behind := mask(l.cfg.Redact, before, b.Frames, b.Quiet)
	if len(out) == 0 {
		return l.standingOf(ctx, b)
	}
	state, err := behind.encode()
	if err != nil {
		return at, err
	}
	to, said := b.Frames[len(out)-1].Next, Read(out)
	var own map[string]coppice.Price
	if slices.ContainsFunc(said, Event.unpriced) {
		own = l.cfg.Prices()
	}
	err = l.cfg.Store.Update(ctx, func(tx store.Tx) error {
		if err := tx.Outputs.Add(b.Session, b.From, to, out); err != nil {
			return err
		}
		now, err := tx.Outputs.Mask(b.Session)
		switch {
		case err != nil:
			return err
		case !bytes.Equal(now, last.mask):
			return elsewhere(b.Session, b.From, b)
		case !bytes.Equal(now, state):
			if err := tx.Outputs.PutMask(b.Session, state); err != nil {
				return err
			}
		}
		if known && len(said) == 0 && last.at.Cursor == b.From { // the usual case: the rest of the row stays
			at = last.at
			at.Cursor = to
			return nil
		}
		s, err := tx.Sessions.Get(b.Session)
		if err != nil {
			return err
		}
		at, err = l.facts(tx, s, said, own)
		return err
	})
	if err == nil {
		l.recent.put(b.Session, recent{state, at})
		return at, nil
	}
	l.recent.forget(b.Session)
	if known && coppice.ErrorCode(err) == coppice.EConflict {
		return l.Record(ctx, b)
	}
	return at, err
}

// prices returns the prices of models in a project.
func prices(r store.Reader, project int64, own map[string]coppice.Price) (price.Table, error) {
	p, err := r.Projects.Get(project)
	return price.New(own, p.Policy.Prices), err
}

// standingOf answers a batch of which nothing can be accepted yet.
func (l *Ledger) standingOf(ctx context.Context, b fabric.Batch) (at fabric.Standing, err error) {
	err = l.cfg.Store.View(ctx, func(r store.Reader) error {
		s, err := r.Sessions.Get(b.Session)
		if err == nil && s.Cursor != b.From {
			err = elsewhere(s.ID, s.Cursor, b)
		}
		at = standing(s)
		return err
	})
	return at, err
}

func elsewhere(session, cursor int64, b fabric.Batch) error {
	return coppice.Errorf(coppice.EConflict, "the output of session %d is recorded up to %d, not %d", session, cursor, b.From).
		WithFix("send what follows %d", cursor)
}

// facts writes the facts that follow from events.
func (l *Ledger) facts(tx store.Tx, s coppice.Session, said []Event, own map[string]coppice.Price) (fabric.Standing, error) {
	var table price.Table
	if slices.ContainsFunc(said, Event.unpriced) {
		var err error
		if table, err = prices(tx.Reader(), s.ProjectID, own); err != nil {
			return fabric.Standing{}, err
		}
	}
	var messages []coppice.Message
	if slices.ContainsFunc(said, Event.recalls) {
		var err error
		if messages, err = tx.Messages.Of(s.TaskID); err != nil {
			return fabric.Standing{}, err
		}
	}
	texts := map[int64]string{}
	for i, m := range messages {
		texts[m.ID] = m.Text
		messages[i].Text = l.cfg.Redact.String(agent.Text(m.Text))
	}
	f := Draw(s, messages, said, table)
	for i := range f.Messages {
		f.Messages[i].Text = texts[f.Messages[i].ID]
	}
	if f.Session != nil {
		s = *f.Session
	}
	return standing(s), l.write(tx, f)
}

func (l *Ledger) write(tx store.Tx, f Facts) error {
	for i := range f.Questions {
		if err := tx.Questions.Put(&f.Questions[i]); err != nil {
			return err
		}
	}
	for i := range f.Messages {
		if err := tx.Messages.Put(&f.Messages[i]); err != nil {
			return err
		}
	}
	if f.Session != nil {
		if err := tx.Sessions.Put(f.Session); err != nil {
			return err
		}
	}
	for i := range f.Events {
		f.Events[i].At, f.Events[i].By = l.cfg.Now().UTC(), l.cfg.Worker
		if err := tx.Log.Append(&f.Events[i]); err != nil {
			return err
		}
	}
	return nil
}

// Over returns the sessions that no worker has to end any more.
func (l *Ledger) Over(ctx context.Context, sessions []int64) (over []int64, err error) {
	err = l.cfg.Store.View(ctx, func(r store.Reader) error {
		over = nil
		for _, id := range sessions {
			wanted, err := stillRun(r, id)
			if err != nil {
				return err
			}
			if !wanted {
				over = append(over, id)
			}
		}
		return nil
	})
	return over, err
}

// stillRun reports whether a worker still has to end a session, or the session
// is unknown.
func stillRun(r store.Reader, id int64) (bool, error) {
	s, err := r.Sessions.Get(id)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	work, err := r.Work.Unsettled(coppice.TaskSubject(s.TaskID))
	return slices.ContainsFunc(work, func(i coppice.Work) bool {
		return i.Kind == coppice.WorkRun && i.SessionID == id && i.Open()
	}), err
}

// Publish makes sure that a session's commit is in the repository in which work
// lands.
func (l *Ledger) Publish(ctx context.Context, h fabric.Head) error {
	if err := l.cfg.Store.View(ctx, func(r store.Reader) error {
		_, err := r.Sessions.Get(h.Session)
		return err
	}); err != nil {
		return err
	}
	return l.cfg.Publish(ctx, h.Repo, h.Branch, h.Commit)
}

// Call passes a call of a session's agent to the tools. The token of a session
// that has ended is worth nothing.
func (l *Ledger) Call(ctx context.Context, c fabric.Call) (fabric.Reply, error) {
	s, err := store.Read(ctx, l.cfg.Store, func(r store.Reader) (coppice.Session, error) { return r.Sessions.Caller(c.Session) })
	if err != nil {
		return fabric.Reply{}, err
	}
	if !s.State.Live() || l.cfg.Tools == nil {
		return fabric.Reply{Status: 404}, nil
	}
	return l.cfg.Tools(ctx, s, c)
}
