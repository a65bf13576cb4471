package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coppice"
	"coppice/agent"
	"coppice/fabric"
	"coppice/store"
)

// token is a secret that agents write, in two halves. It must never be kept whole.
var token = "ghp_" + strings.Repeat("aB3", 12)

// spooled is what a host keeps of its agent's output, as frames of a spool.
type spooled struct {
	frames []fabric.Frame
	end    int64
}

// add appends a piece of output. Its size in the spool is made up.
func (p *spooled) add(s *sim, kind coppice.OutputKind, data []byte) {
	next := p.end + 10 + int64(len(data))
	p.frames = append(p.frames, fabric.Frame{Output: coppice.Output{Offset: p.end, At: s.now, Kind: kind, Data: data}, Next: next})
	p.end = next
}

// say appends an event, as an agent's driver does.
func (s *sim) say(h *hostState, e coppice.AgentEvent) error {
	b, err := json.Marshal(e)
	if err == nil {
		h.spool.add(s, coppice.OutputEvent, b)
	}
	return err
}

// askPerson lets an agent ask a question, or for permission.
func (s *sim) askPerson(key string, h *hostState) error {
	e := coppice.AgentEvent{Kind: coppice.KindQuestion, Ref: fmt.Sprintf("q%d", s.rng.IntN(1e9))}
	e.Text = "which way, " + e.Ref + "?"
	if err := s.sayName(key, h); err != nil {
		return err
	}
	if !s.opt.Plain && s.rng.IntN(2) == 0 {
		e.Rule = &coppice.Rule{Tool: "run", Match: fmt.Sprintf("tool%d *", s.rng.IntN(5))}
	}
	h.asked = e.Ref
	if err := s.say(h, e); err != nil {
		return err
	}
	return s.say(h, coppice.AgentEvent{Kind: coppice.KindState, State: coppice.SessionWaiting})
}

// output lets an agent write something: text, at times half a secret, what it has
// used, and what it does.
func (s *sim) output(key string, h *hostState) error {
	text := "0123456789\n"
	switch s.rng.IntN(6) {
	case 0:
		text = " " + token[:12]
	case 1:
		text = token[12:] + "\n"
	}
	h.spool.add(s, coppice.OutputStdout, []byte(text))
	if s.opt.Plain || s.rng.IntN(2) == 0 {
		return nil
	}
	if err := s.sayName(key, h); err != nil {
		return err
	}
	u := s.cost()
	h.used = h.used.Add(u)
	if err := s.say(h, coppice.AgentEvent{Kind: coppice.KindUsage, Usage: &u}); err != nil {
		return err
	}
	state := coppice.SessionWorking
	if s.rng.IntN(3) == 0 {
		state = coppice.SessionIdle
	}
	return s.say(h, coppice.AgentEvent{Kind: coppice.KindState, State: state})
}

// sayName lets an agent say what its conversation is called.
func (s *sim) sayName(key string, h *hostState) error {
	name := s.known(key, h)
	if name == "" {
		return nil
	}
	s.world.talks[name] = h
	return s.say(h, coppice.AgentEvent{Kind: coppice.KindInit, Conversation: name})
}

// leaveUnread lets an agent that is about to end say, at times, that it did not
// read a message that it was sent.
func (s *sim) leaveUnread(h *hostState) error {
	ids := slices.Sorted(maps.Keys(h.sent))
	if len(ids) == 0 || s.opt.Plain || s.rng.IntN(3) != 0 {
		return nil
	}
	id := ids[s.rng.IntN(len(ids))]
	if h.sent[id] == "" {
		return nil
	}
	return s.say(h, agent.Undelivered(h.sent[id]))
}

// runSession starts or finds the host, reports what its agent wrote, and waits
// for its end.
func (s *sim) runSession(l coppice.Lease) (any, error) {
	v, err := coppice.DecodeSpec[coppice.RunSpec](l.Work)
	if err != nil {
		return nil, err
	}
	head := v.Session.From
	if ws := s.world.spaces[v.Task]; head == "" && ws != nil {
		head = ws.head
	}
	at, err := s.ledger.Begin(s.ctx, v.Session.ID, head)
	if err != nil {
		return nil, err
	}
	if s.world.hosts[v.Session.Key] == nil {
		if err := s.follows(v); err != nil {
			return nil, err
		}
	}
	res := s.world.run(v)
	if err := s.bring(v.Session, at, res != nil); err != nil {
		return nil, err
	}
	if res == nil {
		return nil, nil
	}
	return *res, nil
}

// bring passes a host's output to the ledger, from the ledger's cursor. At times
// it does so twice.
func (s *sim) bring(x coppice.Session, at fabric.Standing, over bool) error {
	h := s.world.hosts[x.Key]
	if h == nil {
		return nil
	}
	rest := h.spool.frames
	for len(rest) > 0 && rest[0].Offset < at.Cursor {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return s.keptWell(x, h, over)
	}
	b := fabric.Batch{Session: x.ID, From: at.Cursor, Frames: rest, Quiet: over || s.rng.IntN(3) == 0}
	now, err := s.ledger.Record(s.ctx, b)
	if err != nil {
		return err
	}
	if now.Cursor > at.Cursor && s.rng.IntN(5) == 0 {
		if _, err := s.ledger.Record(s.ctx, b); !lost(err) && coppice.ErrorCode(err) != coppice.EConflict {
			return fmt.Errorf("the output of %s was taken twice: %w", x.Key, err)
		}
	}
	if b.Quiet && now.Cursor != h.spool.end {
		return fmt.Errorf("the output of %s was taken up to %d of %d", x.Key, now.Cursor, h.spool.end)
	}
	return s.keptWell(x, h, over)
}

// keptWell looks at the output of a session that is over: all of it is there, each
// piece once, and no secret is.
func (s *sim) keptWell(x coppice.Session, h *hostState, over bool) error {
	if !over {
		return nil
	}
	return s.st.View(s.ctx, func(r store.Reader) error {
		out, err := r.Outputs.After(x.ID, -1, len(h.spool.frames)+1)
		if err != nil {
			return err
		}
		text := ""
		for _, o := range out {
			text += string(o.Data)
		}
		if len(out) != len(h.spool.frames) || strings.Contains(text, token) {
			return fmt.Errorf("the output of %s is %d pieces of %d: %q", x.Key, len(out), len(h.spool.frames), text)
		}
		return nil
	})
}
