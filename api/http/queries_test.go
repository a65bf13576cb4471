package http_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"coppice"
	"coppice/api/apitest"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// stages are the stages of the tasks of a test, in turn. Together they need
// everything that a list reads.
var stages = []coppice.Stage{
	coppice.StageSession, coppice.StageQueued, coppice.StageLanding, coppice.StageWaiting, coppice.StageChecking,
	coppice.StageHeld, coppice.StageEnded, coppice.StageSession, coppice.StageLanding, coppice.StageEnded,
}

// putBusy gives a project n tasks in all stages, with sessions, output, landings,
// questions and messages.
func putBusy(tx store.Tx, p coppice.Project, n int) error {
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	queue, err := tx.Queues.Of(p.ID, "")
	if err != nil {
		return err
	}
	var last coppice.Task
	for i := range n {
		stage := stages[i%len(stages)]
		t := coppice.Task{
			ProjectID: p.ID, Num: i + 1, Key: coppice.TaskKey(p.Prefix, i+1), Title: fmt.Sprint("task ", i), Track: "main", Agent: "robot",
			Stage: stage, Sessions: 2,
		}
		if last.ID != 0 {
			t.After = []int64{last.ID}
		}
		if stage == coppice.StageQueued {
			t.Next = &coppice.Next{Role: coppice.RoleImplement, Agent: "robot"}
		}
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		last = t
		var s coppice.Session
		for k := 1; k <= 2; k++ {
			s = coppice.Session{ProjectID: p.ID, TaskID: t.ID, N: k, Key: coppice.SessionKey(t.Key, k), Agent: "robot", State: coppice.SessionDone, Summary: "done"}
			if k == 2 && stage == coppice.StageSession {
				s.State = coppice.SessionIdle
			}
			if err := tx.Sessions.Put(&s); err != nil {
				return err
			}
			said := coppice.Output{SessionID: s.ID, Offset: 0, Kind: coppice.OutputEvent, Data: []byte(`{"kind":"text","text":"hello"}`)}
			if err := tx.Outputs.Add(s.ID, 0, 8, []coppice.Output{said}); err != nil {
				return err
			}
		}
		l := coppice.Landing{ProjectID: p.ID, TaskID: t.ID, QueueID: queue.ID, QueuedAt: noon}
		if stage != coppice.StageLanding {
			l.EndedAt = noon
		}
		if err := tx.Landings.Put(&l); err != nil {
			return err
		}
		if i%20 == 0 { // the other half has an idle session and no question
			if err := tx.Questions.Put(&coppice.Question{TaskID: t.ID, SessionID: s.ID, Text: "which?"}); err != nil {
				return err
			}
		}
		if err := tx.Messages.Put(&coppice.Message{TaskID: t.ID, Text: "hi"}); err != nil {
			return err
		}
	}
	return nil
}

// A list takes as many queries for many tasks as for a few.
func TestListsTakeABoundedNumberOfQueries(t *testing.T) {
	t.Parallel()
	var queries atomic.Int64
	s := sqlitetest.Open(t, sqlite.Config{Trace: func(string) { queries.Add(1) }})
	b := apitest.Start(t, s, withEngine(t, s))
	few, many := b.Project("/src/few"), b.Project("/src/many")
	b.Update(func(tx store.Tx) error { return putBusy(tx, few, 10) })
	b.Update(func(tx store.Tx) error { return putBusy(tx, many, 200) })
	count := func(path string) int64 {
		before := queries.Load()
		resp, text := call(t, b, http.MethodGet, path, "")
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", path, resp.StatusCode, text)
		}
		return queries.Load() - before
	}
	count("/api/v1/tasks?limit=500") // what sessions say is read once
	for name, paths := range map[string][2]string{
		"a page of tasks": {"/api/v1/tasks?project=many&limit=10", "/api/v1/tasks?project=many&limit=200"},
		"all tasks":       {"/api/v1/tasks?project=few&limit=500", "/api/v1/tasks?project=many&limit=500"},
		"status":          {"/api/v1/status?project=few", "/api/v1/status?project=many"},
	} {
		if a, z := count(paths[0]), count(paths[1]); a != z || a == 0 {
			t.Errorf("%s: %d queries for 10 tasks, %d for 200", name, a, z)
		} else {
			t.Logf("%s: %d queries", name, a)
		}
	}
}
