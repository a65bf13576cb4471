package server

import (
	"context"

	"coppice/control"
)

// Waiting says what a Stop that is under way waits for, the oldest first.
func (s *Server) Waiting(ctx context.Context) []string {
	if s.work == nil {
		return nil
	}
	return control.Pending(ctx, s.store, s.work.Pending())
}

// Hurry has a Stop end what can be ended without harm: pushes to a remote.
func (s *Server) Hurry() {
	if s.work != nil {
		s.work.Hurry()
	}
}
