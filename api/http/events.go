package http

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

type eventsIn struct {
	Accept  string `header:"Accept" doc:"text/event-stream for a live stream, anything else for a page"`
	LastID  string `header:"Last-Event-ID" maxLength:"20" doc:"Resume a stream after this event"`
	After   string `query:"after" maxLength:"20" doc:"Events after this one; without it, a stream starts now, a page at the first event"`
	Project string `query:"project" maxLength:"16" doc:"Only events of this project"`
	Task    string `query:"task" maxLength:"40" doc:"Only events of this task"`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"256" doc:"Events per page"`
}

func (s *Server) eventRoutes(a huma.API) {
	o := op{method: http.MethodGet, path: "/events", id: "events", tag: "events",
		about: "A page of the event log, or a live stream that resumes by Last-Event-ID"}.operation(http.StatusNotFound)
	page := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.EventPage](), true, "EventPage")
	event := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Event](), true, "Event")
	o.Responses = map[string]*huma.Response{"200": {
		Description: "A page, or a stream of events whose data is an Event and whose id is its seq. " +
			"An event named reset carries Bounds: the requested events are not in the log; read the current state again.",
		Content: map[string]*huma.MediaType{"application/json": {Schema: page}, "text/event-stream": {Schema: event}},
	}}
	huma.Register(a, o, func(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
		f, err := s.eventFilter(ctx, in)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		if strings.Contains(in.Accept, "text/event-stream") {
			return s.streamEvents(ctx, in, f)
		}
		return s.pageEvents(ctx, in, f)
	})
}

func (s *Server) eventFilter(ctx context.Context, in *eventsIn) (f store.EventFilter, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		if f.ProjectID, err = projectID(r, in.Project); err != nil {
			return err
		}
		if in.Task != "" {
			t, err := taskByKey(r, in.Task)
			if err != nil {
				return err
			}
			f.TaskID = t.ID
		}
		return nil
	})
	return f, err
}

// readEvents reads the events after a position, and the bounds, from one
// snapshot. The new position is after everything that was read, whether it
// matches the filter or not.
func (s *Server) readEvents(ctx context.Context, after int64, most int, f store.EventFilter) (page api.EventPage, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) (err error) {
		if page.First, page.Last, err = r.Log.Bounds(); err != nil {
			return err
		}
		events, err := r.Log.Events(after, most, f)
		if err == nil {
			page.Events, err = withTasks(r, events)
		}
		return err
	})
	page.Events = filled(page.Events)
	if n := len(page.Events); n == most {
		page.Next, page.More = page.Events[n-1].Seq, page.Events[n-1].Seq < page.Last
	} else {
		page.Next = max(after, page.Last)
	}
	return page, err
}

// withTasks adds the keys of the tasks that events are about.
func withTasks(r store.Reader, events []coppice.Event) ([]api.Event, error) {
	var ids []int64
	for _, e := range events {
		if e.TaskID != 0 {
			ids = append(ids, e.TaskID)
		}
	}
	keys, err := r.Tasks.Keys(ids)
	if err != nil {
		return nil, err
	}
	out := make([]api.Event, len(events))
	for i, e := range events {
		out[i] = api.Event{Event: e, Task: keys[e.TaskID]}
		if e.Kind == coppice.EventTaskForgotten {
			out[i].Task = e.Subject // the task itself might be removed
		}
	}
	return out, nil
}

func (s *Server) pageEvents(ctx context.Context, in *eventsIn, f store.EventFilter) (*huma.StreamResponse, error) {
	after, err := place(in.LastID, in.After, 0)
	var page api.EventPage
	if err == nil {
		page, err = s.readEvents(ctx, after, in.Limit, f)
	}
	if err != nil {
		return nil, s.problem(ctx, err)
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		c.SetHeader("Content-Type", "application/json")
		_ = json.NewEncoder(c.BodyWriter()).Encode(page) // the reader might be gone
	}}, nil
}

func (s *Server) streamEvents(ctx context.Context, in *eventsIn, f store.EventFilter) (*huma.StreamResponse, error) {
	bounds, err := s.readEvents(ctx, 0, 1, f)
	var after int64
	if err == nil {
		after, err = place(in.LastID, in.After, bounds.Last)
		after = max(after, 0)
	}
	if err != nil {
		return nil, s.problem(ctx, err)
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		s.follow(c, func(ctx context.Context, out *sse) error { return s.followEvents(ctx, out, after, f) })
	}}, nil
}

// followEvents sends the events after a position until the reader leaves or the
// server stops. It only reads from the log: nothing is queued for a slow
// reader.
func (s *Server) followEvents(ctx context.Context, out *sse, after int64, f store.EventFilter) error {
	// The reader gets its position immediately, so that it can return to it
	// even if the connection breaks before the first event.
	if err := out.alive(after); err != nil {
		return err
	}
	for {
		page, err := s.feed.after(ctx, after, f)
		if err != nil {
			return err
		}
		if after > page.Last || after+1 < page.First {
			after = min(max(after, page.First-1), page.Last)
			if err := out.event(after, "reset", page.Bounds); err != nil {
				return err
			}
			if err := out.flush(); err != nil {
				return err
			}
			continue
		}
		if len(page.text) > 0 {
			if err := out.write(page.text); err != nil {
				return err
			}
			if err := out.flush(); err != nil {
				return err
			}
		}
		if after = page.next; page.more {
			continue
		}
		if err := s.rest(ctx); err != nil {
			return err
		}
		woken, err := s.waitOr(ctx, func(ctx context.Context) error { return s.cfg.Store.WaitEvent(ctx, after) })
		if err == nil && !woken {
			err = out.alive(after)
		}
		if err != nil {
			return err
		}
	}
}
