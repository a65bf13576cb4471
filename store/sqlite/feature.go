package sqlite

import (
	"encoding/json"
	"maps"
	"slices"

	"coppice"
)

func (r features) Of(project int64) (map[string]json.RawMessage, error) {
	rows, err := r.q.FeaturesOf(r.ctx, project)
	seen := make(map[string]json.RawMessage, len(rows))
	for _, row := range rows {
		seen[row.Feature] = json.RawMessage(row.Seen)
	}
	return seen, err
}

func (t features) Put(project int64, seen map[string]json.RawMessage) error {
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		var err error
		if seen[id] == nil {
			err = t.q.DropFeature(t.ctx, project, id)
		} else {
			err = t.q.PutFeature(t.ctx, project, id, string(seen[id]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r features) Tasks(project int64) ([]coppice.Task, error) {
	return tasks(r).inOrder(r.q.FeatureTasks(r.ctx, project))
}
