package acp

import (
	"encoding/json"

	"coppice/agent"
)

// permissionParams asks whether a tool may be used. The agent says which
// answers it takes.
type permissionParams struct {
	Call    toolUpdate         `json:"toolCall"`
	Options []permissionOption `json:"options"`
}

type permissionOption struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// verdict is the answer to a permission request.
type verdict struct {
	allow bool
	why   string
}

// decide is the one place that says what an agent may do. Sessions run in a
// workspace of their own and nothing lands unchecked, so everything is allowed
// and recorded.
func decide(permissionParams) verdict { return verdict{allow: true, why: "allowed"} }

// What the driver answers.
type (
	permissionResult struct {
		Outcome outcome `json:"outcome"`
	}
	outcome struct {
		Outcome string `json:"outcome"`
		Option  string `json:"optionId,omitempty"`
	}
)

// permission answers a permission request. While a turn is being cancelled the
// protocol wants the answer to be just that.
func (d *driver) permission(m message) {
	var p permissionParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		p = permissionParams{} // it offers no answer that can be read, and is refused
	}
	t := d.merge(p.Call)
	d.show(p.Call.ID, t)
	v := decide(p)
	option := choose(p.Options, v.allow)
	switch {
	case d.cancelling || d.phase != turning:
		v, option = verdict{why: "cancelled with its turn"}, ""
	case option == "" && v.allow:
		v = verdict{why: "refused: the agent offers no way to allow it"}
	}
	d.emit(agent.Event{Kind: agent.KindPermission, Ref: p.Call.ID, Name: t.name, Input: bounded(t.input), Text: v.why, OK: v.allow})
	if option == "" {
		d.reply(m.ID, permissionResult{outcome{Outcome: "cancelled"}})
		return
	}
	d.reply(m.ID, permissionResult{outcome{Outcome: "selected", Option: option}})
}

// choose picks the narrowest of the answers that mean what was decided. "" is
// none.
func choose(options []permissionOption, allow bool) string {
	kinds := []string{"reject_once", "reject_always"}
	if allow {
		kinds = []string{"allow_once", "allow_always"}
	}
	for _, k := range kinds {
		for _, o := range options {
			if o.Kind == k && o.ID != "" {
				return o.ID
			}
		}
	}
	return ""
}
