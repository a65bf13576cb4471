package engine

import (
	"context"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// What tests ask for most, in short.

func (b *bundle) Stop(ctx context.Context, key string) (coppice.Task, error) {
	return b.Ask(ctx, key, coppice.VerbStop, verb.Request{})
}

func (b *bundle) Retry(ctx context.Context, key, note string) (coppice.Task, error) {
	return b.Ask(ctx, key, coppice.VerbRetry, verb.Request{Text: note})
}

func (b *bundle) Land(ctx context.Context, key string) (coppice.Task, error) {
	return b.Ask(ctx, key, coppice.VerbLand, verb.Request{})
}

func (b *bundle) Continue(ctx context.Context, key, text string) (coppice.Task, error) {
	return b.Ask(ctx, key, coppice.VerbContinue, verb.Request{Text: text})
}

func (b *bundle) Take(ctx context.Context, key string) (coppice.Task, error) {
	return b.Ask(ctx, key, coppice.VerbTake, verb.Request{})
}

func (b *bundle) Give(ctx context.Context, key, text string) (coppice.Task, error) {
	return b.Ask(ctx, key, coppice.VerbGive, verb.Request{Text: text})
}

func (b *bundle) Requeue(ctx context.Context, key string, r verb.Request) (coppice.Task, error) {
	return b.Ask(ctx, key, coppice.VerbRequeue, r)
}

// asks are the open requests to a task.
func (b *bundle) asks(t coppice.Task) []coppice.Ask {
	return read(b, func(r store.Reader) ([]coppice.Ask, error) { return r.Asks.Open(coppice.TaskSubject(t.ID)) })
}

// requested gives a view open requests.
func requested(list ...coppice.Ask) func(*View) {
	return func(v *View) {
		for _, a := range list {
			a.ID = int64(len(v.Asks) + 1)
			v.Asks = append(v.Asks, a)
		}
	}
}

// say is an open request with a verb.
func say(v coppice.Verb, text ...string) func(*View) {
	a := coppice.Ask{Verb: v, By: coppice.Actor{Kind: coppice.ActorPerson}}
	if len(text) > 0 {
		a.Text = text[0]
	}
	return requested(a)
}
