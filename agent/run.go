package agent

import (
	"bytes"
	"encoding/json"
	"regexp"
	"sync"
	"time"

	"coppice"
)

// Run is the common part of all drivers. It splits the agent's output into
// lines, collects the step of the current call, and keeps what was reported so
// far. A driver embeds one and sets Line.
type Run struct {
	Line    func(line []byte) // takes a line of stdout
	ErrLine func(line []byte) // takes a line of stderr; nil means Complain

	Step    Step                 // the step of the current call
	State   coppice.SessionState // as last reported
	Usage   coppice.Usage        // what the run has used, as reported
	Stderr  Tail                 // the end of stderr
	Closed  bool                 // stdin is closed
	Stopped bool                 // the agent was asked to end

	out, err Lines
	answered bool // the model has answered since the last turn was counted

	own map[string]string // the open calls of Coppice's tools: the tools, by ref
}

// Output implements Driver.
func (r *Run) Output(s Stream, b []byte) Step {
	if s == Stderr {
		r.err.Add(b, r.errLine)
	} else {
		r.out.Add(b, r.Line)
	}
	return r.Take()
}

func (r *Run) errLine(line []byte) {
	if r.ErrLine != nil {
		r.ErrLine(line)
		return
	}
	r.Complain(line)
}

// Complain reports a line of stderr, and keeps it for the cause of a failure.
func (r *Run) Complain(line []byte) {
	r.Stderr.Add(line)
	r.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Text: Text(line)})
}

// End takes the text after the last line break. It is called when the agent has
// ended.
func (r *Run) End() {
	r.out.End(r.Line)
	r.err.End(r.errLine)
	r.countTurn()
}

// Emit adds an event to the step. It counts the turns of the model, the same for
// every agent: a turn is one answer of the model, with all tools that the answer
// calls.
func (r *Run) Emit(e coppice.AgentEvent) {
	switch e.Kind {
	case coppice.KindText, coppice.KindThinking, coppice.KindTool:
		r.answered = true
	case coppice.KindToolResult, coppice.KindTurn:
		r.countTurn()
	}
	r.Step.Events = append(r.Step.Events, r.markOwn(e))
}

// markOwn marks the agent's report of a tool of Coppice, and of its result. The
// host reports the call too, with what the agent does not know.
func (r *Run) markOwn(e coppice.AgentEvent) coppice.AgentEvent {
	switch e.Kind {
	case coppice.KindTool:
		tool, ok := OwnTool(e.Name)
		if !ok || e.Ref == "" {
			break
		}
		if r.own == nil {
			r.own = map[string]string{}
		}
		r.own[e.Ref], e.Own = tool, true
	case coppice.KindToolResult:
		if tool, ok := r.own[e.Ref]; ok {
			delete(r.own, e.Ref)
			e.Name, e.Own = tool, true
		}
	}
	return e
}

// countTurn reports a turn of the model that has ended.
func (r *Run) countTurn() {
	if r.answered {
		r.answered = false
		r.Spend(coppice.Usage{Turns: 1})
	}
}

// Notice reports a text, if there is one.
func (r *Run) Notice(text string) {
	if text != "" {
		r.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Text: Text(text)})
	}
}

// Report reports a failure as an error.
func (r *Run) Report(f *coppice.Failure) {
	r.Emit(coppice.AgentEvent{Kind: coppice.KindError, Class: f.Class, Text: f.Text})
}

// Become reports a state if it differs from the last one.
func (r *Run) Become(s coppice.SessionState) {
	if r.State != s {
		r.State = s
		r.Emit(coppice.AgentEvent{Kind: coppice.KindState, State: s})
	}
}

// Spend reports what the agent has used since the last report, if anything.
func (r *Run) Spend(u coppice.Usage) {
	if u != (coppice.Usage{}) {
		r.Usage = r.Usage.Add(u)
		r.Emit(coppice.AgentEvent{Kind: coppice.KindUsage, Usage: &u})
	}
}

// Write writes a value to stdin as a line of JSON, unless stdin is closed.
func (r *Run) Write(v any) {
	if !r.Closed {
		r.Step.Write = append(append(r.Step.Write, Encode(v)...), '\n')
	}
}

// WhileOpen runs f and returns the step. If stdin is closed, it returns ErrCannot.
func (r *Run) WhileOpen(f func()) (Step, error) {
	if r.Closed {
		return Step{}, ErrCannot
	}
	f()
	return r.Take(), nil
}

// AnswerOrSend implements Send: with a ref the text answers the question of that
// name, without one it is a message.
func (r *Run) AnswerOrSend(text, ref string, answer func(text, ref string) (Step, error), send func(string, []Image) (Step, error)) (Step, error) {
	switch {
	case r.Closed:
		return Step{}, ErrCannot
	case ref != "":
		return answer(text, ref)
	}
	return send(text, nil)
}

// Close closes stdin.
func (r *Run) Close() { r.Closed, r.Step.CloseStdin = true, true }

// Finish closes stdin and says that the agent is finished.
func (r *Run) Finish() {
	r.Close()
	r.Step.Done = true
}

// StopWith stops the agent. If stdin is still open, end writes what makes the agent
// end, and closes it.
func (r *Run) StopWith(end func()) Step {
	r.Stopped = true
	if !r.Closed {
		end()
	}
	return r.Take()
}

// Take returns the step, and starts the next one.
func (r *Run) Take() Step {
	s := r.Step
	r.Step = Step{}
	return s
}

// Last returns the step of an agent that has ended. It drops bytes for stdin.
func (r *Run) Last() Step {
	r.Step.Write, r.Step.CloseStdin = nil, false
	return r.Take()
}

// Died returns the failure of an agent that reported no outcome.
func (r *Run) Died(x Exit) *coppice.Failure { return Died(x, r.Stderr.String(), r.Stopped) }

// OneShot is the common part of drivers for agents that read one prompt from
// stdin and no other input.
type OneShot struct {
	Run
	Prompt string
}

// Start implements Driver. It writes the prompt and closes stdin.
func (o *OneShot) Start() Step {
	o.Become(coppice.SessionWorking)
	s := o.Take()
	s.Write, s.CloseStdin = []byte(o.Prompt), true
	return s
}

// Send implements Driver.
func (*OneShot) Send(string, string) (Step, error) { return Step{}, ErrCannot }

// Interrupt implements Driver.
func (*OneShot) Interrupt() (Step, error) { return Step{}, ErrCannot }

// Stop implements Driver. The host ends the agent by signals.
func (o *OneShot) Stop() Step {
	o.Stopped = true
	return Step{}
}

// Encode returns a value as JSON. Drivers encode only texts and JSON that was
// decoded before, which cannot fail.
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("agent: " + err.Error())
	}
	return b
}

// Bounded returns JSON for an event: nil if it is too large, null or not valid.
func Bounded(raw json.RawMessage) json.RawMessage {
	if len(raw) > MaxText || string(raw) == "null" || !json.Valid(raw) {
		return nil
	}
	return bytes.Clone(raw)
}

// Clip shortens a word of an agent, such as a name.
func Clip(s string) string { return Text(s[:min(len(s), 200)]) }

// Count limits a number of tokens to a plausible range.
func Count(n int64) int64 { return min(max(n, 0), 1<<48) }

// Unix returns the time of that many seconds, or the zero time if the number
// cannot be a time.
func Unix(sec float64) time.Time {
	if !(sec > 0 && sec < 1<<33) {
		return time.Time{}
	}
	return time.Unix(int64(sec), 0).UTC()
}

// Todo returns a line of a plan.
func Todo(text string, done bool) string {
	if done {
		return "[x] " + text
	}
	return "[ ] " + text
}

var addressRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`https?://\S+`) })

// WithoutAddresses removes addresses from a text before TextClass classifies
// it. A port can look like a status.
func WithoutAddresses(text string) string { return addressRE().ReplaceAllString(text, "") }

// Gone returns the failure of a conversation that the agent does not know.
func Gone(text string) *coppice.Failure {
	return coppice.Failf(coppice.ClassUnknown, text, "the conversation no longer exists; retry the task to start a new one")
}
