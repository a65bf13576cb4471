package cli_test

import (
	"context"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/cmd/coppice/cli"
	"coppice/engine"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// reviews shows a change of four files. Comments are stored for real.
type reviews struct {
	*engine.Intake
	store store.Store
}

func (r reviews) Review(ctx context.Context, t coppice.Task, _ api.ReviewPart) (out api.Review, err error) {
	out = api.Review{Task: t.Key, Base: "b1", Head: "h1", Landing: 1, Checks: []api.Check{}, Viewed: 1, Files: []api.ReviewFile{
		{Path: "main.go", Kind: api.FileChanged, Added: 12, Removed: 3, Viewed: true}, {Path: "logo.png", Kind: api.FileAdded, Binary: true},
		{Path: "new.md", OldPath: "old.md", Kind: api.FileRenamed}, {Path: "gone\x1b[31m", Kind: api.FileRemoved, Removed: 7},
	}}
	err = r.store.View(ctx, func(rd store.Reader) error {
		comments, err := rd.Comments.Of(t.ID)
		for _, c := range comments {
			rc := api.ReviewComment{Comment: c, Outdated: c.Path != "main.go"}
			if !rc.Outdated {
				rc.At = &api.Place{Path: c.Path, First: c.First + 10, Last: c.Last + 10}
			}
			out.Comments = append(out.Comments, rc)
		}
		return err
	})
	return out, err
}

func (r reviews) Text(_ context.Context, _ coppice.Task, path string) (api.ReviewText, error) {
	return api.ReviewText{Path: path}, nil
}

func (r reviews) Comment(ctx context.Context, t coppice.Task, n api.NewComment) (coppice.Comment, error) {
	if n.Side == "" {
		n.Side = coppice.SideNew
	}
	return r.AddComment(ctx, t.Key, coppice.Comment{Path: n.Path, Side: n.Side, First: n.First, Last: max(n.First, n.Last), Text: n.Text})
}

func TestReview(t *testing.T) {
	t.Parallel()
	st := sqlitetest.Open(t, sqlite.Config{})
	b := apitest.Start(t, st, func(c *apihttp.Config) { c.Reviews = reviews{c.Tasks.(*engine.Intake), st} })
	s := &shell{Bundle: b, env: cli.Env{
		Client: func() (*client.Client, error) { return client.At(b.Server.URL(), apitest.Token) }, Dir: "/src/app", Now: b.Clock.Now,
	}}
	s.Project("/src/app")
	s.Task("app", coppice.NewTask{Title: "Add a flag"})
	s.Session("app-1", coppice.SessionDone, func(x *coppice.Session) { x.Summary, x.Head, x.EndedAt = "It is **done**.", "h1", s.Clock.Now() })
	s.Update(func(tx store.Tx) error {
		l := coppice.Landing{ProjectID: 1, TaskID: 1, SessionID: 1, Head: "0123456789abcdef", CreatedAt: s.Clock.Now(), Waits: "waiting for your review: it changes main.go (land.ask.paths)"}
		if err := tx.Landings.Put(&l); err != nil {
			return err
		}
		other := coppice.Landing{ProjectID: 1, TaskID: 1, SessionID: 1, Head: "fedcba9876543210", CreatedAt: s.Clock.Now(), Waits: l.Waits} // not the one under review
		if err := tx.Landings.Put(&other); err != nil {
			return err
		}
		return tx.Checks.Put(&coppice.Check{ProjectID: 1, TaskID: 1, LandingID: l.ID, Command: "make", EndedAt: s.Clock.Now()})
	})
	s.Change("app-1", func(t *coppice.Task) { t.Stage, t.Wait, t.Sessions = coppice.StageReview, nil, 1 })
	s.golden(t, "review-comment", "review", "app-1", "--comment", "main.go:12-15", "return the error")
	s.golden(t, "review-comment-old", "review", "app-1", "--comment", "a:b.go:3", "--old", "why", "was", "this", "removed?")
	s.golden(t, "review-comment-wrong", "review", "app-1", "--comment", "main.go", "x")
	s.golden(t, "review-text-wrong", "review", "app-1", "what", "is", "this")
	s.golden(t, "review-old-wrong", "review", "app-1", "--old")
	s.golden(t, "review-two-wrong", "review", "app-1", "--send", "--resolve", "1")
	s.golden(t, "review", "review", "app-1")
	s.golden(t, "review-delete", "review", "app-1", "--delete", "2")
	s.golden(t, "review-resolve-draft", "review", "app-1", "--resolve", "1")
	s.golden(t, "review-send", "review", "app-1", "--send", "nearly there")
	s.golden(t, "review-resolve", "review", "app-1", "--resolve", "1")
	s.golden(t, "review-reopen", "review", "app-1", "--reopen", "1")
	s.golden(t, "review-json", "review", "app-1", "--json")
}
