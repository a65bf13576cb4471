package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"coppice"
	"coppice/agent"
)

// clientWait is how long a client can take to accept a line before it is
// dropped. The agent never waits for a client.
const clientWait = 5 * time.Second

// serve accepts clients until the session has ended, and returns when all are
// served.
func (h *host) serve(ctx context.Context) {
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		c, err := h.listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				h.log.Error("socket closed", "error", err)
			}
			return
		}
		clients.Go(func() { h.client(ctx, c) })
	}
}

// client answers one client's requests in order.
func (h *host) client(ctx context.Context, c net.Conn) {
	defer c.Close()
	gone := make(chan struct{})
	var watch sync.WaitGroup
	defer watch.Wait()
	defer close(gone)
	watch.Go(func() { // unblocks a read when the session ends
		select {
		case <-h.done:
			_ = c.SetReadDeadline(time.Unix(1, 0))
		case <-gone:
		}
	})
	limit := &io.LimitedReader{R: c}
	in := json.NewDecoder(limit)
	next := func(r *request) error {
		limit.N = maxRequest
		return in.Decode(r)
	}
	for {
		var r request
		if err := next(&r); err != nil {
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) || limit.N <= 0 {
				_ = reply(c, answer{Error: wire(coppice.Errorf(coppice.EInvalid, "the request is not valid"))})
			}
			return
		}
		if r.Op == opFollow {
			h.follow(c)
			return
		}
		if !h.reachable(r.Op) {
			_ = reply(c, answer{Error: wire(coppice.Errorf(coppice.EConflict, "the session ended before its agent ran"))})
			return
		}
		if r.Op == opCalls || r.Op == opAnswerCalls {
			h.followCalls(c, next)
			return
		}
		if r.Op == opAttach {
			h.attach(c, io.MultiReader(in.Buffered(), c), r)
			return
		}
		if err := reply(c, h.answer(ctx, r)); err != nil {
			return
		}
	}
}

// reachable waits until the agent runs, if the request is for the agent. It
// reports whether the request can be answered.
func (h *host) reachable(op string) bool {
	switch op {
	case opPing, opStop, opSnapshot:
		return true
	}
	select {
	case <-h.agentStarted:
		return true
	case <-h.agentDone: // both channels can be closed; then the agent ran
	}
	select {
	case <-h.agentStarted:
		return true
	default:
		return false
	}
}

func reply(c net.Conn, a answer) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := c.SetWriteDeadline(time.Now().Add(clientWait)); err != nil {
		return err
	}
	_, err = c.Write(append(b, '\n'))
	return err
}

// answer carries out a request.
func (h *host) answer(ctx context.Context, r request) answer {
	var err error
	switch r.Op {
	case opPing:
		return answer{OK: true, Version: Version}
	case opSend, opSendImages:
		err = h.deliver(func(d agent.Driver) (agent.Step, error) { return h.sendOnce(d, r) })
	case opInterrupt:
		err = h.interrupt(r)
	case opModel:
		err = h.deliver(func(d agent.Driver) (agent.Step, error) {
			if s, ok := d.(agent.Switcher); ok {
				return s.Model(r.Text)
			}
			return agent.Step{}, agent.ErrCannot
		})
	case opStop:
		h.stop(ctx, time.Duration(r.GraceMS)*time.Millisecond)
	case opSnapshot:
		return answer{OK: true, Snapshot: h.snapshot()}
	case opKeep:
		err = h.keep(r.Data)
	case opReply:
		if err = r.Reply.valid(); err == nil {
			h.calls.answer(r.ID, *r.Reply)
		}
	case opLocks:
		err = h.setLocks(r.Locks)
	default:
		err = tooOld(r.Op)
	}
	if err != nil {
		return answer{Error: wire(err)}
	}
	return answer{OK: true}
}

// sendOnce sends a message, unless it was sent before. The caller holds mu.
func (h *host) sendOnce(d agent.Driver, r request) (agent.Step, error) {
	if r.ID != "" && h.said[r.ID] {
		return agent.Step{}, nil
	}
	step, err := h.send(d, r)
	if err == nil && r.ID != "" {
		h.said[r.ID] = true
	}
	return step, err
}

// interrupt ends the turn and sends the message's text, in one step: an idle
// agent would exit in between. It skips what an earlier request with the same ID
// has done.
func (h *host) interrupt(r request) error {
	var unsaid error
	err := h.deliver(func(d agent.Driver) (agent.Step, error) {
		var step agent.Step
		ended := r.ID + "/interrupt"
		if r.ID == "" || !h.said[ended] {
			var err error
			if step, err = d.Interrupt(); err != nil {
				return step, err
			}
			if r.ID != "" {
				h.said[ended] = true
			}
		}
		if r.Text == "" {
			return step, nil
		}
		said, err := h.sendOnce(d, r)
		if err != nil {
			unsaid = err
			return step, nil
		}
		step.Events = append(step.Events, said.Events...)
		step.Write = append(step.Write, said.Write...)
		step.CloseStdin, step.Done = step.CloseStdin || said.CloseStdin, step.Done || said.Done
		return step, nil
	})
	return errors.Join(err, unsaid)
}

// deliver makes the driver send something to the agent, and returns when the
// agent's stdin has accepted it.
func (h *host) deliver(call func(agent.Driver) (agent.Step, error)) error {
	accepted, err := h.drive(call)
	if err != nil || accepted == nil {
		return err
	}
	return <-accepted // gets a value when the agent ends, or earlier
}

func (h *host) snapshot() *Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &Snapshot{
		State: h.state, End: h.spool.Offset(), Output: h.tail.bytes(),
		Followers: len(h.followers), Dropped: h.dropped,
	}
}

// follower learns that the spool has grown, not by how much. So at most one
// value waits for it, however slow it is.
type follower struct{ wake chan struct{} }

func (f *follower) wakeUp() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// whenLeft returns a channel that is closed when a client has left that sends
// nothing more. The function ends the connection.
func whenLeft(c net.Conn) (left <-chan struct{}, end func()) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		var small [16]byte // io.Copy would keep 8 KiB while the client stays
		for {
			if _, err := c.Read(small[:]); err != nil {
				return
			}
		}
	}()
	return gone, func() {
		c.Close()
		<-gone
	}
}

// follow reports the spool's end to a client whenever it has changed.
func (h *host) follow(c net.Conn) {
	f := &follower{wake: make(chan struct{}, 1)}
	f.wakeUp()
	h.mu.Lock()
	if h.followers == nil {
		h.followers = map[*follower]struct{}{}
	}
	h.followers[f] = struct{}{}
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.followers, f)
		h.mu.Unlock()
	}()
	left, end := whenLeft(c)
	defer end()
	for {
		select {
		case <-f.wake:
		case <-h.done:
		case <-left:
		}
		select {
		case <-h.done:
			_ = reply(c, answer{OK: true, Ended: true, End: h.end()})
			return
		default:
		}
		select {
		case <-left:
			return
		default:
		}
		if err := reply(c, answer{OK: true, End: h.end()}); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				h.mu.Lock()
				h.dropped++
				h.mu.Unlock()
			}
			return
		}
	}
}

func (h *host) end() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.spool.Offset()
}
