package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/agent"
)

// result is the line that ends a turn. Neither its subtype nor the exit code is
// reliable alone: a refused API key is a "success" with is_error.
type result struct {
	Subtype  string                `json:"subtype"`
	IsError  bool                  `json:"is_error"`
	Result   string                `json:"result"`
	Errors   []string              `json:"errors"`
	Reason   string                `json:"terminal_reason"`
	Status   *int                  `json:"api_error_status"`
	Session  string                `json:"session_id"`
	Turns    int64                 `json:"num_turns"`
	Cost     float64               `json:"total_cost_usd"`
	Queued   int                   `json:"queued_turn_count"`
	Usage    tokens                `json:"usage"`
	Since    map[string]modelUsage `json:"model_usage_since_last_result"`
	Denials  []json.RawMessage     `json:"permission_denials"`
	Output   json.RawMessage       `json:"structured_output"`
	HasSince bool                  `json:"-"`
}

type tokens struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

type modelUsage struct {
	Input      int64   `json:"inputTokens"`
	Output     int64   `json:"outputTokens"`
	CacheRead  int64   `json:"cacheReadInputTokens"`
	CacheWrite int64   `json:"cacheCreationInputTokens"`
	Cost       float64 `json:"costUSD"`
}

func (d *driver) result(b []byte) {
	var r result
	if err := json.Unmarshal(b, &r); err != nil {
		// A turn ended, but a result that cannot be read is not a success.
		r.IsError = true
		r.Errors = append(r.Errors, "the agent's result cannot be read: "+err.Error())
	}
	r.HasSince = r.Since != nil
	d.last, d.final = &r, d.words(r)
	d.lastText, d.textBeforeReminder = "", ""
	if r.Session != "" {
		d.conversation = r.Session
	}
	d.Spend(d.delta(r))
	f := d.judge(r)
	if f != nil && !d.interrupted {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindError, Class: f.Class, Text: f.Text, Until: f.RetryAt})
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: reason(r), Text: d.final})
	d.withdrawAll() // the turn that asked has ended
	// A turn that had ended before the interrupt reached it was not
	// interrupted.
	interrupted := d.interrupted && f != nil
	d.interrupted = false
	if d.Closed {
		d.Become(coppice.SessionIdle)
		return
	}
	d.endTurn(r, interrupted)
}

// words returns the final message of a turn: the part that matches the schema,
// if there is one, else the agent's message. An agent that does not follow the
// schema is reminded of it, and its answer to the reminder is not complete.
func (d *driver) words(r result) string {
	if !d.wantsSchema {
		return agent.Text(r.Result)
	}
	var line bytes.Buffer
	if json.Compact(&line, r.Output) == nil && bytes.HasPrefix(line.Bytes(), []byte("{")) {
		return agent.Text(line.Bytes())
	}
	last := r.Result
	if last == "" {
		last = d.lastText
	}
	if d.textBeforeReminder != "" && d.textBeforeReminder != last {
		last = d.textBeforeReminder + "\n\n" + last
	}
	return agent.Text(strings.TrimSpace(last))
}

// schemaFailed reports whether a turn ended only because its final message does not
// match the schema. Callers validate it themselves, so this is not a failure.
func (d *driver) schemaFailed(r result) bool {
	return d.wantsSchema && (r.Subtype == "error_max_structured_output_retries" || r.Reason == "structured_output_retry_exhausted")
}

// endTurn decides what follows a turn: another one, a wait for a message, or the
// end.
func (d *driver) endTurn(r result, interrupted bool) {
	switch {
	case r.Queued > 0:
		return // another turn follows
	case interrupted:
		// A message that the turn had not read yet starts the next one
		// automatically, and is never acknowledged.
		d.messages, d.replayed = nil, 0
		d.Become(coppice.SessionIdle)
	case d.replayed > 0 && len(d.messages) > d.replayed:
		return // a sent message starts another turn
	default:
		d.Become(coppice.SessionIdle)
		d.Close()
	}
}

func reason(r result) string {
	if r.Reason != "" {
		return r.Reason
	}
	return r.Subtype
}

// delta returns what the turn used. total_cost_usd is the total of a resumed
// conversation, so the agent's own delta is used if there is one.
func (d *driver) delta(r result) coppice.Usage {
	var u coppice.Usage
	if r.HasSince {
		for _, m := range r.Since {
			u.InputTokens += max(m.Input, 0)
			u.OutputTokens += max(m.Output, 0)
			u.CacheRead += max(m.CacheRead, 0)
			u.CacheWrite += max(m.CacheWrite, 0)
			u.CostUSD += max(m.Cost, 0)
		}
		return u
	}
	u.InputTokens, u.OutputTokens = max(r.Usage.Input, 0), max(r.Usage.Output, 0)
	u.CacheRead, u.CacheWrite = max(r.Usage.CacheRead, 0), max(r.Usage.CacheWrite, 0)
	u.CostUSD = max(r.Cost-d.spent, 0)
	d.spent = max(r.Cost, d.spent)
	return u
}

// failure returns what is known about the outcome of the run, including the
// exit of the process.
func (d *driver) failure(x agent.Exit) *coppice.Failure {
	if d.last == nil || d.State != coppice.SessionIdle {
		// It ended during a turn.
		return d.Died(x)
	}
	f := d.judge(*d.last)
	if f == nil && x.Signal == "" && x.Code != 0 && !d.Stopped && !d.schemaFailed(*d.last) {
		return agent.Died(x, d.Stderr.String(), false)
	}
	return f
}

// judge classifies the result of a turn; nil means that the agent was finished.
func (d *driver) judge(r result) *coppice.Failure {
	if d.schemaFailed(r) && !d.Stopped {
		return nil
	}
	if !r.IsError && (r.Reason == "completed" || r.Reason == "") && (r.Subtype == "success" || r.Subtype == "") {
		return nil
	}
	text := r.Result
	if text == "" {
		text = strings.Join(r.Errors, "; ")
	}
	if text == "" {
		text = "the agent ended its turn with " + reason(r)
	}
	text = agent.Text(text)
	switch {
	case d.Stopped:
		return coppice.Failf(coppice.ClassCancelled, "stopped before it was done", "")
	case strings.HasPrefix(r.Reason, "aborted") || d.interrupted:
		return coppice.Failf(coppice.ClassCancelled, "its turn was interrupted", "")
	case r.Reason == "prompt_too_long":
		return agent.Fail(coppice.ClassContext, text)
	case r.Reason == "max_turns" || r.Subtype == "error_max_turns":
		return coppice.Failf(coppice.ClassImplementation, fmt.Sprintf("the agent used all its turns (%d) before it was finished", r.Turns), "split the task, or allow more turns")
	case r.Reason == "budget_exhausted" || r.Subtype == "error_max_budget_usd":
		return coppice.Failf(coppice.ClassBudget, "the agent has spent "+usd(d.Usage.CostUSD)+" of "+usd(d.budget)+" and was not finished", "raise the task's budget, or split the task")
	case unknownConversation(r):
		return agent.Gone(text)
	}
	class := coppice.Class("")
	if r.Status != nil {
		class = agent.StatusClass(*r.Status)
	}
	if class == "" {
		class = agent.TextClass(text)
	}
	f := agent.Fail(class, text)
	if class == coppice.ClassRateLimit {
		f.RetryAt = d.resets(text)
	}
	return f
}

// usd formats an amount of money. An unknown one is the agent's own budget.
func usd(f float64) string {
	if f <= 0 {
		return "its own budget"
	}
	return strconv.FormatFloat(math.Round(f*1e4)/1e4, 'f', -1, 64) + " USD"
}

// withLostServers adds missing tool servers to a failure without a known cause.
func (d *driver) withLostServers(f *coppice.Failure) *coppice.Failure {
	if f == nil || len(d.lostServers) == 0 || (f.Class != coppice.ClassUnknown && f.Class != coppice.ClassImplementation) {
		return f
	}
	f.Class = coppice.ClassMCP
	f.Text += "; the tool server " + strings.Join(slices.Sorted(maps.Keys(d.lostServers)), ", ") + " could not be reached"
	return f
}

func unknownConversation(r result) bool {
	for _, e := range r.Errors {
		if strings.HasPrefix(e, "No conversation found") {
			return true
		}
	}
	return false
}

var resetRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`limit reached\|(\d{9,11})`) })

// resets returns when a limit ends: as the agent reported it, as its text says,
// or unknown.
func (d *driver) resets(text string) time.Time {
	if !d.limit.IsZero() {
		return d.limit
	}
	if m := resetRE().FindStringSubmatch(text); m != nil {
		sec, _ := strconv.ParseFloat(m[1], 64) // digits
		return agent.Unix(sec)
	}
	if wait := agent.Wait(text); wait > 0 && !d.now.IsZero() {
		return d.now.Add(wait)
	}
	return time.Time{}
}
