package notify

import (
	"errors"
	"sync"

	"coppice"
)

// mostReceipts limits the receipts that are remembered.
const mostReceipts = 2000

// Receipts remember which receivers of a message have got it. If a message has several
// receivers and one fails, the repetition is only for that one. A restart forgets them.
type Receipts struct {
	mu    sync.Mutex
	has   map[receipt]bool
	order []receipt
}

type receipt struct{ id, name, to string }

// Each calls send for each receiver that does not have the message yet. If some fail, it
// returns the failure that a person can do most about.
func (r *Receipts) Each(t Target, m Message, send func(to string) error) error {
	var failed error
	for _, to := range t.To {
		k := receipt{m.ID, t.Name, to}
		if r.known(k) {
			continue
		}
		if err := send(to); err != nil {
			if failed == nil || rank(err) < rank(failed) {
				failed = err
			}
			continue
		}
		r.add(k)
	}
	return failed
}

// rank orders failures: one that might pass is repeated, so it comes before those that
// stay.
func rank(err error) int {
	var f *coppice.Failure
	if !errors.As(err, &f) {
		return 0
	}
	switch f.Class {
	case coppice.ClassRateLimit:
		return 1
	case coppice.ClassEnvironment:
		return 2
	case coppice.ClassAuth:
		return 3
	}
	return 4
}

func (r *Receipts) known(k receipt) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.has[k]
}

func (r *Receipts) add(k receipt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.has == nil {
		r.has = map[receipt]bool{}
	}
	if len(r.order) >= mostReceipts {
		delete(r.has, r.order[0])
		r.order = r.order[1:]
	}
	r.has[k] = true
	r.order = append(r.order, k)
}
