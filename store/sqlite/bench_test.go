package sqlite

import (
	"path/filepath"
	"testing"

	"coppice"
	"coppice/store"
)

func benchStore(b *testing.B, path string) (*Store, *coppice.Task) {
	s, err := Open(b.Context(), Config{Path: path, Sync: SyncOff})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	p := &coppice.Project{Prefix: "app", Path: "/app", Policy: coppice.Policy{Limits: coppice.Limits{Memory: 80}}}
	task := &coppice.Task{
		Key: "app-1", Title: "A title", Body: "A body", Track: "main", Agent: "claude", Stage: coppice.StageQueued,
		Next: &coppice.Next{Role: coppice.RoleImplement, Agent: "claude"},
	}
	err = s.Update(b.Context(), func(tx store.Tx) error {
		if err := tx.Projects.Put(p); err != nil {
			return err
		}
		task.ProjectID = p.ID
		return tx.Tasks.Put(task)
	})
	if err != nil {
		b.Fatal(err)
	}
	return s, task
}

func BenchmarkOpenMemory(b *testing.B) { benchOpen(b, Memory) }

func BenchmarkOpenFile(b *testing.B) { benchOpen(b, filepath.Join(b.TempDir(), "coppice.db")) }

func benchOpen(b *testing.B, path string) {
	for b.Loop() {
		s, err := Open(b.Context(), Config{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkTask(b *testing.B) {
	s, task := benchStore(b, Memory)
	err := s.View(b.Context(), func(r store.Reader) error {
		for b.Loop() {
			if _, err := r.Tasks.Get(task.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkPutTask(b *testing.B) {
	s, task := benchStore(b, Memory)
	benchWrites(b, s, func(tx store.Tx) error {
		task.Round++
		return tx.Tasks.Put(task)
	})
}

// benchWrites measures f in one transaction.
func benchWrites(b *testing.B, s *Store, f func(store.Tx) error) {
	err := s.Update(b.Context(), func(tx store.Tx) error {
		for b.Loop() {
			if err := f(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkAppend(b *testing.B) {
	s, _ := benchStore(b, Memory)
	benchWrites(b, s, func(tx store.Tx) error {
		return tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskStage, TaskID: 1, By: "pipeline"})
	})
}

func BenchmarkUpdate(b *testing.B) {
	for name, path := range map[string]string{"memory": Memory, "file": filepath.Join(b.TempDir(), "coppice.db")} {
		b.Run(name, func(b *testing.B) {
			s, task := benchStore(b, path)
			for b.Loop() {
				if err := s.Update(b.Context(), func(tx store.Tx) error { return tx.Tasks.Put(task) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCommit measures durable Updates from many goroutines in parallel.
func BenchmarkCommit(b *testing.B) {
	s, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), "coppice.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			err := s.Update(b.Context(), func(tx store.Tx) error {
				return tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskStage, By: "pipeline"})
			})
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
}
