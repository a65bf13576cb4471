package http

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// beginning is the position before a session's first piece of output, whose
// offset can be 0.
const beginning = -1

// SessionIn names a session. It is exported for the same reason as ProjectIn.
type SessionIn struct {
	Key string `path:"key" maxLength:"40" doc:"A session's key, such as app-12.2"`
}

type outputIn struct {
	SessionIn
	After  string   `query:"after" maxLength:"20" doc:"Output after this offset; the default is the start"`
	Before string   `query:"before" maxLength:"20" doc:"Instead, the last output before this offset"`
	Tail   bool     `query:"tail" doc:"Instead, the last output"`
	Kinds  []string `query:"kinds,explode" maxItems:"6" doc:"Only of these kinds: stdout, stderr, event, host, app, image"`
	Limit  int      `query:"limit" minimum:"1" maximum:"1000" default:"256"`
}

type outputStreamIn struct {
	SessionIn
	LastID string   `header:"Last-Event-ID" maxLength:"20" doc:"Resume after this offset"`
	After  string   `query:"after" maxLength:"20" doc:"Output after this offset; the default is the start"`
	Kinds  []string `query:"kinds,explode" maxItems:"6" doc:"Only of these kinds: stdout, stderr, event, host, app, image"`
}

func (s *Server) sessionRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/sessions/{key}", id: "show-session", tag: "sessions", about: "Show a session"}, s.showSession)
	add(s, a, op{method: http.MethodGet, path: "/sessions/{key}/output", id: "session-output", tag: "sessions",
		about: "A page of a session's output"}, s.pageOutput)
	s.imageRoutes(a)
	s.saysRoute(a)
	o := op{method: http.MethodGet, path: "/sessions/{key}/output/stream", id: "follow-session-output", tag: "sessions",
		about: "Follow a session's output; resumes by Last-Event-ID"}.operation(http.StatusNotFound)
	piece := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Output](), true, "Output")
	o.Responses = map[string]*huma.Response{"200": {
		Description: "A stream of events whose data is an Output and whose id is its offset. " +
			"An event named end comes last: the session has ended and everything was sent.",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: piece}},
	}}
	huma.Register(a, o, s.streamOutput)
}

func (s *Server) showSession(ctx context.Context, in *SessionIn) (coppice.Session, error) {
	return s.session(ctx, in.Key)
}

func outputKinds(words []string) ([]coppice.OutputKind, error) {
	all := []coppice.OutputKind{coppice.OutputStdout, coppice.OutputStderr, coppice.OutputEvent, coppice.OutputHost, coppice.OutputApp, coppice.OutputImage}
	var kinds []coppice.OutputKind
	for _, w := range words {
		if !slices.Contains(all, coppice.OutputKind(w)) {
			return nil, coppice.Errorf(coppice.EInvalid, "%s is not a valid kind of output", coppice.Quote(w)).
				WithFix("use stdout, stderr, event, host, app or image").WithField("kinds")
		}
		kinds = append(kinds, coppice.OutputKind(w))
	}
	return kinds, nil
}

// readOutput reads a page of output and the session itself from one snapshot.
func (s *Server) readOutput(ctx context.Context, key string, after int64, most int, kinds []coppice.OutputKind) (page api.OutputPage, sess coppice.Session, err error) {
	page.Output = []api.Output{}
	page.Next = after
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		var err error
		if sess, err = sessionByKey(r, key); err != nil {
			return err
		}
		pieces, err := r.Outputs.After(sess.ID, after, most, kinds...)
		for _, o := range pieces {
			page.Output = append(page.Output, piece(o))
			page.Next = o.Offset
		}
		page.More = store.Full(pieces, most)
		return err
	})
	page.Ended = !sess.State.Live()
	return page, sess, err
}

func piece(o coppice.Output) api.Output {
	p := api.Output{Offset: o.Offset, At: o.At, Kind: o.Kind, Size: o.Size}
	if o.Kind == coppice.OutputEvent && json.Valid(o.Data) {
		p.Event = o.Data
	} else {
		p.Data = o.Data
	}
	return p
}

func (s *Server) pageOutput(ctx context.Context, in *outputIn) (page api.OutputPage, err error) {
	after, err := place("", in.After, beginning)
	if err != nil {
		return page, err
	}
	kinds, err := outputKinds(in.Kinds)
	if err != nil {
		return page, err
	}
	if in.Tail || in.Before != "" {
		return s.outputBack(ctx, in, kinds)
	}
	page, _, err = s.readOutput(ctx, in.Key, after, in.Limit, kinds)
	return page, err
}

func (s *Server) streamOutput(ctx context.Context, in *outputStreamIn) (*huma.StreamResponse, error) {
	after, err := place(in.LastID, in.After, beginning)
	var kinds []coppice.OutputKind
	if err == nil {
		kinds, err = outputKinds(in.Kinds)
	}
	var sess coppice.Session
	if err == nil {
		_, sess, err = s.readOutput(ctx, in.Key, after, 1, kinds)
	}
	if err != nil {
		return nil, s.problem(ctx, err)
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		s.follow(c, func(ctx context.Context, out *sse) error {
			return s.followOutput(ctx, out, sess.ID, in.Key, after, kinds)
		})
	}}, nil
}

// followOutput sends the output after an offset until the session has ended and
// everything was sent.
func (s *Server) followOutput(ctx context.Context, out *sse, session int64, key string, after int64, kinds []coppice.OutputKind) error {
	watch := s.cfg.Store.Watch(store.TopicSession(session)) // before the first read, so that nothing is missed
	defer watch.Close()
	for {
		page, sess, err := s.readOutput(ctx, key, after, batch, kinds)
		if err != nil {
			return err
		}
		for _, o := range page.Output {
			if err := out.event(o.Offset, "", o); err != nil {
				return err
			}
		}
		after = page.Next
		if page.Ended && !page.More {
			if err := out.event(after, "end", map[string]coppice.SessionState{"state": sess.State}); err != nil {
				return err
			}
			return out.flush()
		}
		if err := out.flush(); err != nil {
			return err
		}
		if page.More {
			continue
		}
		if err := s.rest(ctx); err != nil {
			return err
		}
		woken, err := s.waitOr(ctx, func(ctx context.Context) error { _, err := watch.Wait(ctx); return err })
		if err == nil && !woken {
			err = out.alive(after)
		}
		if err != nil {
			return err
		}
	}
}
