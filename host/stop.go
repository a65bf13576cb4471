package host

import (
	"context"
	"os"
	"syscall"
	"time"

	"coppice/agent"
)

// obey stops the agent when the host itself is told to end.
func (h *host) obey(ctx context.Context, signals <-chan os.Signal) {
	select {
	case <-h.agentDone:
		return
	case <-ctx.Done():
	case <-signals:
	}
	h.stop(ctx, 0)
}

// stop begins to stop the agent; the first one counts. It returns at once.
// Without a grace the session's own is used.
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
	case <-h.begun:
		h.tasks.Go(func() { h.stopSteps(ctx, grace) })
	default: // the app is being started; if the agent runs all the same, it is stopped then
		h.grace = grace
		h.unwanted()
	}
}

// stopSteps goes from the kindest way to the surest, each bounded by grace.
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
	// The group outlives its leader if need be, but a group that is gone may
	// not be signalled: by then its number can be another's.
	select {
	case <-h.agentDone:
		return
	default:
	}
	if err := syscall.Kill(-pid, syscall.SIGTERM); err != nil {
		h.log.Warn("agent's group not signalled", "error", err)
	}
	for !ended() {
		h.sweep(ctx) // again and again: one look can miss what is just being started
	}
}

// dismiss ends an agent that has nothing more to do and stays all the same.
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
	h.ending = true // a stop that comes now comes too late
	h.mu.Unlock()
	if !begun {
		h.stopSteps(h.life, h.spec.Grace.D())
	}
}
