// Package local is the fabric of one machine. Leases are rows in the store, and
// the end of a lease is one of the engine's timers, so nothing has to be
// started. It is the only fabric that uses the store's contract.
package local

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"coppice"
	"coppice/fabric"
	"coppice/store"
)

// DefaultLease is how long a lease lasts unless renewed.
const DefaultLease = 30 * time.Second

// timerWork is the engine's timer for a lease.
const timerWork = "work"

// Config has the dependencies of a Fabric. Lease 0 means DefaultLease.
type Config struct {
	Store store.Store
	Now   func() time.Time
	Lease time.Duration
	// Accept returns the result and failure to store. Nil means that they are
	// stored unchanged.
	Accept func(context.Context, coppice.Work, json.RawMessage, *coppice.Failure) (json.RawMessage, *coppice.Failure, error)
}

// Fabric hands out the store's work.
type Fabric struct {
	cfg    Config
	offers store.Watch // for the lifetime of the store

	mu    sync.Mutex
	nodes map[string]coppice.Node
}

var _ fabric.Fabric = (*Fabric)(nil)

// New returns a Fabric.
func New(c Config) *Fabric {
	if c.Lease == 0 {
		c.Lease = DefaultLease
	}
	return &Fabric{cfg: c, offers: c.Store.Watch(store.TopicWork), nodes: map[string]coppice.Node{}}
}

// TryTake leases available work, the most important first.
func (f *Fabric) TryTake(ctx context.Context, r fabric.Request) ([]coppice.Lease, error) {
	// Most calls find nothing, so a read comes first, which does not occupy the
	// writer.
	var wants []fabric.Want
	err := f.cfg.Store.View(ctx, func(s store.Reader) error {
		for _, want := range r.Wants {
			if len(want.Kinds) == 0 || want.Most < 1 {
				continue
			}
			works, err := s.Work.Takeable(r.Pools, want.Kinds, 1)
			if err != nil {
				return err
			}
			if len(works) > 0 {
				wants = append(wants, want)
			}
		}
		return nil
	})
	if err != nil || len(wants) == 0 {
		return nil, err
	}
	var leases []coppice.Lease
	err = f.cfg.Store.Update(ctx, func(tx store.Tx) error {
		leases = nil
		now := f.cfg.Now().UTC()
		for _, want := range wants {
			works, err := tx.Work.Takeable(r.Pools, want.Kinds, want.Most)
			if err != nil {
				return err
			}
			for _, w := range works {
				w.State, w.Worker, w.TakenAt, w.LeaseUntil = coppice.WorkTaken, r.Worker, now, now.Add(f.cfg.Lease)
				w.Attempt++
				if err := f.put(tx, &w); err != nil {
					return err
				}
				leases = append(leases, lease(w))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err // what was not committed is not taken
	}
	return leases, nil
}

// Wait returns when work might be available that was not at its last return. It
// serves one caller: of two, one could miss a change that the other has seen.
func (f *Fabric) Wait(ctx context.Context) error {
	_, err := f.offers.Wait(ctx)
	return err
}

// Held returns the work that a worker had started.
func (f *Fabric) Held(ctx context.Context, worker string) ([]coppice.Lease, error) {
	var leases []coppice.Lease
	err := f.cfg.Store.View(ctx, func(r store.Reader) error {
		works, err := r.Work.HeldBy(worker)
		for _, w := range works {
			leases = append(leases, lease(w))
		}
		return err
	})
	return leases, err
}

// Renew extends leases.
func (f *Fabric) Renew(ctx context.Context, leases []coppice.Lease) (lost []coppice.Lease, err error) {
	err = f.cfg.Store.Update(ctx, func(tx store.Tx) error {
		until := f.cfg.Now().UTC().Add(f.cfg.Lease)
		if lost, err = tx.Work.Renew(leases, until); err != nil {
			return err
		}
		var timers []string
		for _, l := range leases {
			if !slices.ContainsFunc(lost, func(x coppice.Lease) bool { return x.Work.ID == l.Work.ID && x.Attempt == l.Attempt }) {
				timers = append(timers, timerID(l.Work.ID))
			}
		}
		return tx.Timers.Postpone(timerWork, timers, until)
	})
	return lost, err
}

// Finish stores a result.
func (f *Fabric) Finish(ctx context.Context, l coppice.Lease, result json.RawMessage, failure *coppice.Failure) (err error) {
	if f.cfg.Accept != nil {
		if result, failure, err = f.cfg.Accept(ctx, l.Work, result, failure); err != nil {
			return err
		}
	}
	return f.cfg.Store.Update(ctx, func(tx store.Tx) error {
		w, ok, err := current(tx, l)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s, attempt %d: %w", l.Work.Key, l.Attempt, fabric.ErrLost)
		}
		now := f.cfg.Now().UTC()
		w.State, w.FinishedAt, w.LeaseUntil = coppice.WorkFinished, now, time.Time{}
		w.Result, w.Failure = result, failure
		if failure != nil {
			w.Result = nil
		}
		if err := f.put(tx, &w); err != nil {
			return err
		}
		ev := &coppice.Event{
			At: now, Kind: coppice.EventWorkFinished, ProjectID: w.ProjectID, TaskID: w.TaskID, SessionID: w.SessionID, About: w.Subject,
			Subject: w.Key, By: l.Worker, Reason: string(w.Kind),
		}
		if failure != nil {
			ev.Reason += ": " + failure.Text
		}
		return tx.Log.Append(ev)
	})
}

// Announce reports that a node is alive. On one machine it is alive while the
// process runs.
func (f *Fabric) Announce(_ context.Context, n coppice.Node) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[n.Name] = n
	return nil
}

// Nodes lists the nodes by name.
func (f *Fabric) Nodes(context.Context) ([]coppice.Node, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	nodes := make([]coppice.Node, 0, len(f.nodes))
	for _, n := range f.nodes {
		nodes = append(nodes, n)
	}
	sort.Slice(nodes, func(i, j int) bool { return nodes[i].Name < nodes[j].Name })
	return nodes, nil
}

// put writes a work item and the timer that ends its lease.
func (f *Fabric) put(tx store.Tx, w *coppice.Work) error {
	if err := tx.Work.Put(w); err != nil {
		return err
	}
	return tx.Timers.Set(store.Timer{Kind: timerWork, ID: timerID(w.ID), At: w.LeaseUntil})
}

func timerID(work int64) string { return strconv.FormatInt(work, 10) }

// current returns the work of a lease, and whether the lease is the current one.
func current(tx store.Tx, l coppice.Lease) (coppice.Work, bool, error) {
	w, err := tx.Work.Get(l.Work.ID)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return w, false, nil
	}
	ok := w.State == coppice.WorkTaken && w.Attempt == l.Attempt && w.Worker == l.Worker
	return w, ok, err
}

func lease(w coppice.Work) coppice.Lease {
	return coppice.Lease{Work: w, Attempt: w.Attempt, Worker: w.Worker, Until: w.LeaseUntil}
}
