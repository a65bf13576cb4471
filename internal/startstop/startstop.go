// Package startstop starts the long-lived parts of a program in order and stops
// them in the reverse order, so that no caller writes that clean-up by hand.
package startstop

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Service is a part that lives long. Start returns once it is ready, or fails
// and leaves nothing behind; the context it gets lives until the service was
// stopped. Stop returns once everything the service began has ended.
type Service interface {
	Start(ctx context.Context) error
	Stop()
}

var (
	// ErrStarted is returned by a second Start.
	ErrStarted = errors.New("startstop: already started")
	// ErrStopped is returned by a Start that Stop came before or into.
	ErrStopped = errors.New("startstop: stopped")
)

// Set is a list of services that live and end together. It is a Service
// itself, so sets nest. A set is used once: it starts once and, however often
// and early Stop is called, each of its services is stopped exactly once.
type Set struct {
	parts []part

	mu      sync.Mutex
	started bool
	stopped bool
	cancel  context.CancelCauseFunc // ends the services' context
	begun   chan struct{}           // closed when Start is through
	up      []part                  // the running services; owned by Start until begun is closed
	down    chan struct{}           // closed when the last service has stopped
}

type part struct {
	name    string
	service Service
}

// Add appends a service. It must not be called once Start was.
func (s *Set) Add(name string, service Service) {
	s.parts = append(s.parts, part{name, service})
}

// Start starts the services in the order in which they were added. When one
// fails, those before it are stopped in reverse and the error names the one
// that failed. A Stop from elsewhere cancels the service that is starting.
func (s *Set) Start(ctx context.Context) error {
	s.mu.Lock()
	switch {
	case s.stopped:
		s.mu.Unlock()
		return ErrStopped
	case s.started:
		s.mu.Unlock()
		return ErrStarted
	}
	s.started = true
	s.begun = make(chan struct{})
	ctx, s.cancel = context.WithCancelCause(ctx)
	s.mu.Unlock()
	defer close(s.begun)

	for _, p := range s.parts {
		err := context.Cause(ctx)
		if err == nil {
			err = p.service.Start(ctx)
		}
		if err != nil {
			s.unwind()
			return fmt.Errorf("starting %s: %w", p.name, err)
		}
		s.up = append(s.up, p)
	}
	return nil
}

// Stop stops the running services, the last started first, and returns when all have
// ended. Every call returns only then.
func (s *Set) Stop() {
	s.mu.Lock()
	first := !s.stopped
	s.stopped = true
	if first {
		s.down = make(chan struct{})
	}
	begun, cancel, down := s.begun, s.cancel, s.down
	s.mu.Unlock()
	if !first {
		<-down
		return
	}
	defer close(down)
	if begun == nil {
		return // never started
	}
	select {
	case <-begun:
	default:
		cancel(ErrStopped)
		<-begun
	}
	s.unwind()
}

// unwind stops the running services in reverse. Start calls it before begun is
// closed and the one effective Stop after, so they never meet.
func (s *Set) unwind() {
	for len(s.up) > 0 {
		last := s.up[len(s.up)-1]
		s.up = s.up[:len(s.up)-1]
		last.service.Stop()
	}
	s.cancel(ErrStopped)
}
