package worker

import (
	"context"
	"errors"
	"sync"

	"coppice"
	"coppice/fabric"
	"coppice/host"
)

// answerCalls passes the calls of a session's agent to the ledger, and its
// replies to the host, until ctx ends. A call without a reply stays open in the
// host, which passes it on again. The caller waits for the group.
func (f *follower) answerCalls(ctx context.Context, c *host.Client) *sync.WaitGroup {
	var all sync.WaitGroup
	all.Go(func() {
		for try := 1; ; try++ {
			err := f.readCalls(ctx, c, &all)
			// A host of an older release has no calls. When the host has ended,
			// the caller ends ctx.
			if err == nil || ctx.Err() != nil || errors.Is(err, host.ErrOld) {
				return
			}
			if !errors.Is(err, host.ErrGone) { // usually the session has just ended
				f.w.cfg.Logger.Warn("the calls of a session cannot be read; it is tried again", "session", f.id, "try", try, "error", err)
			}
			if f.w.pause(ctx, try) != nil {
				return
			}
		}
	})
	return &all
}

// readCalls follows the calls over one connection. When the connection ends, it
// ends the calls that it started: the host passes them on again.
func (f *follower) readCalls(ctx context.Context, c *host.Client, all *sync.WaitGroup) error {
	connected, cancel := context.WithCancel(ctx)
	defer cancel()
	var open sync.Map // the functions that end calls, by ID
	return c.Calls(connected, func(call host.Call) {
		if call.Gone {
			if end, ok := open.Load(call.ID); ok {
				end.(context.CancelCauseFunc)(errLeft)
			}
			return
		}
		own, end := context.WithCancelCause(connected)
		open.Store(call.ID, end)
		all.Go(func() {
			defer open.Delete(call.ID)
			defer end(nil)
			f.answerCall(own, c, call)
			if errors.Is(context.Cause(own), errLeft) {
				f.leaveCall(ctx, call.ID)
			}
		})
	})
}

// errLeft says that the agent no longer waits for a call.
var errLeft = errors.New("worker: the agent left the call")

// mostReply limits the body of a reply. A request to a host has a limit too.
const mostReply = 8 << 20

// leaveCall reports that the agent no longer waits for a call. If the report is
// lost, what waits for the call ends by its own limit.
func (f *follower) leaveCall(ctx context.Context, id string) {
	_, err := f.w.cfg.Ledger.Call(ctx, fabric.Call{Session: f.id, ID: id, Gone: true})
	if err != nil && ctx.Err() == nil {
		f.w.cfg.Logger.Warn("the end of a call cannot be reported", "call", id, "error", coppice.Public(err).Cause)
	}
}

// answerCall carries out one call. It retries what the control process could not
// do now.
func (f *follower) answerCall(ctx context.Context, c *host.Client, call host.Call) {
	for try := 1; ; try++ {
		r, err := f.w.cfg.Ledger.Call(ctx, fabric.Call{Session: f.id, ID: call.ID, Method: call.Method, Header: call.Header, Body: call.Body})
		switch {
		case coppice.ErrorCode(err) == coppice.ENotFound: // the session was removed
			r, err = fabric.Reply{Status: 404}, nil
		case len(r.Body) > mostReply:
			r = fabric.Reply{Status: 500, Body: []byte("the answer is too large")}
		}
		if err == nil && f.locks {
			// The agent can edit a file as soon as it knows that it holds its
			// lock, so the host learns about the lock first.
			_, err = f.passLocks(ctx, c, -1)
		}
		if err == nil {
			err = c.Reply(ctx, call.ID, host.Reply(r))
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		f.w.cfg.Logger.Error("a call of an agent failed; it is tried again", "call", call.ID, "try", try, "error", coppice.Public(err).Cause)
		if f.w.pause(ctx, try) != nil {
			return
		}
	}
}
