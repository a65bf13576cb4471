package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"coppice"
	"coppice/api"
	"coppice/verb"
)

// TaskQuery selects tasks. Its zero value selects the newest of all.
type TaskQuery struct {
	Project string
	Status  []string
	Track   string
	Agent   string
	Group   string // its name, with the project, or its number
	Label   string
	Parent  string // the key of the task whose agents created them
	Flagged bool
	Pull    string // open or any: only tasks with such a pull request
	Text    string
	Before  int64 // the Next of the previous page
	Limit   int

	Archived string // true also lists archived tasks, only lists only them
}

func (q TaskQuery) values() url.Values {
	v := query("project", q.Project, "track", q.Track, "agent", q.Agent, "group", q.Group, "label", q.Label, "parent", q.Parent,
		"pull", q.Pull, "text", q.Text, "archived", q.Archived)
	for _, s := range q.Status {
		v.Add("status", s)
	}
	setIf(v, "flagged", q.Flagged)
	setNumber(v, "before", q.Before)
	setNumber(v, "limit", q.Limit)
	return v
}

// query returns the values of names, which alternate with them. It leaves out empty
// values.
func query(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		set(v, pairs[i], pairs[i+1])
	}
	return v
}

func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

// setNumber sets a number that is positive. Others mean the server's default.
func setNumber[T int | int64](v url.Values, name string, n T) {
	if n > 0 {
		v.Set(name, strconv.FormatInt(int64(n), 10))
	}
}

func setIf(v url.Values, name string, on bool) {
	if on {
		v.Set(name, "true")
	}
}

func taskPath(key, rest string) string { return "/tasks/" + url.PathEscape(key) + rest }

// Version returns the server's version.
func (c *Client) Version(ctx context.Context) (api.Version, error) {
	return get[api.Version](ctx, c, "/version", nil)
}

// Status returns a summary of everything, or of one project.
func (c *Client) Status(ctx context.Context, project string) (api.Status, error) {
	return get[api.Status](ctx, c, "/status", query("project", project))
}

// Health says whether the server is healthy. Without agents, it does not check
// those that projects use, and is faster.
func (c *Client) Health(ctx context.Context, agents bool) (api.Health, error) {
	return get[api.Health](ctx, c, "/health", url.Values{"agents": {strconv.FormatBool(agents)}})
}

// Projects lists the projects.
func (c *Client) Projects(ctx context.Context) ([]api.Project, error) {
	l, err := get[api.ProjectList](ctx, c, "/projects", nil)
	return l.Projects, err
}

// Features shows a project's features file.
func (c *Client) Features(ctx context.Context, project string) (api.FeatureList, error) {
	return get[api.FeatureList](ctx, c, "/projects/"+url.PathEscape(project)+"/features", nil)
}

// AddProject adds the project of a directory. For a known one it confirms the
// current policy and git settings, and returns what changed.
func (c *Client) AddProject(ctx context.Context, dir string) (api.Project, error) {
	return c.AddProjectAs(ctx, dir, "")
}

// AddProjectAs does the same. A new project gets the prefix, unless that is empty.
func (c *Client) AddProjectAs(ctx context.Context, dir, prefix string) (api.Project, error) {
	body := map[string]string{"path": dir}
	if prefix != "" {
		body["prefix"] = prefix
	}
	return post[api.Project](ctx, c, "/projects", body)
}

// RenameProject gives a project another prefix.
func (c *Client) RenameProject(ctx context.Context, project, prefix string) (api.Project, error) {
	return post[api.Project](ctx, c, "/projects/"+url.PathEscape(project)+"/rename", map[string]string{"prefix": prefix})
}

// UseProject adds the project of a directory. For a known one it applies a
// person's edits of its policy, but nothing that was landed there.
func (c *Client) UseProject(ctx context.Context, dir string) (api.Project, error) {
	return post[api.Project](ctx, c, "/projects", map[string]any{"path": dir, "edits": true})
}

// Project shows a project.
func (c *Client) Project(ctx context.Context, prefix string) (api.Project, error) {
	return get[api.Project](ctx, c, "/projects/"+url.PathEscape(prefix), nil)
}

// Confirm confirms a need of a project.
func (c *Client) Confirm(ctx context.Context, prefix string, what api.Confirmation) (api.Project, error) {
	return post[api.Project](ctx, c, "/projects/"+url.PathEscape(prefix)+"/confirm", what)
}

// RestoreBase moves back a base that moved without Coppice.
func (c *Client) RestoreBase(ctx context.Context, prefix string) (api.Project, error) {
	return post[api.Project](ctx, c, "/projects/"+url.PathEscape(prefix)+"/restore-base", nil)
}

// Pause pauses or resumes a project, or one track of it.
func (c *Client) Pause(ctx context.Context, prefix, track string, on bool) (api.Project, error) {
	word := "/resume"
	if on {
		word = "/pause"
	}
	body := map[string]string{}
	if track != "" {
		body["track"] = track
	}
	return post[api.Project](ctx, c, "/projects/"+url.PathEscape(prefix)+word, body)
}

// RemoveProject starts to remove a project and returns what will not be
// removed.
func (c *Client) RemoveProject(ctx context.Context, prefix string, how coppice.Remove) (api.Removed, error) {
	return post[api.Removed](ctx, c, "/projects/"+url.PathEscape(prefix)+"/remove", how)
}

// Disk measures disk usage, for at most this many seconds; 0 means the server's
// default.
func (c *Client) Disk(ctx context.Context, within int) (api.Disk, error) {
	v := url.Values{}
	setNumber(v, "within", within)
	return get[api.Disk](ctx, c, "/disk", v)
}

// CreateTasks creates tasks in a project, all or none.
func (c *Client) CreateTasks(ctx context.Context, project string, tasks []coppice.NewTask) ([]api.Task, error) {
	l, err := post[api.TaskList](ctx, c, "/projects/"+url.PathEscape(project)+"/tasks", map[string]any{"tasks": tasks})
	return l.Tasks, err
}

// Tasks lists tasks, newest first.
func (c *Client) Tasks(ctx context.Context, q TaskQuery) (api.TaskPage, error) {
	return get[api.TaskPage](ctx, c, "/tasks", q.values())
}

// Task shows a task in detail.
func (c *Client) Task(ctx context.Context, key string) (api.TaskDetail, error) {
	return get[api.TaskDetail](ctx, c, taskPath(key, ""), nil)
}

// ChangeTask changes the fields of a task.
func (c *Client) ChangeTask(ctx context.Context, key string, change coppice.TaskChange) (api.Task, error) {
	return call[api.Task](ctx, c, http.MethodPatch, taskPath(key, ""), nil, change)
}

// Ask requests something of a task. Package verb has the list.
func (c *Client) Ask(ctx context.Context, key string, v coppice.Verb, r verb.Request) (api.Task, error) {
	body := map[string]any{}
	if len(r.Images) > 0 {
		body["images"] = r.Images
	}
	if info := verb.Of(v); info != nil {
		for name, value := range map[string]string{info.Text: r.Text, "agent": r.Staff.Agent, "model": r.Staff.Model, "effort": r.Staff.Effort, "head": r.Head} {
			if value != "" {
				body[name] = value
			}
		}
	}
	return post[api.Task](ctx, c, taskPath(key, "/"+string(v)), body)
}

// BringBranch copies a task's branch into the user's repository, or one of its
// stray branches.
func (c *Client) BringBranch(ctx context.Context, key, stray string) (api.Branch, error) {
	path := taskPath(key, "/branch")
	if stray != "" {
		path += "?" + url.Values{"stray": {stray}}.Encode()
	}
	return post[api.Branch](ctx, c, path, nil)
}

// Answer answers a question; 0 means the oldest open one.
func (c *Client) Answer(ctx context.Context, key string, question int64, text string) (api.Question, error) {
	body := map[string]any{"text": text}
	if question != 0 {
		body["question"] = question
	}
	return post[api.Question](ctx, c, taskPath(key, "/answer"), body)
}

// Diff returns what a task changed, as a patch: against its base, or since its
// last session started.
func (c *Client) Diff(ctx context.Context, key string, sinceSession bool) (string, error) {
	v := url.Values{}
	if sinceSession {
		v.Set("since", "session")
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := c.request(ctx, http.MethodGet, taskPath(key, "/diff"), v, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "text/plain")
	resp, err := c.send(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", unreachable(ctx, err)
	}
	return string(b), nil
}

// Session shows a session.
func (c *Client) Session(ctx context.Context, key string) (coppice.Session, error) {
	return get[coppice.Session](ctx, c, "/sessions/"+url.PathEscape(key), nil)
}

// Output returns a page of a session's output after an offset; -1 is before the
// first piece.
func (c *Client) Output(ctx context.Context, session string, after int64, kinds ...coppice.OutputKind) (api.OutputPage, error) {
	return get[api.OutputPage](ctx, c, "/sessions/"+url.PathEscape(session)+"/output", outputValues(after, kinds))
}

func outputValues(after int64, kinds []coppice.OutputKind) url.Values {
	v := url.Values{"after": {strconv.FormatInt(after, 10)}}
	for _, k := range kinds {
		v.Add("kinds", string(k))
	}
	return v
}

// EventQuery chooses events.
type EventQuery struct {
	After   int64 // events after this one; if negative, FollowEvents starts now
	Project string
	Task    string
	Limit   int // of a page
}

func (q EventQuery) values() url.Values {
	v := query("project", q.Project, "task", q.Task)
	if q.After >= 0 {
		v.Set("after", strconv.FormatInt(q.After, 10))
	}
	setNumber(v, "limit", q.Limit)
	return v
}

// Events returns a page of the log.
func (c *Client) Events(ctx context.Context, q EventQuery) (api.EventPage, error) {
	return get[api.EventPage](ctx, c, "/events", q.values())
}

// Undo restores a removed workspace: a task's, or the newest of a project, or
// the newest of all.
func (c *Client) Undo(ctx context.Context, task, project string) (coppice.Trash, error) {
	body := map[string]string{}
	if task != "" {
		body["task"] = task
	}
	if project != "" {
		body["project"] = project
	}
	return post[coppice.Trash](ctx, c, "/undo", body)
}

// Undoable lists the last things that can be undone, of a task or a project, or of
// all projects if both are empty.
func (c *Client) Undoable(ctx context.Context, task, project string) ([]coppice.Undo, error) {
	v := query("task", task, "project", project)
	list, err := get[api.UndoList](ctx, c, "/undo", v)
	return list.Undo, err
}

// UndoTask undoes one thing about a task; an empty kind means the newest one.
func (c *Client) UndoTask(ctx context.Context, key string, kind coppice.UndoKind) (api.Undone, error) {
	body := map[string]coppice.UndoKind{}
	if kind != "" {
		body["kind"] = kind
	}
	return post[api.Undone](ctx, c, taskPath(key, "/undo"), body)
}

// Trash lists the removed workspaces of a project, or of all projects.
func (c *Client) Trash(ctx context.Context, project string) (api.TrashList, error) {
	return get[api.TrashList](ctx, c, "/trash", query("project", project))
}

// EmptyTrash removes trash permanently: of the tasks, or of a project, or of all
// projects. An age of 0 means everything.
func (c *Client) EmptyTrash(ctx context.Context, project string, older coppice.Duration, tasks ...string) (api.TrashEmptied, error) {
	body := map[string]any{}
	if project != "" {
		body["project"] = project
	}
	if older != 0 {
		body["older_than"] = older
	}
	if len(tasks) > 0 {
		body["tasks"] = tasks
	}
	return post[api.TrashEmptied](ctx, c, "/trash/empty", body)
}

// Backup writes a copy of the database and returns its path.
func (c *Client) Backup(ctx context.Context) (string, error) {
	b, err := post[api.Backup](ctx, c, "/backup", nil)
	return b.Path, err
}

// LoginLink makes a link that signs in one browser, one time.
func (c *Client) LoginLink(ctx context.Context) (api.LoginLink, error) {
	return post[api.LoginLink](ctx, c, "/login-link", nil)
}
