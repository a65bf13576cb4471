package cli_test

import (
	"context"
	"testing"
	"time"

	"coppice"
	"coppice/api/apitest"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/cmd/coppice/cli"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// found is a searcher that always finds the same.
type found struct{ store.SearchPage }

func (f found) Search(_ context.Context, q store.SearchQuery) (store.SearchPage, error) {
	if len(q.Terms) == 0 {
		return store.SearchPage{}, coppice.Errorf(coppice.EInvalid, "there is nothing to look for").WithFix("write a word").WithField("q")
	}
	if q.Terms[0].Words[0] == "nothing" {
		return store.SearchPage{}, nil
	}
	return f.SearchPage, nil
}

func TestFindGolden(t *testing.T) {
	t.Parallel()
	db := sqlitetest.Open(t, sqlite.Config{})
	at := time.Date(2026, 3, 4, 11, 58, 0, 0, time.UTC)
	b := apitest.Start(t, db, func(c *apihttp.Config) {
		c.Search = found{store.SearchPage{More: true, Behind: true, Hits: []store.Hit{
			{Task: "app-1", Title: nasty, At: at, Text: "app-1 fix the 🦭 walrus", Marks: [][2]int{{19, 6}}},
			{Task: "app-1", Title: "Feed", Session: "app-1.1", Offset: 7, At: at, Text: "a \u202e walrus is fed", Marks: [][2]int{{6, 6}}},
			{Task: "app-1", Title: "Feed", Session: "app-1.1", Offset: 9, Kind: coppice.OutputApp, At: at, Text: "GET /walrus", Marks: [][2]int{{5, 6}}},
			{Task: "app-1", Title: "Feed", Check: 3, Command: "make\ttest", At: at, Text: "no walrus", Marks: [][2]int{{3, 6}}},
		}}}
	})
	s := &shell{Bundle: b, env: cli.Env{
		Client: func() (*client.Client, error) { return client.At(b.Server.URL(), apitest.Token) }, Dir: "/src/app", Now: b.Clock.Now,
	}}
	app := s.Project("/src/app")
	s.golden(t, "usage-none", "usage")
	for _, title := range []string{"Feed the walrus", "Feed the seal"} {
		key := s.Task("app", coppice.NewTask{Title: title}).Key
		s.Session(key, coppice.SessionDone, func(x *coppice.Session) {
			x.Model, x.Usage = "big", coppice.Usage{InputTokens: 1234, OutputTokens: 45678, CacheRead: 12_345_678, CostUSD: 1.5}
		})
	}
	s.Change("app-1", func(t *coppice.Task) { t.Stage, t.Wait, t.Outcome = coppice.StageEnded, nil, coppice.OutcomeDone })
	s.golden(t, "search", "search", "walrus")
	s.golden(t, "search-json", "search", "walrus", "--json")
	s.golden(t, "search-nothing", "search", "nothing")
	s.golden(t, "search-wordless", "search", "--", "--")
	s.golden(t, "search-wrong", "search", "x", "--kind", "picture")
	app.Policy.Budget = coppice.BudgetPolicy{Task: 2, Day: 5}
	s.Update(func(tx store.Tx) error { return tx.Projects.Put(&app) })
	s.golden(t, "usage", "usage")
	s.golden(t, "usage-tasks", "usage", "--tasks", "--from", "2026-03-01")
	s.golden(t, "usage-wrong", "usage", "--from", "monday")
	s.golden(t, "archive", "archive", "app-2", "app-1", "app-9")
	s.golden(t, "list-archived", "list", "--archived")
	s.golden(t, "list-unarchived", "list")
	s.golden(t, "unarchive", "unarchive", "app-1")
	s.golden(t, "diff-session", "diff", "app-1", "--session")
	s.Session("app-2", coppice.SessionDone, func(x *coppice.Session) {
		x.Model, x.Usage = "new", coppice.Usage{OutputTokens: 1000, CostUSD: 0.18, Priced: true, Estimated: true}
	})
	s.Update(func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix("app")
		if err != nil {
			return err
		}
		p.Policy.Budget = coppice.BudgetPolicy{Task: 5, Day: 20}
		return tx.Projects.Put(&p)
	})
	s.golden(t, "usage-budgets", "usage")
	s.env.Color = true
	s.golden(t, "search-colour", "search", "walrus")
}
