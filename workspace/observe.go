package workspace

import (
	"context"
	"io"

	"coppice"
)

// Observer follows the commands of the policy while they run. The commands of one
// call run one after another. Its methods are called in order, and must not block:
// the command waits for them.
type Observer interface {
	Started(command string, setup bool)
	Output(b []byte)
	// Ended reports how the command ended: the exit code, the signal that killed it,
	// and whether it took too long.
	Ended(c coppice.CommandRun)
}

type (
	observerKey struct{}
	shownKey    struct{}
)

// shown is a command that an observer follows.
type shown struct {
	by      Observer
	command string
	setup   bool
}

// WithObserver returns a context for work whose commands an observer follows.
func WithObserver(ctx context.Context, o Observer) context.Context {
	return context.WithValue(ctx, observerKey{}, o)
}

// observe names the command that the next runShell runs, as people wrote it.
func observe(ctx context.Context, command string, setup bool) context.Context {
	o, ok := ctx.Value(observerKey{}).(Observer)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, shownKey{}, shown{o, command, setup})
}

// observed reports the start of the command that ctx names. It returns a writer for
// its output, which also writes to the given one, and a function that reports its
// end.
func observed(ctx context.Context, to io.Writer) (io.Writer, func(ran)) {
	s, ok := ctx.Value(shownKey{}).(shown)
	if !ok {
		return to, func(ran) {}
	}
	s.by.Started(s.command, s.setup)
	return &tee{to, s.by}, func(e ran) {
		s.by.Ended(coppice.CommandRun{Exit: e.exit, Signal: e.signal, TimedOut: e.late})
	}
}

// tee passes what is written to it to an observer, too.
type tee struct {
	to io.Writer
	by Observer
}

func (t *tee) Write(b []byte) (int, error) {
	t.by.Output(b)
	return t.to.Write(b)
}
