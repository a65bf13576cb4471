package jsonl

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/agent"
)

// driver is one run.
type driver struct {
	dialect *dialect
	prompt  string
	model   string

	out, err agent.Lines
	said     agent.Tail // stderr
	events   []agent.Event

	conversation string
	begun        bool // the init was told
	state        coppice.SessionState
	stopped      bool
	pieceKind    agent.Kind
	pieces       []byte
	summary      string
	usage        coppice.Usage
	ended        bool             // a line ended the turn
	failure      *coppice.Failure // as that line told
	trouble      *coppice.Failure // the latest error on the way
}

// cannot notes what was asked for and is not to be had; it is told at the start.
func (d *driver) cannot(text string) {
	d.emit(agent.Event{Kind: agent.KindNotice, Name: "cannot", Text: text})
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	d.become(coppice.SessionWorking)
	s := d.take()
	s.Write, s.CloseStdin = []byte(d.prompt), true
	return s
}

// Output implements agent.Driver.
func (d *driver) Output(s agent.Stream, b []byte) agent.Step {
	if s == agent.Stderr {
		d.err.Add(b, d.stderr)
	} else {
		d.out.Add(b, d.line)
	}
	return d.take()
}

func (d *driver) stderr(line []byte) {
	d.said.Add(line)
	d.emit(agent.Event{Kind: agent.KindNotice, Text: agent.Text(line)})
}

// Send implements agent.Driver.
func (*driver) Send(string, string) (agent.Step, error) { return agent.Step{}, agent.ErrCannot }

// Interrupt implements agent.Driver.
func (*driver) Interrupt() (agent.Step, error) { return agent.Step{}, agent.ErrCannot }

// Stop implements agent.Driver. There is no word for it; signals follow.
func (d *driver) Stop() agent.Step {
	d.stopped = true
	return agent.Step{}
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.out.End(d.line)
	d.err.End(d.stderr)
	d.border()
	if d.dialect.EndsByExit && d.begun && x.Code == 0 && !d.ended {
		d.end("completed", d.apologized())
	}
	return d.take(), agent.Outcome{Failure: d.judge(x), Summary: d.summary, Conversation: d.conversation, Usage: d.usage}
}

// judge is what is known of how the run went. Neither the line that ends the
// turn nor the exit code can be trusted alone: agents end failed turns with 0.
func (d *driver) judge(x agent.Exit) *coppice.Failure {
	switch {
	case d.stopped && !d.ended:
		return agent.Died(x, "", true)
	case d.failure != nil:
		return d.failure
	case d.ended && x.Code == 0:
		return nil
	case d.dialect.Exits[x.Code] != "" && x.Signal == "":
		f := agent.Died(x, d.said.String(), d.stopped)
		return agent.Fail(d.dialect.Exits[x.Code], f.Text)
	case d.trouble != nil && x.Signal == "" && x.Code < 126:
		return d.trouble
	case d.begun && !d.ended && x == (agent.Exit{}) && agent.TextClass(d.said.String()) == coppice.ClassUnknown:
		// Some agents end so when they are told to end, which nobody did here.
		return coppice.Failf(coppice.ClassLost, "the agent ended in the middle of its turn, with exit 0", "")
	}
	return agent.Died(x, d.said.String(), d.stopped)
}

func (d *driver) line(b []byte) {
	v, ok := decode(b)
	if !ok {
		d.emit(agent.Event{Kind: agent.KindNotice, Text: agent.Text(b)})
		return
	}
	d.apply(d.dialect.Rules, v)
}

func (d *driver) apply(rules []rule, v any) {
	for i := range rules {
		r := &rules[i]
		if !r.When.hold(v) {
			continue
		}
		if r.Each == "" {
			d.make(r, v)
			continue
		}
		items, _ := find(v, r.Each).([]any)
		for _, item := range items {
			d.apply(r.Rules, item)
		}
	}
}

// make does what a rule says with a line that it fits.
func (d *driver) make(r *rule, v any) {
	said := str(find(v, r.Text))
	if r.As != asText && r.As != asThinking && r.As != asInit {
		d.border()
	}
	switch r.As {
	case asInit:
		d.begin(r, v)
	case asText, asThinking:
		d.speak(agent.Kind(r.As), said, r.Pieces)
	case asTool:
		d.emit(d.tool(r, v))
	case asResult:
		d.emit(agent.Event{Kind: agent.KindToolResult, Ref: str(find(v, r.Ref)), OK: r.Good.hold(v), Text: agent.Text([]byte(said))})
	case asUsage:
		d.spend(r.Usage, v)
	case asError:
		d.trouble = fail(said, str(find(v, r.Status)))
		d.emit(agent.Event{Kind: agent.KindError, Class: d.trouble.Class, Text: d.trouble.Text})
	case asEnd:
		d.finish(r, v, said)
	}
}

func (d *driver) begin(r *rule, v any) {
	id := str(find(v, r.Conversation))
	if d.begun && (id == "" || id == d.conversation) {
		return
	}
	d.begun = true
	if id != "" {
		d.conversation = id
	}
	model := str(find(v, r.Model))
	if model == "" {
		model = d.model
	}
	d.emit(agent.Event{Kind: agent.KindInit, Conversation: d.conversation, Model: model, Version: str(find(v, r.Version))})
}

// speak tells what the agent said. Pieces are gathered until something else
// happens.
func (d *driver) speak(kind agent.Kind, said string, pieces bool) {
	if !pieces || d.pieceKind != kind || len(d.pieces) >= agent.MaxText {
		d.border()
	}
	d.pieceKind = kind
	d.pieces = append(d.pieces, said...)
	if !pieces {
		d.border()
	}
}

func (d *driver) border() {
	t := strings.TrimSpace(agent.Text(d.pieces))
	d.pieces = d.pieces[:0]
	if t == "" {
		return
	}
	d.emit(agent.Event{Kind: d.pieceKind, Text: t})
	if d.pieceKind == agent.KindText {
		d.summary = t
	}
}

func (d *driver) tool(r *rule, v any) agent.Event {
	e := agent.Event{Kind: agent.KindTool, Ref: str(find(v, r.Ref)), Name: str(find(v, r.Name)), Tool: agent.ToolOther}
	if k, ok := d.dialect.Tools[e.Name]; ok {
		e.Tool = k
	}
	input := find(v, r.Input)
	if b, err := json.Marshal(input); err == nil && input != nil && len(b) <= agent.MaxText {
		e.Input = b
	}
	for _, field := range d.dialect.Paths {
		if p, ok := find(input, field).(string); ok && p != "" && !slices.Contains(e.Paths, p) {
			e.Paths = append(e.Paths, p)
		}
	}
	return e
}

func (d *driver) spend(c *counts, v any) {
	if c == nil {
		return
	}
	u := coppice.Usage{
		InputTokens: int64(amount(v, c.Input)), OutputTokens: int64(amount(v, c.Output)),
		CacheRead: int64(amount(v, c.CacheRead)), CacheWrite: int64(amount(v, c.CacheWrite)),
		CostUSD: amount(v, c.Cost), Turns: int64(amount(v, c.Turns)),
	}
	if c.Inclusive {
		u.InputTokens = max(u.InputTokens-u.CacheRead-u.CacheWrite, 0)
	}
	if u == (coppice.Usage{}) {
		return
	}
	d.usage = d.usage.Add(u)
	d.emit(agent.Event{Kind: agent.KindUsage, Usage: &u})
}

// finish handles the line that ends a turn.
func (d *driver) finish(r *rule, v any, said string) {
	d.spend(r.Usage, v)
	good := r.Good.hold(v)
	if said != "" && good {
		d.summary = agent.Text([]byte(said))
	}
	f := d.apologized()
	if !good {
		f = d.trouble
		if said != "" || f == nil {
			f = fail(said, str(find(v, r.Status)))
		}
	}
	d.end(str(find(v, r.Reason)), f)
}

func (d *driver) end(reason string, f *coppice.Failure) {
	d.ended, d.failure = true, f
	if f != nil {
		d.emit(agent.Event{Kind: agent.KindError, Class: f.Class, Text: f.Text})
	}
	if reason == "" {
		reason = "completed"
	}
	d.emit(agent.Event{Kind: agent.KindTurn, Reason: agent.Text([]byte(reason)), Text: d.summary})
	d.become(coppice.SessionIdle)
}

// apologized is the failure that the last words tell of, if they do.
func (d *driver) apologized() *coppice.Failure {
	if d.dialect.apology == nil || !d.dialect.apology.MatchString(d.summary) {
		return nil
	}
	return fail(d.summary, "")
}

// addressRE is cut out of a failure's text before it is sorted: a port may look
// like a status.
var addressRE = regexp.MustCompile(`https?://\S+`)

func fail(text, status string) *coppice.Failure {
	text = strings.TrimSpace(agent.Text([]byte(text)))
	if text == "" {
		text = "the agent's turn failed and it did not say why"
	}
	code, _ := strconv.Atoi(status) // "" and other words are no status
	class := agent.StatusClass(code)
	if class == "" {
		class = agent.TextClass(addressRE.ReplaceAllString(text, ""))
	}
	return agent.Fail(class, text)
}

func (d *driver) emit(e agent.Event) { d.events = append(d.events, e) }

func (d *driver) become(s coppice.SessionState) {
	if d.state != s {
		d.state = s
		d.emit(agent.Event{Kind: agent.KindState, State: s})
	}
}

func (d *driver) take() agent.Step {
	s := agent.Step{Events: d.events}
	d.events = nil
	return s
}
