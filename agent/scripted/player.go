package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"coppice"
)

// player plays one session.
type player struct {
	dir  string
	root *os.Root // the workspace; nothing is written outside it
	env  []string
	out  io.Writer
	in   *inbox
	show func(output) // if set, used instead of writing to out

	start  input
	groups []string // the groups of the case's match
	answer string   // the last answer or message
	last   string   // the final message
	asked  int
	calls  int
}

// conversation returns the session's name for itself. A session that continues
// another keeps that one's.
func (p *player) conversation() string {
	if p.start.Resume != "" {
		return p.start.Resume
	}
	return "scripted-" + strings.ReplaceAll(p.start.Session, ".", "-")
}

func (p *player) write(o output) {
	if p.show != nil {
		p.show(o)
		return
	}
	b, err := json.Marshal(o)
	if err != nil {
		panic("scripted: " + err.Error()) // texts and numbers only
	}
	// If nobody reads any more, the error does not matter.
	_, _ = p.out.Write(append(b, '\n'))
}

func (p *player) emit(e coppice.AgentEvent) { p.write(output{AgentEvent: e}) }

func (p *player) state(s coppice.SessionState) {
	p.emit(coppice.AgentEvent{Kind: coppice.KindState, State: s})
}

// session plays the case that matches. It returns why the session failed.
func (p *player) session(ctx context.Context, s *Script) *coppice.Failure {
	p.emit(coppice.AgentEvent{Kind: coppice.KindInit, Conversation: p.conversation(), Model: p.start.Model})
	p.see(p.start.Images)
	p.state(coppice.SessionWorking)
	c, groups, ok := s.find(p.start)
	if !ok {
		return coppice.Failf(coppice.ClassImplementation, fmt.Sprintf("the script has no case for this %s session", p.start.Role), "add a case that matches the prompt")
	}
	p.groups = groups
	for i := range c.Steps {
		if failure := p.step(ctx, &c.Steps[i]); failure != nil {
			p.emit(coppice.AgentEvent{Kind: coppice.KindError, Class: failure.Class, Text: failure.Text, Until: failure.RetryAt})
			return failure
		}
	}
	p.emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: "completed", Text: p.last})
	p.state(coppice.SessionIdle)
	return nil
}

// stepFailure ends the session with a given failure.
type stepFailure struct{ *coppice.Failure }

// step plays one step. An interrupt during it, or since the previous step, ends
// it. The next step follows after a message.
func (p *player) step(ctx context.Context, s *Step) *coppice.Failure {
	for {
		m, ok, interrupted, _ := p.in.take(func(m input) bool { return m.Type == inputMessage && s.WaitMessage == nil })
		if interrupted {
			return p.failure(s, p.idle(ctx))
		}
		if !ok {
			break
		}
		p.wasRead(m)
	}
	err := p.do(ctx, s)
	if errors.Is(err, errInterrupted) {
		err = p.idle(ctx)
	}
	return p.failure(s, err)
}

func (p *player) failure(s *Step, err error) *coppice.Failure {
	var f stepFailure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f.Failure
	case errors.Is(err, errStopped), errors.Is(err, context.Canceled):
		return coppice.Failf(coppice.ClassCancelled, "stopped before it was done", "")
	}
	return coppice.Failf(coppice.ClassImplementation, fmt.Sprintf("the step in line %d failed: %v", s.line, err), "")
}

func (f stepFailure) Error() string { return f.Text }

// idle ends the turn and waits for the message that starts the next one.
func (p *player) idle(ctx context.Context) error {
	p.emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: "interrupted"})
	p.state(coppice.SessionIdle)
	for {
		m, err := p.in.wait(ctx, func(m input) bool { return m.Type == inputMessage })
		if errors.Is(err, errInterrupted) {
			continue
		}
		if err != nil {
			return err
		}
		p.wasRead(m)
		p.state(coppice.SessionWorking)
		return nil
	}
}

// wasRead reports that a message was read.
func (p *player) wasRead(m input) {
	if m.Type == inputMessage || m.Type == inputAnswer {
		p.answer = m.Text
		p.emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "delivered", Text: "read the message: " + m.Text})
		p.see(m.Images)
	}
}

// see reports the images of a message that it can read.
func (p *player) see(images []image) {
	for _, i := range images {
		text := fmt.Sprintf("sees an image: %s, %d bytes", i.Type, i.Size)
		if info, err := os.Stat(i.Path); err != nil || info.Size() != int64(i.Size) {
			text = "cannot read the image " + i.Path
		}
		p.emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "image", Text: text})
	}
}

// ask waits for a person.
func (p *player) ask(ctx context.Context, q Ask) error {
	p.asked++
	ref := "q" + strconv.Itoa(p.asked)
	p.emit(coppice.AgentEvent{Kind: coppice.KindQuestion, Ref: ref, Text: p.fill(q.Text), Options: q.Options, Descriptions: q.Descriptions, Several: q.Several})
	p.state(coppice.SessionWaiting)
	m, err := p.in.wait(ctx, func(m input) bool { return m.Type == inputAnswer && m.Ref == ref })
	if err != nil {
		return err
	}
	p.answer = m.Text
	p.state(coppice.SessionWorking)
	return nil
}

func (p *player) waitMessage(ctx context.Context) error {
	p.state(coppice.SessionIdle)
	m, err := p.in.wait(ctx, func(m input) bool { return m.Type == inputMessage })
	if err != nil {
		return err
	}
	p.wasRead(m)
	p.state(coppice.SessionWorking)
	return nil
}

// fill replaces names by their values.
func (p *player) fill(s string) string {
	pairs := []string{"${answer}", p.answer, "${base}", p.base(), "${session}", p.start.Session}
	for i := 1; i < len(p.groups) && i < 10; i++ {
		pairs = append(pairs, "$"+strconv.Itoa(i), p.groups[i])
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// base returns the branch that work lands on, from the environment.
func (p *player) base() string {
	for _, kv := range p.env {
		if v, ok := strings.CutPrefix(kv, "COPPICE_BASE="); ok {
			return v
		}
	}
	return ""
}
