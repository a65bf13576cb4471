package http

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

type listGroupsIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only this project"`
	Open    bool   `query:"open" doc:"Only groups with a task that has not ended"`
	PageIn
}

type groupIn struct {
	ID      string `path:"id" maxLength:"64" doc:"The number of a group, or its name with the project"`
	Project string `query:"project" maxLength:"16" doc:"The project of a name"`
}

// PageIn chooses a page of a list, newest first. It is exported for the same reason
// as ProjectIn.
type PageIn struct {
	Before int64 `query:"before" minimum:"0" doc:"The next of the previous page"`
	Limit  int   `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

// MarksIn chooses tasks by what people mark them with. It is exported for the same
// reason as ProjectIn.
type MarksIn struct {
	GroupID int64  `query:"group_id" minimum:"0" doc:"Only tasks of the group with this number"`
	Label   string `query:"label" maxLength:"40" doc:"Only tasks with this label"`
	Flagged bool   `query:"flagged" doc:"Only tasks that a person flagged"`
	Unread  bool   `query:"unread" doc:"Only tasks that are unread"`
}

// narrow makes a filter choose only tasks with the marks.
func (m MarksIn) narrow(f *store.TaskFilter) {
	f.Group, f.Label, f.Flagged = m.GroupID, m.Label, m.Flagged
	if m.Unread {
		f.UnreadBy = reader
	}
}

// fit returns the ids of those tasks that have the marks.
func (m MarksIn) fit(r store.Reader, tasks map[int64]coppice.Task, ids []int64) ([]int64, error) {
	if m == (MarksIn{}) {
		return ids, nil
	}
	unread, err := r.Seen.Unread(reader, ids)
	return slices.DeleteFunc(ids, func(id int64) bool {
		t := tasks[id]
		return m.GroupID != 0 && t.Group != m.GroupID || m.Label != "" && !slices.Contains(t.Labels, m.Label) || m.Flagged && !t.Flagged || m.Unread && !unread[id]
	}), err
}

// keys returns the keys of those tasks that have the marks.
func (m MarksIn) keys(r store.Reader, tasks []coppice.Task) (map[string]bool, error) {
	byID, ids := map[int64]coppice.Task{}, []int64{}
	for _, t := range tasks {
		byID[t.ID], ids = t, append(ids, t.ID)
	}
	ids, err := m.fit(r, byID, ids)
	fit := map[string]bool{}
	for _, id := range ids {
		fit[byID[id].Key] = true
	}
	return fit, err
}

type seenIn struct {
	TaskIn
	Body struct {
		Seq int64 `json:"seq,omitempty" minimum:"0" doc:"The newest event that the person has seen; the default is the newest of all"`
	}
}

func (s *Server) groupRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/groups", id: "list-groups", tag: "groups", about: "List groups of tasks, newest first, with counts and cost"}, s.listGroups)
	add(s, a, op{method: http.MethodGet, path: "/groups/{id}", id: "show-group", tag: "groups", about: "Show a group of tasks"}, s.showGroup)
	add(s, a, op{method: http.MethodPut, path: "/tasks/{key}/seen", id: "see-task", tag: "tasks",
		about: "Say that the person has seen a task, so that it is no longer unread"}, func(ctx context.Context, in *seenIn) (api.Task, error) {
		return s.act(ctx, in.Key, func(ctx context.Context) error { _, err := s.cfg.Inbox.Seen(ctx, in.Key, in.Body.Seq); return err })
	})
}

func (s *Server) listGroups(ctx context.Context, in *listGroupsIn) (out api.GroupPage, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		project, err := projectID(r, in.Project)
		if err != nil {
			return err
		}
		groups, err := r.Groups.List(store.GroupFilter{ProjectID: project, BeforeID: in.Before, Open: in.Open, Most: in.Limit + 1})
		if err != nil {
			return err
		}
		if len(groups) > in.Limit {
			groups = groups[:in.Limit]
			out.Next = groups[in.Limit-1].ID
		}
		out.Groups, err = s.groupViews(ctx, r, groups)
		return err
	})
	return out, err
}

func (s *Server) showGroup(ctx context.Context, in *groupIn) (out api.Group, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		project, err := projectID(r, in.Project)
		if err != nil {
			return err
		}
		g, err := findGroup(r, project, in.ID)
		if err != nil {
			return err
		}
		views, err := s.groupViews(ctx, r, []coppice.Group{g})
		if err != nil {
			return err
		}
		out = views[0]
		out.Archived, err = r.Tasks.Count(store.TaskFilter{Group: g.ID, Archived: store.ArchivedOnly})
		return err
	})
	return out, err
}

// findGroup finds a group by its number, or by its name in a project. A name has a
// letter.
func findGroup(r store.Reader, project int64, name string) (coppice.Group, error) {
	if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		g, err := r.Groups.Get(id)
		if err == nil && project != 0 && g.ProjectID != project {
			err = coppice.Errorf(coppice.ENotFound, "the project has no group %d", id)
		}
		return g, err
	}
	if project == 0 {
		return coppice.Group{}, coppice.Errorf(coppice.EInvalid, "the name of a group needs its project").
			WithFix("add the project, or use the number of the group").WithField("project")
	}
	return r.Groups.ByName(project, name)
}

// groupViews makes the API's view of groups. The number of queries does not depend
// on the number of tasks.
func (s *Server) groupViews(ctx context.Context, r store.Reader, groups []coppice.Group) ([]api.Group, error) {
	out, place, ids := make([]api.Group, len(groups)), map[int64]int{}, make([]int64, len(groups))
	projects, err := r.Projects.All()
	if err != nil {
		return nil, err
	}
	prefixes := map[int64]string{}
	for _, p := range projects {
		prefixes[p.ID] = p.Prefix
	}
	for i, g := range groups {
		ids[i], place[g.ID] = g.ID, i
	}
	spent, err := r.Groups.Spent(ids)
	if err != nil {
		return nil, err
	}
	for i, g := range groups {
		out[i] = api.Group{
			ID: g.ID, Project: prefixes[g.ProjectID], Name: g.Name, Title: g.Title, Kind: g.Kind, CreatedBy: g.CreatedBy, CreatedAt: g.CreatedAt,
			Counts: map[coppice.Status]int{}, Usage: spent[g.ID],
		}
	}
	counts, err := r.Groups.Tasks(ids)
	if err != nil {
		return nil, err
	}
	running, lanes, err := s.derivedStatuses(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, c := range counts {
		g := &out[place[c.Group]]
		g.Tasks += c.N
		switch c.Stage {
		case coppice.StageSession: // one by one, below
		case coppice.StageQueued:
			g.Counts[lanes[c.Lane]] += c.N
		default:
			t := coppice.Task{Stage: c.Stage, Outcome: c.Outcome}
			if c.Wait != "" {
				t.Wait = &coppice.Wait{On: c.Wait}
			}
			status, _ := t.Status(nil, nil, nil, "")
			g.Counts[status] += c.N
		}
	}
	for _, t := range running {
		if i, ok := place[t.group]; ok {
			out[i].Counts[t.status]++
		}
	}
	return out, nil
}

// groupStatus is the status of a task of a group.
type groupStatus struct {
	group  int64
	status coppice.Status
}

// derivedStatuses returns the statuses that depend on more than the stage: those of
// tasks with a session, and of queued tasks by their lanes.
func (s *Server) derivedStatuses(ctx context.Context, r store.Reader) (running []groupStatus, lanes map[coppice.Lane]coppice.Status, err error) {
	tasks, err := r.Tasks.List(store.TaskFilter{Stages: []coppice.Stage{coppice.StageSession}})
	if err != nil {
		return nil, nil, err
	}
	heads, _, err := laneHeads(r, 0)
	if err != nil {
		return nil, nil, err
	}
	statuses, err := s.cfg.Status.Statuses(ctx, r, append(tasks, heads...))
	if err != nil {
		return nil, nil, err
	}
	for i, t := range tasks {
		running = append(running, groupStatus{t.Group, statuses[i].Status})
	}
	lanes = map[coppice.Lane]coppice.Status{}
	for i, t := range heads {
		lanes[t.Lane()] = statuses[len(tasks)+i].Status
	}
	return running, lanes, nil
}
