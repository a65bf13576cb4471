package engine

import (
	"encoding/json"

	"coppice"
)

// decide stores a limit that a session reported, and removes one that has ended.
func (v *AccountView) decide() *Decision {
	if a := v.asked(coppice.VerbLimit); a != nil {
		d := &Decision{By: "limits", Kind: coppice.EventAgentLimited, Reason: a.Text, Asks: v.done(a)}
		var l coppice.AgentLimit
		if err := json.Unmarshal(a.Args, &l); err == nil && l.Agent == v.Of.ID {
			if d.Limit = &l; v.Limit != nil && v.Limit.Class == l.Class {
				l.Since = v.Limit.Since
			}
			if l.Since.IsZero() {
				l.Since = v.Now
			}
		}
		return d
	}
	if v.Limit != nil && !v.Limit.Holds(v.Now) {
		return &Decision{By: "limits", Kind: coppice.EventAgentCleared, Reason: "its limit is over", Limit: &coppice.AgentLimit{Agent: v.Of.ID}}
	}
	return nil
}

// limit asks an account to store a limit that a session reported.
func limit(l coppice.AgentLimit) coppice.Ask {
	return coppice.Ask{Subject: coppice.AccountSubject(l.Agent), Verb: coppice.VerbLimit, Text: l.Text, Args: coppice.Raw(l)}
}
