package codex

import (
	"encoding/json"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// notified takes a notification. It ignores those that say nothing about the
// work: pieces of items that arrive whole later, and those for other clients.
func (d *driver) notified(p jsonrpc.Message) {
	switch p.Method {
	case "turn/started", "turn/completed":
		d.turnNews(p)
	case "item/started", "item/completed":
		d.itemNews(p)
	case "item/fileChange/patchUpdated":
		d.patchNews(p)
	case "turn/plan/updated":
		d.planNews(p)
	case "thread/tokenUsage/updated":
		d.usageNews(p)
	case "account/rateLimits/updated":
		d.limitNews(p)
	case "serverRequest/resolved":
		var r struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(p.Params, &r) == nil {
			d.withdraw(string(r.ID))
		}
	case "error":
		d.errorNews(p)
	case "mcpServer/startupStatus/updated":
		d.serverNews(p)
	case "warning", "guardianWarning", "configWarning", "deprecationNotice":
		var w struct {
			Message string `json:"message"`
			Summary string `json:"summary"`
		}
		if json.Unmarshal(p.Params, &w) == nil {
			d.Notice(w.Message + w.Summary)
		}
	case "model/rerouted":
		var m struct {
			From string `json:"fromModel"`
			To   string `json:"toModel"`
		}
		if json.Unmarshal(p.Params, &m) == nil {
			d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Model: agent.Clip(m.To), Text: "the service answers with " + agent.Clip(m.To) + " instead of " + agent.Clip(m.From)})
		}
	}
}
