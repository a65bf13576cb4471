package host

import (
	"context"

	"coppice"
	"coppice/agent"
)

// setLocks passes the locks of the project to the driver, unless it has a newer
// table. The locks of a project cannot change while the server is away, so the
// driver's copy stays correct.
func (h *host) setLocks(t *coppice.LockTable) error {
	if t == nil {
		return coppice.Errorf(coppice.EInvalid, "the request has no table of locks")
	}
	_, err := h.drive(func(d agent.Driver) (agent.Step, error) {
		if k, ok := d.(agent.Locker); ok && t.Seq >= h.lockSeq {
			h.lockSeq = t.Seq
			k.SetLocks(*t, h.now)
		}
		return agent.Step{}, nil
	})
	return err
}

// noteLocks writes to the output that locks have no effect on this agent, if they
// are enforced and its driver cannot refuse an edit.
func (h *host) noteLocks() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.driver.(agent.Locker); !ok && coppice.EnforcesLocks(h.spec.Request.Locks) {
		h.note("this agent does not ask before it edits a file; locks are not enforced for it")
	}
}

// Locks sends the locks of the session's project to the host, which judges edits
// by them. The host ignores a table that is older than its own.
func (c *Client) Locks(ctx context.Context, t coppice.LockTable) error {
	_, err := c.ask(ctx, request{Op: opLocks, Locks: &t})
	return err
}
