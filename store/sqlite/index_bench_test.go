package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"coppice"
	"coppice/store"
)

const (
	benchSessions = 2000
	benchPieces   = 500 // of each
)

// benchWords returns texts with few common and many rare words, as agents write
// them.
func benchWords() func() string {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.2, 4, 60_000)
	return func() string {
		var b strings.Builder
		for range 8 + r.IntN(24) {
			n := zipf.Uint64()
			fmt.Fprintf(&b, "%c%c%s ", 'a'+n%26, 'a'+n/26%26, fmt.Sprintf("word%d", n))
		}
		return b.String()
	}
}

// BenchmarkSearch searches a million pieces of output of two projects.
func BenchmarkSearch(b *testing.B) {
	dir := b.TempDir()
	s, x := searched(b, filepath.Join(dir, "coppice.db"), filepath.Join(dir, "search.db"))
	defer func() { x.Close(); s.Close() }()
	text := benchWords()
	var total int64
	for _, prefix := range []string{"app", "web"} {
		err := s.Update(b.Context(), func(tx store.Tx) error {
			p := coppice.Project{Prefix: prefix, Path: "/" + prefix, Policy: coppice.DefaultPolicy()}
			if err := tx.Projects.Put(&p); err != nil {
				return err
			}
			for i := range benchSessions / 2 {
				k := coppice.Task{ProjectID: p.ID, Num: i + 1, Key: coppice.TaskKey(prefix, i+1), Title: text(), Stage: coppice.StageEnded, Outcome: coppice.OutcomeDone}
				if err := tx.Tasks.Put(&k); err != nil {
					return err
				}
				c := coppice.Session{ProjectID: p.ID, TaskID: k.ID, N: 1, Key: k.Key + ".1", State: coppice.SessionDone}
				if err := tx.Sessions.Put(&c); err != nil {
					return err
				}
				out := make([]coppice.Output, benchPieces)
				for j := range out {
					out[j] = coppice.Output{SessionID: c.ID, Offset: int64(j), Kind: coppice.OutputEvent, Data: []byte(`{"kind":"text","text":"` + text() + `"}`)}
					total += int64(len(out[j].Data))
				}
				if err := tx.Outputs.Add(c.ID, 0, benchPieces, out); err != nil {
					return err
				}
			}
			return tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskCreated, TaskID: 1})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("catch up", func(b *testing.B) {
		for b.Loop() {
			if err := x.CatchUp(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	size := func(name string) float64 {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		return float64(info.Size()) / 1e6
	}
	b.Logf("%d pieces, %.0f MB of output; database %.0f MB, index %.0f MB", benchSessions*benchPieces, float64(total)/1e6, size("coppice.db"), size("search.db"))
	common, rare := "aaword0", "word59"
	for _, q := range []string{common, "aa", "aaw", "aawo", "aawor", rare, "zz", "bawo caw", common + " baword1", common + " -baword1", `"aaword0 baword1"`, "aaword0 zzword675 qqword432", "nowhere"} {
		for name, project := range map[string]int64{"": 0, "in a project ": 2} {
			b.Run(name+q, func(b *testing.B) {
				var before, after syscall.Rusage
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
				defer func() {
					_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
					b.ReportMetric(float64(after.Utime.Nano()-before.Utime.Nano())/1e6/float64(b.N), "cpu-ms/op")
				}()
				for b.Loop() {
					_, err := x.Search(b.Context(), store.SearchQuery{Terms: store.ParseSearch(q), ProjectID: project, Tasks: true, Output: true, Most: 50})
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
