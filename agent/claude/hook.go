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

// blocksFrom is the first version that is known to block a tool if its hook
// cannot be reached. Version 2.1.197 lets it run.
var blocksFrom = [3]int{2, 1, 325}

// hooked is a run whose agent calls hooks, because the rules can do anything
// other than allow, or because locks are enforced. The person's own settings can allow a tool without a
// question. The hook is asked anyway.
type hooked struct{ *driver }

// hookCall has the fields of a hook's body that matter here.
type hookCall struct {
	Event     string          `json:"hook_event_name"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	ToolUseID string          `json:"tool_use_id"`
	Cwd       string          `json:"cwd"`
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

// Hook implements agent.Hooker. A call that is allowed unchanged takes the
// usual path, so that the person's own rules still count. A call that a person
// has to decide comes back as a permission request.
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
	h.cwd = c.Cwd
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

// checkHooks reports, one time, if the model has answered and no hook was called: a
// setting of the machine might disable hooks.
func (d *driver) checkHooks() {
	if !d.hooks || d.hooksChecked {
		return
	}
	d.hooksChecked = true
	if !d.hookSeen {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "hook", Text: "the agent has called none of its hooks: if they are disabled, the project's rules apply only to tools for which it asks permission; if they fail, it cannot use any tool"})
	}
}

// warnOldVersion warns about a version that is not known to block tools whose hook fails.
func (d *driver) warnOldVersion(version string) {
	if !d.hooks || d.warned {
		return
	}
	var v [3]int
	n, _ := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]) // fewer numbers mean an older version
	if n == 3 && !less(v, blocksFrom) {
		return
	}
	d.warned = true
	d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "hook", Text: fmt.Sprintf(
		"version %s of the agent might use a tool although its hook cannot be reached; %d.%d.%d does not", agent.Text(version), blocksFrom[0], blocksFrom[1], blocksFrom[2])})
}

func less(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
