package checkout

import (
	"context"
	"slices"

	"coppice"
	"coppice/store"
)

// source is the subject of a warning, and its author in the log.
type source string

const (
	fromPolicy   source = "policy"
	fromFeatures source = "features"
)

// Warnings returns the problems of a project's policy and features file.
func (s *Follower) Warnings(project int64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat(s.warnings[project][fromPolicy], s.warnings[project][fromFeatures])
}

// FeatureWarnings returns the problems of a project's features file.
func (s *Follower) FeatureWarnings(project int64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.warnings[project][fromFeatures])
}

// warn publishes the warnings of a project. New ones are written to its events
// and the log first, so that a person who sees a warning finds its event.
func (s *Follower) warn(ctx context.Context, p coppice.Project, about source, list []string) {
	s.mu.Lock()
	old := s.warnings[p.ID][about] // only this goroutine changes them
	s.mu.Unlock()
	var fresh []string
	for _, w := range list {
		if !slices.Contains(old, w) {
			fresh = append(fresh, w)
		}
	}
	s.say(ctx, p, about, fresh)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warnings == nil {
		s.warnings = map[int64]map[source][]string{}
	}
	if s.warnings[p.ID] == nil {
		s.warnings[p.ID] = map[source][]string{}
	}
	s.warnings[p.ID][about] = list
}

// say writes sentences to the project's events and the log.
func (s *Follower) say(ctx context.Context, p coppice.Project, about source, list []string) {
	if len(list) == 0 {
		return
	}
	var events []*coppice.Event
	for _, text := range list {
		s.log.Warn("a project's checkout", "project", p.Prefix, "about", about, "warning", text)
		events = append(events, &coppice.Event{
			At: s.clock.Now().UTC(), Kind: coppice.EventProjectWarned, ProjectID: p.ID, Subject: p.Prefix, By: string(about), Reason: text,
		})
	}
	if err := s.store.Update(ctx, func(tx store.Tx) error { return tx.Log.Append(events...) }); err != nil && ctx.Err() == nil {
		s.log.Error("a warning could not be stored", "error", err)
	}
}
