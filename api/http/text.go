package http

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// TextIn names a text that belongs to a task. It is exported for the same
// reason as ProjectIn.
type TextIn struct {
	TaskIn
	ID int64 `path:"id" minimum:"1"`
}

// textRoutes serve the whole texts that a task's detail cuts.
func (s *Server) textRoutes(a huma.API) {
	s.textRoute(a, op{path: "/tasks/{key}/checks/{id}/log", id: "check-log", about: "The whole log of a check"},
		func(r store.Reader, id int64) (int64, string, error) {
			c, err := r.Checks.Get(id)
			return c.TaskID, c.Log, err
		})
	s.textRoute(a, op{path: "/tasks/{key}/landings/{id}/evidence", id: "landing-evidence", about: "The whole evidence of a landing"},
		func(r store.Reader, id int64) (int64, string, error) {
			l, err := r.Landings.Get(id)
			return l.TaskID, l.Evidence, err
		})
}

// textRoute serves a text by its id, which find returns with its task.
func (s *Server) textRoute(a huma.API, o op, find func(store.Reader, int64) (task int64, text string, err error)) {
	o.method, o.tag = http.MethodGet, "tasks"
	route := o.operation(http.StatusNotFound)
	route.Responses = map[string]*huma.Response{"200": {
		Description: "A text", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(a, route, func(ctx context.Context, in *TextIn) (*huma.StreamResponse, error) {
		var text string
		err := s.cfg.Store.View(ctx, func(r store.Reader) error {
			t, err := taskByKey(r, in.Key)
			if err != nil {
				return err
			}
			var task int64
			if task, text, err = find(r, in.ID); err == nil && task != t.ID {
				err = coppice.Errorf(coppice.ENotFound, "%d does not belong to %s", in.ID, in.Key).
					WithFix("`coppice show %s --json` lists the ids of its checks and landings", in.Key)
			}
			return err
		})
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			c.SetHeader("Content-Type", "text/plain; charset=utf-8")
			c.SetHeader("Content-Length", strconv.Itoa(len(text)))
			c.SetHeader("Content-Security-Policy", imagePolicy)
			_, _ = c.BodyWriter().Write([]byte(text)) // the reader might be gone
		}}, nil
	})
}

// shorten cuts the texts of a detail. The newest get their share first.
func shorten(d *api.TaskDetail) {
	left := api.MostTexts
	for i := len(d.CheckRuns) - 1; i >= 0; i-- {
		c := &d.CheckRuns[i]
		c.Cut = cut(&c.Log, &left, api.CheckPath(d.Key, c.ID))
	}
	left = api.MostTexts
	for i := len(d.Landings) - 1; i >= 0; i-- {
		l := &d.Landings[i]
		l.Cut = cut(&l.Evidence, &left, api.EvidencePath(d.Key, l.ID))
	}
}

// cut shortens a text, subtracts it from what is left for others, and reports
// whether it was too long.
func cut(text *string, left *int, path string) bool {
	whole := len(*text)
	most := min(*left, api.MostText)
	*text = api.CutText(*text, most, path)
	*left = max(0, *left-len(*text))
	return whole > most
}
