package engine

import (
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
