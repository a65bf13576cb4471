package terminal

import (
	"strings"
	"time"
	"unicode"

	"coppice"
	"coppice/agent"
)

// phase is how far a message has come.
type phase int

const (
	unsaid phase = iota
	typed
	submitted
)

// message is something to type and submit.
type message struct {
	text   string
	ref    string
	prompt bool
	quit   bool

	phase  phase
	tries  int    // to submit
	tail   string // how the text ends, without blanks
	before int    // how often that stood on the screen before
	at     int64  // how much the agent had written when it was typed or submitted last
	line   string // the input line when it was submitted
	screen string // and the whole screen
	echo   bool   // all of the text was seen on the screen at the last look
	shown  bool   // the program showed what was typed
	inLine bool   // the tail stood near the cursor then
	moved  int    // how often in a row it was seen to have left
	idle   bool   // the agent did not work when it was submitted
}

const (
	mostTries  = 3
	tailRunes  = 16
	inputLines = 3 // above and below the cursor that may belong to the input

	unechoed    = 3 * time.Second        // after this silence a program is taken for one that echoes nothing
	noReaction  = 3 * time.Second        // after this the keys are pressed again
	lostFor     = 10 * time.Second       // and after this, for the last time, the message is given up
	afterTyping = 300 * time.Millisecond // of silence show that the echo is complete
)

// clearLine empties the input line of nearly every program.
const clearLine = "\x15"

// typeable makes a text fit to be typed: no control characters, which could end
// the paste or press keys. Without pastes a line break would submit half of it.
func typeable(text string, paste bool) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.TrimRight(text, "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' && !paste, r == '\t' && !paste: // a tab completes
			return ' '
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
}

// squash leaves out everything by which a text changes when it is drawn: blanks
// and the frames of boxes.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || (r >= 0x2500 && r < 0x25a0) {
			return -1
		}
		return r
	}, s)
}

// tailOf returns how a text ends, as the screen would show it.
func tailOf(text string) string {
	runes := []rune(squash(text))
	return string(runes[max(0, len(runes)-tailRunes):])
}

// commonEnd returns the longest end that two texts share.
func commonEnd(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return a[len(a)-n:]
}

func (d *driver) onScreen(tail string) int {
	if tail == "" {
		return 0
	}
	return strings.Count(squash(strings.Join(d.screen.Text(), "")), tail)
}

// nearCursor returns the lines that may belong to the input.
func (d *driver) nearCursor() string {
	_, y := d.screen.Cursor()
	lines := d.screen.Text()
	return squash(strings.Join(lines[max(0, y-inputLines):min(len(lines), y+inputLines+1)], ""))
}

func (d *driver) cursorLine() string {
	_, y := d.screen.Cursor()
	return d.screen.Text()[y]
}

// pump types the next message if its time has come.
func (d *driver) pump() {
	if d.now != nil || len(d.queue) == 0 || d.pause || !d.settled {
		return
	}
	m := d.queue[0]
	switch d.State {
	case coppice.SessionIdle:
	case coppice.SessionWaiting: // what is typed would be taken for an answer
		if m.ref == "" && !m.quit {
			return
		}
	default:
		if m.prompt {
			return
		}
	}
	d.queue = d.queue[1:]
	d.now = m
	text := typeable(m.text, d.screen.Paste())
	m.tail = tailOf(text)
	m.before, m.at, m.phase = d.onScreen(m.tail), d.screen.Written(), typed
	if d.screen.Paste() && !m.quit {
		text = "\x1b[200~" + text + "\x1b[201~"
	}
	d.keys(text)
}

// echoed tells whether what was typed may be submitted: the screen has come to
// rest since, or shows all of it for the second time while it never rests. Keys
// that follow a paste at once are part of it for some programs.
func (d *driver) echoed(m *message, quiet time.Duration) bool {
	if quiet > 0 {
		return d.screen.Written() > m.at && quiet >= afterTyping || quiet >= unechoed
	}
	again := m.echo
	m.echo = m.tail != "" && d.onScreen(m.tail) > m.before
	return again && m.echo
}

func (d *driver) submit(m *message) {
	if m.phase == typed {
		d.begun, m.idle = d.seen, d.State != coppice.SessionWorking
	}
	m.phase, m.moved = submitted, 0
	m.tries++
	m.at, m.line, m.screen = d.screen.Written(), d.cursorLine(), d.screen.String()
	m.shown = m.tail != "" && d.onScreen(m.tail) > m.before
	m.inLine = m.tail != "" && strings.Contains(d.nearCursor(), m.tail)
	d.keys(d.profile.Submit)
}

// deliver sees to it that what was typed is submitted, and what was submitted
// arrives.
func (d *driver) deliver(quiet time.Duration) {
	m := d.now
	if m == nil {
		return
	}
	if m.phase == typed {
		if d.echoed(m, quiet) {
			d.submit(m)
		}
		return
	}
	switch {
	case m.quit && quiet < noReaction: // that it works shows by its end
	case d.reacted(m, quiet):
		d.delivered(m)
	case quiet >= noReaction && m.tries < mostTries:
		d.submit(m)
	case quiet >= lostFor:
		d.undelivered(m)
	}
}

// reacted tells whether the screen shows that a message was taken.
func (d *driver) reacted(m *message, quiet time.Duration) bool {
	if m.idle && d.seen > d.begun {
		return true
	}
	if d.screen.Written() == m.at {
		return false
	}
	now := squash(d.cursorLine())
	left := now != squash(m.line)
	switch end := commonEnd(m.tail, squash(m.line)); {
	case m.inLine && end != "": // the line ended as the text does, and does no more
		left = !strings.HasSuffix(now, end)
	case m.inLine:
		left = !strings.Contains(d.nearCursor(), m.tail)
	case !m.shown && !left: // what was typed was not to be seen, so what follows from it is
		left = d.screen.String() != m.screen
	}
	if !left {
		m.moved = 0
		return false
	}
	m.moved++
	// One look at a screen that moves may find it half drawn.
	return quiet > 0 || m.moved > 1
}

func (d *driver) delivered(m *message) {
	d.now = nil
	if m.quit {
		return
	}
	d.prompted = d.prompted || m.prompt
	d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "delivered", Ref: m.ref, Text: "typed and submitted: " + brief(m.text)})
	if d.source < fromMarks && d.State == coppice.SessionIdle {
		d.worked()
	}
}

// worked tells that the agent took something up, even if it is done by now: the
// screen says so when it is looked at next.
func (d *driver) worked() {
	d.setState(coppice.SessionWorking)
	if len(d.rules) > 0 {
		d.judge(afterTyping)
	}
}

func (d *driver) undelivered(m *message) {
	d.now = nil
	if m.quit {
		return
	}
	d.keys(clearLine)
	text := "the agent did not take what was typed: " + brief(m.text)
	d.lost(m, text)
	if m.prompt {
		d.failure = agent.Fail(coppice.ClassCapability, text+"\n"+strings.Join(d.lines(10), "\n"))
		d.finished, d.Step.Done = true, true
	}
}

// lost tells that a message will never be read.
func (d *driver) lost(m *message, why string) {
	e := agent.Undelivered(m.text)
	e.Ref, e.Reason = m.ref, why
	d.Emit(e)
}

// drop gives up everything that was not delivered.
func (d *driver) drop(why string) {
	left := d.queue
	if d.now != nil {
		left = append([]*message{d.now}, left...)
	}
	d.now, d.queue = nil, nil
	for _, m := range left {
		if !m.quit {
			d.lost(m, why)
		}
	}
}

// brief is the beginning of a text, on one line.
func brief(text string) string {
	runes := []rune(strings.Join(strings.Fields(typeable(text, false)), " "))
	if len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return string(runes)
}
