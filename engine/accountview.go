package engine

import (
	"encoding/json"
	"time"

	"coppice"
	"coppice/store"
)

// AccountView is what the deciders of an account see.
type AccountView struct {
	Common
	Limit *coppice.AgentLimit // nil if it has none
}

// accountView loads an account's view.
func (t *turn) accountView(name string) (*AccountView, error) {
	v := &AccountView{}
	var err error
	if v.Common, err = t.common(coppice.AccountSubject(name)); err != nil {
		return nil, err
	}
	limits, err := t.tx.Limits.All()
	for i := range limits {
		if limits[i].Agent == name {
			v.Limit = &limits[i]
		}
	}
	return v, err
}

// decide stores a limit that a session reported, and removes one that has ended.
func (v *AccountView) decide() *Decision {
	if a := v.asked(coppice.VerbLimit); a != nil {
		d := &Decision{By: "limits", Kind: coppice.EventAgentLimited, Reason: a.Text, Asks: v.done(a)}
		var l coppice.AgentLimit
		if err := json.Unmarshal(a.Args, &l); err == nil && l.Agent == v.Of.ID {
			d.Limit = &l
		}
		return d
	}
	if v.Limit != nil && !v.Limit.Holds(v.Now) {
		return &Decision{By: "limits", Kind: coppice.EventAgentCleared, Reason: "its limit is over", Limit: &coppice.AgentLimit{Agent: v.Of.ID}}
	}
	return nil
}

func (v *AccountView) due() time.Time {
	if v.Limit == nil {
		return time.Time{}
	}
	return v.Limit.Until
}

// follow makes the turn read the limits again. Dispatch comes later and checks
// the lanes of the account.
func (v *AccountView) follow(t *turn, d *Decision) error {
	if d.Limit != nil {
		t.limitsRead = false
	}
	return nil
}

func (v *AccountView) show(l coppice.AgentLimit) {
	v.Limit = nil
	if l.Class != "" {
		v.Limit = &l
	}
}

// putLimit writes a limit, or removes it if it has no class.
func putLimit(tx store.Tx, l coppice.AgentLimit) error {
	if l.Class == "" {
		return tx.Limits.Drop(l.Agent)
	}
	return tx.Limits.Put(l)
}

// limit asks an account to store a limit that a session reported.
func limit(l coppice.AgentLimit) coppice.Ask {
	return coppice.Ask{Subject: coppice.AccountSubject(l.Agent), Verb: coppice.VerbLimit, Text: l.Text, Args: coppice.Raw(l)}
}
