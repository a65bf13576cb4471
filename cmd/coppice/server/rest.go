package server

import (
	"context"
	"runtime/debug"
	"time"

	"coppice/control"
	"coppice/internal/clock"
	"coppice/internal/resident"
)

// addRest adds what the server does when nothing happens.
func (s *Server) addRest() {
	// Garbage is cheap to collect when nothing happens for a moment. What the
	// database has cached is worth keeping a little longer.
	collect := func(context.Context) error { debug.FreeOSMemory(); return nil }
	forget := func(context.Context) error { s.spaces.Objects.Clear(); return nil }
	release := func(ctx context.Context) error {
		if err := resident.ReleaseProgram(); err != nil {
			s.cfg.Logger.DebugContext(ctx, "the pages of the program stay mapped", "error", err)
		}
		return nil
	}
	trim := func(ctx context.Context) error {
		if err := s.spaces.TrimIdle(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Logger.WarnContext(ctx, "idle workspaces cannot be removed", "error", err)
		}
		return ctx.Err()
	}
	pause := &control.Rest{Store: s.store, Clock: clock.Real(), After: time.Second, Then: []func(context.Context) error{collect}}
	rest := &control.Rest{Store: s.store, Clock: clock.Real(), After: 5 * time.Second, Then: []func(context.Context) error{trim, s.store.Shrink, forget, collect, release}}
	s.set.Add("pause", background(pause.Run))
	s.set.Add("rest", background(rest.Run))
}
