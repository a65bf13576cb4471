package tools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/store"
)

// workTools are about the session's own task and the tasks around it.
var workTools = []tool{
	changing("create_task", "Create a task for another agent: a change that is checked and lands on the same branch as yours, or an answer. It runs beside your session, in a separate workspace that starts from that branch, not from your own changes. It inherits your agent, model and group. Use wait_for_tasks to get its result.", createTask).only(worksAlone),
	waiting("wait_for_tasks", "Wait until tasks that you created with create_task have ended, and get their results. While you wait, your session does not count against the limits.", waitForTasks).only(works),
	changing("finish_task", "Say that your work is finished, and end your session. Commit your changes first. Call it as the last thing you do.", finishTask).only(works),
	waiting("ask_user", "Ask a person a question and wait for the answer. Ask only what you cannot find out yourself.", askUser),
	changing("send_message", "Send a message to the agent of another task of your family: one above yours, below it, or beside it.", sendMessage),
	changing("report_status", "Report your status to people: one line about what you are doing. It is shown on the card of your task.",
		func(c *call, i *engine.Intake, _ store.Tx, in reportIn) (done, error) {
			return done{true}, i.Report(c.ctx, c.session.ID, c.cfg.Redact(in.Message))
		}),
	reading("read_task", "Read a task of this project: what it asks for, its status, the tasks above and below it, and its result if it has ended.", readTask),
}

// works reports whether sessions in a role do the work of a task: they implement,
// fix or answer.
func works(r coppice.RoleInfo, _ bool) bool {
	return r.Role == coppice.RoleImplement || r.Role == coppice.RoleFix || r.Role == coppice.RoleAnswer
}

// worksAlone reports the same, without leads of goals: they have workers.
func worksAlone(r coppice.RoleInfo, lead bool) bool { return works(r, lead) && !lead }

// done is the answer of a tool that has nothing to say.
type done struct {
	OK bool `json:"ok"`
}

// newTaskIn is what the tools of agents and of people ask for in the same words when
// they create a task.
type newTaskIn struct {
	Title    string   `json:"title,omitempty" jsonschema:"what should be done, in a line; the first sentence of the description if absent"`
	Priority int      `json:"priority,omitempty" jsonschema:"from -10 to 10; higher goes first"`
	After    []string `json:"after,omitempty" jsonschema:"keys of tasks that must be done first"`
	Steps    []string `json:"steps,omitempty" jsonschema:"what must be true when it is done, one by one"`
}

// budgetIn is the budget of what an agent starts below its task.
type budgetIn struct {
	Budget float64 `json:"budget,omitempty" jsonschema:"the most to spend on it, in USD; at most your task's share"`
}

type createTaskIn struct {
	Description string `json:"description" jsonschema:"everything that the agent needs to know; it does not see your conversation"`
	newTaskIn
	Answer bool     `json:"answer,omitempty" jsonschema:"the task wants an answer: its agent changes nothing, and its final message is the result"`
	Schema any      `json:"schema,omitempty" jsonschema:"the JSON schema that the answer must match"`
	Agent  string   `json:"agent,omitempty" jsonschema:"another agent than yours"`
	Model  string   `json:"model,omitempty" jsonschema:"another model than yours"`
	Effort string   `json:"effort,omitempty" jsonschema:"how hard its agent thinks, as one of the agent's own levels"`
	Turns  int      `json:"turns,omitempty" jsonschema:"the most turns of each of its sessions"`
	Checks []string `json:"checks,omitempty" jsonschema:"shell commands that judge the result, besides the project's"`
	budgetIn
}

// Created is a task that an agent created.
type Created struct {
	Task   string         `json:"task"`
	Title  string         `json:"title"`
	Status coppice.Status `json:"status"`
	Budget float64        `json:"budget,omitempty"` // in USD
}

func createTask(c *call, i *engine.Intake, tx store.Tx, in createTaskIn) (Created, error) {
	n := coppice.NewTask{
		Title: c.cfg.Redact(in.Title), Body: c.cfg.Redact(in.Description), Answer: in.Answer, Priority: in.Priority, Agent: in.Agent, Model: in.Model, Effort: in.Effort, Turns: in.Turns,
		After: in.After, Steps: in.Steps, Checks: in.Checks, Budget: coppice.USD(in.Budget),
	}
	if in.Schema != nil {
		n.Schema = coppice.Raw(in.Schema)
	}
	return create(c, i, tx, n)
}

// create creates a task below the session's task.
func create(c *call, i *engine.Intake, tx store.Tx, n coppice.NewTask) (Created, error) {
	p, err := tx.Projects.Get(c.session.ProjectID)
	if err != nil {
		return Created{}, err
	}
	made, err := i.CreateTasks(c.ctx, p.Prefix, []coppice.NewTask{n})
	if err != nil {
		return Created{}, err
	}
	return Created{Task: made[0].Key, Title: made[0].Title, Status: coppice.StatusWaiting, Budget: float64(made[0].Budget)}, nil
}

type waitIn struct {
	Tasks   []string `json:"tasks" jsonschema:"the keys that create_task returned, such as app-12"`
	Timeout int64    `json:"timeout_ms,omitempty" jsonschema:"how long to wait: 1800000 (30 minutes) if absent, at most 86400000"`
}

// waited is the answer of wait_for_tasks when its time is over.
type waited struct {
	Timeout bool                `json:"timeout"`
	Pending []string            `json:"still_pending"`
	Results []engine.TaskResult `json:"results"`
}

// mostResult limits each result, in bytes.
const mostResult = 16 << 10

func waitForTasks(c *call, in waitIn) (any, error) {
	return c.await(in.Tasks, milliseconds(in.Timeout, coppice.DefaultWait), func(r store.Reader, ids []int64) (any, error) {
		results, err := engine.Results(r, ids, mostResult)
		if err != nil {
			return nil, err
		}
		return answerFor(r, ids, results)
	})
}

// await stores for which tasks the agent waits, and answers when they have ended or the
// time is over, and the session is not parked any more.
func (c *call) await(keys []string, most time.Duration, answer func(store.Reader, []int64) (any, error)) (any, error) {
	stored, ids, err := c.cfg.Intake.Wait(c.ctx, c.session, c.id, keys, most)
	if err != nil || stored != nil {
		return stored, err
	}
	topics := []string{store.TopicFree(c.session.ID), store.TopicTask(c.session.TaskID)}
	for _, id := range ids {
		topics = append(topics, store.TopicTask(id))
	}
	return c.waitOnce(topics, func(r store.Reader) error {
		_, err := engine.WaitOver(r, c.session.ID, ids, c.cfg.Now())
		return err
	}, func(i *engine.Intake, tx store.Tx) (any, error) {
		s, err := engine.WaitOver(tx.Reader(), c.session.ID, ids, c.cfg.Now())
		if err != nil {
			return nil, err
		}
		if err := i.EndWait(tx, s); err != nil {
			return nil, err
		}
		return answer(tx.Reader(), ids)
	})
}

// answerFor returns the results, or which tasks have not ended.
func answerFor(r store.Reader, ids []int64, results []engine.TaskResult) (any, error) {
	tasks, err := r.Tasks.Some(ids)
	if err != nil {
		return nil, err
	}
	out := waited{Timeout: true, Results: []engine.TaskResult{}}
	for _, result := range results {
		ended := false
		for _, t := range tasks {
			ended = ended || t.Key == result.Task && t.Ended()
		}
		if ended {
			out.Results = append(out.Results, result)
		} else {
			out.Pending = append(out.Pending, result.Task)
		}
	}
	if len(out.Pending) == 0 {
		return out.Results, nil
	}
	return out, nil
}

// milliseconds returns a duration, or the default for 0.
func milliseconds(n int64, otherwise time.Duration) time.Duration {
	if n == 0 {
		return otherwise
	}
	if n > int64(coppice.MostWait/time.Millisecond) { // it would overflow
		return coppice.MostWait + time.Millisecond
	}
	return time.Duration(n) * time.Millisecond
}

// waitOnce waits until ready does not return engine.ErrNotYet, and then carries out
// the last step of the call, one time. The step can find that it must wait longer.
func (c *call) waitOnce(topics []string, ready func(store.Reader) error, last func(*engine.Intake, store.Tx) (any, error)) (any, error) {
	for {
		ok, err := c.wait(func(r store.Reader) (bool, error) {
			err := ready(r)
			if errors.Is(err, engine.ErrNotYet) {
				return false, nil
			}
			return err == nil, err
		}, topics...)
		if err != nil {
			return nil, err
		}
		if !ok {
			return stillWaiting(), nil
		}
		out, err := c.cfg.Intake.Once(c.ctx, c.session, c.id, func(_ context.Context, i *engine.Intake, tx store.Tx) (any, error) { return last(i, tx) })
		if !errors.Is(err, engine.ErrNotYet) {
			return out, err
		}
	}
}

type finishIn struct {
	Result string `json:"result,omitempty" jsonschema:"what you did, or the answer if the task wants one; your last message if absent"`
}

func finishTask(c *call, i *engine.Intake, tx store.Tx, in finishIn) (done, error) {
	return done{true}, i.Finish(tx, c.session.ID, c.cfg.Redact(in.Result))
}

type askIn struct {
	Question string   `json:"question"`
	Options  []string `json:"options,omitempty" jsonschema:"answers to choose from, at most 10; the person can also write another one"`
	Timeout  int64    `json:"timeout_ms,omitempty" jsonschema:"how long to wait for the answer: 300000 (5 minutes) if absent, at most 86400000"`
}

// mostOptions limits the options of a question.
const mostOptions = 10

// askUser stores a question, and answers when a person did, and the session is not
// parked any more.
func askUser(c *call, in askIn) (any, error) {
	if len(in.Options) > mostOptions {
		return nil, coppice.Errorf(coppice.EInvalid, "the question has %d options", len(in.Options)).WithFix("use at most %d", mostOptions).WithField("options")
	}
	for n, o := range in.Options {
		if err := coppice.ValidText("options", o, coppice.MaxReport); err != nil {
			return nil, err
		}
		in.Options[n] = c.cfg.Redact(o)
	}
	stored, id, err := c.cfg.Intake.AskPerson(c.ctx, c.session, c.id, c.cfg.Redact(in.Question), in.Options, milliseconds(in.Timeout, coppice.DefaultReply))
	if err != nil || stored != nil {
		return stored, err
	}
	return c.waitOnce([]string{store.TopicFree(c.session.ID), store.TopicTask(c.session.TaskID)}, func(r store.Reader) error {
		_, err := engine.Answered(r, id)
		return err
	}, func(i *engine.Intake, tx store.Tx) (any, error) {
		q, err := engine.Answered(tx.Reader(), id)
		if err != nil {
			return nil, err
		}
		return q.Answer, i.EndQuestion(tx, q)
	})
}

type sendIn struct {
	To   string `json:"to" jsonschema:"the key of a task or a session, such as app-12 or app-12.1"`
	Text string `json:"text"`
}

func sendMessage(c *call, i *engine.Intake, tx store.Tx, in sendIn) (done, error) {
	t, err := engine.Relative(tx.Reader(), c.session, in.To)
	if err != nil {
		return done{}, err
	}
	if t.ID == c.session.TaskID {
		return done{}, coppice.Errorf(coppice.EInvalid, "%s is your own task", t.Key).WithFix("name another task of the family").WithField("to")
	}
	if !coppice.Visible(in.Text) {
		return done{}, coppice.Errorf(coppice.EInvalid, "the message is empty").WithField("text")
	}
	_, err = i.Send(c.ctx, t.Key, fmt.Sprintf("The agent of %s (not a person) says: %s", c.session.Key, c.cfg.Redact(in.Text)))
	return done{err == nil}, err
}

type reportIn struct {
	Message string `json:"message" jsonschema:"one line of at most 200 characters"`
}

type readTaskIn struct {
	Task string `json:"task,omitempty" jsonschema:"the key, such as app-12; your own task if absent"`
}

// Task is a task as agents see it.
type Task struct {
	Key      string         `json:"key"`
	Title    string         `json:"title"`
	Body     string         `json:"body,omitempty"`
	Status   coppice.Status `json:"status"`
	Reason   string         `json:"reason,omitempty"`
	Report   string         `json:"report,omitempty"` // what its agent reports that it is doing
	Result   string         `json:"result,omitempty"`
	Parent   *Relative      `json:"parent,omitempty"`
	Children []Relative     `json:"children,omitempty"`
	Budget   float64        `json:"budget,omitempty"` // in USD
	Spent    float64        `json:"spent,omitempty"`  // in USD, with the tasks below it
}

// Relative is a task above or below another one.
type Relative struct {
	Key    string         `json:"key"`
	Title  string         `json:"title"`
	Status coppice.Status `json:"status"`
}

// readTask reads a task of the session's project. Tasks of other projects do not
// exist for an agent.
func readTask(c *call, r store.Reader, in readTaskIn) (Task, error) {
	own, err := r.Tasks.Get(c.session.TaskID)
	if err != nil || in.Task == "" || in.Task == own.Key {
		return taskOf(r, own, err)
	}
	t, err := engine.TaskFor(r, c.session, in.Task)
	return taskOf(r, t, err)
}

func taskOf(r store.Reader, t coppice.Task, err error) (Task, error) {
	if err != nil {
		return Task{}, err
	}
	res, err := engine.ResultOf(r, t, mostResult)
	if err != nil {
		return Task{}, err
	}
	out := Task{Key: t.Key, Title: t.Title, Body: t.Body, Status: res.Status, Result: res.Result, Budget: float64(t.Budget)}
	if t.Wait != nil {
		out.Reason = t.Wait.Text
	}
	if s, err := r.Sessions.Last(t.ID); err != nil {
		return out, err
	} else if s != nil && s.State.Live() {
		out.Report = s.Report
	}
	spent, err := engine.Spent(r, t.ID)
	if err != nil {
		return out, err
	}
	out.Spent = float64(spent)
	if t.Parent != 0 {
		p, err := r.Tasks.Get(t.Parent)
		if err == nil {
			out.Parent, err = relativeOf(r, p)
		}
		if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
			return out, err
		}
	}
	children, err := r.Families.Children(t.ID)
	if err != nil {
		return out, err
	}
	for _, child := range children {
		one, err := relativeOf(r, child)
		if err != nil {
			return out, err
		}
		out.Children = append(out.Children, *one)
	}
	return out, nil
}

func relativeOf(r store.Reader, t coppice.Task) (*Relative, error) {
	res, err := engine.ResultOf(r, t, 0)
	return &Relative{Key: t.Key, Title: t.Title, Status: res.Status}, err
}
