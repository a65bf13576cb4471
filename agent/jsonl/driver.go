package jsonl

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/agent"
)

// driver is one run.
type driver struct {
	agent.OneShot

	dialect *dialect
	model   string

	conversation string
	started      bool // the init event was emitted
	pieceKind    coppice.AgentEventKind
	pieces       []byte
	summary      string
	ended        bool             // a line ended the turn
	failure      *coppice.Failure // as that line reported
	lastError    *coppice.Failure // the latest error before the end
	lastIsError  bool             // nothing has followed it
}

// cannot records a request that the agent does not support. It is reported at
// the start.
func (d *driver) cannot(text string) {
	d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "cannot", Text: text})
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.End()
	d.endMessage()
	if d.dialect.EndsByExit && d.started && x.Code == 0 && !d.ended {
		d.end("completed", d.exitFailure())
	}
	return d.Take(), agent.Outcome{Failure: d.judge(x), Summary: d.summary, Conversation: d.conversation, Usage: d.Usage}
}

// judge returns what is known about the outcome of the run. Neither the line
// that ends the turn nor the exit code is reliable alone: agents end failed
// turns with 0.
func (d *driver) judge(x agent.Exit) *coppice.Failure {
	switch {
	case d.Stopped && !d.ended:
		return agent.Died(x, "", true)
	case d.failure != nil:
		return d.failure
	case d.ended && x.Code == 0:
		return nil
	case d.dialect.Exits[x.Code] != "" && x.Signal == "":
		f := d.Died(x)
		return agent.Fail(d.dialect.Exits[x.Code], f.Text)
	case d.lastError != nil && x.Signal == "" && x.Code < 126:
		return d.lastError
	case d.started && !d.ended && x == (agent.Exit{}) && agent.TextClass(d.Stderr.String()) == coppice.ClassUnknown:
		// Some agents end in this way when they are asked to end, which did not
		// happen here.
		return coppice.Failf(coppice.ClassLost, "the agent ended in the middle of its turn, with exit 0", "")
	}
	return d.Died(x)
}

func (d *driver) line(b []byte) {
	v, ok := decode(b)
	if !ok {
		d.Notice(string(b))
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

// make carries out a rule for a line that it matches.
func (d *driver) make(r *rule, v any) {
	text := str(find(v, r.Text))
	d.lastIsError = r.As == asError
	if r.As != asText && r.As != asThinking && r.As != asInit {
		d.endMessage()
	}
	switch r.As {
	case asInit:
		d.begin(r, v)
	case asText, asThinking:
		d.speak(coppice.AgentEventKind(r.As), text, r.Pieces)
	case asTool:
		d.Emit(d.tool(r, v))
	case asResult:
		d.Emit(coppice.AgentEvent{Kind: coppice.KindToolResult, Ref: str(find(v, r.Ref)), OK: r.Good.hold(v), Text: agent.Text(text)})
	case asUsage:
		d.spend(r.Usage, v)
	case asError:
		d.lastError = fail(text, str(find(v, r.Status)))
		d.Report(d.lastError)
	case asEnd:
		d.finish(r, v, text)
	}
}

func (d *driver) begin(r *rule, v any) {
	id := str(find(v, r.Conversation))
	if d.started && (id == "" || id == d.conversation) {
		return
	}
	d.started = true
	if id != "" {
		d.conversation = id
	}
	model := str(find(v, r.Model))
	if model == "" {
		model = d.model
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindInit, Conversation: d.conversation, Model: model, Version: str(find(v, r.Version))})
}

// speak reports what the agent text. Pieces are collected until something else
// happens.
func (d *driver) speak(kind coppice.AgentEventKind, text string, pieces bool) {
	if !pieces || d.pieceKind != kind || len(d.pieces) >= agent.MaxText {
		d.endMessage()
	}
	d.pieceKind = kind
	d.pieces = append(d.pieces, text...)
	if !pieces {
		d.endMessage()
	}
}

func (d *driver) endMessage() {
	t := strings.TrimSpace(agent.Text(d.pieces))
	d.pieces = d.pieces[:0]
	if t == "" {
		return
	}
	d.Emit(coppice.AgentEvent{Kind: d.pieceKind, Text: t})
	if d.pieceKind == coppice.KindText {
		d.summary = t
	}
}

func (d *driver) tool(r *rule, v any) coppice.AgentEvent {
	e := coppice.AgentEvent{Kind: coppice.KindTool, Ref: str(find(v, r.Ref)), Name: str(find(v, r.Name)), Tool: coppice.ToolOther}
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
		CostUSD: amount(v, c.Cost),
	}
	if c.Inclusive {
		u.InputTokens = max(u.InputTokens-u.CacheRead-u.CacheWrite, 0)
	}
	d.Spend(u)
}

// finish handles the line that ends a turn.
func (d *driver) finish(r *rule, v any, text string) {
	d.spend(r.Usage, v)
	good := r.Good.hold(v)
	if text != "" && good {
		d.summary = agent.Text(text)
	}
	f := d.apologyFailure()
	if !good {
		f = d.lastError
		if text != "" || f == nil {
			f = fail(text, str(find(v, r.Status)))
		}
	}
	d.end(str(find(v, r.Reason)), f)
}

func (d *driver) end(reason string, f *coppice.Failure) {
	d.ended, d.failure = true, f
	if f != nil && !d.lastIsError { // otherwise it was reported
		d.Report(f)
	}
	if reason == "" {
		reason = "completed"
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: agent.Text(reason), Text: d.summary})
	d.Become(coppice.SessionIdle)
}

// exitFailure returns the failure of a run that exited with 0: some agents do so after
// an error.
func (d *driver) exitFailure() *coppice.Failure {
	if d.lastIsError {
		return d.lastError
	}
	return d.apologyFailure()
}

// apologyFailure returns the failure that the final message describes, if it does.
func (d *driver) apologyFailure() *coppice.Failure {
	if d.dialect.apology == nil || !d.dialect.apology.MatchString(d.summary) {
		return nil
	}
	return fail(d.summary, "")
}

func fail(text, status string) *coppice.Failure {
	text = strings.TrimSpace(agent.Text(text))
	if text == "" {
		text = "the agent's turn failed without a reason"
	}
	code, _ := strconv.Atoi(status) // "" and other words are not a status
	class := agent.StatusClass(code)
	if class == "" {
		class = agent.TextClass(agent.WithoutAddresses(text))
	}
	return agent.Fail(class, text)
}
