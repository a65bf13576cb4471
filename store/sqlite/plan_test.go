package sqlite

import (
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

// recorded makes a connection remember the statements that f runs.
func recorded(t *testing.T, s *Store, f func(*tx) error) []string {
	t.Helper()
	c := s.writer
	c.forget()
	if err := f(&tx{reader: s.reader(c)}); err != nil {
		t.Fatal(err)
	}
	var queries []string
	for q := range c.stmts {
		queries = append(queries, q)
	}
	return queries
}

// TestPlans proves that what runs all the time finds its rows by an index, in
// the order in which it wants them.
func TestPlans(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{Path: Memory})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kinds := []coppice.WorkKind{coppice.WorkRun, coppice.WorkCheck}
	for name, f := range map[string]func(*tx) error{
		"NextLane":         func(t *tx) error { _, _, err := t.NextLane(coppice.Lane{ProjectID: 1}); return err },
		"LaneHeads":        func(t *tx) error { _, err := t.LaneHeads(coppice.Lane{ProjectID: 1}, 2); return err },
		"Running":          func(t *tx) error { _, err := t.Running(); return err },
		"LiveSessions":     func(t *tx) error { _, err := t.LiveSessions(); return err },
		"SessionsOf":       func(t *tx) error { _, err := t.SessionsOf(1); return err },
		"LastSession":      func(t *tx) error { _, err := t.LastSession(1); return err },
		"DueTimers":        func(t *tx) error { _, err := t.DueTimers(at(rowID(1)), 2); return err },
		"NextTimer":        func(t *tx) error { _, err := t.NextTimer(); return err },
		"TakeableWork":     func(t *tx) error { _, err := t.TakeableWork([]string{"a", "b"}, kinds, 2); return err },
		"UnsettledWork":    func(t *tx) error { _, err := t.UnsettledWork(1); return err },
		"WorkHeldBy":       func(t *tx) error { _, err := t.WorkHeldBy("w"); return err },
		"CountWork":        func(t *tx) error { _, err := t.CountWork(); return err },
		"WorkByKey":        func(t *tx) error { _, err := t.WorkByKey("k"); return err },
		"TrimWork":         func(t *tx) error { _, err := t.TrimWork(at(rowID(1))); return err },
		"Events":           func(t *tx) error { _, err := t.Events(1, 2, store.EventFilter{}); return err },
		"Events of a task": func(t *tx) error { _, err := t.Events(1, 2, store.EventFilter{TaskID: 1}); return err },
		"Events of kinds": func(t *tx) error {
			_, err := t.Events(1, 2, store.EventFilter{Kinds: []coppice.EventKind{"a", "b"}})
			return err
		},
		"Dependants":     func(t *tx) error { _, err := t.Dependants(1); return err },
		"QueuedLandings": func(t *tx) error { _, err := t.QueuedLandings(1, 1); return err },
		"QueuePlaces":    func(t *tx) error { _, err := t.QueuePlaces(1, 9); return err },
		"LastLanding":    func(t *tx) error { _, err := t.LastLanding(1); return err },
		"WorkspaceOf":    func(t *tx) error { _, err := t.WorkspaceOf(1); return err },
		"OpenQuestion":   func(t *tx) error { _, err := t.OpenQuestion(1); return err },
		"MessagesOf":     func(t *tx) error { _, err := t.MessagesOf(1); return err },
		"TrashOf":        func(t *tx) error { _, err := t.TrashOf(1); return err },
		"Output":         func(t *tx) error { _, err := t.Output(1, 2, 3, coppice.OutputEvent); return err },
		"OutputBefore":   func(t *tx) error { _, err := t.OutputBefore(1, 2, 3, coppice.OutputEvent); return err },
		"Busy":           func(t *tx) error { _, err := t.Busy(1); return err },
		"CountLanes":     func(t *tx) error { _, err := t.CountLanes(1); return err },
		"CountWaits":     func(t *tx) error { _, err := t.CountWaits(1); return err },
		"Pending":        func(t *tx) error { _, err := t.Pending(1, true, 5); return err },
		"Pending of all": func(t *tx) error { _, err := t.Pending(0, false, 5); return err },
		"Tasks":          func(t *tx) error { _, err := t.Tasks(store.TaskFilter{ProjectID: 1, Most: 5}); return err },
	} {
		for _, query := range recorded(t, s, f) {
			if strings.Contains(query, "sqlite_sequence") {
				continue // one row
			}
			for _, step := range plan(t, s, query) {
				scans := strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "INDEX") && step != "SCAN CONSTANT ROW"
				if scans || strings.Contains(step, "TEMP B-TREE") {
					t.Errorf("%s: %s\n%s", name, step, query)
				}
			}
		}
	}
}

func plan(t *testing.T, s *Store, query string) []string {
	t.Helper()
	args := make([]any, 0, 8)
	st, err := s.writer.raw.PrepareContext(t.Context(), "EXPLAIN QUERY PLAN "+query)
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer st.Close()
	rows, err := st.QueryContext(t.Context(), args...)
	for err != nil && len(args) < 40 { // SQLite does not tell how many it wants
		args = append(args, 1)
		rows, err = st.QueryContext(t.Context(), args...)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}
