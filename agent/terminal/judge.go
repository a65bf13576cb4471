package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"coppice"
	"coppice/agent"
)

// still is how long a screen has to be still to be idle if nothing else shows
// the state.
const still = 3 * time.Second

// setState sets a state and reports it if it has changed.
func (d *driver) setState(s coppice.SessionState) {
	if s == coppice.SessionIdle {
		d.settled = true
	}
	d.Become(s)
}

// command takes an operating system command (OSC) from the agent's output.
func (d *driver) command(body []byte) {
	number, rest, _ := bytes.Cut(body, []byte(";"))
	switch string(number) {
	case "7777":
		d.reported(rest)
	case "9":
		if kind, progress, _ := bytes.Cut(rest, []byte(";")); string(kind) == "4" {
			busy := !bytes.HasPrefix(progress, []byte("0")) && len(progress) > 0
			// A program that starts clears what others left. Only after it
			// showed progress, a cleared progress means idle.
			if busy || d.source == fromMarks {
				d.marked(busy)
			}
		}
	case "133":
		switch {
		case bytes.HasPrefix(rest, []byte("A")), bytes.HasPrefix(rest, []byte("D")):
			d.marked(false)
		case bytes.HasPrefix(rest, []byte("C")):
			d.marked(true)
		}
	}
}

// marked takes a mark that says busy or idle.
func (d *driver) marked(busy bool) {
	if d.source > fromMarks {
		return
	}
	d.source = fromMarks
	if busy {
		d.seen++
		d.setState(coppice.SessionWorking)
	} else {
		d.setState(coppice.SessionIdle)
	}
}

// reported takes an event that the agent reports about itself. It is as
// untrusted as any other output: its kind must be known, and its texts are
// limited.
func (d *driver) reported(raw []byte) {
	var e coppice.AgentEvent
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	e.Text = agent.Text(e.Text)
	switch e.Kind {
	case coppice.KindState:
		switch e.State {
		case coppice.SessionWorking, coppice.SessionWaiting, coppice.SessionIdle, coppice.SessionLimited:
			d.source = fromEvents
			if e.State == coppice.SessionWorking {
				d.seen++
			}
			d.setState(e.State)
		}
		return
	case coppice.KindInit:
		if e.Conversation != "" && coppice.ValidName("conversation", e.Conversation) != nil {
			return
		}
		if e.Conversation != "" {
			d.conversation = e.Conversation
		}
	case coppice.KindText:
		d.final = e.Text
	case coppice.KindUsage:
		if e.Usage == nil {
			return
		}
		d.Usage = d.Usage.Add(*e.Usage)
	case coppice.KindThinking, coppice.KindTool, coppice.KindToolResult, coppice.KindPlan, coppice.KindPermission, coppice.KindQuestion,
		coppice.KindLimit, coppice.KindError, coppice.KindTurn, coppice.KindNotice:
	default:
		return
	}
	d.Emit(e)
}

// judge reads the state from the screen. While the screen changes it might be
// half drawn, so only work is accepted then.
func (d *driver) judge(quiet time.Duration) {
	var fits *rule
	for _, r := range d.rules {
		matched := fits == nil && r.re.MatchString(strings.Join(d.lines(r.Lines), "\n"))
		if matched {
			fits = r
		}
		if quiet > 0 && !matched {
			r.fits = false
		}
	}
	switch {
	case fits != nil && quiet == 0:
		if fits.State == coppice.SessionWorking {
			d.judged(fits.State)
		}
	case fits != nil:
		d.judged(fits.State)
		d.appeared(fits)
	case len(d.rules) == 0 && d.source == fromSilence && quiet >= still:
		d.setState(coppice.SessionIdle)
	}
}

// judged takes a state from the screen, unless a more reliable source has set
// it. Marks do not show questions.
func (d *driver) judged(s coppice.SessionState) {
	switch {
	case d.source == fromEvents:
	case d.source == fromMarks && s != coppice.SessionWaiting:
		if d.State == coppice.SessionWaiting { // the question is no longer on the screen
			d.setState(s)
		}
	default:
		d.source = max(d.source, fromRules)
		if s == coppice.SessionWorking {
			d.seen++
		}
		d.setState(s)
	}
}

// mostAsked limits the lines of the screen in a question.
const mostAsked = 12

// appeared does one time what follows when a rule starts to match.
func (d *driver) appeared(r *rule) {
	if r.fits {
		return
	}
	r.fits = true
	if r.Keys != "" {
		d.keys(r.Keys)
		return
	}
	if r.State == coppice.SessionWaiting && d.source != fromEvents && !d.request.Screen && !d.attended {
		r.asked++
		d.Emit(coppice.AgentEvent{Kind: coppice.KindQuestion, Ref: fmt.Sprintf("screen-%d", d.asked()), Text: strings.Join(d.lines(mostAsked), "\n")})
	}
}

func (d *driver) asked() (n int) {
	for _, r := range d.rules {
		n += r.asked
	}
	return n
}
