package acp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// ending is how a turn ended.
type ending struct {
	reason  string // the protocol's stop reason, or failed
	text    string // the final message
	failure *coppice.Failure
}

// promptResult is the answer to a prompt, which ends the turn.
type promptResult struct {
	Reason string          `json:"stopReason"`
	Usage  json.RawMessage `json:"usage"`
	Meta   json.RawMessage `json:"_meta"`
}

// ended handles the answer to a prompt. The turn has ended when all prompts
// that were sent during it are answered.
func (d *driver) ended(prompt *underway, m jsonrpc.Message) {
	d.endMessage()
	d.unanswered = slices.DeleteFunc(d.unanswered, func(u *underway) bool { return u == prompt })
	e, r := d.ending(m)
	if d.cancelling && e.failure != nil && prompt.joined {
		d.turn.unread = append(d.turn.unread, prompt.message) // it was not read, and starts the next turn
	}
	if len(d.unanswered) > 0 {
		d.turn.early = d.turn.early.Add(d.turn.fresh(r))
		if e.failure == nil {
			d.unanswered[0].joined = false // the agent works on it now
		} else if !d.cancelling {
			d.Report(e.failure)
		}
		return
	}
	d.endTurn(e, r)
}

// ending reads the answer to a prompt.
func (d *driver) ending(m jsonrpc.Message) (ending, promptResult) {
	e := ending{reason: "failed", text: d.turn.words}
	var r promptResult
	switch {
	case m.Error != nil:
		e.failure = agent.Fail(errorClass(m.Error), errorText(m.Error))
	case json.Unmarshal(m.Result, &r) != nil || r.Reason == "":
		e.failure = agent.Fail(coppice.ClassUnknown, "the agent's answer to the prompt cannot be read")
	default:
		e.reason = agent.Clip(r.Reason)
		e.failure = judge(r.Reason, e.text)
	}
	if r.Reason == "cancelled" && !d.cancelling && !d.turn.refused {
		// Some agents end their turn in this way when they are asked to end.
		e.failure = coppice.Failf(coppice.ClassLost, "the agent ended its turn before it was finished, without a request", "")
	}
	if r.Reason == "cancelled" && !d.cancelling && d.turn.refused {
		// Some agents end their turn when a call is refused. They continue when
		// they get the reason.
		e.failure = nil
		if len(d.unsent) == 0 {
			e.failure = coppice.Failf(coppice.ClassImplementation, "the agent ended its turn because a tool was refused", "allow it in permissions, or say how to do it without the tool")
		}
	}
	return e, r
}

// endTurn ends a turn, and starts the next if a message waits.
func (d *driver) endTurn(e ending, r promptResult) {
	d.withdraw() // the turn that asked has ended
	d.phase = resting
	d.queue = append(d.turn.unread, d.queue...)
	interrupted := d.cancelling && e.failure != nil
	if interrupted {
		e.failure = coppice.Failf(coppice.ClassCancelled, "its turn was interrupted", "")
	}
	d.spend(r)
	over := d.overspent && (interrupted || len(d.queue) > 0)
	if over {
		interrupted, e.failure = false, coppice.Failf(coppice.ClassBudget,
			fmt.Sprintf("the agent has spent %.2f of %.2f USD and was not finished", d.Usage.CostUSD, d.budget), "raise the task's budget, or split the task")
	}
	if d.limit != nil { // whatever the agent reports for the cancelled turn
		over, interrupted, e.reason, e.failure = true, false, "failed", d.limit
	}
	if e.failure != nil && !interrupted {
		d.Report(e.failure)
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: e.reason, Text: e.text})
	d.last, d.cancelling = &e, false
	clear(d.tools)
	if len(d.unsent) > 0 && e.failure == nil {
		d.queue = append(d.queue, message{text: d.reasons()})
	}
	switch {
	case d.Closed:
		d.Become(coppice.SessionIdle)
	case len(d.queue) > 0 && !over:
		d.prompt()
	default:
		d.Become(coppice.SessionIdle)
		if !interrupted { // otherwise a person interrupted it to send something
			d.Finish()
		}
	}
}

// spend reports what the turn used and its messages did not report.
func (d *driver) spend(r promptResult) {
	u, said := d.turn.early.Add(d.turn.fresh(r)), d.turn.tokens
	d.Spend(coppice.Usage{
		InputTokens: max(u.InputTokens-said.InputTokens, 0), OutputTokens: max(u.OutputTokens-said.OutputTokens, 0),
		CacheRead: max(u.CacheRead-said.CacheRead, 0), CacheWrite: max(u.CacheWrite-said.CacheWrite, 0),
	})
}

// fresh returns the usage in the answer to a prompt. Some agents answer prompts
// that ran together with the same usage, which counts one time.
func (t *tally) fresh(r promptResult) coppice.Usage {
	var reported tokens
	_ = json.Unmarshal(r.Usage, &reported) // none, or of another shape
	u := reported.usage()
	if u == (coppice.Usage{}) {
		u = metaUsage(r.Meta)
	}
	if u == t.reported {
		return coppice.Usage{}
	}
	t.reported = u
	return u
}

// apology matches how some agents end a turn that failed: as if it had
// succeeded, with the failure as their final message.
var apology = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\[?(api|internal|model stream|request) error\b|` +
		`^(Info: Request failed [^.]*\. Retrying\.\.\.\s*)*Error: (\d{3}\b|[^\n]*\(HTTP \d{3}\))`)
})

// judge classifies the end of a turn; nil means that the agent was finished.
func judge(reason, words string) *coppice.Failure {
	switch reason {
	case "end_turn":
		if apology().MatchString(words) {
			return agent.Fail(agent.TextClass(agent.WithoutAddresses(words)), words)
		}
		return nil
	case "cancelled":
		return coppice.Failf(coppice.ClassCancelled, "its turn was interrupted", "")
	case "max_tokens":
		return agent.Fail(coppice.ClassContext, "the model reached its limit of tokens before it was finished")
	case "max_turn_requests":
		return coppice.Failf(coppice.ClassImplementation, "the agent used all its requests before it was finished", "split the task, or allow the agent more")
	case "refusal":
		return coppice.Failf(coppice.ClassImplementation, "the model refused to continue", "rephrase the task")
	}
	return agent.Fail(coppice.ClassUnknown, "the agent ended its turn with "+agent.Clip(reason))
}

// failure returns what is known about the outcome of the run. After a turn has
// ended and stdin is closed, the exit of the process does not matter: some
// agents have to be killed.
func (d *driver) failure(x agent.Exit) *coppice.Failure {
	switch {
	case d.fatal != nil:
		return d.fatal
	case d.limit != nil && d.phase == turning:
		return d.limit
	case d.phase == turning && x == (agent.Exit{}) && !d.Stopped && agent.TextClass(d.Stderr.String()) == coppice.ClassUnknown:
		// Some agents end in this way when they are asked to end, which did not
		// happen here.
		return coppice.Failf(coppice.ClassLost, "the agent ended in the middle of its turn, with exit 0", "")
	case d.last == nil || d.phase == turning:
		return d.Died(x)
	case d.last.failure != nil && d.Stopped && d.last.failure.Class == coppice.ClassCancelled:
		return coppice.Failf(coppice.ClassCancelled, "stopped before it was done", "")
	}
	return d.last.failure
}
