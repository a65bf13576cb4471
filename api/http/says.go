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
		about: "Follow what live sessions say and do, one line each"}.operation()
	says := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Says](), true, "Says")
	o.Responses = map[string]*huma.Response{"200": {
		Description: "A stream of events whose data is a Says: first one for each live session that has a line, " +
			"then one whenever a session's line has changed, at most about one per second; the last one counts. " +
			"The last line of a session is its final message, and empty if it ended without one. The stream cannot be resumed: it starts with the current lines.",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: says}},
	}}
	huma.Register(a, o, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(c huma.Context) { s.follow(c, s.followSays) }}, nil
	})
}

// gather waits, so that lines of several sessions are sent together.
func gather(ctx context.Context) error {
	return clock.Sleep(ctx, clock.Real(), time.Second)
}

// followSays sends the lines of sessions until the reader leaves or the server
// stops. While it waits or writes, the store only notes which sessions wrote.
// Without readers there is no cost.
func (s *Server) followSays(ctx context.Context, out *sse) error {
	watch := s.cfg.Store.Watch(store.TopicSessions) // before the first read, so that nothing is missed
	defer watch.Close()
	sent := map[int64]string{} // the last sent line of each live session
	for wrote := []int64(nil); ; {
		lines, err := s.newLines(ctx, sent, wrote)
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

// newLines reads the lines of live sessions that differ from what was sent: of
// all sessions, or of those that wrote. Sessions in sent that have ended get
// their last line and are removed from sent.
func (s *Server) newLines(ctx context.Context, sent map[int64]string, wrote []int64) (changed []api.Says, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		live, err := r.Sessions.Live()
		if err != nil {
			return err
		}
		ended, err := endedOf(r, live, sent, wrote)
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
				line = sent[x.ID] // without a new line, the old one stays
			}
			if line != sent[x.ID] {
				task, _, _ := strings.Cut(x.Key, ".")
				changed, sent[x.ID] = append(changed, api.Says{Task: task, Session: x.Key, Says: line}), line
			}
			if !x.State.Live() {
				delete(sent, x.ID)
			}
		}
		return nil
	})
	return changed, err
}

// endedOf returns the sessions in sent that wrote and are no longer live.
func endedOf(r store.Reader, live []coppice.Session, sent map[int64]string, wrote []int64) (ended []coppice.Session, err error) {
	for _, id := range wrote {
		if _, known := sent[id]; !known || slices.ContainsFunc(live, func(x coppice.Session) bool { return x.ID == id }) {
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
