package http

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// TaskIn names a task. It is exported for the same reason as ProjectIn.
type TaskIn struct {
	Key string `path:"key" maxLength:"40" doc:"A task's key, such as app-12"`
}

// inTask is a request about a task with a body.
type inTask[B any] struct {
	TaskIn
	Body B
}

type listTasksIn struct {
	Project  string   `query:"project" maxLength:"16" doc:"A project's prefix"`
	Status   []string `query:"status,explode" maxItems:"10" doc:"Any of these"`
	Track    string   `query:"track" maxLength:"64"`
	Agent    string   `query:"agent" maxLength:"64"`
	Parent   string   `query:"parent" maxLength:"64" doc:"Only tasks that agents of the task with this key created"`
	Group    string   `query:"group" maxLength:"64" doc:"The number of a group, or its name with the project"`
	Label    string   `query:"label" maxLength:"40"`
	Flagged  bool     `query:"flagged" doc:"Only tasks that a person flagged"`
	Unread   bool     `query:"unread" doc:"Only tasks that are unread"`
	Pull     string   `query:"pull" enum:"open,any" doc:"Only tasks with a pull request: one that is open, or any"`
	Text     string   `query:"text" maxLength:"200" doc:"In title or key"`
	Archived string   `query:"archived" enum:"false,true,only" default:"false" doc:"Whether archived tasks are listed too, or only they"`
	Before   int64    `query:"before" minimum:"0" doc:"The next of the previous page"`
	Limit    int      `query:"limit" minimum:"1" maximum:"500" default:"100"`
}

type createTasksIn struct {
	ProjectIn
	Body struct {
		Tasks []coppice.NewTask `json:"tasks" minItems:"1" maxItems:"2000" nullable:"false" doc:"All are created, or none"`
	}
}

func (s *Server) taskRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/tasks", id: "list-tasks", tag: "tasks", about: "List tasks, newest first"}, s.listTasks)
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/tasks", id: "create-tasks", tag: "tasks",
		about: "Create tasks, all or none", status: http.StatusCreated, body: maxBody}, s.createTasks)
	add(s, a, op{method: http.MethodGet, path: "/tasks/{key}", id: "show-task", tag: "tasks", about: "Show a task in detail"}, s.showTask)
	add(s, a, op{method: http.MethodPatch, path: "/tasks/{key}", id: "change-task", tag: "tasks",
		about: "Change a task", body: taskBody}, s.changeTask)
	s.diffRoute(a)
	s.textRoutes(a)
	add(s, a, op{method: http.MethodPost, path: "/tasks/{key}/branch", id: "bring-branch", tag: "tasks",
		about: "Copy a task's branch into the user's repository"}, s.bringBranch)
}

// stagesOf are the stages in which a task can have a status.
var stagesOf = map[coppice.Status][]coppice.Stage{
	coppice.StatusWaiting:   {coppice.StageWaiting, coppice.StageQueued, coppice.StageSession},
	coppice.StatusReady:     {coppice.StageQueued},
	coppice.StatusWorking:   {coppice.StageSession, coppice.StageFlow},
	coppice.StatusFixing:    {coppice.StageSession},
	coppice.StatusVerifying: {coppice.StageSession},
	coppice.StatusChecking:  {coppice.StageChecking},
	coppice.StatusLanding:   {coppice.StageLanding, coppice.StagePull},
	coppice.StatusNeedsYou:  append(coppice.StagesThat(coppice.Stage.Awaits), coppice.StageWaiting, coppice.StageSession),
	coppice.StatusDone:      {coppice.StageEnded},
	coppice.StatusFailed:    {coppice.StageEnded},
	coppice.StatusCancelled: {coppice.StageEnded},
}

var outcomeOf = map[coppice.Status]coppice.Outcome{
	coppice.StatusDone:      coppice.OutcomeDone,
	coppice.StatusFailed:    coppice.OutcomeFailed,
	coppice.StatusCancelled: coppice.OutcomeCancelled,
}

var archivedOf = map[string]store.Archived{"false": store.ArchivedNot, "true": store.ArchivedToo, "only": store.ArchivedOnly}

// narrow makes the store's filter select no more than the statuses need. A
// status is derived, so the results are filtered again.
func narrow(f *store.TaskFilter, statuses []string) error {
	onlyEnded := len(statuses) > 0
	for _, word := range statuses {
		st := coppice.Status(word)
		stages, ok := stagesOf[st]
		if !ok {
			return coppice.Errorf(coppice.EInvalid, "%s is not a valid status", coppice.Quote(word)).
				WithFix("use one of: %s", statusWords()).WithField("status")
		}
		for _, stage := range stages {
			if !slices.Contains(f.Stages, stage) {
				f.Stages = append(f.Stages, stage)
			}
		}
		outcome, ended := outcomeOf[st]
		if onlyEnded = onlyEnded && ended; ended {
			f.Outcomes = append(f.Outcomes, outcome)
		}
	}
	if !onlyEnded {
		f.Outcomes = nil
	}
	return nil
}

func statusWords() (words string) {
	for i, st := range coppice.Statuses {
		if i > 0 {
			words += ", "
		}
		words += string(st)
	}
	return words
}

func (s *Server) listTasks(ctx context.Context, in *listTasksIn) (out api.TaskPage, err error) {
	f := store.TaskFilter{Track: in.Track, Agent: in.Agent, Text: in.Text, Label: in.Label, Flagged: in.Flagged, Pull: in.Pull, BeforeID: in.Before, Most: in.Limit + 1, Archived: archivedOf[in.Archived]}
	if in.Unread {
		f.UnreadBy = reader
	}
	if err := narrow(&f, in.Status); err != nil {
		return out, err
	}
	made, err := reuse(ctx, &s.answers, fmt.Sprintf("tasks %+v", *in), func(ctx context.Context) (madePage, error) {
		page, err := s.makePage(ctx, f, in)
		return madePage{page}, err
	})
	if out = made.TaskPage; err != nil {
		return out, err
	}
	return out, s.updateLines(ctx, &out.Tasks)
}

// madePage is the part of a page that facts decide. It has no end.
type madePage struct{ api.TaskPage }

func (madePage) end() time.Time { return time.Time{} }

func (s *Server) makePage(ctx context.Context, f store.TaskFilter, in *listTasksIn) (out api.TaskPage, err error) {
	out.Tasks = []api.Task{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		if f.ProjectID, err = projectID(r, in.Project); err != nil {
			return err
		}
		if in.Parent != "" {
			t, err := taskByKey(r, in.Parent)
			if err != nil {
				return err
			}
			f.Parent = t.ID
		}
		if in.Group != "" {
			g, err := findGroup(r, f.ProjectID, in.Group)
			if err != nil {
				return err
			}
			f.Group = g.ID
		}
		return s.fill(ctx, r, f, in, &out)
	})
	return out, err
}

// fill reads until the page is full or no task is left.
func (s *Server) fill(ctx context.Context, r store.Reader, f store.TaskFilter, in *listTasksIn, out *api.TaskPage) error {
	for {
		tasks, err := r.Tasks.List(f)
		if err != nil {
			return err
		}
		views, err := s.views(ctx, r, tasks)
		if err != nil {
			return err
		}
		for _, v := range views {
			if len(in.Status) > 0 && !slices.Contains(in.Status, string(v.Status)) {
				continue
			}
			if len(out.Tasks) == in.Limit {
				out.Next = out.Tasks[in.Limit-1].ID
				return nil
			}
			v.Body, v.Steps = "", nil
			out.Tasks = append(out.Tasks, v)
		}
		if len(tasks) < f.Most {
			return nil
		}
		f.BeforeID = tasks[len(tasks)-1].ID
	}
}

func (s *Server) createTasks(ctx context.Context, in *createTasksIn) (api.TaskList, error) {
	if err := coppice.ValidPrefix(in.Project); err != nil {
		return api.TaskList{}, err
	}
	tasks, err := s.cfg.Tasks.CreateTasks(ctx, in.Project, in.Body.Tasks)
	if err != nil {
		return api.TaskList{}, err
	}
	var out api.TaskList
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		ids := make([]int64, len(tasks))
		for i, t := range tasks {
			ids[i] = t.ID
		}
		now, err := r.Tasks.Some(ids)
		if err != nil {
			return err
		}
		for i, id := range ids {
			tasks[i] = now[id]
		}
		out.Tasks, err = s.views(ctx, r, tasks)
		return err
	})
	return out, err
}

func (s *Server) showTask(ctx context.Context, in *TaskIn) (out api.TaskDetail, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		t, err := taskByKey(r, in.Key)
		if err != nil {
			return err
		}
		out, err = s.detail(ctx, r, t)
		return err
	})
	return out, err
}

func (s *Server) detail(ctx context.Context, r store.Reader, t coppice.Task) (out api.TaskDetail, err error) {
	views, err := s.views(ctx, r, []coppice.Task{t})
	if err != nil {
		return out, err
	}
	out.Task, out.Schema, out.Context = views[0], t.Schema, t.Context
	if out.History, err = r.Sessions.Of(t.ID); err != nil {
		return out, err
	}
	p, err := r.Projects.Get(t.ProjectID)
	if err != nil {
		return out, err
	}
	if t.Reverted != nil {
		out.RevertText = t.Reverted.String()
	}
	out.Limits = t.RunLimits(p.Policy, roleOf(t, out.History))
	sessionsBy(&out)
	if out.Terminals, err = s.terminalsOf(r, t, out.History); err != nil {
		return out, err
	}
	out.CanAttach = slices.Contains(out.Terminals, out.Session) && slices.Contains(out.Live, out.Session)
	for i := range out.History {
		s := &out.History[i]
		s.Prompt = "" // it can be long; show-session returns it
		if newest := i == len(out.History)-1; s.Answer != nil && s.Answer.Problem == "" && (newest || t.Wants == coppice.WantsAnswer) {
			out.Answer = s.Answer
		}
	}
	landings, err := r.Landings.Of(t.ID)
	if err != nil {
		return out, err
	}
	for _, l := range landings {
		out.Landings = append(out.Landings, api.Landing{Landing: l, State: l.State(), StateText: l.StateText()})
	}
	checks, err := r.Checks.Of(t.ID)
	if err != nil {
		return out, err
	}
	for _, c := range checks {
		out.CheckRuns = append(out.CheckRuns, api.Check{Check: c, Result: c.Result()})
		if c.Refused() {
			out.Refusals++
		}
	}
	out.Refused = refusedBy(out)
	shorten(&out)
	if out.Running, err = s.runningChecks(r, t.ID); err != nil {
		return out, err
	}
	if out.Messages, err = messagesOf(r, t); err != nil {
		return out, err
	}
	questions, err := r.Questions.Of(t.ID)
	if err != nil {
		return out, err
	}
	for _, q := range questions {
		out.Questions = append(out.Questions, question(q))
	}
	if out.Images, err = r.Images.Of(t.ID); err != nil {
		return out, err
	}
	if out.Workspace, err = r.Workspaces.Of(t.ID); err != nil {
		return out, err
	}
	if err := readPull(r, t, &out); err != nil {
		return out, err
	}
	if out.Reactions, err = reactionsOf(r, t); err != nil {
		return out, err
	}
	if out.Preview, err = r.Previews.Last(t.ID); err != nil {
		return out, err
	}
	ids, err := r.Tasks.Dependants(t.ID)
	if err != nil {
		return out, err
	}
	keys, err := r.Tasks.Keys(ids)
	if err != nil {
		return out, err
	}
	out.Dependants = named(ids, keys)
	if out.Children, err = s.children(ctx, r, t); err != nil {
		return out, err
	}
	below, err := r.Spend.Of(coppice.FamilySubject(t.ID), "")
	out.Below = coppice.USD(below.CostUSD)
	out.History, out.Landings, out.CheckRuns = filled(out.History), filled(out.Landings), filled(out.CheckRuns)
	out.Questions, out.Dependants, out.Images = filled(out.Questions), filled(out.Dependants), filled(out.Images)
	return out, err
}

// roleOf returns the role of the next session of a task, or else of its newest one.
func roleOf(t coppice.Task, history []coppice.Session) coppice.Role {
	switch {
	case t.Next != nil:
		return t.Next.Role
	case len(history) > 0:
		return history[len(history)-1].Role
	}
	return t.FirstRole()
}

// messagesOf returns the messages to a task with their states.
func messagesOf(r store.Reader, t coppice.Task) ([]api.TaskMessage, error) {
	list, err := r.Messages.Of(t.ID)
	out := make([]api.TaskMessage, len(list))
	for i, m := range list {
		out[i].Message = m
		out[i].State, out[i].StateText = m.State()
	}
	return out, err
}

// readPull adds the pull request of a task, and who has reviewed it.
func readPull(r store.Reader, t coppice.Task, out *api.TaskDetail) (err error) {
	if !t.Pull {
		return nil
	}
	if out.Pull, err = r.Pulls.Of(t.ID); out.Pull != nil {
		out.MergeText = out.Pull.MergeText()
		out.Reviewers = coppice.Reviewers(out.Pull.Report.Comments)
	}
	return err
}

// sessionsBy names the sessions of a task that people look for, and says what limits
// them.
func sessionsBy(out *api.TaskDetail) {
	if out.LimitsText = out.Limits.Words(); out.LimitsText == "" && out.UntilDone {
		out.LimitsText = "until done"
	}
	if s := coppice.LastWork(out.History, func(s coppice.Session) bool { return s.Summary != "" }); s != nil {
		out.SummaryBy = s.Key
	}
	for _, s := range out.History {
		if s.Role == coppice.RoleVerify {
			out.Verifiers = append(out.Verifiers, s.Key)
		}
		if s.Verdict != nil {
			out.VerdictBy = s.Key
			if s.Verdict.Pass() {
				out.PassedBy = append(out.PassedBy, s.Key)
			}
		}
		if s.State.Live() {
			out.Live = append(out.Live, s.Key)
		}
		if s.Rests() {
			out.Rested = append(out.Rested, s.Key)
		}
	}
}

// children returns the tasks that the agents of a task created.
func (s *Server) children(ctx context.Context, r store.Reader, t coppice.Task) ([]api.Child, error) {
	out := []api.Child{}
	tasks, err := r.Families.Children(t.ID)
	if err != nil || len(tasks) == 0 {
		return out, err
	}
	statuses, err := s.cfg.Status.Statuses(ctx, r, tasks)
	if err != nil {
		return nil, err
	}
	for i, c := range tasks {
		out = append(out, api.Child{Key: c.Key, Title: c.Title, Status: statuses[i].Status, Reason: statuses[i].Reason})
	}
	return out, nil
}

// terminalsOf returns the keys of the sessions on a terminal.
func (s *Server) terminalsOf(r store.Reader, t coppice.Task, sessions []coppice.Session) ([]string, error) {
	p, err := r.Projects.Get(t.ProjectID)
	keys := []string{}
	for _, x := range sessions {
		if x.Screen || s.cfg.Terminal != nil && s.cfg.Terminal(p, x.Agent) {
			keys = append(keys, x.Key)
		}
	}
	return keys, err
}

// filled turns nil into an empty list, for JSON.
func filled[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (s *Server) changeTask(ctx context.Context, in *inTask[coppice.TaskChange]) (api.Task, error) {
	return s.act(ctx, in.Key, func(ctx context.Context) error {
		_, err := s.cfg.Tasks.ChangeTask(ctx, in.Key, in.Body)
		return err
	})
}

// act does something to a task and returns the task after it.
func (s *Server) act(ctx context.Context, key string, do func(context.Context) error) (out api.Task, err error) {
	if err := validTaskKey(key); err != nil {
		return out, err
	}
	if err := do(ctx); err != nil {
		return out, err
	}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		t, err := r.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		out, err = s.viewOf(ctx, r, t)
		return err
	})
	return out, err
}
