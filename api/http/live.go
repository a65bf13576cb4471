package http

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// LiveRun has the commands of running work.
type LiveRun interface {
	// Read returns the state of all commands, and at most this many bytes of
	// output after a position.
	Read(after coppice.RunPosition, most int) coppice.Run
	// Wait returns when the run has another version.
	Wait(ctx context.Context, version int64) error
}

// livePiece is how many bytes of output a stream sends at a time.
const livePiece = 64 << 10

type liveIn struct {
	TaskIn
	LastID string `header:"Last-Event-ID" maxLength:"80" doc:"Resume after this event"`
}

func (s *Server) liveRoutes(a huma.API) {
	s.liveRoute(a, coppice.WorkCheck, op{path: "/tasks/{key}/checks/live", id: "follow-checks", about: "Follow a task's running checks; resumes by Last-Event-ID"})
	s.liveRoute(a, coppice.WorkPreview, op{path: "/tasks/{key}/preview/log", id: "follow-preview", about: "Follow the log of a task's running preview; resumes by Last-Event-ID"})
}

// liveRoute streams the commands of a task's open work of one kind.
func (s *Server) liveRoute(a huma.API, kind coppice.WorkKind, route op) {
	route.method, route.tag = http.MethodGet, "tasks"
	o := route.operation(http.StatusNotFound)
	schemas := a.OpenAPI().Components.Schemas
	state := schemas.Schema(reflect.TypeFor[api.RunningChecks](), true, "RunningChecks")
	output := schemas.Schema(reflect.TypeFor[coppice.RunOutput](), true, "RunOutput")
	o.Responses = map[string]*huma.Response{"200": {
		Description: "A stream of events. An event named state carries RunningChecks: it comes first and after each change. " +
			"An event named output carries a RunOutput. An event named end carries the last RunningChecks: nothing of this run follows.",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{OneOf: []*huma.Schema{state, output}}}},
	}}
	huma.Register(a, o, func(ctx context.Context, in *liveIn) (*huma.StreamResponse, error) {
		t, err := s.task(ctx, in.Key)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			s.follow(c, func(ctx context.Context, out *sse) error { return s.followRun(ctx, out, kind, t.ID, in.LastID) })
		}}, nil
	})
}

// openWork returns the open work item of a kind that concerns a task, or nil.
func openWork(r store.Reader, kind coppice.WorkKind, task int64) (*coppice.Work, error) {
	open, err := r.Work.Open(kind) // usually few
	for _, w := range open {
		if w.TaskID == task {
			return &w, err
		}
	}
	return nil, err
}

// runningChecks returns the checks of a task that wait or run now; nil if there
// are none.
func (s *Server) runningChecks(r store.Reader, task int64) (*api.RunningChecks, error) {
	w, err := openWork(r, coppice.WorkCheck, task)
	if w == nil || err != nil {
		return nil, err
	}
	checks := s.runOf(*w)
	return &checks, nil
}

// runOf returns the commands of an open work item as they are now.
func (s *Server) runOf(w coppice.Work) api.RunningChecks {
	var run coppice.Run
	if live := s.cfg.Live(w.ID); live != nil {
		run = live.Read(coppice.RunPosition{}, 0)
	}
	return s.commandsIn(w, run)
}

// commandsIn returns the commands of a work item: those that were reported, and
// those that wait.
func (s *Server) commandsIn(w coppice.Work, run coppice.Run) api.RunningChecks {
	all := []api.CommandRun{}
	add := func(c coppice.CommandRun) { all = append(all, api.CommandRun{CommandRun: c, Result: c.Result()}) }
	if spec, err := coppice.DecodeSpec[coppice.CheckSpec](w); err == nil { // that of a preview has no commands
		for _, c := range spec.Policy.Setup {
			add(coppice.CommandRun{Command: c, Setup: true, State: coppice.RunWaiting})
		}
		for _, c := range spec.Commands {
			add(coppice.CommandRun{Command: c, State: coppice.RunWaiting})
		}
	}
	known := run.Commands
	if run.Attempt != w.Attempt {
		known = nil
	}
	for i, c := range known {
		if i == len(all) {
			add(c)
		}
		all[i] = api.CommandRun{CommandRun: c, Result: c.Result()}
	}
	return api.RunningChecks{Run: s.runName(w), Commands: all}
}

// runName names a run. A server that restarts keeps its leases and runs checks
// again, so the name depends on when the server started.
func (s *Server) runName(w coppice.Work) string {
	return fmt.Sprintf("%d.%d.%d", s.started.UnixMilli(), w.ID, w.Attempt)
}

// runFollower is the reader of one run.
type runFollower struct {
	s    *Server
	out  *sse
	work coppice.Work
	run  LiveRun
	at   coppice.RunPosition
	sent int64 // the version of the state that was sent last; 0 for none
	last coppice.Run
}

// followRun sends the commands of a task's open work until the work that it started
// with has ended.
func (s *Server) followRun(ctx context.Context, out *sse, kind coppice.WorkKind, task int64, lastID string) error {
	watch := s.cfg.Store.Watch(store.TopicTask(task)) // before the first read, so that nothing is missed
	defer watch.Close()
	f := &runFollower{s: s, out: out, sent: -1}
	for {
		var now *coppice.Work
		err := s.cfg.Store.View(ctx, func(r store.Reader) (err error) { now, err = openWork(r, kind, task); return err })
		if err != nil {
			return err
		}
		if now == nil || f.work.ID != 0 && now.ID != f.work.ID {
			return f.end()
		}
		f.follow(*now, lastID)
		if f.run == nil {
			f.run = s.cfg.Live(now.ID)
		}
		if err := f.send(); err != nil {
			return err
		}
		if err := s.rest(ctx); err != nil {
			return err
		}
		woken, err := s.waitOr(ctx, func(ctx context.Context) error {
			return either(ctx, f.wait, func(ctx context.Context) error { _, err := watch.Wait(ctx); return err })
		})
		if err == nil && !woken {
			err = f.out.sign("id: " + f.id() + "\n")
		}
		if err != nil {
			return err
		}
	}
}

// follow switches to another attempt of the work. The first one starts where the
// reader was.
func (f *runFollower) follow(w coppice.Work, lastID string) {
	if f.work.ID == w.ID && f.work.Attempt == w.Attempt {
		return
	}
	first := f.work.ID == 0
	f.work, f.run, f.at, f.sent, f.last = w, nil, coppice.RunPosition{}, -1, coppice.Run{}
	if rest, ok := strings.CutPrefix(lastID, f.s.runName(w)+"."); first && ok {
		f.at = position(rest)
	}
}

// position returns the position that the end of an event id names.
func position(text string) (at coppice.RunPosition) {
	n, _ := fmt.Sscanf(text, "%d.%d", &at.Command, &at.Offset) // the number shows whether it is valid
	if n != 2 || at.Command < 0 || at.Offset < 0 {
		return coppice.RunPosition{}
	}
	return at
}

func (f *runFollower) id() string {
	return fmt.Sprintf("%s.%d.%d", f.s.runName(f.work), f.at.Command, f.at.Offset)
}

// send sends the state, if it has changed, and all output that is not sent yet.
func (f *runFollower) send() error {
	for more := true; more; {
		if f.run != nil {
			f.last = f.run.Read(f.at, livePiece)
		}
		if f.sent != f.last.Version {
			if err := f.out.eventAt(f.id(), "state", f.s.commandsIn(f.work, f.last)); err != nil {
				return err
			}
			f.sent = f.last.Version
		}
		for _, o := range f.last.Output {
			f.at = coppice.RunPosition{Command: o.Command, Offset: o.Offset + int64(len(o.Data))}
			if err := f.out.eventAt(f.id(), "output", o); err != nil {
				return err
			}
		}
		more = len(f.last.Output) > 0
	}
	return f.out.flush()
}

// end sends the rest of the run, and that it has ended.
func (f *runFollower) end() error {
	if err := f.send(); err != nil {
		return err
	}
	if err := f.out.eventAt(f.id(), "end", f.s.commandsIn(f.work, f.last)); err != nil {
		return err
	}
	return f.out.flush()
}

// wait waits for the next report.
func (f *runFollower) wait(ctx context.Context) error {
	if f.run == nil || f.last.Ended {
		<-ctx.Done()
		return ctx.Err()
	}
	return f.run.Wait(ctx, f.last.Version)
}

// either runs two functions until one of them returns.
func either(ctx context.Context, a, b func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan error, 1)
	go func() {
		first <- a(ctx)
		cancel()
	}()
	err := b(ctx)
	cancel()
	if <-first == nil {
		return nil
	}
	return err
}
