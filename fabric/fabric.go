// Package fabric is the contract between the engine, which offers work, and
// the workers, which do it. It hands out leases, fences results and knows which
// nodes are alive.
//
// Delivery is at least once: a worker may be handed an item again after a
// crash, and two workers may execute one item for a while when the first was
// thought dead. Only the holder of the current attempt may renew or finish it;
// everybody else gets ErrLost, stops what it does and reports nothing.
package fabric

import (
	"context"
	"encoding/json"
	"errors"

	"coppice"
)

// ErrLost says that a lease is no longer the current one: it ran out and the
// item was handed to another, or the item was cancelled or finished.
var ErrLost = errors.New("fabric: lease lost")

// Request says what a worker can take.
type Request struct {
	Worker string             // its name, the same after a restart
	Pools  []string           // the pools it serves
	Kinds  []coppice.WorkKind // the kinds it has room for
	Most   int                // at most so many, at least 1
}

// Fabric hands work to workers. All methods may be called from any goroutine.
type Fabric interface {
	// TryTake leases what the request allows and can be had at once; none is
	// no error.
	TryTake(ctx context.Context, r Request) ([]coppice.Lease, error)
	// Wait returns when TryTake may give something again, or ctx ends. It may
	// return for no reason.
	Wait(ctx context.Context) error
	// Held returns the leases a worker holds: after a restart, what it had
	// begun. The leases keep their attempt.
	Held(ctx context.Context, worker string) ([]coppice.Lease, error)
	// Renew prolongs leases and returns those that are lost.
	Renew(ctx context.Context, leases []coppice.Lease) (lost []coppice.Lease, err error)
	// Finish hands in the result of a lease, once: a value of the kind's
	// result type, or a failure of the work itself. ErrLost means it was not
	// accepted.
	Finish(ctx context.Context, l coppice.Lease, result json.RawMessage, failure *coppice.Failure) error
	// Announce tells that a node is alive and how it fares; Nodes lists those
	// alive.
	Announce(ctx context.Context, n coppice.Node) error
	Nodes(ctx context.Context) ([]coppice.Node, error)
}
