package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"coppice"
	"coppice/api"
)

// runFollower calls functions with the commands of a task and their output.
type runFollower func(context.Context, string, func(api.RunningChecks) error, func(coppice.RunOutput) error) error

// followRun shows commands and their output until they end.
func (e *Env) followRun(ctx context.Context, follow runFollower, t api.TaskDetail, json bool) error {
	p := &checkPrinter{env: e, json: json, relative: relativePaths(t)}
	return follow(ctx, t.Key,
		func(s api.RunningChecks) error { return errors.Join(p.state(s), e.enough()) },
		func(o coppice.RunOutput) error { return errors.Join(p.output(o), e.enough()) })
}

// checkPrinter shows the output of running checks, grouped by command.
type checkPrinter struct {
	env      *Env
	json     bool
	relative func(string) string // how paths in a text are shown
	run      string
	commands []api.CommandRun
	at       int   // the command that is shown
	opened   bool  // its head is printed
	shown    int64 // bytes of its output
	within   bool  // its last line is not complete
}

// checkPiece is a piece of a check's output as JSON.
type checkPiece struct {
	Check string `json:"check"`
	coppice.RunOutput
}

func (p *checkPrinter) state(s api.RunningChecks) error {
	if p.run != s.Run {
		if p.run != "" && len(s.Commands) > 0 {
			p.line("the checks started again")
		}
		*p = checkPrinter{env: p.env, json: p.json, relative: p.relative, run: s.Run}
	}
	p.commands = s.Commands
	p.advance()
	return nil
}

func (p *checkPrinter) output(o coppice.RunOutput) error {
	if o.Command >= len(p.commands) || o.Command < p.at {
		return nil
	}
	for p.at < o.Command { // its end is not known, because it was long ago
		p.next()
	}
	p.open()
	if p.json {
		p.shown = o.Offset + int64(len(o.Data))
		return p.env.jsonLine(checkPiece{p.commands[p.at].Command, o})
	}
	if o.Offset > p.shown {
		p.line(fmt.Sprintf("[... %d bytes left out ...]", o.Offset-p.shown))
	}
	p.shown = o.Offset + int64(len(o.Data))
	p.within = !bytes.HasSuffix(o.Data, []byte("\n"))
	err := p.env.rawPiece(api.Output{Data: []byte(p.relative(string(o.Data)))})
	p.advance()
	return err
}

// advance prints the heads of commands that have started, and how those ended
// whose whole output is shown.
func (p *checkPrinter) advance() {
	for p.at < len(p.commands) {
		c := p.commands[p.at]
		if c.State == coppice.RunWaiting {
			return
		}
		p.open()
		if c.State != coppice.RunEnded || p.shown < c.Size {
			return
		}
		p.line("── " + howEnded(c) + " ──")
		p.next()
	}
}

func (p *checkPrinter) next() { p.at, p.opened, p.shown = p.at+1, false, 0 }

// open prints the head of a command.
func (p *checkPrinter) open() {
	if p.opened {
		return
	}
	p.opened = true
	c := p.commands[p.at]
	head := line(c.Command)
	if c.Setup {
		head = "setup: " + head
	}
	p.line("── " + head + " ──")
}

// line prints a line that is not output of a check.
func (p *checkPrinter) line(text string) {
	if p.json {
		return
	}
	if p.within {
		p.env.printf("\n")
	}
	p.within = false
	p.env.printf("%s\n", p.env.paint(dim, text))
}

func howEnded(c api.CommandRun) string {
	took := ago(c.EndedAt.Sub(c.StartedAt))
	switch {
	case c.Signal != "":
		return "killed by " + c.Signal + " after " + took
	case c.TimedOut:
		return "ran out of time after " + took
	}
	return fmt.Sprintf("exit code %d after %s", c.Exit, took)
}

// printRunning prints the checks that wait or run now.
func (e *Env) printRunning(r *api.RunningChecks) {
	if r == nil {
		return
	}
	for _, c := range r.Commands {
		mark, note := e.paint(dim, "·"), "waiting"
		switch {
		case c.State == coppice.RunRunning:
			mark, note = e.paint(blue, "●"), "running for "+ago(max(e.Now().Sub(c.StartedAt), time.Second))
		case c.Passed():
			mark, note = e.paint(green, "✓"), ago(c.EndedAt.Sub(c.StartedAt))
		case c.State == coppice.RunEnded:
			mark, note = e.paint(red, "✗"), howEnded(c)
		}
		e.printf("  %s %s %s\n", mark, line(c.Command), e.paint(dim, note))
	}
}
