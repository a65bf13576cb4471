package http_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"coppice"
	"coppice/api/apitest"
	"coppice/store"
	"coppice/store/sqlite"
)

// BenchmarkLive requests the status of 200 live sessions. Before each request a
// third of them have written another line.
func BenchmarkLive(b *testing.B) {
	const live = 200
	s, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "coppice.db"), Sync: sqlite.SyncOff})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	x := apitest.Start(b, s, withEngine(b, s))
	p := x.Project("/src/app")
	var ids []int64
	x.Update(func(tx store.Tx) error {
		for i := range live {
			t := coppice.Task{ProjectID: p.ID, Num: i + 1, Key: coppice.TaskKey(p.Prefix, i+1), Title: fmt.Sprint("task ", i), Track: "main", Agent: "robot", Stage: coppice.StageSession, Sessions: 1}
			if err := tx.Tasks.Put(&t); err != nil {
				return err
			}
			y := coppice.Session{ProjectID: p.ID, TaskID: t.ID, N: 1, Key: coppice.SessionKey(t.Key, 1), Agent: "robot", Role: coppice.RoleImplement, State: coppice.SessionWorking, StartedAt: time.Now()}
			if err := tx.Sessions.Put(&y); err != nil {
				return err
			}
			ids = append(ids, y.ID)
		}
		return nil
	})
	cursor := make([]int64, live)
	write := func(from, step int) {
		x.Update(func(tx store.Tx) error {
			for i := from; i < live; i += step {
				text := fmt.Sprintf("beat %d of session %d", cursor[i], i)
				at := cursor[i]
				cursor[i] += 2
				err := tx.Outputs.Add(ids[i], at, cursor[i], []coppice.Output{
					{SessionID: ids[i], Offset: at, Kind: coppice.OutputStdout, Data: []byte(text + "\n")},
					{SessionID: ids[i], Offset: at + 1, Kind: coppice.OutputEvent, Data: []byte(`{"kind":"text","text":"` + text + `"}`)},
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range 40 {
		write(0, 1)
	}
	for _, path := range []string{"/api/v1/status", "/api/v1/tasks?limit=200"} {
		b.Run(path, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				write(i%3, 3)
				b.StartTimer()
				if resp, text := call(b, x, http.MethodGet, path, ""); resp.StatusCode != http.StatusOK {
					b.Fatal(text)
				}
			}
		})
	}
}
