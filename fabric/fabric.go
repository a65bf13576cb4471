// Package fabric is the contract between the engine, which offers work, and the
// workers, which execute it. A fabric leases work, fences results and knows
// which nodes are alive.
//
// Delivery is at least once. A worker can get an item again after a crash, and
// two workers can execute one item at the same time if the first was considered
// dead. Only the holder of the current attempt can renew or finish it. Any other
// holder gets ErrLost, stops its work and reports nothing.
package fabric

import (
	"context"
	"encoding/json"
	"errors"

	"coppice"
)

// ErrLost says that a lease is not the current one: it expired and another
// worker got the item, or the item was cancelled or finished.
var ErrLost = errors.New("fabric: lease lost")

// Request says which work a worker can take.
type Request struct {
	Worker string   // its name, the same after a restart
	Pools  []string // the pools it serves
	Wants  []Want   // for what it has capacity
}

// Want is a number of items that a worker can take.
type Want struct {
	Kinds []coppice.WorkKind // each of these
	Most  int                // the maximum of all of them together
}

// Fabric hands work to workers. All methods are safe for concurrent use.
type Fabric interface {
	// TryTake leases work that the request allows and that is available now. It
	// returns none, without an error, if there is none.
	TryTake(ctx context.Context, r Request) ([]coppice.Lease, error)
	// Wait returns when TryTake might return work again, or when ctx ends. It
	// can also return without a reason.
	Wait(ctx context.Context) error
	// Held returns the leases of a worker: after a restart, the work that it had
	// started. The leases keep their attempt.
	Held(ctx context.Context, worker string) ([]coppice.Lease, error)
	// Renew extends leases and returns those that are lost.
	Renew(ctx context.Context, leases []coppice.Lease) (lost []coppice.Lease, err error)
	// Finish reports the result of a lease, once: a value of the kind's result
	// type, or a failure of the work itself. ErrLost means that it was not
	// accepted.
	Finish(ctx context.Context, l coppice.Lease, result json.RawMessage, failure *coppice.Failure) error
	// Announce reports that a node is alive, and its state. Nodes lists the
	// nodes that are alive.
	Announce(ctx context.Context, n coppice.Node) error
	Nodes(ctx context.Context) ([]coppice.Node, error)
}
