package terminal

import (
	"strings"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/internal/vt"
)

// source is the source of the agent's state. A later one counts for more.
type source int

const (
	fromSilence source = iota
	fromRules
	fromMarks  // OSC 9;4 and OSC 133
	fromEvents // OSC 7777
)

// patience is how long a screen has to be idle and still before a session that
// runs a prompt has ended: longer for less reliable sources.
var patience = map[source]time.Duration{
	fromEvents: 300 * time.Millisecond, fromMarks: time.Second, fromRules: 3 * time.Second, fromSilence: 10 * time.Second,
}

// driver implements agent.Driver, agent.Screener and agent.Attendant.
type driver struct {
	agent.Run

	profile coppice.ScreenProfile
	request agent.Request
	rules   []*rule
	screen  *vt.Screen

	source   source
	settled  bool // the screen was idle before: it accepts input
	pause    bool // an interrupt was typed; nothing else is typed until the screen is still
	attended bool // people also type

	queue        []*message
	now          *message // being typed
	prompted     bool     // the prompt was delivered, or there is none
	seen         int      // how often the agent was seen to start work
	seenAtSubmit int      // that count at the last submit
	finished     bool     // the agent is finished
	failure      *coppice.Failure

	conversation string
	final        string // the final message that the agent reported
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	if d.conversation != "" {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindInit, Conversation: d.conversation, Model: d.request.Model})
	}
	return d.Take()
}

// Output implements agent.Driver.
func (d *driver) Output(s agent.Stream, b []byte) agent.Step {
	if s == agent.Stderr { // of a program between the host and the agent
		if text := strings.TrimSpace(agent.Text(b)); text != "" {
			d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Text: text})
		}
		return d.Take()
	}
	d.screen.Write(b)
	if d.State == coppice.SessionIdle {
		d.judge(0)
	}
	return d.Take()
}

// Send implements agent.Driver.
func (d *driver) Send(text, ref string) (agent.Step, error) {
	if d.finished {
		return agent.Step{}, agent.ErrCannot
	}
	d.queue = append(d.queue, &message{text: text, ref: ref})
	d.typeNext()
	return d.Take(), nil
}

// Interrupt implements agent.Driver. If the agent is idle, there is nothing to
// interrupt, and the keys might mean something else.
func (d *driver) Interrupt() (agent.Step, error) {
	if d.finished {
		return agent.Step{}, agent.ErrCannot
	}
	d.interrupt()
	return d.Take(), nil
}

func (d *driver) interrupt() {
	if d.State != coppice.SessionIdle {
		d.keys(d.profile.Stop)
		d.pause = true
	}
}

// Stop implements agent.Driver.
func (d *driver) Stop() agent.Step {
	if !d.finished { // otherwise it is quitting already
		d.Stopped = true
		d.interrupt()
		d.quit()
	}
	return d.Take()
}

// quit types what ends the program. Messages that were not typed yet are
// dropped.
func (d *driver) quit() {
	d.finished = true
	d.drop("the session ended first")
	if d.profile.Quit == "" {
		return
	}
	d.settled = true // there might be no better time
	d.queue = append(d.queue, &message{text: d.profile.Quit, quit: true})
	d.typeNext()
}

// Resize implements agent.Screener.
func (d *driver) Resize(columns, rows int) agent.Step {
	d.screen.Resize(columns, rows)
	return d.Take()
}

// Attend implements agent.Attendant.
func (d *driver) Attend(typing bool) agent.Step {
	d.attended = typing
	return d.Take()
}

// Tick implements agent.Screener.
func (d *driver) Tick(quiet time.Duration) agent.Step {
	if quiet > 0 {
		d.pause = false
	}
	d.judge(quiet)
	d.deliver(quiet)
	d.typeNext()
	if d.promptDone(quiet) {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: "completed", Text: d.summary()})
		d.quit()
		d.Step.Done = true
	}
	return d.Take()
}

// promptDone reports whether a session that runs a prompt has ended.
func (d *driver) promptDone(quiet time.Duration) bool {
	if d.finished || d.request.Screen || d.attended || !d.prompted || !d.settled || d.now != nil || len(d.queue) > 0 || d.State != coppice.SessionIdle {
		return false
	}
	enough := patience[d.source]
	if d.seen == d.seenAtSubmit { // it accepted the text and was not seen to work: it might be slow
		enough = patience[fromSilence]
	}
	return quiet >= enough
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	prompted := d.prompted
	d.drop("the agent ended first")
	o := agent.Outcome{Failure: d.failure, Summary: d.summary(), Conversation: d.conversation, Usage: d.Usage}
	clean := x.Code == 0 && x.Signal == ""
	switch {
	case o.Failure != nil:
	case d.finished && !d.Stopped: // what happens after that does not matter
	case d.request.Screen && !d.Stopped && x.Signal == "" && x.Code != 126 && x.Code != 127: // the person left
	case d.Stopped || !clean:
		o.Failure = agent.Died(x, strings.Join(d.lines(20), "\n"), d.Stopped)
	case !prompted:
		o.Failure = agent.Fail(coppice.ClassCapability, "the agent ended before its prompt could be typed: "+strings.Join(d.lines(10), "\n"))
	}
	return d.Last(), o
}

// summary returns the agent's final message, or the end of its screen.
func (d *driver) summary() string {
	if d.final != "" || d.source == fromEvents {
		return d.final
	}
	return agent.Text(strings.Join(d.lines(10), "\n"))
}

// lines returns the last lines of the screen that are not empty; all if most is
// 0.
func (d *driver) lines(most int) []string {
	var all []string
	for _, l := range d.screen.Text() {
		if strings.TrimSpace(l) != "" {
			all = append(all, l)
		}
	}
	if most > 0 && len(all) > most {
		all = all[len(all)-most:]
	}
	return all
}

func (d *driver) keys(text string) { d.Step.Write = append(d.Step.Write, text...) }
