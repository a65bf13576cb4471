package http_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coppice"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
	"coppice/engine"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// withEngine makes a real engine derive statuses.
func withEngine(t testing.TB, s store.Store) func(*apihttp.Config) {
	return func(c *apihttp.Config) {
		eng, err := engine.New(engine.Config{Store: s, Now: c.Now, Nodes: func(context.Context) ([]coppice.Node, error) { return []coppice.Node{{Name: "local"}}, nil }})
		if err != nil {
			t.Fatal(err)
		}
		c.Status = eng
	}
}

// A list and a status are made one time for the same facts. The next answer has
// new output, changes and problems.
func TestAnswersAreMadeOnceOfTheSameFacts(t *testing.T) {
	t.Parallel()
	var queries atomic.Int64
	s := sqlitetest.Open(t, sqlite.Config{Trace: func(string) { queries.Add(1) }})
	wrong := []string{"broken 1"}
	b := apitest.Start(t, s, withEngine(t, s), func(c *apihttp.Config) { c.Warnings = func(int64) []string { return wrong } })
	p := b.Project("/src/app")
	b.Update(func(tx store.Tx) error { return putBusy(tx, p, 20) })
	const most = 5 // the snapshot, the cursors, the lines of those that wrote
	for _, path := range []string{"/api/v1/tasks?limit=50", "/api/v1/status"} {
		get := func(parts ...string) int64 {
			t.Helper()
			before := queries.Load()
			_, text := call(t, b, http.MethodGet, path, "")
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("%s lacks %s:\n%s", path, part, text)
				}
			}
			return queries.Load() - before
		}
		first := get(`"says":"hello"`)
		if again := get(`"says":"hello"`); again > most || first <= most {
			t.Errorf("%s: %d queries, then %d", path, first, again)
		}
		live := b.Session("app-1", coppice.SessionWorking, nil)
		get()
		b.Write(live.ID, coppice.OutputEvent, `{"kind":"text","text":"said `+path+`"}`)
		if n := get(`"says":"said ` + path + `"`); n > most {
			t.Errorf("%s: %d queries after a line", path, n)
		}
		b.Change("app-1", func(k *coppice.Task) { k.Title = "Another " + path })
		get("Another " + path)
		b.Clock.Move(10 * time.Second) // free memory is looked at again
		if n := get("Another " + path); n <= most {
			t.Errorf("%s: %d queries after 10 seconds", path, n)
		}
		if path == "/api/v1/status" {
			get("broken 1")
			wrong[0] = "broken 2"
			get("broken 2")
		}
	}
}

// A client that wrote something finds it in the next list.
func TestListsShowWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	s := sqlitetest.Open(t, sqlite.Config{Path: filepath.Join(t.TempDir(), "coppice.db")})
	b := apitest.Start(t, s, withEngine(t, s))
	b.Project("/src/app")
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 25 {
				title := fmt.Sprintf("task %d of writer %d", i, w)
				resp, text := call(t, b, http.MethodPost, "/api/v1/projects/app/tasks", `{"tasks":[{"title":"`+title+`"}]}`)
				if resp.StatusCode != http.StatusCreated {
					t.Errorf("%d %s", resp.StatusCode, text)
					return
				}
				for _, path := range []string{"/api/v1/tasks?limit=200", "/api/v1/status"} {
					if _, text := call(t, b, http.MethodGet, path, ""); !strings.Contains(text, `"`+title+`"`) {
						t.Errorf("%s lacks %s", path, title)
					}
				}
			}
		})
	}
	wg.Wait()
}
