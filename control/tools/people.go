package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"coppice"
	"coppice/api"
)

// peopleNote is what people's own clients read about the tools.
const peopleNote = "Tools of Coppice, which runs AI coding agents on repositories and lands what passes its checks. Start with status. Tasks have keys such as app-12. " +
	"A task whose status is needs_you waits for answer_question or land_task; its reason and fix say which."

// People serves the tools of people's own MCP clients. Each tool is a call of the
// HTTP API, which rest answers, so both have the same rules and views. The caller
// has authenticated the person. ctx ends the sessions of clients.
func (s *Server) People(ctx context.Context, rest http.Handler) http.Handler {
	return lazily(func() http.Handler {
		p := &people{redact: s.cfg.Redact, rest: rest}
		server := s.server(peopleNote)
		for _, t := range peopleTools {
			t(server, p)
		}
		return Handler(ctx, server, s.cfg.Logger)
	})
}

// people answers the calls of people.
type people struct {
	redact func(string) string
	rest   http.Handler
}

// peopleTools lists the tools of people.
var peopleTools = []func(*mcp.Server, *people){
	personal("status", "Show the status: the tasks that need a person, run, wait or failed, in all projects or in one.", true, (*people).status),
	personal("list_tasks", "List tasks, newest first.", true, (*people).list),
	personal("read_task", "Read a task: what it asks for, its status, its open question, its sessions, and its result.", true, (*people).read),
	personal("create_task", "Create a task. An agent works on it as soon as there is a free session.", false, (*people).create),
	personal("answer_question", "Answer the open question of a task's agent.", false, (*people).answer),
	personal("land_task", "Land the work of a task whose checks passed and that waits for a person's approval.", false, (*people).land),
	personal("send_message", "Send a message to the agent of a task. If none runs, its next session gets it.", false, (*people).send),
	personal("search", "Search tasks, the output of sessions and the logs of checks.", true, (*people).search),
}

func personal[In, Out any](name, about string, reads bool, do func(*people, context.Context, In) (Out, error)) func(*mcp.Server, *people) {
	return func(server *mcp.Server, p *people) {
		t := &mcp.Tool{Name: name, Description: about, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, DestructiveHint: new(bool), OpenWorldHint: new(bool)}}
		mcp.AddTool(server, t, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			out, err := do(p, ctx, in)
			text := ""
			if err == nil {
				text = string(coppice.Raw(out))
			} else {
				text = refusalText(err)
			}
			return &mcp.CallToolResult{IsError: err != nil, Content: []mcp.Content{&mcp.TextContent{Text: p.redact(text)}}}, nil, nil
		})
	}
}

// ask calls the HTTP API.
func ask[T any](ctx context.Context, p *people, method, path string, query url.Values, body any) (out T, err error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://coppice/api/v1"+path, bytes.NewReader(coppice.Raw(body)))
	if err != nil {
		return out, coppice.Errorf(coppice.EInvalid, "the arguments cannot be part of an address")
	}
	r.URL.RawQuery = query.Encode()
	r.Header.Set("Content-Type", "application/json")
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	p.rest.ServeHTTP(w, r)
	if w.status >= 300 {
		var problem api.Problem
		if json.Unmarshal(w.body.Bytes(), &problem) != nil || problem.Detail == "" {
			return out, coppice.Errorf(coppice.EInternal, "the server answered with status %d", w.status)
		}
		return out, &coppice.Error{Code: problem.Code, Cause: problem.Detail, Fix: problem.Fix}
	}
	if err := json.Unmarshal(w.body.Bytes(), &out); err != nil {
		return out, fmt.Errorf("tools: %s: %w", path, err)
	}
	return out, nil
}

func taskPath(key, rest string) string { return "/tasks/" + url.PathEscape(key) + rest }

// Brief is a task in a list.
type Brief struct {
	Key      string         `json:"key"`
	Title    string         `json:"title"`
	Status   coppice.Status `json:"status"`
	Reason   string         `json:"reason,omitempty"`
	Fix      string         `json:"fix,omitempty"`
	Says     string         `json:"says,omitempty"`
	Question string         `json:"question,omitempty"`
	Options  []string       `json:"options,omitempty"`
	Can      []coppice.Verb `json:"can,omitempty"`
}

func brief(t api.Task) Brief {
	b := Brief{Key: t.Key, Title: t.Title, Status: t.Status, Reason: t.Reason, Fix: t.Fix, Says: t.Says, Can: t.Can}
	if t.Question != nil {
		b.Question, b.Options = t.Question.Text, t.Question.Options
	}
	return b
}

func briefs(all []api.Task) []Brief {
	out := make([]Brief, 0, len(all))
	for _, t := range all {
		out = append(out, brief(t))
	}
	return out
}

type projectIn struct {
	Project string `json:"project,omitempty" jsonschema:"the prefix of a project, such as app; all projects if absent"`
}

// Overview is the answer of status.
type Overview struct {
	Projects map[string]string      `json:"projects"` // directories, by prefix
	Counts   map[coppice.Status]int `json:"counts"`
	NeedsYou []Brief                `json:"needs_you"`
	Active   []Brief                `json:"active"`
	Waiting  []Brief                `json:"waiting"`
	Failed   []Brief                `json:"failed"`
	Today    float64                `json:"today_usd"`
	Warnings []string               `json:"warnings,omitempty"`
}

func (p *people) status(ctx context.Context, in projectIn) (Overview, error) {
	q := url.Values{}
	if in.Project != "" {
		q.Set("project", in.Project)
	}
	s, err := ask[api.Status](ctx, p, http.MethodGet, "/status", q, nil)
	out := Overview{Projects: map[string]string{}, Counts: s.Counts, NeedsYou: briefs(s.NeedsYou), Active: briefs(s.Active), Waiting: briefs(s.Waiting), Failed: briefs(s.Failed), Today: s.Today, Warnings: s.Warnings}
	for _, known := range s.Projects {
		out.Projects[known.Prefix] = known.Path
	}
	return out, err
}

type listIn struct {
	projectIn
	Status []string `json:"status,omitempty" jsonschema:"only tasks with one of these statuses, such as needs_you, working, done or failed"`
	Text   string   `json:"text,omitempty" jsonschema:"a text in the title or key"`
	Before int64    `json:"before,omitempty" jsonschema:"the next of the previous page"`
	Limit  int      `json:"limit,omitempty" jsonschema:"at most 100; 20 if absent"`
}

// List is one page of tasks.
type List struct {
	Tasks []Brief `json:"tasks"`
	Next  int64   `json:"next,omitempty"` // for the next page
}

func (p *people) list(ctx context.Context, in listIn) (List, error) {
	q := url.Values{"limit": {strconv.Itoa(min(max(in.Limit, 0), 100))}}
	if in.Limit <= 0 {
		q.Set("limit", "20")
	}
	for name, v := range map[string]string{"project": in.Project, "text": in.Text} {
		if v != "" {
			q.Set(name, v)
		}
	}
	if in.Before > 0 {
		q.Set("before", strconv.FormatInt(in.Before, 10))
	}
	for _, v := range in.Status {
		q.Add("status", v)
	}
	page, err := ask[api.TaskPage](ctx, p, http.MethodGet, "/tasks", q, nil)
	return List{Tasks: briefs(page.Tasks), Next: page.Next}, err
}

type keyIn struct {
	Task string `json:"task" jsonschema:"the key of a task, such as app-12"`
}

// Detail is the answer of read_task.
type Detail struct {
	Brief
	Body     string           `json:"body,omitempty"`
	Steps    []string         `json:"steps,omitempty"`
	After    []string         `json:"after,omitempty"`
	Landed   string           `json:"landed,omitempty"`
	Cost     float64          `json:"cost_usd"`
	Sessions []SessionBrief   `json:"sessions"`
	Answer   *coppice.Answer  `json:"answer,omitempty"`
	Failed   *api.FailedCheck `json:"failed_check,omitempty"`
}

// SessionBrief is a session of a task.
type SessionBrief struct {
	Key     string               `json:"key"`
	Role    coppice.Role         `json:"role"`
	Agent   string               `json:"agent"`
	State   coppice.SessionState `json:"state"`
	Summary string               `json:"summary,omitempty"`
}

func (p *people) read(ctx context.Context, in keyIn) (Detail, error) {
	t, err := ask[api.TaskDetail](ctx, p, http.MethodGet, taskPath(in.Task, ""), nil, nil)
	d := Detail{Brief: brief(t.Task), Body: t.Body, Steps: t.Steps, After: t.After, Landed: t.Landed, Cost: t.Usage.CostUSD, Answer: t.Answer, Failed: t.Refused, Sessions: []SessionBrief{}}
	for _, s := range t.History {
		d.Sessions = append(d.Sessions, SessionBrief{Key: s.Key, Role: s.Role, Agent: s.Agent, State: s.State, Summary: s.Summary})
	}
	return d, err
}

type createIn struct {
	Project     string `json:"project" jsonschema:"the prefix of the project, such as app; status lists them"`
	Description string `json:"description,omitempty" jsonschema:"the whole description"`
	newTaskIn
	Agent  string `json:"agent,omitempty" jsonschema:"the project's default if absent"`
	Model  string `json:"model,omitempty" jsonschema:"the agent's default if absent"`
	Answer bool   `json:"answer,omitempty" jsonschema:"it wants an answer, not a change"`
}

func (p *people) create(ctx context.Context, in createIn) (Brief, error) {
	t := coppice.NewTask{Title: in.Title, Body: in.Description, Priority: in.Priority, Agent: in.Agent, Model: in.Model, After: in.After, Steps: in.Steps, Answer: in.Answer}
	made, err := ask[api.TaskList](ctx, p, http.MethodPost, "/projects/"+url.PathEscape(in.Project)+"/tasks", nil, map[string]any{"tasks": []coppice.NewTask{t}})
	if err != nil || len(made.Tasks) == 0 {
		return Brief{}, err
	}
	return brief(made.Tasks[0]), nil
}

type textIn struct {
	keyIn
	Text string `json:"text" jsonschema:"the message"`
}

func (p *people) answer(ctx context.Context, in textIn) (coppice.Question, error) {
	return ask[coppice.Question](ctx, p, http.MethodPost, taskPath(in.Task, "/answer"), nil, map[string]string{"text": in.Text})
}

func (p *people) send(ctx context.Context, in textIn) (coppice.Message, error) {
	return ask[coppice.Message](ctx, p, http.MethodPost, taskPath(in.Task, "/send"), nil, map[string]string{"text": in.Text})
}

func (p *people) land(ctx context.Context, in keyIn) (Brief, error) {
	t, err := ask[api.Task](ctx, p, http.MethodPost, taskPath(in.Task, "/land"), nil, map[string]string{})
	return brief(t), err
}

type searchIn struct {
	projectIn
	Query string `json:"query" jsonschema:"words, or their start; phrases in double quotes; -words that must not occur"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most 50; 20 if absent"`
}

func (p *people) search(ctx context.Context, in searchIn) (api.SearchPage, error) {
	most := in.Limit
	if most <= 0 || most > 50 {
		most = 20
	}
	q := url.Values{"q": {in.Query}, "most": {strconv.Itoa(most)}}
	if in.Project != "" {
		q.Set("project", in.Project)
	}
	return ask[api.SearchPage](ctx, p, http.MethodGet, "/search", q, nil)
}
