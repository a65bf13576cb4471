package http

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

type statusIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only this project"`
	Brief   bool   `query:"brief" doc:"Without the lists of tasks"`
}

func (s *Server) serverRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/status", id: "status", tag: "server", about: "Show what needs you, what is running, and what is waiting and why"}, s.status)
	add(s, a, op{method: http.MethodGet, path: "/version", id: "version", tag: "server", about: "Show the server's version"},
		func(context.Context, *none) (api.Version, error) {
			return api.Version{Version: s.cfg.Version, API: "v1"}, nil
		})
	add(s, a, op{method: http.MethodPost, path: "/backup", id: "backup", tag: "server", about: "Write a copy of the database"},
		func(ctx context.Context, _ *none) (api.Backup, error) {
			path, err := s.cfg.Backup(ctx)
			return api.Backup{Path: path}, err
		})
	add(s, a, op{method: http.MethodPost, path: "/login-link", id: "login-link", tag: "server", about: "Create a link that signs in one browser, one time"},
		func(context.Context, *none) (api.LoginLink, error) {
			code, until := s.login.mint()
			return api.LoginLink{URL: s.URL() + "/login?code=" + code, Expires: until.UTC()}, nil
		})
}

// status consists of facts, of the lines of sessions, and of current warnings.
func (s *Server) status(ctx context.Context, in *statusIn) (api.Status, error) {
	made, err := reuse(ctx, &s.answers, fmt.Sprintf("status %+v", *in), func(ctx context.Context) (madeStatus, error) { return s.makeStatus(ctx, in) })
	if err != nil {
		return api.Status{}, err
	}
	out := made.Status
	out.At = s.cfg.Now().UTC()
	if err := s.cfg.Intact(); err != nil {
		out.Warnings = append(out.Warnings, err.Error())
	}
	if s.cfg.Warnings != nil {
		out.Projects = slices.Clone(out.Projects)
		for i, id := range made.projects {
			out.Projects[i].Warnings = slices.Concat(out.Projects[i].Warnings, s.cfg.Warnings(id))
		}
	}
	if in.Brief {
		return out, nil
	}
	return out, s.updateLines(ctx, &out.NeedsYou, &out.Active, &out.Waiting)
}

// madeStatus is the part of a status that facts decide.
type madeStatus struct {
	api.Status
	projects []int64 // their ids
	day      time.Time
}

// end returns when a snooze ends, or the day for which spend is counted.
func (s madeStatus) end() time.Time {
	if next := coppice.NextDay(s.day); s.Wakes.IsZero() || next.Before(s.Wakes) {
		return next
	}
	return s.Wakes
}

func (s *Server) makeStatus(ctx context.Context, in *statusIn) (out madeStatus, err error) {
	out.day = s.cfg.Now()
	out.Status = api.Status{
		Counts: map[coppice.Status]int{}, Projects: []api.ProjectStatus{}, NeedsYou: []api.Task{}, Active: []api.Task{}, Waiting: []api.Task{}, Failed: []api.Task{},
	}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		project, err := statusProjects(r, in.Project, &out)
		if err != nil {
			return err
		}
		if _, out.Seq, err = r.Log.Bounds(); err != nil {
			return err
		}
		if out.Limited, err = r.Limits.All(); err != nil {
			return err
		}
		out.Limited = filled(out.Limited)
		return s.statusTasks(ctx, r, project, in, &out)
	})
	return out, err
}

// statusProjects fills in the projects and returns the id of the requested one.
func statusProjects(r store.Reader, prefix string, out *madeStatus) (id int64, err error) {
	if id, err = projectID(r, prefix); err != nil {
		return 0, err
	}
	running, err := r.Lanes.Running()
	if err != nil {
		return 0, err
	}
	live, err := r.Sessions.Live()
	if err != nil {
		return 0, err
	}
	parked := map[int64]int{}
	for _, x := range live {
		if x.Parked() {
			parked[x.ProjectID]++
		}
	}
	projects, err := r.Projects.All()
	for _, p := range projects {
		if id == 0 || p.ID == id {
			st := api.ProjectStatus{
				Prefix: p.Prefix, Path: p.Path, Running: runningIn(running, p.ID), Parked: parked[p.ID], Limit: p.Policy.Limits.Sessions, Paused: p.PausedAt,
			}
			st.Warnings = slices.Clone(p.Policy.Problems)
			st.Needs = p.Needs
			out.Projects, out.projects = append(out.Projects, st), append(out.projects, p.ID)
		}
	}
	return id, err
}

// serveHealth only says that the process answers.
func (s *Server) serveHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// serveReady says whether requests would succeed, without the reason.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	err := s.cfg.Intact()
	if err == nil {
		err = s.cfg.Store.View(r.Context(), func(r store.Reader) error {
			_, _, err := r.Log.Bounds()
			return err
		})
	}
	if err != nil {
		s.log.Warn("not ready", "err", err)
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("not ready\n"))
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// page is served instead of the dashboard if that was not built.
//
//go:embed page.html
var page []byte

// serveMetrics writes the Prometheus text format.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	err := s.cfg.Store.View(r.Context(), func(r store.Reader) error { return gauges(&b, r) })
	if err != nil {
		s.fail(w, r, err)
		return
	}
	family(&b, "coppice_goroutines", "gauge", "Goroutines of the server.")
	fmt.Fprintf(&b, "coppice_goroutines %d\n", runtime.NumGoroutine())
	counts := s.traffic.snapshot()
	keys := make([]trafficKey, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b trafficKey) int {
		return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.status, b.status))
	})
	family(&b, "coppice_http_requests_total", "counter", "Requests by method and status.")
	for _, k := range keys {
		fmt.Fprintf(&b, "coppice_http_requests_total{method=%q,status=\"%d\"} %d\n", k.method, k.status, counts[k])
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

func family(b *bytes.Buffer, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func gauges(b *bytes.Buffer, r store.Reader) error {
	family(b, "coppice_tasks", "gauge", "Tasks by stage.")
	for _, stage := range coppice.Stages {
		n, err := r.Tasks.Count(store.TaskFilter{Stages: []coppice.Stage{stage}})
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "coppice_tasks{stage=%q} %d\n", stage, n)
	}
	work, err := r.Work.Count()
	if err != nil {
		return err
	}
	family(b, "coppice_work", "gauge", "Unsettled work items by state.")
	for _, state := range []coppice.WorkState{coppice.WorkOffered, coppice.WorkTaken, coppice.WorkFinished} {
		fmt.Fprintf(b, "coppice_work{state=%q} %d\n", state, work[state])
	}
	live, err := r.Sessions.Live()
	if err != nil {
		return err
	}
	parked := 0
	for _, x := range live {
		if x.Parked() {
			parked++
		}
	}
	family(b, "coppice_sessions_live", "gauge", "Sessions that count against the limits.")
	fmt.Fprintf(b, "coppice_sessions_live %d\n", len(live)-parked)
	family(b, "coppice_sessions_parked", "gauge", "Parked sessions.")
	fmt.Fprintf(b, "coppice_sessions_parked %d\n", parked)
	first, last, err := r.Log.Bounds()
	if err != nil {
		return err
	}
	family(b, "coppice_events_first_seq", "gauge", "The oldest event in the log.")
	fmt.Fprintf(b, "coppice_events_first_seq %d\n", first)
	family(b, "coppice_events_last_seq", "counter", "The newest event in the log.")
	fmt.Fprintf(b, "coppice_events_last_seq %d\n", last)
	return nil
}
