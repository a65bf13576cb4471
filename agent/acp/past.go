package acp

import (
	"encoding/json"

	"coppice/agent"
)

// recall takes what an agent tells before a session is open: the past of the
// conversation that it loads. What was said is no news; that something was said
// tells that the agent has the conversation.
func (d *driver) recall(told json.RawMessage) {
	var u struct {
		Kind string `json:"sessionUpdate"`
	}
	_ = json.Unmarshal(told, &u) // of another shape: it tells of nothing said
	switch u.Kind {
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call":
		d.past = true
	}
}

// loaded goes on once all of the past was told. An agent must tell it; one that
// tells none has begun a new conversation under the old one's name, and would do
// half of the work.
func (d *driver) loaded() {
	if d.resume != "" && !d.past {
		d.conversation = ""
		d.giveUp(agent.Gone("the agent knows nothing of the conversation it was to continue"))
		return
	}
	d.ready()
}
