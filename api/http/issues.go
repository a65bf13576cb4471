package http

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

// Issues takes requests about issues of trackers.
type Issues interface {
	ImportIssues(ctx context.Context, project, tracker string, issues []string, n coppice.NewTask) ([]coppice.Task, error)
	AcceptIssue(ctx context.Context, project, tracker, issue string) error
	ReadTrackers(ctx context.Context, project string) error
}

type listIssuesIn struct {
	ProjectIn
	Ended  bool  `query:"ended" doc:"Also issues whose task has ended, and whose tracker shows that"`
	Before int64 `query:"before" minimum:"0" doc:"Only issues with a smaller id: next of the page before"`
	Limit  int   `query:"limit" minimum:"0" maximum:"500" doc:"At most this many; 100 if absent"`
}

type heldIssueIn struct {
	ProjectIn
	Tracker string `query:"tracker" required:"true" maxLength:"64" doc:"The name of the source"`
	Issue   string `query:"issue" required:"true" maxLength:"500" doc:"As 123, #123, ENG-12 or an address"`
}

func (s *Server) issueRoutes(a huma.API) {
	const path = "/projects/{project}/issues"
	add(s, a, op{method: http.MethodGet, path: path, id: "list-issues", tag: "issues", about: "List the sources of issues of a project, the issues that wait, and those that became tasks"}, s.listIssues)
	add(s, a, op{method: http.MethodPost, path: path + "/import", id: "import-issues", tag: "issues", body: taskBody,
		about: "Create the tasks of issues, whatever their labels are; an issue with an open task gives that task"}, s.importIssues)
	add(s, a, op{method: http.MethodGet, path: path + "/held", id: "show-held-issue", tag: "issues",
		about: "Show the title and the description of an issue that wait for a person, and those of its task"}, s.heldIssue)
	add(s, a, op{method: http.MethodPost, path: path + "/accept", id: "accept-issue", tag: "issues",
		about: "Accept the title and the description of an issue that somebody changed whose edits do not count"}, s.acceptIssue)
	add(s, a, op{method: http.MethodPost, path: path + "/read", id: "read-issues", tag: "issues", about: "Read the sources of issues of a project now"}, s.readIssues)
}

// withSources runs f with a project and its sources of issues.
func (s *Server) withSources(ctx context.Context, prefix string, f func(store.Reader, coppice.Project, []engine.Source) error) error {
	return s.cfg.Store.View(ctx, func(r store.Reader) error {
		p, err := byPrefix(r, prefix)
		if err != nil {
			return err
		}
		sources, err := engine.Sources(r, p)
		if err != nil {
			return err
		}
		return f(r, p, sources)
	})
}

func (s *Server) listIssues(ctx context.Context, in *listIssuesIn) (out api.Issues, err error) {
	out.Sources, out.Issues = []api.IssueSource{}, []api.Issue{}
	most := cmp.Or(in.Limit, 100)
	err = s.withSources(ctx, in.Project, func(r store.Reader, p coppice.Project, sources []engine.Source) error {
		byID := map[int64]*engine.Source{}
		for i := range sources {
			byID[sources[i].Row.ID] = &sources[i]
			if sources[i].Policy != nil {
				out.Sources = append(out.Sources, showSource(&sources[i]))
			}
		}
		marks, err := r.Issues.List(store.IssueFilter{ProjectID: p.ID, Ended: in.Ended, BeforeID: in.Before, Most: most + 1})
		if err != nil {
			return err
		}
		if len(marks) > most {
			marks = marks[:most]
			out.Next = marks[most-1].ID
		}
		var ids []int64
		for _, m := range marks {
			ids = append(ids, m.TaskID)
		}
		keys, err := r.Tasks.Keys(ids)
		for _, m := range marks {
			out.Issues = append(out.Issues, showIssue(byID[m.TrackerID], m, keys[m.TaskID]))
		}
		return err
	})
	return out, err
}

func showSource(s *engine.Source) api.IssueSource {
	out := api.IssueSource{
		Name: s.Policy.SourceName(), Kind: cmp.Or(s.Policy.Kind, "auto"), Active: s.Active(), Most: s.Policy.MostActive(), Waiting: s.Counts[""], Matching: s.Row.Matching,
		Manual: s.Policy.Import.IsZero(), ReadAt: s.Row.ReadAt, NextAt: s.Row.NextAt, Failure: s.Row.Failure, Problem: s.Row.Problem,
	}
	if out.Waiting > 0 {
		out.Text = fmt.Sprintf("%s: %d of %d tasks are active", waitText(out.Waiting), out.Active, out.Most)
	}
	return out
}

func waitText(n int) string {
	if n == 1 {
		return "1 issue waits"
	}
	return fmt.Sprintf("%d issues wait", n)
}

func showIssue(s *engine.Source, m coppice.IssueMark, key string) api.Issue {
	out := api.Issue{
		ID: m.ID, Issue: m.Issue, Name: coppice.IssueName(m.Issue), Title: m.Title, URL: m.URL, Author: m.Author, Closed: m.Closed, Status: m.Status, Task: key, Problem: m.Problem,
		Held: m.Held, Reopened: m.Reopened, EndedAt: m.EndedAt, Can: []string{},
	}
	if s == nil {
		return out
	}
	out.Tracker = s.Row.Name
	switch {
	case m.Waits():
		out.Why = cmp.Or(s.Why(m), "it becomes a task now")
	case m.Held:
		out.Why = "its text changed, and a person has to accept it"
	case m.Refused != "":
		out.Why = m.Refused
	case m.Reopened:
		out.Why = "somebody reopened it, and a person can import it again"
	}
	if s.Policy == nil {
		return out
	}
	if !m.Closed && (m.Waits() || !m.Status.Active()) {
		out.Can = append(out.Can, "import")
	}
	if m.Held {
		out.Can = append(out.Can, "accept")
	}
	return out
}

func (s *Server) heldIssue(ctx context.Context, in *heldIssueIn) (out api.IssueTexts, err error) {
	name, err := coppice.ParseIssue(in.Issue)
	if err != nil {
		return out, err
	}
	err = s.withSources(ctx, in.Project, func(r store.Reader, p coppice.Project, sources []engine.Source) error {
		i := slices.IndexFunc(sources, func(s engine.Source) bool { return s.Row.ID != 0 && s.Row.Name == in.Tracker })
		if i < 0 {
			return coppice.Errorf(coppice.ENotFound, "%s has no tracker %s", p.Prefix, coppice.Quote(in.Tracker)).WithFix("see `coppice issues`").WithField("tracker")
		}
		of, err := r.Issues.Named(sources[i].Row.ID, name)
		if err != nil {
			return err
		}
		if of == nil || !of.Held || of.TaskID == 0 {
			return coppice.Errorf(coppice.ENotFound, "no change of %s waits to be accepted", coppice.IssueName(name)).WithFix("see `coppice issues`").WithField("issue")
		}
		t, err := r.Tasks.Get(of.TaskID)
		found := engine.IssueFields(of.Read)
		out = api.IssueTexts{Task: api.IssueText{Title: t.Title, Text: t.Body}, Tracker: api.IssueText{Title: found.Title, Text: found.Text}}
		return err
	})
	return out, err
}

// issues returns what takes requests about issues.
func (s *Server) issues() (Issues, error) {
	if s.cfg.Issues == nil {
		return nil, coppice.Errorf(coppice.EUnavailable, "this server has no trackers")
	}
	return s.cfg.Issues, nil
}

func (s *Server) importIssues(ctx context.Context, in *inProject[api.ImportIssues]) (out api.TaskList, err error) {
	to, err := s.issues()
	if err == nil {
		err = coppice.ValidPrefix(in.Project)
	}
	if err != nil {
		return out, err
	}
	n := coppice.NewTask{}
	if in.Body.Task != nil {
		n = *in.Body.Task
	}
	made, err := to.ImportIssues(ctx, in.Project, in.Body.Tracker, in.Body.Issues, n)
	if err != nil {
		return out, err
	}
	out.Tasks, err = store.Read(ctx, s.cfg.Store, func(r store.Reader) ([]api.Task, error) {
		for i := range made {
			if made[i], err = r.Tasks.Get(made[i].ID); err != nil {
				return nil, err
			}
		}
		return s.views(ctx, r, made)
	})
	return out, err
}

func (s *Server) acceptIssue(ctx context.Context, in *inProject[api.AcceptIssue]) (out api.Issues, err error) {
	to, err := s.issues()
	if err == nil {
		err = to.AcceptIssue(ctx, in.Project, in.Body.Tracker, in.Body.Issue)
	}
	if err != nil {
		return out, err
	}
	return s.listIssues(ctx, &listIssuesIn{ProjectIn: in.ProjectIn})
}

func (s *Server) readIssues(ctx context.Context, in *ProjectIn) (out api.Issues, err error) {
	to, err := s.issues()
	if err == nil {
		err = to.ReadTrackers(ctx, in.Project)
	}
	if err != nil {
		return out, err
	}
	return s.listIssues(ctx, &listIssuesIn{ProjectIn: *in})
}
