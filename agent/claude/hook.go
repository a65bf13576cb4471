package claude

import (
	"encoding/json"
	"fmt"

	"coppice"
	"coppice/agent"
)

// The hooks that the agent calls.
const (
	hookTool   = "PreToolUse"
	hookPrompt = "UserPromptSubmit"
)

// blocksFrom is the first version that is known to block a tool whose hook cannot
// be reached. Version 2.1.197 lets it run.
var blocksFrom = [3]int{2, 1, 325}

// hooked is a run whose agent calls hooks: one whose rules can say anything but
// allow. The person's own settings may allow a tool without asking anybody; the
// hook is asked all the same.
type hooked struct{ *driver }

// hookCall is a hook's body, as far as it matters here.
type hookCall struct {
	Event     string          `json:"hook_event_name"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	ToolUseID string          `json:"tool_use_id"`
}

type (
	hookAnswer struct {
		Output *hookOutput `json:"hookSpecificOutput,omitempty"`
	}
	hookOutput struct {
		Event    string          `json:"hookEventName"`
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason,omitempty"`
		Input    json.RawMessage `json:"updatedInput,omitempty"`
	}
)

// Hook implements agent.Hooker. A call that is allowed as it is goes its usual
// way, so that the person's own rules still count. One that a person has to
// decide is made to come back as a permission request.
func (h hooked) Hook(body []byte) (agent.Step, []byte) {
	h.hookSeen = true
	var c hookCall
	if err := json.Unmarshal(body, &c); err != nil {
		h.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "hook", Text: "a hook that cannot be read was refused: " + err.Error()})
		return h.Take(), agent.Encode(hookAnswer{&hookOutput{Event: hookTool, Decision: "deny", Reason: "the hook cannot be read"}})
	}
	if c.Event != hookTool || c.Tool == askTool {
		return h.Take(), agent.Encode(hookAnswer{})
	}
	v := h.decide(c.Tool, c.Input)
	out := &hookOutput{Event: hookTool}
	switch {
	case v.Do == coppice.RuleAsk:
		out.Decision, out.Reason = "ask", "a person decides"
		return h.Take(), agent.Encode(hookAnswer{out})
	case v.Do == coppice.RuleDeny:
		out.Decision, out.Reason = "deny", v.Why
	case v.Input != nil:
		out.Decision, out.Input = "allow", v.Input
	default:
		return h.Take(), agent.Encode(hookAnswer{})
	}
	h.permission(c.ToolUseID, c.Tool, c.Input, v)
	return h.Take(), agent.Encode(hookAnswer{out})
}

// prove tells, once, when the model has answered and no hook was called: a
// setting of the machine may switch hooks off.
func (d *driver) prove() {
	if !d.hooks || d.proven {
		return
	}
	d.proven = true
	if !d.hookSeen {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "hook", Text: "none of the agent's hooks has reached us: if they are switched off, the project's rules hold only for tools that it asks permission for; if they fail, it can use no tool"})
	}
}

// old warns of a version that is not known to fail closed.
func (d *driver) old(version string) {
	if !d.hooks || d.warned {
		return
	}
	var v [3]int
	n, _ := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]) // fewer numbers are an older version
	if n == 3 && !less(v, blocksFrom) {
		return
	}
	d.warned = true
	d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "hook", Text: fmt.Sprintf(
		"version %s of the agent may use a tool when its hook cannot be reached; %d.%d.%d does not", agent.Text(version), blocksFrom[0], blocksFrom[1], blocksFrom[2])})
}

func less(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
