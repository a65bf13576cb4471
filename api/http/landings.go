package http

import (
	"cmp"
	"context"
	"slices"

	"coppice"
	"coppice/api"
	"coppice/store"
)

const (
	mostLanded = 50
	mostNodes  = 600 // of a graph
)

type landingsIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only this project"`
	MarksIn
}

func (s *Server) landings(ctx context.Context, in *landingsIn) (out api.LandingList, err error) {
	out.Queue, out.Landed = []api.QueuedLanding{}, []api.Task{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		project, err := projectID(r, in.Project)
		if err != nil {
			return err
		}
		lands := store.TaskFilter{ProjectID: project, Stages: coppice.StagesThat(coppice.Stage.Lands), OldFirst: true}
		in.narrow(&lands)
		queued, err := r.Tasks.List(lands)
		if err != nil {
			return err
		}
		landed := store.TaskFilter{ProjectID: project, Stages: []coppice.Stage{coppice.StageEnded}, Outcomes: []coppice.Outcome{coppice.OutcomeDone}, ByEnd: true, Most: 4 * mostLanded}
		in.narrow(&landed)
		ended, err := r.Tasks.List(landed)
		if err != nil {
			return err
		}
		ended = slices.DeleteFunc(ended, func(t coppice.Task) bool { return t.Landed == "" }) // answers do not land
		views, err := s.views(ctx, r, slices.Concat(queued, ended[:min(len(ended), mostLanded)]))
		if err != nil {
			return err
		}
		ids := make([]int64, len(queued))
		for i, t := range queued {
			ids[i] = t.ID
		}
		newest, err := r.Landings.LastOfEach(ids)
		for i := range views {
			views[i].Body, views[i].Steps = "", nil
			if i >= len(queued) {
				out.Landed = append(out.Landed, views[i])
				continue
			}
			l := newest[views[i].ID]
			out.Queue = append(out.Queue, api.QueuedLanding{Task: views[i], Reason: landingReason(views[i], l), Tries: l.Tries, Killed: l.Killed})
		}
		slices.SortStableFunc(out.Queue, func(a, b api.QueuedLanding) int { return a.Task.Since.Compare(b.Task.Since) })
		return err
	})
	return out, err
}

// landingReason says what a landing waits for, or what happens now.
func landingReason(t api.Task, l coppice.Landing) string {
	switch {
	case t.Reason != "" && (t.Status == coppice.StatusNeedsYou || t.Stage == coppice.StageLanding):
		return t.Reason
	case t.Status == coppice.StatusNeedsYou:
		return "waiting for your approval"
	case l.Waits != "":
		return l.Waits
	case t.Stage == coppice.StageChecking && l.Tree != "":
		return cmp.Or(t.Reason, "its checks are running on the merged tree")
	case t.Stage == coppice.StageChecking:
		return cmp.Or(t.Reason, "merging with the base")
	case l.Pushed:
		return "pushed; the base moves next"
	case l.Green:
		return "checks passed; the base moves next"
	}
	return "waiting for its turn"
}

type graphIn struct {
	Project string `query:"project" maxLength:"16" doc:"A project's prefix"`
	All     bool   `query:"all" doc:"Ended tasks too; otherwise only open tasks, and the tasks that they depend on"`
	MarksIn
}

// graph reads tasks, newest first, until it has enough that are connected.
func (s *Server) graph(ctx context.Context, in *graphIn) (out api.Graph, err error) {
	out.Tasks = []api.Task{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		f := store.TaskFilter{Most: 500, Archived: store.ArchivedNot}
		if f.ProjectID, err = projectID(r, in.Project); err != nil {
			return err
		}
		in.narrow(&f)
		if !in.All {
			f.Stages = slices.DeleteFunc(slices.Clone(coppice.Stages), coppice.Stage.Ended)
		}
		found := map[int64]bool{}
		for len(found) < mostNodes {
			tasks, err := r.Tasks.List(f)
			if err != nil {
				return err
			}
			for _, t := range tasks {
				for _, id := range t.After {
					found[t.ID], found[id] = true, true
				}
				if t.Parent != 0 {
					found[t.ID], found[t.Parent] = true, true
				}
			}
			if len(tasks) < f.Most {
				break
			}
			f.BeforeID = tasks[len(tasks)-1].ID
		}
		out, err = s.nodes(ctx, r, found)
		return err
	})
	return out, err
}

// nodes returns tasks by their ids, newest first.
func (s *Server) nodes(ctx context.Context, r store.Reader, ids map[int64]bool) (out api.Graph, err error) {
	var list []int64
	for id := range ids {
		list = append(list, id)
	}
	slices.SortFunc(list, func(a, b int64) int { return cmp.Compare(b, a) })
	if out.More = len(list) > mostNodes; out.More {
		list = list[:mostNodes]
	}
	some, err := r.Tasks.Some(list)
	if err != nil {
		return out, err
	}
	tasks := make([]coppice.Task, 0, len(list))
	for _, id := range list {
		if t, ok := some[id]; ok {
			tasks = append(tasks, t)
		}
	}
	out.Tasks, err = s.views(ctx, r, tasks)
	for i := range out.Tasks {
		out.Tasks[i].Body, out.Tasks[i].Steps = "", nil
	}
	out.Tasks = filled(out.Tasks)
	return out, err
}
