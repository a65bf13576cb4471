package storetest

import (
	"fmt"
	"math"
	"testing"

	"coppice"
	"coppice/store"
)

// testEach reads facts of many tasks with one query and one by one, and compares.
func testEach(t *testing.T, open Open) {
	s := open(t)
	p, other := project(t, s, "app"), project(t, s, "web")
	tasks := []coppice.Task{task(t, s, p, 1, nil), task(t, s, p, 2, nil), task(t, s, other, 1, nil)}
	bare, left := task(t, s, p, 3, nil), task(t, s, p, 4, nil)
	var sessions []int64
	for _, k := range append(tasks, left) {
		for n := range 3 {
			x := session(t, s, k, n+1, nil)
			if k.ID != left.ID {
				sessions = append(sessions, x.ID)
			}
			update(t, s, func(tx store.Tx) error { return talk(tx, k, x) })
		}
	}
	ids := []int64{tasks[2].ID, bare.ID, tasks[0].ID, tasks[1].ID, 999}
	view(t, s, func(r store.Reader) error {
		wantSessions, wantMessages := map[int64][]coppice.Session{}, map[int64][]coppice.Message{}
		wantLandings, wantQuestions := map[int64]coppice.Landing{}, map[int64]coppice.Question{}
		wantTasks, wantKeys := map[int64]coppice.Task{bare.ID: bare}, map[int64]string{bare.ID: bare.Key}
		for _, k := range tasks {
			wantTasks[k.ID], wantKeys[k.ID] = k, k.Key
			wantSessions[k.ID], wantMessages[k.ID] = must(r.Sessions.Of(k.ID)), must(r.Messages.Of(k.ID))
			wantLandings[k.ID], wantQuestions[k.ID] = *must(r.Landings.Last(k.ID)), *must(r.Questions.Open(k.ID))
		}
		same(t, "projects", map[int64]coppice.Project{p.ID: p, other.ID: other}, must(r.Projects.Some([]int64{other.ID, 999, p.ID})))
		same(t, "tasks", wantTasks, must(r.Tasks.Some(ids)))
		same(t, "keys", wantKeys, must(r.Tasks.Keys(ids)))
		same(t, "sessions", wantSessions, must(r.Sessions.OfEach(ids)))
		same(t, "landings", wantLandings, must(r.Landings.LastOfEach(ids)))
		same(t, "questions", wantQuestions, must(r.Questions.OpenOfEach(ids)))
		same(t, "messages", wantMessages, must(r.Messages.OfEach(ids)))
		wantOutput := map[int64][]coppice.Output{}
		for _, id := range sessions {
			wantOutput[id] = must(r.Outputs.Before(id, math.MaxInt64, 2, coppice.OutputEvent))
			same(t, "pieces", 2, len(wantOutput[id]))
		}
		same(t, "output", wantOutput, must(r.Outputs.LastOfEach(append(sessions, 999), 2, coppice.OutputEvent)))
		same(t, "none", 0, len(must(r.Sessions.OfEach(nil)))+len(must(r.Tasks.Some(nil))))
		return nil
	})
}

// talk gives a session output of two kinds, a landing, messages, and questions of
// which the first is answered.
func talk(tx store.Tx, k coppice.Task, x coppice.Session) error {
	var out []coppice.Output
	for i := range int64(6) {
		kind := coppice.OutputEvent
		if i%3 == 2 {
			kind = coppice.OutputStderr
		}
		out = append(out, coppice.Output{SessionID: x.ID, Offset: i, At: start, Kind: kind, Data: fmt.Append(nil, "piece ", i)})
	}
	if err := tx.Outputs.Add(x.ID, 0, 6, out); err != nil {
		return err
	}
	if err := tx.Landings.Put(&coppice.Landing{ProjectID: k.ProjectID, TaskID: k.ID, SessionID: x.ID, Head: x.Key, CreatedAt: start}); err != nil {
		return err
	}
	for _, q := range []coppice.Question{{Text: "old", AnsweredAt: start}, {Text: "open"}} {
		q.TaskID, q.SessionID, q.AskedAt = k.ID, x.ID, start
		if err := tx.Questions.Put(&q); err != nil {
			return err
		}
	}
	return tx.Messages.Put(&coppice.Message{TaskID: k.ID, SessionID: x.ID, Text: x.Key, SentAt: start})
}
