package terminal

import (
	"strings"
	"time"
	"unicode"

	"coppice"
	"coppice/agent"
)

// phase is the progress of a message.
type phase int

const (
	unsaid phase = iota
	typed
	submitted
)

// message is a text to type and submit.
type message struct {
	text   string
	ref    string
	prompt bool
	quit   bool

	phase  phase
	tries  int    // to submit
	tail   string // how the text ends, without blanks
	before int    // how often that was on the screen before
	at     int64  // how much the agent had written at the last typing or submit
	line   string // the input line when it was submitted
	screen string // the whole screen at that time
	echo   bool   // all of the text was on the screen at the last check
	shown  bool   // the program showed what was typed
	inLine bool   // the tail was near the cursor then
	moved  int    // how often in a row it was no longer there
	idle   bool   // the agent did not work when it was submitted
}

const (
	mostTries  = 3
	tailRunes  = 16
	inputLines = 3 // above and below the cursor that might belong to the input

	unechoed    = 3 * time.Second        // after this silence the program is assumed to echo nothing
	noReaction  = 3 * time.Second        // after this the keys are pressed again
	lostFor     = 10 * time.Second       // after this a program does not work any more, and at the last try the message is given up
	afterTyping = 300 * time.Millisecond // this silence shows that the echo is complete
)

// clearLine empties the input line of most programs.
const clearLine = "\x15"

// typeable makes a text safe to type: without control characters, which could
// end the paste or press keys. Without a paste a line break would submit half
// of it.
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

// squash removes everything that changes when a text is drawn: blanks and the
// frames of boxes.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || (r >= 0x2500 && r < 0x25a0) {
			return -1
		}
		return r
	}, s)
}

// tailOf returns the end of a text, as the screen would show it.
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

// nearCursor returns the lines that might belong to the input.
func (d *driver) nearCursor() string {
	_, y := d.screen.Cursor()
	lines := d.screen.Text()
	return squash(strings.Join(lines[max(0, y-inputLines):min(len(lines), y+inputLines+1)], ""))
}

func (d *driver) cursorLine() string {
	_, y := d.screen.Cursor()
	return d.screen.Text()[y]
}

// typeNext types the next message if possible.
func (d *driver) typeNext() {
	if d.now != nil || len(d.queue) == 0 || d.pause || !d.settled {
		return
	}
	m := d.queue[0]
	switch d.State {
	case coppice.SessionIdle:
	case coppice.SessionWaiting: // the program would take it for an answer
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

// echoed reports whether typed text can be submitted: the screen has been still
// since, or shows all of it for the second time although it keeps changing.
// Some programs treat keys directly after a paste as part of it.
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
		d.seenAtSubmit, m.idle = d.seen, d.State != coppice.SessionWorking
	}
	m.phase, m.moved = submitted, 0
	m.tries++
	m.at, m.line, m.screen = d.screen.Written(), d.cursorLine(), d.screen.String()
	m.shown = m.tail != "" && d.onScreen(m.tail) > m.before
	m.inLine = m.tail != "" && strings.Contains(d.nearCursor(), m.tail)
	d.keys(d.profile.Submit)
}

// deliver submits typed messages, and checks that submitted ones arrive.
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
	case m.quit && quiet < noReaction: // its exit shows that it worked
	case quiet < lostFor && d.worksSince(m) && d.State == coppice.SessionWorking && !d.left(m): // it might accept the text when this work ends
	case d.reacted(m, quiet):
		d.delivered(m)
	case quiet >= noReaction && m.tries < mostTries:
		d.submit(m)
	case quiet >= lostFor:
		d.undelivered(m)
	}
}

// worksSince reports whether the agent started to work after a message was submitted.
func (d *driver) worksSince(m *message) bool { return m.idle && d.seen > d.seenAtSubmit }

// left reports whether a message is no longer in the input line, or never was.
func (d *driver) left(m *message) bool {
	end := commonEnd(m.tail, squash(m.line))
	return !m.inLine || end == "" || !strings.HasSuffix(squash(d.cursorLine()), end)
}

// reacted reports whether the screen shows that a message was accepted. A program that
// still starts can show work of another kind. So work counts only if the text has left
// the input line.
func (d *driver) reacted(m *message, quiet time.Duration) bool {
	if d.worksSince(m) && d.left(m) {
		return true
	}
	if d.screen.Written() == m.at {
		return false
	}
	now := squash(d.cursorLine())
	left := now != squash(m.line)
	switch end := commonEnd(m.tail, squash(m.line)); {
	case m.inLine && end != "": // the line ended like the text, and no longer does
		left = !strings.HasSuffix(now, end)
	case m.inLine:
		left = !strings.Contains(d.nearCursor(), m.tail)
	case !m.shown && !left: // the typed text was not visible, so any change is the reaction
		left = d.screen.String() != m.screen
	}
	if !left {
		m.moved = 0
		return false
	}
	m.moved++
	// One look at a changing screen might find it half drawn.
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

// worked records that the agent started something, even if it has finished by
// now: the next look at the screen shows that.
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
	text := "the agent did not accept the typed text: " + brief(m.text)
	d.lost(m, text)
	if m.prompt {
		d.failure = agent.Fail(coppice.ClassCapability, text+"\n"+strings.Join(d.lines(10), "\n"))
		d.finished, d.Step.Done = true, true
	}
}

// lost reports that a message will never be read.
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

// brief returns the start of a text, on one line.
func brief(text string) string {
	runes := []rune(strings.Join(strings.Fields(typeable(text, false)), " "))
	if len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return string(runes)
}
