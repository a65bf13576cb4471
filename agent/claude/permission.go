package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/agent"
)

// askTool is the tool with which the model asks the person.
const askTool = "AskUserQuestion"

// toolRequest asks whether a tool can be used.
type toolRequest struct {
	Subtype   string          `json:"subtype"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
}

// decide returns the verdict on a tool call. Tools that only affect the
// conversation are restricted only if a rule names them.
func (d *driver) decide(tool string, input json.RawMessage) agent.Verdict {
	v := d.Asker.Decide(d.call(tool, input))
	if inward[tool] && v.Rule.Do == "" {
		return agent.Verdict{Do: coppice.RuleAllow}
	}
	return v
}

// permission reports the decision about a call.
func (d *driver) permission(ref, tool string, input json.RawMessage, v agent.Verdict) {
	text := "allowed"
	switch {
	case !v.Allowed():
		text = v.Why
	case v.Input != nil:
		text, input = "allowed, with another input", v.Input
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindPermission, Ref: ref, Name: tool, Input: agent.Bounded(input), Text: text, OK: v.Allowed()})
}

// The driver's answers.
type (
	controlResponse struct {
		Type     string          `json:"type"`
		Response responsePayload `json:"response"`
	}
	responsePayload struct {
		Subtype  string    `json:"subtype"`
		ID       string    `json:"request_id"`
		Response *behavior `json:"response,omitempty"`
		Error    string    `json:"error,omitempty"`
	}
	behavior struct {
		Behavior string          `json:"behavior"`
		Input    json.RawMessage `json:"updatedInput,omitempty"`
		Message  string          `json:"message,omitempty"`
	}
)

func (d *driver) reply(id string, b behavior) {
	d.Write(controlResponse{Type: "control_response", Response: responsePayload{Subtype: "success", ID: id, Response: &b}})
}

// request answers a request of the agent. It answers every one, because the
// agent would wait without limit.
func (d *driver) request(m message) {
	var r toolRequest
	if err := json.Unmarshal(m.Request, &r); err != nil || r.Subtype != "can_use_tool" {
		d.Write(controlResponse{Type: "control_response", Response: responsePayload{Subtype: "error", ID: m.RequestID, Error: "unsupported request"}})
		return
	}
	if r.Tool == askTool && d.ask(m.RequestID, r) {
		return
	}
	if v := d.decide(r.Tool, r.Input); v.Do != coppice.RuleAsk {
		d.settle(m.RequestID, r.ToolUseID, r.Tool, r.Input, v)
		return
	}
	if d.Closed {
		return
	}
	d.refs[m.RequestID] = r.ToolUseID
	if e, first := d.Asker.Ask(d.call(r.Tool, r.Input), m.RequestID); first {
		d.Emit(e)
		d.Become(coppice.SessionWaiting)
	}
}

// settle answers a permission request with the verdict.
func (d *driver) settle(id, ref, tool string, input json.RawMessage, v agent.Verdict) {
	d.permission(ref, tool, input, v)
	if !v.Allowed() {
		d.reply(id, behavior{Behavior: "deny", Message: v.Why})
		return
	}
	if v.Input != nil {
		input = v.Input
	}
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	d.reply(id, behavior{Behavior: "allow", Input: bytes.Clone(input)})
}

// asking is a call of the ask tool that waits for the person: some questions,
// each with its own event and answer.
type asking struct {
	input     map[string]json.RawMessage
	questions []question
	answers   map[string]string // by the question's text
	open      []string          // refs of the open questions
}

type question struct {
	Text    string         `json:"question"`
	Many    bool           `json:"multiSelect"`
	Options []agent.Option `json:"options"`
}

// ask turns a call of the ask tool into questions. It reports false if the call
// has none. The call is then handled like any other tool.
func (d *driver) ask(id string, r toolRequest) bool {
	a := &asking{answers: map[string]string{}}
	if json.Unmarshal(r.Input, &a.input) != nil || json.Unmarshal(a.input["questions"], &a.questions) != nil || len(a.questions) == 0 {
		return false
	}
	if _, again := d.asked[id]; again || d.Closed {
		return true
	}
	d.asked[id] = a
	d.order = append(d.order, id)
	for i, q := range a.questions {
		ref := id
		if len(a.questions) > 1 {
			ref = id + "#" + strconv.Itoa(i+1)
		}
		a.open = append(a.open, ref)
		e := coppice.AgentEvent{Kind: coppice.KindQuestion, Ref: ref, Text: agent.Text(q.Text), Several: q.Many}
		e.Options, e.Descriptions = agent.Choices(q.Options)
		d.Emit(e)
	}
	d.Become(coppice.SessionWaiting)
	return true
}

// answer takes the person's answer to the question of that ref. When the call
// has all of its answers, the agent continues.
func (d *driver) answer(text, ref string) (agent.Step, error) {
	if v, c, ok := d.Asker.Answer(text, ref); ok {
		d.settle(ref, d.refs[ref], c.Name, c.Input, v)
		d.withdraw(ref)
		return d.Take(), nil
	}
	for _, id := range d.order {
		a := d.asked[id]
		if !slices.Contains(a.open, ref) {
			continue
		}
		n := 0
		if _, suffix, ok := strings.Cut(ref, id+"#"); ok {
			n, _ = strconv.Atoi(suffix) // the driver made the ref
			n--
		}
		a.answers[a.questions[n].Text] = text
		a.open = slices.DeleteFunc(a.open, func(s string) bool { return s == ref })
		if len(a.open) == 0 {
			d.finish(id, a)
		}
		return d.Take(), nil
	}
	return agent.Step{}, fmt.Errorf("claude: no open question %q: %w", ref, agent.ErrCannot)
}

func (d *driver) finish(id string, a *asking) {
	a.input["answers"] = agent.Encode(a.answers)
	d.reply(id, behavior{Behavior: "allow", Input: agent.Encode(a.input)})
	d.withdraw(id)
}

// withdraw removes a call that waits for a person.
func (d *driver) withdraw(id string) {
	delete(d.asked, id)
	delete(d.refs, id)
	d.order = slices.DeleteFunc(d.order, func(s string) bool { return s == id })
	d.Asker.Withdraw(id)
	if len(d.asked) == 0 && len(d.Asker.Waiting()) == 0 && d.State == coppice.SessionWaiting {
		d.Become(coppice.SessionWorking)
	}
}

func (d *driver) withdrawAll() {
	for _, id := range append(slices.Clone(d.order), d.Asker.Waiting()...) {
		d.withdraw(id)
	}
}
