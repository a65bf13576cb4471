package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"coppice"
	"coppice/agent"
)

var signals = map[string]syscall.Signal{
	"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP,
}

// do plays a step by its one field.
func (p *player) do(ctx context.Context, s *Step) error {
	switch {
	case s.Say != nil:
		p.last = p.fill(*s.Say)
		p.emit(coppice.AgentEvent{Kind: coppice.KindText, Text: p.last})
	case s.Think != nil:
		p.emit(coppice.AgentEvent{Kind: coppice.KindThinking, Text: p.fill(*s.Think)})
	case s.Plan != nil:
		p.emit(coppice.AgentEvent{Kind: coppice.KindPlan, Text: p.fill(*s.Plan)})
	case s.Usage != nil:
		u := s.Usage
		p.emit(coppice.AgentEvent{Kind: coppice.KindUsage, Usage: &coppice.Usage{InputTokens: u.Input, OutputTokens: u.Output,
			CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CostUSD: u.CostUSD, Turns: u.Turns}})
	case s.Tool != nil:
		ref := p.call(s.Tool.Name, coppice.ToolKind(s.Tool.Kind), nil, s.Tool.Paths...)
		p.result(ref, p.fill(s.Tool.Output), !s.Tool.Failed)
	case s.Write != nil, s.Append != nil, s.Replace != nil, s.Delete != nil:
		return p.edit(ctx, s)
	case s.Run != nil:
		return p.run(ctx, p.fill(*s.Run))
	case s.Verdict != nil:
		return p.verdict(ctx, s.Verdict)
	case s.Commit != nil:
		return p.commit(ctx, p.fill(*s.Commit))
	case s.Merge != nil:
		return p.merge(ctx, *s.Merge)
	case s.Ask != nil:
		return p.ask(ctx, *s.Ask)
	case s.WaitMessage != nil:
		return p.waitMessage(ctx)
	case s.Sleep != nil:
		return p.sleep(ctx, time.Duration(*s.Sleep))
	case s.Hang != nil:
		return p.hang(ctx, *s.Hang)
	case s.Flood != nil:
		return p.flood(ctx, s.Flood.Bytes)
	case s.Crash != nil:
		return crash(*s.Crash)
	case s.Fail != nil:
		return p.fail(*s.Fail)
	}
	return nil
}

func (p *player) call(name string, kind coppice.ToolKind, in any, paths ...string) string {
	p.calls++
	ref := "t" + strconv.Itoa(p.calls)
	e := coppice.AgentEvent{Kind: coppice.KindTool, Ref: ref, Name: name, Tool: kind, Paths: paths}
	if kind == "" {
		e.Tool = coppice.ToolOther
	}
	if b, err := json.Marshal(in); in != nil && err == nil && len(b) <= agent.MaxText {
		e.Input = b
	}
	p.emit(e)
	return ref
}

func (p *player) result(ref, text string, ok bool) {
	p.emit(coppice.AgentEvent{Kind: coppice.KindToolResult, Ref: ref, OK: ok, Text: agent.Text([]byte(text))})
}

// edit plays the steps that change files, as tool calls of a kind.
func (p *player) edit(ctx context.Context, s *Step) error {
	var name, file string
	var change func(name string) error
	switch {
	case s.Write != nil:
		name, file = "write", s.Write.Path
		change = func(f string) error { return p.root.WriteFile(f, []byte(p.fill(s.Write.Content)), 0o644) }
	case s.Append != nil:
		name, file = "append", s.Append.Path
		change = func(f string) error { return p.appendTo(f, p.fill(s.Append.Content)) }
	case s.Replace != nil:
		name, file = "replace", s.Replace.Path
		change = func(f string) error { return p.replace(f, p.fill(s.Replace.Old), p.fill(s.Replace.New)) }
	default:
		name, file = "delete", *s.Delete
		change = p.root.Remove
	}
	file = p.fill(file)
	ref := p.call(name, coppice.ToolEdit, map[string]string{"path": file}, file)
	if ok, err := p.may(ctx, ref, name, coppice.ToolEdit, "", file); !ok {
		return err
	}
	err := p.within(file, name != "delete", change)
	if err != nil {
		p.result(ref, err.Error(), false)
		return err
	}
	p.result(ref, "ok", true)
	return nil
}

// may asks whether a tool can be used, if the agent has to. A call that is refused
// is reported as failed, and the script continues with the next step.
func (p *player) may(ctx context.Context, ref, name string, kind coppice.ToolKind, command string, paths ...string) (bool, error) {
	if !p.start.Asks {
		return true, nil
	}
	p.emit(coppice.AgentEvent{Kind: kindMay, Ref: ref, Name: name, Tool: kind, Text: command, Paths: paths})
	m, err := p.in.wait(ctx, func(m input) bool { return m.Type == inputVerdict && m.Ref == ref })
	if err == nil && !m.OK {
		p.result(ref, m.Text, false)
	}
	return err == nil && m.OK, err
}

// within changes a file of the workspace, and creates its directory first. The
// root refuses paths and links that lead out. This function refuses git's own
// files.
func (p *player) within(file string, create bool, change func(string) error) error {
	clean := path.Clean(file)
	if first, _, _ := strings.Cut(clean, "/"); strings.EqualFold(first, ".git") {
		return fmt.Errorf("%s belongs to git", file)
	}
	if dir := path.Dir(clean); create && dir != "." {
		if err := p.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return change(clean)
}

func (p *player) appendTo(file, content string) error {
	f, err := p.root.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

func (p *player) replace(file, old, with string) error {
	data, err := p.root.ReadFile(file)
	if err != nil {
		return err
	}
	if n := strings.Count(string(data), old); n != 1 {
		return fmt.Errorf("%s occurs %d times in %s, not one time", coppice.Quote(old), n, file)
	}
	return p.root.WriteFile(file, []byte(strings.Replace(string(data), old, with, 1)), 0o644)
}

// never matches no line, so that waiting for it ends with an interrupt or a
// stop.
func never(input) bool { return false }

func (p *player) sleep(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, d, errSlept)
	defer cancel()
	return p.pause(ctx)
}

var errSlept = errors.New("slept")

// pause waits until the context ends or an interrupt comes. The end of stdin
// does not end it.
func (p *player) pause(ctx context.Context) error {
	_, err := p.in.wait(ctx, never)
	if errors.Is(err, errEnded) {
		// Without stdin there might be no goroutine left that could end the
		// wait, which the runtime takes for a deadlock unless a timer runs.
		tick := time.NewTicker(time.Hour)
		defer tick.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		err = context.Cause(ctx)
	}
	if errors.Is(err, errSlept) {
		return nil
	}
	return err
}

func (p *player) hang(ctx context.Context, h Hang) error {
	if h.Deaf {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		p.in.ignoreStops()
	}
	p.emit(coppice.AgentEvent{Kind: coppice.KindNotice, Text: "hanging"})
	return p.pause(ctx)
}

// floodLine is 64 bytes of an event line.
var floodLine = strings.Repeat("0123456789abcdef", 4)

func (p *player) flood(ctx context.Context, n int) error {
	for n > 0 && ctx.Err() == nil {
		line := floodLine[:min(n, len(floodLine))]
		p.emit(coppice.AgentEvent{Kind: coppice.KindText, Text: line})
		n -= len(line)
	}
	return context.Cause(ctx)
}

// crash ends the process immediately. Nothing is flushed or reported.
func crash(c Crash) error {
	if c.Signal == "" {
		os.Exit(c.Exit)
	}
	sig := signals[c.Signal]
	signal.Reset(sig)
	if err := syscall.Kill(os.Getpid(), sig); err != nil {
		return err
	}
	<-time.After(time.Minute)
	return fmt.Errorf("signal %s did not end the process", c.Signal)
}

func (p *player) fail(f Fail) error {
	c := coppice.Failf(f.Class, p.fill(f.Text), "")
	if c.Text == "" {
		c.Text = "the script says so"
	}
	c.RetryAt = f.RetryAt
	if f.RetryIn > 0 {
		c.RetryAt = time.Now().Add(time.Duration(f.RetryIn)).UTC().Truncate(time.Millisecond)
	}
	if f.Class == coppice.ClassRateLimit {
		p.emit(coppice.AgentEvent{Kind: coppice.KindLimit, Until: c.RetryAt, Text: c.Text})
	}
	return stepFailure{c}
}
