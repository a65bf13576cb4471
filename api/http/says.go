package http

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/internal/clock"
	"coppice/store"
)

func (s *Server) saysRoute(a huma.API) {
	o := op{method: http.MethodGet, path: "/says", id: "follow-says", tag: "sessions",
		about: "What live sessions say and do, each in a line, live"}.operation()
	says := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Says](), true, "Says")
	o.Responses = map[string]*huma.Response{"200": {
		Description: "A stream of events whose data is a Says: first one for each live session that has said anything, " +
			"then one whenever a session's line is another, gathered: about one a second, of which the last word counts. " +
			"A session's last is that of its end, and empty when it ended without a word. There is nothing to resume: whoever comes back begins with what is so now.",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: says}},
	}}
	huma.Register(a, o, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(c huma.Context) { s.follow(c, s.followSays) }}, nil
	})
}

// gather waits until as much was said as is told at once.
func gather(ctx context.Context) error {
	return clock.Sleep(ctx, clock.Real(), time.Second)
}

// followSays tells what sessions say until the reader leaves or the server
// stops. It pulls as all streams do: while it rests or writes, the store notes
// no more than which sessions wrote, and nobody pays when nobody reads.
func (s *Server) followSays(ctx context.Context, out *sse) error {
	watch := s.cfg.Store.Watch(store.TopicSessions) // before the first look, so that nothing falls between
	defer watch.Close()
	told := map[int64]string{} // what was told last of each live session
	for wrote := []int64(nil); ; {
		lines, err := s.newLines(ctx, told, wrote)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if err := out.note(l); err != nil {
				return err
			}
		}
		if err := out.flush(); err != nil {
			return err
		}
		if err := s.cfg.Gather(ctx); err != nil {
			return err
		}
		for woken := false; !woken; {
			woken, err = s.waitOr(ctx, func(ctx context.Context) error {
				topics, err := watch.Wait(ctx)
				wrote = wrote[:0]
				for _, topic := range topics {
					wrote = append(wrote, store.SessionOf(topic))
				}
				return err
			})
			if err == nil && !woken {
				err = out.beat()
			}
			if err != nil {
				return err
			}
		}
	}
}

// newLines reads the lines of live sessions that differ from what was told: of
// all of them, or of those that wrote. Those told of that have ended come with
// their last line, and are forgotten.
func (s *Server) newLines(ctx context.Context, told map[int64]string, wrote []int64) (changed []api.Says, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		live, err := r.Sessions.Live()
		if err != nil {
			return err
		}
		ended, err := endedOf(r, live, told, wrote)
		if err != nil {
			return err
		}
		silent := func(x coppice.Session) bool { return wrote != nil && !slices.Contains(wrote, x.ID) }
		sessions := append(slices.DeleteFunc(live, silent), ended...)
		lines, err := s.lines.says(r, sessions)
		if err != nil {
			return err
		}
		for _, x := range sessions {
			line := lines[x.ID]
			if line == "" && x.State.Live() {
				line = told[x.ID] // having said nothing lately unsays nothing
			}
			if line != told[x.ID] {
				task, _, _ := strings.Cut(x.Key, ".")
				changed, told[x.ID] = append(changed, api.Says{Task: task, Session: x.Key, Says: line}), line
			}
			if !x.State.Live() {
				delete(told, x.ID)
			}
		}
		return nil
	})
	return changed, err
}

// endedOf returns the sessions told of that wrote and are no longer live.
func endedOf(r store.Reader, live []coppice.Session, told map[int64]string, wrote []int64) (ended []coppice.Session, err error) {
	for _, id := range wrote {
		if _, known := told[id]; !known || slices.ContainsFunc(live, func(x coppice.Session) bool { return x.ID == id }) {
			continue
		}
		x, err := r.Sessions.Get(id)
		if err != nil {
			return nil, err
		}
		ended = append(ended, x)
	}
	return ended, nil
}
