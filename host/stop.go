package host

import (
	"context"
	"os"
	"syscall"
	"time"

	"coppice/agent"
)

// stopOnSignal stops the agent when the host itself gets a signal.
func (h *host) stopOnSignal(ctx context.Context, signals <-chan os.Signal) {
	select {
	case <-h.agentDone:
		return
	case <-ctx.Done():
	case <-signals:
	}
	h.stop(ctx, 0)
}

// stop starts to stop the agent and returns immediately. Only the first call has
// an effect. Without a grace the session's own is used.
func (h *host) stop(ctx context.Context, grace time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.agentDone:
		return
	default:
	}
	if h.stopping || h.ending {
		return
	}
	h.stopping = true
	if grace <= 0 {
		grace = h.spec.Grace.D()
	}
	select {
	case <-h.agentStarted:
		h.tasks.Go(func() { h.stopSteps(ctx, grace) })
	default: // the app is being started; if the agent starts after all, it is stopped then
		h.grace = grace
		h.cancelAppWait()
	}
}

// stopSteps goes from the most polite step to the surest. Each takes at most
// grace.
func (h *host) stopSteps(ctx context.Context, grace time.Duration) {
	ended := func() bool {
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-h.agentDone:
			return true
		case <-t.C:
			return false
		}
	}
	asked := false
	h.drive(func(d agent.Driver) (agent.Step, error) {
		step := d.Stop()
		asked = len(step.Write) > 0 || step.CloseStdin
		return step, nil
	})
	if asked && ended() {
		return
	}
	if h.stdin.close() && ended() {
		return
	}
	h.mu.Lock()
	pid := h.state.AgentPID
	h.mu.Unlock()
	// The group can outlive its leader. A group that is gone must not be
	// signalled: its number might belong to another group by now.
	select {
	case <-h.agentDone:
		return
	default:
	}
	if err := syscall.Kill(-pid, syscall.SIGTERM); err != nil {
		h.log.Warn("agent's group not signalled", "error", err)
	}
	for !ended() {
		h.sweep(ctx) // repeated: one scan can miss a process that is just being started
	}
}

// dismiss ends an agent that has nothing more to do and does not exit.
func (h *host) dismiss() {
	t := time.NewTimer(h.spec.Grace.D())
	defer t.Stop()
	select {
	case <-h.agentDone:
		return
	case <-t.C:
	}
	h.mu.Lock()
	begun := h.stopping || h.ending
	h.ending = true // a stop is too late now
	h.mu.Unlock()
	if !begun {
		h.stopSteps(h.life, h.spec.Grace.D())
	}
}
