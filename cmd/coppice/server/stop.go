package server

import (
	"context"

	"coppice/control"
)

// Waiting returns what a Stop in progress waits for, the oldest first.
func (s *Server) Waiting(ctx context.Context) []string {
	if s.work == nil {
		return nil
	}
	return control.Pending(ctx, s.store, s.work.Pending())
}

// Hurry makes a Stop end what is safe to end: pushes to a remote.
func (s *Server) Hurry() {
	if s.work != nil {
		s.work.Hurry()
	}
}
