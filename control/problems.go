package control

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

// manyTries is how often a message fails before its notifier is a problem.
const manyTries = 3

// readMessages finds the notifiers whose newest message failed.
func (f *HealthFacts) readMessages(r store.Reader) error {
	for _, name := range f.Notifiers {
		list, err := r.Notifications.List(store.NotificationFilter{Notifier: name, Most: 10})
		if err != nil {
			return err
		}
		for _, n := range list {
			if n.Test && n.EndedAt.IsZero() || n.Outcome == "" && n.Tries < manyTries {
				continue // it is being sent
			}
			if n.Outcome != coppice.NotificationSent && (n.Outcome == coppice.NotificationFailed || n.Tries >= manyTries) {
				f.Failing = append(f.Failing, n)
			}
			break
		}
	}
	return nil
}

// judgeMessages finds notifiers that do not work.
func judgeMessages(f HealthFacts) (list []api.HealthProblem) {
	for _, n := range f.Failing {
		p := api.HealthProblem{
			Kind: "notify", Text: fmt.Sprintf("The notifier %s does not work: its newest message could not be sent.", n.Notifier),
			Fix: fmt.Sprintf("fix the cause, then run: coppice notify test %s", n.Notifier),
		}
		if n.Failure != nil {
			p.Text = fmt.Sprintf("The notifier %s does not work: %s", n.Notifier, n.Failure.Text)
			if n.Failure.Fix != "" {
				p.Fix = fmt.Sprintf("%s; then run: coppice notify test %s", n.Failure.Fix, n.Notifier)
			}
		}
		list = append(list, p)
	}
	return list
}

// Problems stores a notice of each problem of the server.
type Problems struct {
	Check  func(ctx context.Context, agents bool) (api.Health, error)
	Notice func(context.Context, []engine.Problem) error
	Every  time.Duration
	Log    *slog.Logger
}

// noticed lists the kinds of problem of which notices exist already: they are entries of
// the inbox.
var noticed = []string{"queue", "limit"}

// Run checks the health at intervals until ctx ends.
func (p *Problems) Run(ctx context.Context) error {
	tick := time.NewTicker(p.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := p.RunOnce(ctx); err != nil && ctx.Err() == nil {
				p.Log.Error("the problems of the server could not be stored for notifications", "error", err)
			}
		}
	}
}

// RunOnce checks the health one time.
func (p *Problems) RunOnce(ctx context.Context) error {
	h, err := p.Check(ctx, false)
	if err != nil {
		return err
	}
	var list []engine.Problem
	for _, x := range h.Problems {
		if !slices.Contains(noticed, x.Kind) {
			list = append(list, engine.Problem{Kind: x.Kind, Text: x.Text, Fix: x.Fix})
		}
	}
	return p.Notice(ctx, list)
}
