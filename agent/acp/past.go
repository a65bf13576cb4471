package acp

import (
	"encoding/json"

	"coppice/agent"
)

// pastUpdate takes an update before a session is open: the past of the conversation
// that the agent loads. Its content is not new, but it shows that the agent has
// the conversation.
func (d *driver) pastUpdate(update json.RawMessage) {
	var u struct {
		Kind string `json:"sessionUpdate"`
	}
	_ = json.Unmarshal(update, &u) // an update of another shape is ignored
	switch u.Kind {
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call":
		d.past = true
	}
}

// loaded continues when all of the past was sent. The protocol requires it. An
// agent that sends none has started a new conversation under the old name, and
// would do half of the work.
func (d *driver) loaded() {
	if d.resume != "" && !d.past {
		d.conversation = ""
		d.giveUp(agent.Gone("the agent does not know the conversation that it should continue"))
		return
	}
	d.ready()
}
