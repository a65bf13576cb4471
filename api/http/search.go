package http

import (
	"context"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

type searchIn struct {
	Q       string   `query:"q" required:"true" minLength:"1" maxLength:"400" doc:"Words, or their start; \"phrases in quotes\"; -words that must not occur"`
	Project string   `query:"project" maxLength:"16" doc:"Only search this project"`
	Kinds   []string `query:"kinds" maxItems:"3" doc:"Only of these kinds: task, output, check"`
	Most    int      `query:"most" minimum:"1" maximum:"200" default:"50" doc:"The most hits"`
	Fresh   bool     `query:"fresh" doc:"First wait until the index has read what was written before this request, at most 10 seconds"`
	MarksIn
}

// freshest is how long a search waits for the index.
const freshest = 10 * time.Second

func (s *Server) searchRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/search", id: "search", tag: "search",
		about: "Search tasks, output of sessions, and checks"}, s.search)
}

func (s *Server) search(ctx context.Context, in *searchIn) (out api.SearchPage, err error) {
	if s.cfg.Search == nil {
		return out, coppice.Errorf(coppice.EUnavailable, "this server has no search")
	}
	all := len(in.Kinds) == 0
	q := store.SearchQuery{Terms: store.ParseSearch(in.Q), Most: in.Most, Tasks: all, Output: all, Checks: all}
	for _, k := range in.Kinds {
		switch k {
		case api.HitTask:
			q.Tasks = true
		case api.HitOutput:
			q.Output = true
		case api.HitCheck:
			q.Checks = true
		default:
			return out, coppice.Errorf(coppice.EInvalid, "%s is not a valid kind of hit", coppice.Quote(k)).WithFix("use task, output or check").WithField("kinds")
		}
	}
	if in.Fresh {
		q.Fresh = freshest
	}
	if in.Project != "" {
		p, err := s.project(ctx, in.Project)
		if err != nil {
			return out, err
		}
		q.ProjectID = p.ID
	}
	in.narrow(&q.Among)
	found, err := s.cfg.Search.Search(ctx, q)
	if err != nil {
		return out, err
	}
	out = api.SearchPage{Hits: []api.Hit{}, More: found.More, Behind: found.Behind}
	for _, h := range found.Hits {
		hit := api.Hit{Kind: api.HitTask, Task: h.Task, Title: h.Title, At: h.At, Snippet: h.Text, Marks: [][]int{}}
		if h.Session != "" {
			hit.Kind, hit.Session, hit.Offset, hit.Source = api.HitOutput, h.Session, &h.Offset, h.Kind
		}
		if h.Check != 0 {
			hit.Kind, hit.Check, hit.Command = api.HitCheck, h.Check, h.Command
		}
		for _, m := range h.Marks {
			hit.Marks = append(hit.Marks, []int{units(h.Text[:m[0]]), units(h.Text[m[0] : m[0]+m[1]])})
		}
		out.Hits = append(out.Hits, hit)
	}
	return out, s.addStatuses(ctx, out.Hits)
}

// addStatuses adds the statuses of the tasks to hits.
func (s *Server) addStatuses(ctx context.Context, hits []api.Hit) error {
	return s.cfg.Store.View(ctx, func(r store.Reader) error {
		known := map[string]coppice.Status{}
		var tasks []coppice.Task
		for _, h := range hits {
			if _, seen := known[h.Task]; seen {
				continue
			}
			known[h.Task] = ""
			t, err := r.Tasks.ByKey(h.Task)
			switch {
			case err == nil:
				tasks = append(tasks, t)
			case coppice.ErrorCode(err) != coppice.ENotFound:
				return err
			}
		}
		statuses, err := s.cfg.Status.Statuses(ctx, r, tasks)
		for i, st := range statuses {
			known[tasks[i].Key] = st.Status
		}
		for i := range hits {
			hits[i].Status = known[hits[i].Task]
		}
		return err
	})
}

// units counts the UTF-16 code units of a text, as JavaScript does.
func units(s string) int {
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
