package http

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

type boardIn struct {
	Project  string `query:"project" maxLength:"16" doc:"A project's prefix"`
	Track    string `query:"track" maxLength:"64"`
	Agent    string `query:"agent" maxLength:"64"`
	Status   string `query:"status" maxLength:"16" doc:"Only tasks with this status"`
	Text     string `query:"text" maxLength:"200" doc:"In title or key"`
	Pull     string `query:"pull" enum:"open,any" doc:"Only tasks with a pull request: one that is open, or any"`
	Archived bool   `query:"archived" doc:"The archived tasks instead of the others"`
	Group    string `query:"group" enum:"status,project,track" default:"status" doc:"What the columns are"`
	Column   string `query:"column" maxLength:"100" doc:"Only the column with this name"`
	Limit    int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"The most tasks in each column"`
	MarksIn
}

func (s *Server) boardRoutes(a huma.API) {
	get := func(path, id, about string) op {
		return op{method: http.MethodGet, path: path, id: id, tag: "board", about: about}
	}
	add(s, a, get("/board", "show-board", "The tasks of the board, by column: how many, and the first of them"), s.board)
	add(s, a, get("/landings", "list-landings", "The landings in progress and why they wait, and the last tasks that landed"), s.landings)
	add(s, a, get("/timeline", "show-timeline", "When sessions ran, and when they waited for a person"), s.timeline)
	add(s, a, get("/graph", "show-graph", "Tasks with dependencies"), s.graph)
}

// columns are the columns of the board by status.
var columns = []struct {
	name     string
	shown    bool
	statuses []coppice.Status
}{
	{"Needs you", true, []coppice.Status{coppice.StatusNeedsYou}},
	{"Working", true, []coppice.Status{coppice.StatusWorking, coppice.StatusVerifying, coppice.StatusFixing}},
	{"Checking", false, []coppice.Status{coppice.StatusChecking}},
	{"Landing", false, []coppice.Status{coppice.StatusLanding}},
	{"Waiting", false, []coppice.Status{coppice.StatusReady, coppice.StatusWaiting}},
	{"Failed", false, []coppice.Status{coppice.StatusFailed}},
	{"Done", true, []coppice.Status{coppice.StatusDone, coppice.StatusCancelled}},
}

func (s *Server) board(ctx context.Context, in *boardIn) (out api.Board, err error) {
	if in.Status != "" && !slices.Contains(coppice.Statuses, coppice.Status(in.Status)) {
		return out, narrow(&store.TaskFilter{}, []string{in.Status})
	}
	out, err = reuse(ctx, &s.answers, fmt.Sprintf("board %+v", *in), func(ctx context.Context) (api.Board, error) { return s.makeBoard(ctx, in) })
	if err != nil {
		return out, err
	}
	out.Columns = slices.Clone(out.Columns)
	lists := make([]*[]api.Task, len(out.Columns))
	for i := range out.Columns {
		lists[i] = &out.Columns[i].Tasks
	}
	return out, s.updateLines(ctx, lists...)
}

func (s *Server) makeBoard(ctx context.Context, in *boardIn) (out api.Board, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		if _, out.Seq, err = r.Log.Bounds(); err != nil {
			return err
		}
		projects, err := r.Projects.All()
		if err != nil {
			return err
		}
		b := &boardReader{s: s, ctx: ctx, r: r, in: in}
		if b.filter.ProjectID, err = projectID(r, in.Project); err != nil {
			return err
		}
		b.filter.Track, b.filter.Agent, b.filter.Text, b.filter.Pull, b.filter.Most = in.Track, in.Agent, in.Text, in.Pull, in.Limit
		in.narrow(&b.filter)
		if b.filter.Archived = store.ArchivedNot; in.Archived {
			b.filter.Archived = store.ArchivedOnly
		}
		groups, err := b.groups(projects)
		if err != nil {
			return err
		}
		if out.Columns, err = b.columns(groups); err != nil {
			return err
		}
		for _, c := range out.Columns {
			out.Count += c.Count
		}
		if out.Count == 0 {
			n, err := r.Tasks.List(store.TaskFilter{Most: 1})
			if err != nil {
				return err
			}
			out.Empty = len(n) == 0
		}
		choices(projects, in, &out)
		if err := markChoices(r, projects, in, &out); err != nil {
			return err
		}
		out.Entries, err = s.projectEntries(r, b.filter.ProjectID, in)
		for i := range out.Columns {
			c := &out.Columns[i]
			c.Shown = c.Shown || c.Count > 0 || c.Needs && len(out.Entries) > 0
		}
		return err
	})
	return out, err
}

// projectEntries returns the entries of the inbox that are not about a task, unless
// the filter chooses tasks.
func (s *Server) projectEntries(r store.Reader, project int64, in *boardIn) ([]coppice.InboxEntry, error) {
	list := []coppice.InboxEntry{}
	if in.Archived || in.Track+in.Agent+in.Pull+in.Text != "" || in.MarksIn != (MarksIn{}) || in.Status != "" && in.Status != string(coppice.StatusNeedsYou) {
		return list, nil
	}
	f, err := engine.InboxOf(r, s.cfg.Now(), project, nil, nil)
	for _, e := range engine.Inbox(f) {
		if !e.Snoozed {
			list = append(list, e)
		}
	}
	return list, err
}

// group is a column of a board that is grouped by project or track.
type group struct {
	name    string
	project int64
	track   string
}

// boardReader reads the columns of a board.
type boardReader struct {
	s      *Server
	ctx    context.Context
	r      store.Reader
	in     *boardIn
	filter store.TaskFilter
}

// groups returns the columns besides what needs a person, unless the columns
// are statuses.
func (b *boardReader) groups(projects []coppice.Project) (all []group, err error) {
	var tallies []store.Tally
	if b.in.Group == "track" {
		if tallies, err = b.r.Tasks.Tally(); err != nil {
			return nil, err
		}
	}
	for _, p := range projects {
		switch {
		case b.filter.ProjectID != 0 && p.ID != b.filter.ProjectID:
		case b.in.Group == "project":
			all = append(all, group{p.Prefix, p.ID, b.filter.Track})
		case b.in.Group == "track":
			var tracks []string
			for _, t := range tallies {
				if t.ProjectID == p.ID && (b.filter.Track == "" || b.filter.Track == t.Track) {
					tracks = append(tracks, t.Track)
				}
			}
			for _, track := range distinct(tracks) {
				all = append(all, group{p.Prefix + " · " + track, p.ID, track})
			}
		}
	}
	return all, nil
}

// columns returns the columns. With groups, what needs a person is in the first
// one, and each other column has everything else of its group.
func (b *boardReader) columns(groups []group) ([]api.BoardColumn, error) {
	if b.in.Group == "status" {
		return b.byStatus(b.filter, b.in.Column)
	}
	all := []api.BoardColumn{{Name: columns[0].name, Needs: true, Shown: true, Tasks: []api.Task{}}}
	for _, g := range groups {
		f := b.filter
		f.ProjectID, f.Track = g.project, g.track
		parts, err := b.byStatus(f, "")
		if err != nil {
			return nil, err
		}
		one := api.BoardColumn{Name: g.name, Tasks: []api.Task{}}
		for i := range parts {
			to := &one
			if parts[i].Needs {
				to = &all[0]
			}
			to.Count += parts[i].Count
			to.Tasks = append(to.Tasks, parts[i].Tasks...)
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all[0].Tasks, first)
	all = slices.DeleteFunc(all, func(c api.BoardColumn) bool { return b.in.Column != "" && c.Name != b.in.Column })
	for i := range all {
		all[i].Tasks = all[i].Tasks[:min(len(all[i].Tasks), b.in.Limit)]
	}
	return all, nil
}

// first compares tasks that have not ended: by priority, then the oldest.
func first(a, b api.Task) int {
	return coppice.InOrder(a.Priority, a.ID, b.Priority, b.ID)
}

// byStatus returns the columns by status, or one of them.
func (b *boardReader) byStatus(f store.TaskFilter, only string) ([]api.BoardColumn, error) {
	busy, err := b.busy(f)
	if err != nil {
		return nil, err
	}
	var all []api.BoardColumn
	for _, c := range columns {
		if only != "" && c.name != only {
			continue
		}
		col := api.BoardColumn{Name: c.name, Needs: slices.Contains(c.statuses, coppice.StatusNeedsYou), Shown: c.shown && f.Archived == store.ArchivedNot}
		_, isEnded := outcomeOf[c.statuses[0]]
		col.Ordered = !isEnded && b.in.Group == "status"
		for _, v := range busy {
			if shows(c.statuses, v) {
				col.Tasks = append(col.Tasks, v)
			}
		}
		col.Count = len(col.Tasks)
		if err := b.fill(&col, c.statuses, f); err != nil {
			return nil, err
		}
		col.Tasks = filled(col.Tasks[:min(len(col.Tasks), f.Most)])
		all = append(all, col)
	}
	return all, nil
}

// shows reports whether a column with the statuses shows a task. A task whose
// session is silent needs a person, whatever its status.
func shows(statuses []coppice.Status, v api.Task) bool {
	if v.Need == coppice.InboxStalled {
		return slices.Contains(statuses, coppice.StatusNeedsYou)
	}
	return slices.Contains(statuses, v.Status)
}

// wants reports whether the board shows tasks with one of the statuses.
func (b *boardReader) wants(statuses []coppice.Status) bool {
	return b.in.Status == "" || slices.Contains(statuses, coppice.Status(b.in.Status))
}

// busy returns the tasks whose status depends on more than their stage: those
// with a session or steps, and those whose work is checked or landed.
func (b *boardReader) busy(f store.TaskFilter) ([]api.Task, error) {
	if f.Archived == store.ArchivedOnly {
		return nil, nil // only ended tasks are archived
	}
	f.Stages, f.OldFirst, f.Most = append(coppice.StagesThat(coppice.Stage.Lands), coppice.StageSession, coppice.StageFlow), true, 0
	tasks, err := b.r.Tasks.List(f)
	if err != nil {
		return nil, err
	}
	views, err := b.views(tasks)
	slices.SortStableFunc(views, first)
	return views, err
}

// views returns tasks as the board shows them, without those that do not have
// the status of the filter.
func (b *boardReader) views(tasks []coppice.Task) ([]api.Task, error) {
	views, err := b.s.views(b.ctx, b.r, tasks)
	for i := range views {
		views[i].Body, views[i].Steps = "", nil
	}
	return slices.DeleteFunc(views, func(v api.Task) bool { return b.in.Status != "" && string(v.Status) != b.in.Status }), err
}

// fill adds the tasks of a column that the store can select and count.
func (b *boardReader) fill(col *api.BoardColumn, statuses []coppice.Status, f store.TaskFilter) (err error) {
	if !b.wants(statuses) {
		return nil
	}
	var tasks []coppice.Task
	n := 0
	switch _, isEnded := outcomeOf[statuses[0]]; {
	case isEnded:
		f.Stages, f.ByEnd = []coppice.Stage{coppice.StageEnded}, true
		for _, st := range statuses {
			if b.wants([]coppice.Status{st}) {
				f.Outcomes = append(f.Outcomes, outcomeOf[st])
			}
		}
		if tasks, err = b.r.Tasks.List(f); err == nil {
			n, err = b.r.Tasks.Count(f)
		}
	case f.Archived == store.ArchivedOnly:
	case col.Needs, slices.Contains(statuses, coppice.StatusReady):
		if tasks, err = b.r.Tasks.Pending(f, col.Needs); err == nil {
			n, err = b.r.Tasks.CountPending(f, col.Needs)
		}
	}
	if err != nil || len(tasks) == 0 {
		return err
	}
	views, err := b.views(tasks)
	if b.in.Status != "" {
		n -= len(tasks) - len(views) // a lower limit if the list was cut
	}
	col.Count += n
	col.Tasks = append(col.Tasks, views...)
	if !f.ByEnd {
		slices.SortStableFunc(col.Tasks, first)
	}
	return err
}

// choices adds what projects need, and the values to filter by.
func choices(projects []coppice.Project, in *boardIn, out *api.Board) {
	out.Needs, out.Projects, out.Tracks, out.Agents = []api.ProjectNeed{}, []string{}, []string{in.Track}, []string{in.Agent}
	for _, st := range coppice.Statuses {
		out.Statuses = append(out.Statuses, string(st))
	}
	for _, p := range projects {
		out.Projects = append(out.Projects, p.Prefix)
		for _, t := range p.Policy.Tracks {
			out.Tracks = append(out.Tracks, t.Name)
		}
		out.Agents = append(out.Agents, p.Policy.Agent.Use)
		for _, n := range p.Needs {
			if needShown(p.Prefix, n, in) {
				out.Needs = append(out.Needs, api.ProjectNeed{Project: p.Prefix, Need: n})
			}
		}
	}
	for _, c := range out.Columns {
		for _, t := range c.Tasks {
			out.Tracks, out.Agents = append(out.Tracks, t.Track), append(out.Agents, t.Agent)
		}
	}
	out.Tracks, out.Agents = distinct(out.Tracks), distinct(out.Agents)
	slices.SortStableFunc(out.Needs, func(a, b api.ProjectNeed) int { return a.Need.Since.Compare(b.Need.Since) })
}

// mostChoices limits the groups and labels to filter by.
const mostChoices = 100

// markChoices adds the groups and labels to filter by.
func markChoices(r store.Reader, projects []coppice.Project, in *boardIn, out *api.Board) error {
	project, err := projectID(r, in.Project)
	if err != nil {
		return err
	}
	groups, err := r.Groups.List(store.GroupFilter{ProjectID: project, Most: mostChoices})
	if err != nil {
		return err
	}
	chosen, err := r.Groups.Some([]int64{in.GroupID})
	if g, ok := chosen[in.GroupID]; ok && !slices.Contains(groups, g) {
		groups = append(groups, g)
	}
	out.Groups = []api.GroupName{}
	for _, g := range groups {
		i := slices.IndexFunc(projects, func(p coppice.Project) bool { return p.ID == g.ProjectID })
		if i >= 0 {
			out.Groups = append(out.Groups, api.GroupName{ID: g.ID, Project: projects[i].Prefix, Name: g.Name})
		}
	}
	if err != nil {
		return err
	}
	labels, err := r.Groups.Labels(mostChoices)
	out.Labels = distinct(append(labels, in.Label))
	return err
}

// needShown reports whether a need matches the board's filter. A need has no
// track, no agent and no pull request.
func needShown(project string, n coppice.Need, in *boardIn) bool {
	text := strings.ToLower(in.Text)
	return !in.Archived && in.Track+in.Agent+in.Pull == "" && in.MarksIn == (MarksIn{}) && (in.Status == "" || in.Status == string(coppice.StatusNeedsYou)) &&
		(in.Project == "" || in.Project == project) && (strings.Contains(project, text) || strings.Contains(strings.ToLower(n.Text), text))
}

// distinct sorts words and removes duplicates and the empty one.
func distinct(words []string) []string {
	slices.Sort(words)
	return slices.DeleteFunc(slices.Compact(words), func(w string) bool { return w == "" })
}
