package host

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/internal/spool"
)

var errNoDriver = coppice.Errorf(coppice.EUnavailable, "the agent cannot receive messages: its protocol failed").
	WithFix("stop the session")

// drive calls the driver and carries out its step. The channel gets a value when
// the agent's stdin has accepted the step's bytes. It is nil if the step has
// none.
func (h *host) drive(call func(agent.Driver) (agent.Step, error)) (<-chan error, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.driveLocked(call)
}

func (h *host) driveLocked(call func(agent.Driver) (agent.Step, error)) (<-chan error, error) {
	if h.driver == nil {
		return nil, errNoDriver
	}
	step, err := h.guard(call)
	for _, e := range step.Events {
		h.event(spool.Event, h.ownResult(e))
	}
	if err != nil {
		return nil, err
	}
	var accepted <-chan error
	if len(step.Write) > 0 {
		if accepted, err = h.stdin.write(step.Write); err != nil {
			h.note("a message did not reach the agent: " + err.Error())
		}
		h.screenChanged()
	}
	if step.CloseStdin {
		h.stdin.close()
	}
	if step.Done && !h.over {
		h.over = true
		h.tasks.Go(h.dismiss)
	}
	return accepted, err
}

// guard calls the driver. If the driver panics, the agent continues without it.
func (h *host) guard(call func(agent.Driver) (agent.Step, error)) (step agent.Step, err error) {
	defer func() {
		if r := recover(); r != nil {
			h.driver = nil
			h.log.Error("driver panicked", "protocol", h.spec.Protocol, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			h.note(fmt.Sprintf("the %s protocol failed (%v); the agent continues, and its raw output is kept", h.spec.Protocol, r))
			step, err = agent.Step{}, errNoDriver
		}
	}()
	return call(h.driver)
}

// note appends a message from the host itself.
func (h *host) note(text string) {
	h.event(spool.Host, coppice.AgentEvent{Kind: coppice.KindNotice, Text: text})
}

// write appends a frame and wakes the followers. After a failed write the host
// still reads the agent's output, so that the agent can continue, but it keeps
// nothing more: a known end is better than unknown gaps.
func (h *host) write(at time.Time, kind spool.Kind, data []byte) {
	if h.full {
		return
	}
	if _, err := h.spool.Append(at, kind, data); err != nil {
		h.log.Error("spool not written", "error", err)
		text := fmt.Sprintf("the output could not be kept from here on: %v", err)
		h.failed = append(h.failed, text)
		h.full = true
		if b, err := json.Marshal(coppice.AgentEvent{Kind: coppice.KindNotice, Text: text}); err == nil {
			_, _ = h.spool.Append(h.now(), spool.Host, b) // smaller than the failed piece, so it might fit
		}
	}
	h.wake()
}

// wake reports to the followers that the spool has grown, unless more is about
// to follow.
func (h *host) wake() {
	if h.wakeHeld {
		return
	}
	for f := range h.followers {
		f.wakeUp()
	}
}

// tail keeps the last bytes of a stream.
type tail struct{ b []byte }

const tailSize = 64 << 10

func (t *tail) write(b []byte) {
	if len(b) > tailSize {
		b = b[len(b)-tailSize:]
	}
	if len(t.b)+len(b) > 2*tailSize {
		t.b = append(t.b[:0], t.b[len(t.b)-tailSize:]...)
	}
	t.b = append(t.b, b...)
}

func (t *tail) bytes() []byte {
	return append([]byte(nil), t.b[max(0, len(t.b)-tailSize):]...)
}
