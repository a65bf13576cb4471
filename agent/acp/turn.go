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
	text    string // the last words
	failure *coppice.Failure
}

// promptResult is the answer to a prompt: the turn is over.
type promptResult struct {
	Reason string          `json:"stopReason"`
	Usage  json.RawMessage `json:"usage"`
	Meta   json.RawMessage `json:"_meta"`
}

// ended handles the answer to a prompt. The turn is over when all prompts that
// came during it are answered.
func (d *driver) ended(prompt *underway, m jsonrpc.Message) {
	d.border()
	d.under = slices.DeleteFunc(d.under, func(u *underway) bool { return u == prompt })
	e, r := d.ending(m)
	if d.cancelling && e.failure != nil && prompt.joined {
		d.turn.again = append(d.turn.again, prompt.text) // it was not read, and begins the next turn
	}
	if len(d.under) > 0 {
		d.turn.early = d.turn.early.Add(d.turn.fresh(r))
		if e.failure == nil {
			d.under[0].joined = false // it is what the agent works on now
		} else if !d.cancelling {
			d.Report(e.failure)
		}
		return
	}
	d.rest(e, r)
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
		// Some agents end their turn this way when they are told to end.
		e.failure = coppice.Failf(coppice.ClassLost, "the agent ended its turn before it was done, and nobody had asked it to", "")
	}
	if r.Reason == "cancelled" && !d.cancelling && d.turn.refused {
		// Some agents end their turn when a call is refused. They go on when
		// they are told why.
		e.failure = nil
		if len(d.untold) == 0 {
			e.failure = coppice.Failf(coppice.ClassImplementation, "the agent ended its turn because a tool was refused", "allow it in permissions, or say how to do without")
		}
	}
	return e, r
}

// rest ends a turn, and begins the next when there is something to say.
func (d *driver) rest(e ending, r promptResult) {
	d.withdraw() // the turn that asked is over
	d.phase = resting
	d.queue = append(d.turn.again, d.queue...)
	interrupted := d.cancelling && e.failure != nil
	if interrupted {
		e.failure = coppice.Failf(coppice.ClassCancelled, "its turn was interrupted", "")
	}
	d.spend(r)
	over := d.overspent && (interrupted || len(d.queue) > 0)
	if over {
		interrupted, e.failure = false, coppice.Failf(coppice.ClassBudget,
			fmt.Sprintf("the agent has spent %.2f of %.2f USD and was not done", d.Usage.CostUSD, d.budget), "raise the task's budget, or split the task")
	}
	if d.limit != nil { // however the agent calls what was cancelled
		over, interrupted, e.reason, e.failure = true, false, "failed", d.limit
	}
	if e.failure != nil && !interrupted {
		d.Report(e.failure)
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: e.reason, Text: e.text})
	d.last, d.cancelling = &e, false
	clear(d.tools)
	if len(d.untold) > 0 && e.failure == nil {
		d.queue = append(d.queue, d.reasons())
	}
	switch {
	case d.Closed:
		d.Become(coppice.SessionIdle)
	case len(d.queue) > 0 && !over:
		d.prompt()
	default:
		d.Become(coppice.SessionIdle)
		if !interrupted { // else a person interrupted it to say something
			d.Finish()
		}
	}
}

// spend tells what the turn used: what its end says, or else what the pieces of
// its messages told on the way.
func (d *driver) spend(r promptResult) {
	u := d.turn.early.Add(d.turn.fresh(r))
	if u == (coppice.Usage{}) {
		u = d.turn.tokens
	}
	u.CostUSD, u.Turns = d.turn.cost, 1
	d.Spend(u)
}

// fresh is what the end of a prompt tells of its usage. Some agents answer
// prompts that ran together with the same, which counts once.
func (t *tally) fresh(r promptResult) coppice.Usage {
	var told tokens
	_ = json.Unmarshal(r.Usage, &told) // none, or of another shape
	u := told.usage()
	if u == (coppice.Usage{}) {
		u = metaUsage(r.Meta)
	}
	if u == t.told {
		return coppice.Usage{}
	}
	t.told = u
	return u
}

// apology is how some agents end a turn that failed: as if it had gone well,
// with the failure for their last words.
var apology = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\[?(api|internal|model stream|request) error\b`)
})

// judge sorts the end of a turn; nil means that the agent calls it done.
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
		return agent.Fail(coppice.ClassContext, "the model reached its limit of tokens before it was done")
	case "max_turn_requests":
		return coppice.Failf(coppice.ClassImplementation, "the agent used up its requests before it was done", "split the task, or allow the agent more")
	case "refusal":
		return coppice.Failf(coppice.ClassImplementation, "the model refused to go on", "say otherwise what is to be done")
	}
	return agent.Fail(coppice.ClassUnknown, "the agent ended its turn with "+agent.Clip(reason))
}

// failure is what is known of how the run went. Once a turn has ended and stdin
// is closed, how the process ends tells nothing: some agents have to be killed.
func (d *driver) failure(x agent.Exit) *coppice.Failure {
	switch {
	case d.fatal != nil:
		return d.fatal
	case d.limit != nil && d.phase == turning:
		return d.limit
	case d.phase == turning && x == (agent.Exit{}) && !d.Stopped && agent.TextClass(d.Stderr.String()) == coppice.ClassUnknown:
		// Some agents end so when they are told to end, which nobody did here.
		return coppice.Failf(coppice.ClassLost, "the agent ended in the middle of its turn, with exit 0", "")
	case d.last == nil || d.phase == turning:
		return d.Died(x)
	case d.last.failure != nil && d.Stopped && d.last.failure.Class == coppice.ClassCancelled:
		return coppice.Failf(coppice.ClassCancelled, "stopped before it was done", "")
	}
	return d.last.failure
}
