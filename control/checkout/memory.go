package checkout

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"coppice"
	"coppice/features"
	"coppice/store"
)

// remember stores the agreed state, for after a restart. It runs after the
// write of the file. Before the write, the store gets what Coppice is about to
// write: after a crash in between, Coppice recognizes its own status in the
// file.
func (s *Follower) remember(ctx context.Context, p *featureProject, plan features.Plan, written bool) error {
	next := plan.Seen
	if !written {
		for _, m := range plan.Marks {
			plan.Forget(p.seen, m.ID)
		}
	}
	for _, a := range plan.Create {
		if _, made := p.tasks[a.Feature.ID]; !made {
			delete(next, a.Feature.ID)
		}
	}
	return s.save(ctx, p, next)
}

// save stores the state of a project's features file: the features that differ
// from the stored state.
func (s *Follower) save(ctx context.Context, p *featureProject, next map[string]features.Seen) error {
	changed := map[string]json.RawMessage{}
	for id, seen := range next {
		if old, known := p.seen[id]; !known || old != seen {
			changed[id] = coppice.Raw(seen)
		}
	}
	for id := range p.seen {
		if _, stays := next[id]; !stays {
			changed[id] = nil
		}
	}
	if len(changed) == 0 {
		return nil
	}
	err := s.store.Update(ctx, func(tx store.Tx) error { return tx.Features.Put(p.project.ID, changed) })
	if err == nil {
		p.seen = maps.Clone(next)
	}
	return err
}

// remembered returns the stored state of a project's features file.
func remembered(r store.Reader, project int64) (map[string]features.Seen, error) {
	rows, err := r.Features.Of(project)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]features.Seen, len(rows))
	for id, row := range rows {
		var one features.Seen
		if err := json.Unmarshal(row, &one); err != nil {
			return nil, err
		}
		seen[id] = one
	}
	return seen, nil
}

// adopt imports the state of features files that earlier versions stored, in a
// file for each project, and removes these files when the store has everything.
func (s *Follower) adopt(ctx context.Context) error {
	entries, err := os.ReadDir(s.old)
	if missing(err) {
		return nil
	}
	for _, e := range entries {
		name, found := strings.CutSuffix(e.Name(), ".json")
		if project, bad := strconv.ParseInt(name, 10, 64); found && bad == nil {
			if err := s.adoptFile(ctx, project, filepath.Join(s.old, e.Name())); err != nil {
				return err
			}
		}
	}
	if err == nil {
		err = os.RemoveAll(s.old)
	}
	if err != nil {
		s.log.Warn("the old state of features files cannot be removed", "error", err)
	}
	return nil
}

// adoptFile imports the state of one project. The store's own state is newer. A
// file that cannot be read is lost, as in earlier versions.
func (s *Follower) adoptFile(ctx context.Context, project int64, name string) error {
	var seen map[string]json.RawMessage
	text, err := os.ReadFile(name)
	if err == nil {
		var valid map[string]features.Seen
		err = errors.Join(json.Unmarshal(text, &valid), json.Unmarshal(text, &seen))
	}
	if err != nil {
		s.log.Warn("the old state of a features file is lost", "file", name, "error", err)
		return nil
	}
	return s.store.Update(ctx, func(tx store.Tx) error {
		if _, err := tx.Projects.Get(project); coppice.ErrorCode(err) == coppice.ENotFound {
			return nil // it was removed
		} else if err != nil {
			return err
		}
		if newer, err := tx.Features.Of(project); err != nil || len(newer) > 0 {
			return err
		}
		return tx.Features.Put(project, seen)
	})
}
