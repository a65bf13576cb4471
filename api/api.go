// Package api has the types that the HTTP server sends and its clients read.
// Its only behaviour is encoding. api/http serves these types and api/client
// fetches them, so neither imports the other.
//
// Times are RFC 3339 in UTC. Fields are only added, never removed.
package api

import (
	"encoding/json"
	"time"

	"coppice"
)

// Task is a task as people see it: its description, its status, and the reason.
type Task struct {
	ID        int64                 `json:"id"`
	Key       string                `json:"key"`
	Project   string                `json:"project" doc:"The prefix of its project"`
	Title     string                `json:"title"`
	Body      string                `json:"body,omitempty" doc:"Left out of lists"`
	Priority  int                   `json:"priority"`
	Track     string                `json:"track"`
	Agent     string                `json:"agent"`
	Model     string                `json:"model,omitempty"`
	Effort    string                `json:"effort,omitempty" doc:"How hard its agent thinks; absent for the project's level"`
	Retry     string                `json:"retry,omitempty" doc:"What follows a failed session: none, same or analyze; absent for the project's"`
	Level     string                `json:"level,omitempty" doc:"How hard it looks, if its model is auto: simple, medium or complex"`
	LevelBy   string                `json:"level_by,omitempty" doc:"Who judged that: the model, or the rules"`
	Checks    []string              `json:"checks,omitempty"`
	Skipped   []string              `json:"skipped_checks,omitempty" doc:"Checks that a person left out for it"`
	After     []string              `json:"after,omitempty" doc:"Keys of the tasks that must be done first"`
	NotBefore time.Time             `json:"not_before,omitzero"`
	CreatedAt time.Time             `json:"created_at"`
	CreatedBy string                `json:"created_by,omitempty"`
	Category  string                `json:"category,omitempty" doc:"Selects its track"`
	Steps     []string              `json:"steps,omitempty" doc:"What must be true when it is done; left out of lists"`
	Feature   string                `json:"feature,omitempty" doc:"Its id in the project's features file"`
	Budget    coppice.USD           `json:"budget,omitempty" doc:"The most to spend on it"`
	Turns     int                   `json:"turns,omitempty" doc:"The most turns of each of its sessions; absent for the limit of the role"`
	Time      coppice.Duration      `json:"time,omitempty" doc:"How long each of its sessions can work; absent for the limit of the role"`
	UntilDone bool                  `json:"until_done,omitempty" doc:"The limits of roles and health.timeout do not apply to it"`
	Checkout  bool                  `json:"checkout,omitempty" doc:"Its sessions work in the person's own checkout, and nothing lands"`
	Branch    string                `json:"branch,omitempty" doc:"Its branch, if the name is not coppice/ and its key"`
	ForkOf    string                `json:"fork_of,omitempty" doc:"The task it was forked from"`
	Wants     coppice.Wants         `json:"wants,omitempty" enum:"answer" doc:"Absent if the result is a change; answer if the result is an answer and nothing lands"`
	Taken     bool                  `json:"taken,omitempty" doc:"A person has it on the agent's own screen, or soon will"`
	Status    coppice.Status        `json:"status"`
	Reason    string                `json:"reason,omitempty" doc:"Why it has this status"`
	Fix       string                `json:"fix,omitempty" doc:"What a person can do about it"`
	Stage     coppice.Stage         `json:"stage"`
	Since     time.Time             `json:"since" doc:"Since when it is in this stage"`
	Round     int                   `json:"round"`
	Outcome   coppice.Outcome       `json:"outcome,omitempty"`
	Failure   *coppice.Failure      `json:"failure,omitempty"`
	Warning   string                `json:"warning,omitempty"`
	Landed    string                `json:"landed,omitempty" doc:"The commit on the base"`
	Reverted  *coppice.Reverted     `json:"reverted,omitempty" doc:"Its last landing, if a person took it off the branch"`
	EndedAt   time.Time             `json:"ended_at,omitzero"`
	Strays    []coppice.StrayBranch `json:"stray_branches,omitempty" doc:"Branches that its agents created besides its own, in its workspace or in the trash; see drop-branches"`
	Session   string                `json:"session,omitempty" doc:"The key of its newest session"`
	Role      coppice.Role          `json:"role,omitempty" doc:"What its newest session is for"`
	Report    string                `json:"report,omitempty" doc:"What the agent of its running session last reported that it is doing, in one line"`
	Parent    string                `json:"parent,omitempty" doc:"The key of the task whose agent created it"`
	Line      string                `json:"line,omitempty" doc:"What people should know about it, in short: its question, what its pull request needs, why it has its status, or what it does; absent if only says is known"`
	Says      string                `json:"says,omitempty" doc:"What its newest session said or did last, in one line"`
	Proof     string                `json:"proof,omitempty" enum:"conflict,checks failed,not verified,checks passed,verified" doc:"The result of its newest candidate"`
	Proven    bool                  `json:"proven,omitempty" doc:"That result is good: the candidate can land"`
	Sessions  int                   `json:"sessions" doc:"How many sessions it had"`
	Usage     coppice.Usage         `json:"usage" doc:"The sum over its sessions"`
	Question  *Question             `json:"question,omitempty" doc:"The oldest open one"`
	Asked     []coppice.Verb        `json:"asked,omitempty" doc:"What was requested of it and is not carried out yet"`
	Can       []coppice.Verb        `json:"can,omitempty" doc:"What can be requested of it now; each has a route, /tasks/{key}/land and so on"`
	Primary   coppice.Verb          `json:"primary,omitempty" doc:"The one of can that a person most likely wants; absent if there is none"`
	Review    coppice.Reviewing     `json:"review,omitempty" enum:"possible,wanted" doc:"Whether its change can be reviewed, or waits for that; absent if it has none"`
	CanChange bool                  `json:"can_change,omitempty" doc:"Its request can change: priority, budget, limits and so on"`
	CanSend   bool                  `json:"can_send,omitempty" doc:"A message can be sent to its session, or to its next one"`
	Archived  time.Time             `json:"archived,omitzero" doc:"When a person archived it; lists leave it out unless requested"`
	Group     string                `json:"group,omitempty" doc:"The name of its group"`
	GroupID   int64                 `json:"group_id,omitempty"`
	Labels    []string              `json:"labels,omitempty"`
	Flagged   bool                  `json:"flagged,omitempty" doc:"A person flagged it"`
	App       string                `json:"app,omitempty" enum:"starting,ready,stopping" doc:"The state of its preview, while one runs"`
	Unread    bool                  `json:"unread,omitempty" doc:"It asked something, waits for approval or ended since the person last saw it; see /tasks/{key}/seen"`

	Flow *FlowMark `json:"flow,omitempty" doc:"It is a flow: other tasks do its work; see /flows/{key}"`
	Step *StepMark `json:"step,omitempty" doc:"It is a step of a flow"`

	Completion []string `json:"completion,omitempty" doc:"Its own checks of sessions that end without a failure; absent for those of the role, track or project"`

	Interactive bool `json:"interactive,omitempty" doc:"Its agent has no screen, and a person decides after each turn what follows"`

	PR *coppice.PullMark `json:"pr,omitempty" doc:"Its pull request in short; GET /tasks/{key} has all of it"`

	Issue     *coppice.IssueRef `json:"issue,omitempty" doc:"The issue of a tracker that it was created from"`
	IssueName string            `json:"issue_name,omitempty" doc:"How people call that issue: #12, or ENG-12"`

	Word string            `json:"status_text,omitempty" doc:"What people read as its status, if that is more exact: in review"`
	Need coppice.InboxKind `json:"need,omitempty" enum:"question,permission,waiting,stalled,budget,review,failed" doc:"Why it needs a person: the kind of its entry in the inbox"`
}

// Question is something a session asked a person.
type Question struct {
	ID           int64         `json:"id"`
	Kind         string        `json:"kind,omitempty" doc:"Empty, or permission: whether a tool can be used"`
	Text         string        `json:"text"`
	Options      []string      `json:"options,omitempty" doc:"An answer that is the number of an option, from 1, means that option"`
	Descriptions []string      `json:"descriptions,omitempty" doc:"What the options mean, in the same order"`
	Several      bool          `json:"several,omitempty" doc:"Several options can be chosen; an answer can have their numbers, such as 1, 3"`
	Rule         *coppice.Rule `json:"rule,omitempty" doc:"The rule that an answer with always would add"`
	AskedAt      time.Time     `json:"asked_at"`
	Answer       string        `json:"answer,omitempty"`
	AnsweredAt   time.Time     `json:"answered_at,omitzero"`
	Open         bool          `json:"open"`
}

// RuleList is the remembered permission answers of a project, newest first.
type RuleList struct {
	Rules []coppice.Rule `json:"rules"`
}

// Limit is an agent, or agent:model, that cannot be used now.
type Limit struct {
	coppice.AgentLimit
	Model string   `json:"model,omitempty" doc:"The limited model; absent if it is the agent itself"`
	Tasks []string `json:"tasks" doc:"Keys of the tasks that wait for it"`
}

// LimitList is everything that is limited now, by name.
type LimitList struct {
	Limits []Limit `json:"limits"`
}

// TaskDetail is a task with everything that belongs to it.
type TaskDetail struct {
	Task
	Limits     coppice.RunLimits  `json:"limits" doc:"What stops its newest session, or its next one, before it is done"`
	LimitsText string             `json:"limits_text,omitempty" doc:"The same in words; absent if only the limits of every session apply"`
	SummaryBy  string             `json:"summary_by,omitempty" doc:"The key of the session whose final message sums up the work: the newest that worked on it and has one"`
	Verifiers  []string           `json:"verifiers,omitempty" doc:"Keys of its sessions that judge the work, oldest first"`
	VerdictBy  string             `json:"verdict_by,omitempty" doc:"The key of the newest of them that has a verdict"`
	PassedBy   []string           `json:"passed_by,omitempty" doc:"Keys of those that passed every step"`
	Live       []string           `json:"live,omitempty" doc:"Keys of its sessions that have not ended"`
	Rested     []string           `json:"rested,omitempty" doc:"Keys of its sessions that were stopped because they could only wait; their conversations continue in the next session"`
	Answer     *coppice.Answer    `json:"answer,omitempty" doc:"For a task whose result is an answer: the newest one. For any other task: the final message of its last session, if that session changed nothing"`
	Context    map[string]string  `json:"context,omitempty" doc:"Small values for its agents, by name"`
	Schema     json.RawMessage    `json:"schema,omitempty" doc:"The JSON schema that its answer must match"`
	Images     []coppice.Image    `json:"images" doc:"The images that people attached, oldest first; see GET /images/{id}"`
	History    []coppice.Session  `json:"history" doc:"Its sessions, oldest first, without their prompts; verifiers with their verdicts"`
	Landings   []Landing          `json:"landings"`
	CheckRuns  []Check            `json:"check_runs"`
	Refusals   int                `json:"refusals" doc:"How many of check_runs count against the work: they did not pass, nothing killed them, and they did not run on the base"`
	Running    *RunningChecks     `json:"running,omitempty" doc:"Its checks that wait or run now"`
	Refused    *FailedCheck       `json:"failed_check,omitempty" doc:"If it failed or needs a person: the failed check of its newest candidate"`
	Messages   []TaskMessage      `json:"messages"`
	Questions  []Question         `json:"questions"`
	Workspace  *coppice.Workspace `json:"workspace,omitempty"`
	Preview    *coppice.Preview   `json:"preview,omitempty" doc:"The newest preview of its app"`
	Pull       *coppice.Pull      `json:"pull,omitempty" doc:"Its pull request, with what the forge reported last"`
	RevertText string             `json:"reverted_text,omitempty" doc:"How its last landing was taken off the branch; absent if it was not"`
	MergeText  string             `json:"merge_text,omitempty" doc:"A sentence: who asked to merge its pull request, or that the forge merges it when its rules allow it; absent if neither"`
	Reviewers  []coppice.Reviewer `json:"reviewers,omitempty" doc:"Who has reviewed its pull request, by the first review of each person"`
	Reactions  []Reacted          `json:"reactions,omitempty" doc:"What followed the events of its pull request and its agents, oldest first"`
	Terminals  []string           `json:"terminals" doc:"Keys of its sessions that run, or ran, on a terminal"`
	CanAttach  bool               `json:"can_attach,omitempty" doc:"Its newest session runs on a terminal: coppice attach shows its screen"`
	Dependants []string           `json:"dependants" doc:"Keys of tasks that wait for it"`
	Children   []Child            `json:"children" doc:"The tasks that its agents created, oldest first"`
	Below      coppice.USD        `json:"below,omitempty" doc:"What the tasks below it have cost; it counts against its budget"`
}

// TaskMessage is a message to a task, as people see it.
type TaskMessage struct {
	coppice.Message
	State     coppice.MessageState `json:"state" enum:"waiting,delivered,failed"`
	StateText string               `json:"state_text" doc:"What people read as its state, with the reason if it failed"`
}

// Child is a task that an agent of another task created.
type Child struct {
	Key    string         `json:"key"`
	Title  string         `json:"title"`
	Status coppice.Status `json:"status"`
	Reason string         `json:"reason,omitempty"`
}

// Page is the end of a page of a list.
type Page struct {
	Next int64 `json:"next,omitempty" doc:"Pass as before to get the next page; absent on the last one"`
}

// TaskPage is one page of tasks, newest first.
type TaskPage struct {
	Tasks []Task `json:"tasks"`
	Page
}

// TaskList is a set of tasks in the requested order.
type TaskList struct {
	Tasks []Task `json:"tasks"`
}

// Project is a project and its running sessions.
type Project struct {
	coppice.Project
	Running int `json:"running" doc:"Live sessions, without those that are parked"`
	// Can is what a person can do with the project as a whole.
	Can      []string     `json:"can,omitempty" enum:"reload,pause,resume,rename,remove,add-feature" doc:"What can be requested of it now; nothing while it is being removed"`
	Defaults TaskDefaults `json:"defaults" doc:"What a new task has if its request does not say it"`
	// Confirmed is what adding a known project confirmed.
	Confirmed []coppice.Need `json:"confirmed,omitempty" doc:"When a known project was added: what that confirmed"`
}

// TaskDefaults is what a new task of a project has if its request does not say it.
type TaskDefaults struct {
	Budget coppice.USD    `json:"budget,omitempty" doc:"The most to spend on it; absent if there is no limit"`
	Retry  string         `json:"retry" enum:"none,same,analyze" doc:"What follows a failed session"`
	Branch string         `json:"branch" doc:"The name of its branch; {key} is its key, and {words} are the first words of its title"`
	First  []FirstSession `json:"first" doc:"Its first session, by what the task results in"`
}

// FirstSession is the first session of a new task with a kind of result.
type FirstSession struct {
	Result  string            `json:"result" enum:"change,answer,checkout" doc:"A change that lands, an answer, or work in the person's own checkout"`
	Agent   string            `json:"agent,omitempty" doc:"Absent if a request must name one"`
	Model   string            `json:"model,omitempty" doc:"Absent for the agent's own"`
	Effort  string            `json:"effort,omitempty" doc:"Absent for the agent's own"`
	Limits  coppice.RunLimits `json:"limits" doc:"What stops it before it is done"`
	Without []string          `json:"without,omitempty" doc:"The fields of a request that such a task cannot have"`
}

// Confirmation is a person's agreement to a need.
type Confirmation struct {
	Kind coppice.NeedKind `json:"kind" enum:"policy,features,git,base" doc:"What is confirmed; for a base, that it stays where it is"`
	Diff string           `json:"diff,omitempty" maxLength:"65536" doc:"The diff that the person saw; refused if it has changed"`
}

// ProjectList is every project, by prefix.
type ProjectList struct {
	Projects []Project `json:"projects"`
}

// Output is one piece of a session's output. Events are JSON, everything else
// is bytes. For a picture it has only the size: the session's image at the same
// offset is the picture itself.
type Output struct {
	Offset int64              `json:"offset"`
	At     time.Time          `json:"at"`
	Kind   coppice.OutputKind `json:"kind"`
	Event  json.RawMessage    `json:"event,omitempty"`
	Data   []byte             `json:"data,omitempty"`
	Size   int64              `json:"size,omitempty" doc:"The size of a picture, whose data is not here: see /sessions/{key}/images/{offset}"`
}

// OutputPage is one page of a session's output.
type OutputPage struct {
	Output []Output `json:"output"`
	Next   int64    `json:"next" doc:"Pass as after to read the next page"`
	More   bool     `json:"more" doc:"There might be more already; a page ends early when its pieces are large"`
	Prev   int64    `json:"prev,omitempty" doc:"Pass as before to read back; absent on the first page"`
	Ended  bool     `json:"ended" doc:"The session has ended; only the pages that more announces follow"`
}

// Says is what a session said or did last, in one line.
type Says struct {
	Task    string `json:"task" doc:"The task's key"`
	Session string `json:"session" doc:"The session's key"`
	Says    string `json:"says" doc:"As in the task: what its newest session said or did last"`
}

// Event is an event of the log, with the task that it is about.
type Event struct {
	coppice.Event
	Task string `json:"task,omitempty" doc:"The key of its task; absent if it has none, or if the task was removed later"`
}

// EventPage is one page of the log.
type EventPage struct {
	Events []Event `json:"events"`
	Bounds
	Next int64 `json:"next" doc:"Pass as after to read the next page"`
	More bool  `json:"more" doc:"There is more already"`
}

// Bounds are the oldest and newest event in the log. As the data of a reset
// event they mean that the requested events are not in the log, or no longer.
// The stream continues here, so the client must read the current state again.
type Bounds struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// Status is a summary: what needs a person, what is running, what is waiting.
type Status struct {
	Seq      int64                  `json:"seq" doc:"The newest event that it includes; follow events after it"`
	At       time.Time              `json:"at"`
	Counts   map[coppice.Status]int `json:"counts"`
	Warnings []string               `json:"warnings,omitempty" doc:"Problems of the server itself"`
	Projects []ProjectStatus        `json:"projects"`
	Today    float64                `json:"today_usd" doc:"What the projects have spent since midnight UTC"`
	DayUSD   float64                `json:"day_usd,omitempty" doc:"The budgets of the projects per day; absent if a project has none"`
	NearDay  bool                   `json:"near_day,omitempty" doc:"A project has spent 80% of its budget for the day"`
	Inbox    int                    `json:"inbox" doc:"How many entries the inbox has, without those that are snoozed; see /inbox"`
	Wakes    time.Time              `json:"wakes_at,omitzero" doc:"When the next snooze in the inbox ends; no event reports it"`
	Limited  []coppice.AgentLimit   `json:"limited" doc:"Agents, and agent:model, whose accounts are limited"`
	Accounts []AccountBudget        `json:"accounts,omitempty" doc:"The accounts that have a budget, by name"`
	NeedsYou []Task                 `json:"needs_you"`
	Active   []Task                 `json:"active" doc:"Working, verifying, fixing, checking and landing"`
	Waiting  []Task                 `json:"waiting" doc:"Ready and waiting, the first of them"`
	Failed   []Task                 `json:"failed" doc:"Failed in the last 24 hours and not archived, newest first"`
}

// ProjectStatus is the load of a project.
type ProjectStatus struct {
	Prefix  string    `json:"prefix"`
	Path    string    `json:"path"`
	Running int       `json:"running"`
	Parked  int       `json:"parked" doc:"Live sessions that wait, for example for an answer; they do not count as running"`
	Limit   int       `json:"limit"`
	Paused  time.Time `json:"paused_at,omitzero"`
	Today   float64   `json:"today_usd,omitempty" doc:"What it has spent since midnight UTC"`
	DayUSD  float64   `json:"day_usd,omitempty" doc:"Its budget per day; absent if there is no limit"`
	// Warnings are the problems in the project's checkout.
	Warnings []string `json:"warnings,omitempty" doc:"Problems in its checkout, such as a features file that cannot be read, and 80% of its budget for the day"`
	// Needs are what the project needs a person for.
	Needs []coppice.Need `json:"needs,omitempty" doc:"What it needs a person for: files in the way, changes to confirm, a base that moved"`
}

// Version describes the server.
type Version struct {
	Version string `json:"version"`
	API     string `json:"api"`
}

// Backup names the file of a copy of the database.
type Backup struct {
	Path string `json:"path"`
}

// LoginLink is a link that signs in one browser, one time.
type LoginLink struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// Branch is a task's branch that was copied into the user's repository.
type Branch struct {
	Name   string `json:"name" doc:"The name of the branch"`
	Commit string `json:"commit" doc:"Its commit"`
}

// What a diff is against.
const (
	SinceBase    = "base"    // where the task's branch started from the base
	SinceSession = "session" // where the branch was before the task's last session
)
