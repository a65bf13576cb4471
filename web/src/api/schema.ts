// Code generated from the API's description by `make generate`. DO NOT EDIT.

export interface AddProjectInBody {
  /** For a known project, apply a person's edits of its policy, but nothing that was landed there */
  "edits"?: boolean;
  /** A directory of the checkout */
  "path": string;
}

export interface Agent {
  /** What it can do: messages, resume, fork, model, permissions, tools, screen */
  "can": (string)[] | null;
  /** How to install it */
  "install"?: string;
  /** Why it cannot be used now, and until when */
  "limit"?: AgentLimit;
  /** yes, no or unknown; absent if it needs no login */
  "login"?: string;
  /** The variable, file or command that shows it; never a value */
  "login_by"?: string;
  /** Variables that log it in; one of them is enough */
  "login_env"?: (string)[] | null;
  /** Limits of its single models that agent.fallback names as agent:model */
  "model_limits"?: (Limit)[] | null;
  /** The model for each kind of work */
  "models"?: Record<string, string>;
  "name": string;
  /** The project's coppice.yaml describes or changes it */
  "own"?: boolean;
  /** Its program; absent if it is not installed */
  "path"?: string;
  /** Why it does not work although it is installed */
  "problem"?: string;
  /** The protocol by which Coppice talks to it */
  "protocol"?: string;
  /** How well it works, 0 to 10, as far as is known */
  "scores": Scores;
  /** The source of the facts that were not tested */
  "source"?: string;
  /** The version Coppice was tested with */
  "tested"?: string;
  /** The version that it reports; absent if it is not installed, unknown if it reports none */
  "version"?: string;
  /** Keys of the tasks that wait for the limit to end */
  "waiting"?: (string)[] | null;
  /** What to fix before you rely on it */
  "warnings": (string)[] | null;
}

export interface AgentChoice {
  "effort"?: string;
  "fallback"?: (string)[] | null;
  "model"?: string;
  "roles"?: Record<string, string>;
  "use": string;
}

export interface AgentLimit {
  "agent": string;
  "class": string;
  "since"?: string;
  "text"?: string;
  "until"?: string;
}

export interface AgentList {
  "agents": (Agent)[] | null;
  /** When they were last checked; the limits are current */
  "at": string;
}

export interface Answer {
  "problem"?: string;
  "text"?: string;
  "value"?: unknown;
}

export interface AnswerInBody {
  /** Which one; the default is the oldest open one */
  "question"?: number;
  "text": string;
}

export interface Backup {
  "path": string;
}

export interface Branch {
  /** Its commit */
  "commit": string;
  /** The name of the branch */
  "name": string;
}

export interface Budget {
  /** For the project per day, from midnight UTC; absent if there is no limit */
  "day_usd"?: number;
  "project": string;
  /** For one task; absent if there is no limit */
  "task_usd"?: number;
  /** What the project has spent since midnight UTC */
  "today_usd"?: number;
}

export interface BudgetPolicy {
  "day"?: string;
  "task"?: string;
}

export interface Check {
  "command": string;
  "ended_at": string;
  "env": string;
  /** The line of the whole log at which the first error starts, from 1; absent if none was found */
  "error_line"?: number;
  "exit": number;
  "id": number;
  "landing_id": number;
  "log"?: string;
  "project_id": number;
  "signal"?: string;
  "started_at"?: string;
  "task_id": number;
  "timed_out"?: boolean;
  "took": number;
  "tree": string;
}

export interface CommandRun {
  "command": string;
  "ended_at"?: string;
  /** Its exit code, after it has ended */
  "exit": number;
  /** It prepares the worktree and is not a check */
  "setup"?: boolean;
  /** The signal that killed it */
  "signal"?: string;
  /** Bytes of its output so far */
  "size": number;
  "started_at"?: string;
  "state": "waiting" | "running" | "ended";
  /** It was stopped because it took too long */
  "timed_out"?: boolean;
}

export interface ConfigChange {
  /** As in limits.sessions or limits.per_agent.NAME */
  "key": string;
  /** The change is refused if the file has changed since */
  "revision"?: string;
  /** Remove the key, so that its default applies */
  "unset"?: boolean;
  /** The new value as JSON */
  "value"?: unknown;
}

export interface ConfigKey {
  /** The default, in the same form */
  "default": string;
  "doc": string;
  "example"?: string;
  /** Only describes the elements of a list or the values below a name: it has no value itself */
  "form"?: boolean;
  /** As in limits.sessions; [] stands for a list's element, * for a name that the user chooses */
  "key": string;
  /** The shortest duration */
  "least"?: string;
  /** The line of coppice.yaml that sets it */
  "line"?: number;
  /** The greatest number */
  "max"?: number;
  /** The least number */
  "min"?: number;
  /** The only names in it */
  "names"?: (string)[] | null;
  /** It is required in its mapping */
  "needed"?: boolean;
  /** The only values */
  "one_of"?: (string)[] | null;
  /** A regular expression that a text must match */
  "pattern"?: string;
  /** default, or file and line */
  "source"?: string;
  /** The value as YAML, or a sentence in brackets if it is not set */
  "text": string;
  /** The type, for people */
  "type": string;
  /** As JSON */
  "value"?: unknown;
}

export interface Confirmation {
  /** The diff that the person saw; refused if it has changed */
  "diff"?: string;
  /** What is confirmed; for a base, that it stays where it is */
  "kind": "policy" | "features" | "git" | "base";
}

export interface CreateTasksInBody {
  /** All are created, or none */
  "tasks": (NewTask)[];
}

export interface Disk {
  "at": string;
  /** Bytes that are free on its disk */
  "free": number;
  /** The size of the history, and its limits */
  "kept": (DiskKept)[] | null;
  /** Not everything was counted in time: the real sizes are larger */
  "partial"?: boolean;
  "projects": (DiskProject)[] | null;
  /** What belongs to no single project */
  "server": (DiskPart)[] | null;
  /** The state directory */
  "state": string;
  /** Bytes in the state directory */
  "total": number;
}

export interface DiskKept {
  /** How long it is kept, such as 180d; empty means no limit */
  "age"?: string;
  /** What changes the limits: keys of config.yaml, or flags of coppice serve */
  "by": string;
  /** The current size */
  "bytes"?: number;
  /** The current number */
  "count"?: number;
  /** The most that are kept; 0 means no limit */
  "most"?: number;
  /** The most bytes that are kept; 0 means no limit */
  "size"?: number;
  /** output, tasks, events, backups */
  "what": string;
}

export interface DiskPart {
  /** Space on disk; for output, about its size in the database */
  "bytes": number;
  "files"?: number;
  /** Not everything was counted */
  "partial"?: boolean;
  "path": string;
  /** workspaces, repository, trash, output, database, search index, backups, sessions, other */
  "what": string;
  /** It is included in this other part, and not counted twice in totals */
  "within"?: string;
}

export interface DiskProject {
  "parts": (DiskPart)[] | null;
  "prefix": string;
  /** Bytes of the project's files; its output is in the database */
  "total": number;
}

export interface DockerPolicy {
  "dir"?: string;
  "file"?: string;
  "service": string;
}

export interface DriverProfile {
  "ask_args"?: (string)[] | null;
  "ask_env"?: Record<string, string>;
  "auth"?: string;
  "files"?: Record<string, string>;
  "messages"?: string;
  "meta"?: string;
  "retry_log"?: string;
  "sandbox"?: string;
  "secrets"?: string;
}

export interface Event {
  "at": string;
  "by": string;
  "data"?: unknown;
  "kind": string;
  "project_id"?: number;
  "reason"?: string;
  "seq": number;
  "session_id"?: number;
  "subject"?: string;
  "task_id"?: number;
}

export interface EventPage {
  "events": (Event)[] | null;
  "first": number;
  "last": number;
  /** There is more already */
  "more": boolean;
  /** Pass as after to read the next page */
  "next": number;
}

export interface Failure {
  "account"?: string;
  "class": string;
  "fix"?: string;
  "retry_at"?: string;
  "text": string;
}

export interface FailurePattern {
  "label"?: string;
  "match": string;
}

export interface Group {
  /** The same by status */
  "counts": Record<string, number>;
  "created_at": string;
  "created_by"?: string;
  "id": number;
  /** How it was made: by a request for several tasks, by a file, by a flow, or by hand */
  "kind": "batch" | "import" | "flow" | "hand";
  /** Unique in the project */
  "name": string;
  /** The prefix of its project */
  "project": string;
  /** How many tasks it has, with archived ones */
  "tasks": number;
  "title"?: string;
  /** What its tasks have used */
  "usage": Usage;
}

export interface GroupPage {
  "groups": (Group)[] | null;
  /** Pass as before to get the next page; absent on the last one */
  "next"?: number;
}

export interface Health {
  "at": string;
  "healthy": boolean;
  /** The most urgent first */
  "problems": (HealthProblem)[] | null;
}

export interface HealthPolicy {
  "check": string;
  "long": string;
  "stalled": string;
  "timeout": string;
}

export interface HealthProblem {
  /** What a person can do about it */
  "fix": string;
  /** What it is about */
  "kind": "database" | "disk" | "clock" | "worker" | "backup" | "queue" | "hosts" | "limit" | "agent";
  /** What is wrong, in a sentence */
  "text": string;
  /** Work stops, or is lost, until it is fixed */
  "urgent"?: boolean;
}

export interface Hit {
  /** When the task was created, the piece written, or the check ended */
  "at": string;
  /** For a check: its id, as in the task's check_runs */
  "check"?: number;
  /** For a check: its command */
  "command"?: string;
  "kind": "task" | "output" | "check";
  /** Where the matches are in the snippet: start and length, in UTF-16 code units, as in JavaScript */
  "marks": ((number)[] | null)[] | null;
  /** For output: the offset of the piece */
  "offset"?: number;
  /** For output: the session's key */
  "session"?: string;
  /** The text around the matches, on one line; plain text, never markup */
  "snippet": string;
  /** For output: who wrote it. event is what the agent said and did, stdout and stderr the output of its process, host the output of Coppice's own process, app the output of the app that was served for a verifier */
  "source"?: "event" | "stdout" | "stderr" | "host" | "app";
  /** The task's key */
  "task": string;
  /** The task's title */
  "title": string;
}

export interface Inbox {
  "entries": (InboxEntry)[] | null;
  /** There are more: at most 200 tasks of a kind are listed */
  "more"?: boolean;
  /** How many entries are hidden until a time or an event */
  "snoozed": number;
}

export interface InboxAction {
  /** The request, without the text */
  "body"?: unknown;
  /** The command that does the same */
  "command": string;
  "danger"?: boolean;
  /** The text of its button */
  "label": string;
  "method": "POST" | "PATCH";
  /** The text is required */
  "needs"?: boolean;
  /** Asks for the text */
  "prompt"?: string;
  /** Below /api/v1, such as /tasks/app-12/answer */
  "route": string;
  /** The field of the request for a text of the person; absent if it has none */
  "text"?: string;
  /** The verb, if it is one */
  "verb"?: string;
}

export interface InboxEntry {
  /** What can be done, the most likely first */
  "actions": (InboxAction)[] | null;
  /** It was snoozed, and the snooze has ended */
  "back"?: boolean;
  /** The change that waits for confirmation */
  "diff"?: string;
  /** What a person can do about it */
  "fix"?: string;
  /** Stable while the cause stays, such as question/app-12/3 */
  "id": string;
  "kind": "question" | "permission" | "waiting" | "stalled" | "limit" | "budget" | "queue" | "change" | "review" | "failed";
  /** The answers to choose from */
  "options"?: (string)[] | null;
  /** The prefix of its project; absent for an account */
  "project"?: string;
  "since"?: string;
  "snoozed_by"?: string;
  /** Hidden until this event of the task in snoozed_task */
  "snoozed_for"?: string;
  "snoozed_task"?: string;
  /** Hidden until then */
  "snoozed_until"?: string;
  /** The key of its task; absent if it is about a project or an account */
  "task"?: string;
  /** Keys of further tasks that need the same of a person */
  "tasks"?: (string)[] | null;
  /** The whole question or reason, at most 16 KiB */
  "text": string;
  /** The title of the task, or the name of what it is about */
  "title": string;
}

export interface LandPolicy {
  "how": string;
  "push": boolean;
  "remote"?: string;
  "strategy": string;
}

export interface Landing {
  "base"?: string;
  "commit"?: string;
  "created_at": string;
  "ended_at"?: string;
  "evidence"?: string;
  "failure"?: Failure;
  "green"?: boolean;
  "head": string;
  "id": number;
  "killed"?: number;
  "outcome"?: string;
  "project_id": number;
  "pushed"?: boolean;
  "queued_at"?: string;
  "retry_at"?: string;
  "round": number;
  "session_id": number;
  "steps"?: number;
  "task_id": number;
  "tree"?: string;
  "tries"?: number;
  "verified"?: boolean;
  "waits"?: string;
}

export interface Left {
  /** Where it is */
  "path": string;
  /** In words */
  "what": string;
}

export interface Limit {
  "agent": string;
  "class": string;
  "since"?: string;
  /** Keys of the tasks that wait for it */
  "tasks": (string)[] | null;
  "text"?: string;
  "until"?: string;
}

export interface LimitList {
  "limits": (Limit)[] | null;
}

export interface Limits {
  "memory": string;
  "output": string;
  "parked"?: number;
  "per_agent"?: Record<string, number>;
  "previews"?: number;
  "reserve"?: string;
  "sessions": number;
  "workspaces"?: number;
}

export interface LoginLink {
  "expires": string;
  "url": string;
}

export interface MCPServer {
  "command"?: (string)[] | null;
  "env"?: Record<string, string>;
  "headers"?: Record<string, string>;
  "url"?: string;
}

export interface Message {
  "delivered_at"?: string;
  "failed"?: string;
  "from"?: string;
  "id": number;
  "kind"?: string;
  "sent_at": string;
  "session_id"?: number;
  "task_id": number;
  "text": string;
}

export interface ModelInBody {
  /** The vendor's name for it, or auto */
  "model": string;
}

export interface Need {
  "diff"?: string;
  "fix"?: string;
  "from"?: string;
  "kind": string;
  "paths"?: (string)[] | null;
  "since": string;
  "text": string;
  "to"?: string;
}

export interface NewSnooze {
  /** Until this happens to the task: any event, it ended, landed or failed, it asked something, or it got a message */
  "event"?: "any" | "ended" | "landed" | "failed" | "asked" | "message";
  /** For how long, such as 2h */
  "for"?: string;
  /** Whose event; the default is the entry's own task */
  "task"?: string;
  "until"?: string;
}

export interface NewTask {
  /** Keys of tasks, or refs within the request, that must be done first */
  "after"?: (string)[] | null;
  "agent"?: string;
  /** It wants an answer, not a change: its session may change nothing, and nothing lands */
  "answer"?: boolean;
  /** The whole description */
  "body"?: string;
  /** The most to spend on it, such as 5 USD; the project's when absent */
  "budget"?: string;
  /** Routes it to a track when none is named */
  "category"?: string;
  /** Shell commands that judge the result, besides the project's */
  "checks"?: (string)[] | null;
  /** Its id in the project's features file */
  "feature"?: string;
  /** The name of its group, which is created if it does not exist; several tasks of a request without one get a new group */
  "group"?: string;
  /** Lower-case words, at most 10 */
  "labels"?: (string)[] | null;
  "model"?: string;
  "not_before"?: string;
  /** From -10 to 10; higher goes first */
  "priority"?: number;
  /** A name for this task within the request, so that others can come after it */
  "ref"?: string;
  /** The JSON schema that the answer must match; if absent, the answer is a text */
  "schema"?: unknown;
  /** What must be true when it is done, one by one */
  "steps"?: (string)[] | null;
  /** What should be done, in a line */
  "title": string;
  "track"?: string;
}

export interface Output {
  "at": string;
  "data"?: string;
  "event"?: unknown;
  "kind": string;
  "offset": number;
  /** The size of a picture, whose data is not here: see /sessions/{key}/images/{offset} */
  "size"?: number;
}

export interface OutputPage {
  /** The session has ended; only the pages that more announces follow */
  "ended": boolean;
  /** There might be more already; a page ends early when its pieces are large */
  "more": boolean;
  /** Pass as after to read the next page */
  "next": number;
  "output": (Output)[] | null;
  /** Pass as before to read back; absent on the first page */
  "prev"?: number;
}

export interface PauseInBody {
  /** Only this track */
  "track"?: string;
}

export interface PermissionPolicy {
  "default"?: string;
  "rules"?: (Rule)[] | null;
}

export interface Policy {
  "agent": AgentChoice;
  "agents": Record<string, Profile>;
  "base": string;
  "budget": BudgetPolicy;
  "checks": (string)[] | null;
  "critical_patterns": (FailurePattern)[] | null;
  "features"?: string;
  "health": HealthPolicy;
  "instructions"?: string;
  "land": LandPolicy;
  "limits": Limits;
  "mcp"?: Record<string, MCPServer>;
  "permissions": PermissionPolicy;
  "prices"?: Record<string, Price>;
  "problems"?: (string)[] | null;
  "progress"?: string;
  "prompts"?: Record<string, string>;
  "retry": RetryPolicy;
  "tracks": (Track)[] | null;
  "trash": TrashPolicy;
  "verify": VerifyPolicy;
  "workspace": WorkspacePolicy;
}

export interface Preview {
  /** Where a browser opens it */
  "address"?: string;
  /** Who started it */
  "by": string;
  "created_at": string;
  "ended_at"?: string;
  "fix"?: string;
  "id": number;
  "port"?: number;
  "project_id": number;
  "ready_at"?: string;
  /** Why it ended, with the end of its log if it failed */
  "reason"?: string;
  "state": "starting" | "ready" | "failed" | "stopped";
  /** When it was last asked to stop */
  "stop_at"?: string;
  "task_id": number;
}

export interface Price {
  "cache_read"?: string;
  "cache_write"?: string;
  "input": string;
  "output": string;
}

export interface Problem {
  "code": string;
  /** The cause */
  "detail": string;
  /** The invalid field of the request */
  "field"?: string;
  /** How to fix it */
  "fix"?: string;
  "status": number;
  "title": string;
  "type"?: string;
}

export interface Profile {
  "args"?: (string)[] | null;
  "budget"?: (string)[] | null;
  "command": (string)[] | null;
  "driver"?: DriverProfile;
  "effort"?: (string)[] | null;
  "env"?: Record<string, string>;
  "fork"?: (string)[] | null;
  "install"?: string;
  "login"?: (string)[] | null;
  "login_env"?: (string)[] | null;
  "login_files"?: (string)[] | null;
  "mcp"?: string;
  "model"?: (string)[] | null;
  "models"?: Record<string, string>;
  "pass_env"?: (string)[] | null;
  "prompt"?: string;
  "protocol": string;
  "resume"?: (string)[] | null;
  "schema"?: (string)[] | null;
  "scores": Scores;
  "screen"?: ScreenProfile;
  "source"?: string;
  "tested"?: string;
  "version"?: (string)[] | null;
}

export interface Project {
  "base_commit"?: string;
  "check_env"?: string;
  /** When a known project was added: what that confirmed */
  "confirmed"?: (Need)[] | null;
  "created_at": string;
  "id": number;
  "last_task": number;
  "needs"?: (Need)[] | null;
  "path": string;
  "paused_at"?: string;
  "paused_tracks"?: Record<string, string>;
  "policy": Policy;
  "prefix": string;
  "removal"?: Removal;
  "rules"?: (Rule)[] | null;
  /** Live sessions, without those that are parked */
  "running": number;
  "strikes"?: Record<string, number>;
}

export interface ProjectConfig {
  /** False if the file does not exist and all keys have their defaults */
  "exists": boolean;
  "keys": (ConfigKey)[] | null;
  /** The file */
  "path": string;
  /** Identifies the file's current content; send it with a change */
  "revision": string;
  /** What the server was started with; only a restart changes it */
  "server": (ServerSetting)[] | null;
}

export interface ProjectList {
  "projects": (Project)[] | null;
}

export interface ProjectStatus {
  "limit": number;
  /** What it needs a person for: files in the way, changes to confirm, a base that moved */
  "needs"?: (Need)[] | null;
  /** Live sessions that wait, for example for an answer; they do not count as running */
  "parked": number;
  "path": string;
  "paused_at"?: string;
  "prefix": string;
  "running": number;
  /** Problems in its checkout, such as a features file that cannot be read */
  "warnings"?: (string)[] | null;
}

export interface Question {
  "answer"?: string;
  "answered_at"?: string;
  "asked_at": string;
  "id": number;
  /** Empty, or permission: whether a tool can be used */
  "kind"?: string;
  "open": boolean;
  "options"?: (string)[] | null;
  /** The rule that an answer with always would add */
  "rule"?: Rule;
  "text": string;
}

export interface Removal {
  "at": string;
  "force"?: boolean;
  "problem"?: string;
  "purge"?: boolean;
}

export interface Remove {
  /** Stop its open tasks first, instead of refusing because of them */
  "force"?: boolean;
  /** Remove everything as well that Coppice made for it on disk and in the repository: workspaces, trash, branches */
  "purge"?: boolean;
}

export interface Removed {
  /** An event project.removed of this project says that it was removed */
  "id": number;
  /** What stays on disk without purge */
  "left": (Left)[] | null;
  /** The checkout, which stays as it is */
  "path": string;
  "prefix": string;
}

export interface Requeue {
  /** The agent that takes over; the default is the task's agent */
  "agent"?: string;
  /** The vendor's name for it, or auto */
  "model"?: string;
  /** What to do differently; passed to the agent */
  "note"?: string;
}

export interface RetryInBody {
  /** Passed to the agent */
  "note"?: string;
}

export interface RetryPolicy {
  "backoff": string;
  "max": number;
}

export interface Rule {
  "do": string;
  "match"?: string;
  "set"?: Record<string, string>;
  "tool"?: string;
  "why"?: string;
}

export interface RuleList {
  "rules": (Rule)[] | null;
}

export interface RunOutput {
  /** The index of its command */
  "command": number;
  "data": string;
  /** Where it starts in the output of the command. A jump means that the middle of a long output was not kept */
  "offset": number;
}

export interface RunningChecks {
  /** The commands in the order in which they run */
  "commands": (CommandRun)[] | null;
  /** Names this run of the checks. Another name means that they started again */
  "run": string;
}

export interface Says {
  /** As in the task: what its newest session said or did last */
  "says": string;
  /** The session's key */
  "session": string;
  /** The task's key */
  "task": string;
}

export interface Scores {
  "implement"?: number;
  "lead"?: number;
}

export interface ScreenProfile {
  "args"?: (string)[] | null;
  "command"?: (string)[] | null;
  "quit"?: string;
  "resume"?: (string)[] | null;
  "rules"?: (ScreenRule)[] | null;
  "runtime"?: string;
  "stop"?: string;
  "submit"?: string;
}

export interface ScreenRule {
  "keys"?: string;
  "lines"?: number;
  "match": string;
  "state": string;
}

export interface SearchPage {
  /** The newest output is not indexed yet */
  "behind": boolean;
  "hits": (Hit)[] | null;
  /** There are more hits than requested */
  "more": boolean;
}

export interface SeenInBody {
  /** The newest event that the person has seen; the default is the newest of all */
  "seq"?: number;
}

export interface SendInBody {
  /** Deliver it after the running session's turn, not during it */
  "next"?: boolean;
  "text": string;
}

export interface ServePolicy {
  "ready"?: string;
  "run": string;
  "timeout"?: string;
}

export interface ServerSetting {
  "doc": string;
  /** The flag without its dashes, or the key of the user's config.yaml */
  "name": string;
  /** default, flag, environment, or the line of the user's config.yaml */
  "source": string;
  "value": string;
}

export interface Session {
  "agent": string;
  "answer"?: Answer;
  "budget"?: string;
  "conversation"?: string;
  "created_at": string;
  "cursor": number;
  "dropped"?: number;
  "ended_at"?: string;
  "exit"?: number;
  "failure"?: Failure;
  "fork"?: boolean;
  "from"?: string;
  "head"?: string;
  "id": number;
  "key": string;
  "memory"?: number;
  "model"?: string;
  "n": number;
  "output_at"?: string;
  "parked_at"?: string;
  "parked_for"?: string;
  "path"?: string;
  "ports"?: (number)[] | null;
  "project_id": number;
  "prompt"?: string;
  "ready_at"?: string;
  "resume"?: string;
  "role": string;
  "round": number;
  "screen"?: boolean;
  "signal"?: string;
  "started_at"?: string;
  "stat"?: string;
  "state": string;
  "stop_at"?: string;
  "stop_tries"?: number;
  "stop_why"?: string;
  "summary"?: string;
  "task_id": number;
  "track": string;
  "usage": Usage;
  "verdict"?: Verdict;
  "warning"?: string;
}

export interface Status {
  /** Working, verifying, fixing, checking and landing */
  "active": (Task)[] | null;
  "at": string;
  "counts": Record<string, number>;
  /** How many entries the inbox has, without those that are snoozed; see /inbox */
  "inbox": number;
  /** Agents, and agent:model, whose accounts are limited */
  "limited": (AgentLimit)[] | null;
  "needs_you": (Task)[] | null;
  "projects": (ProjectStatus)[] | null;
  /** The newest event that it includes; follow events after it */
  "seq": number;
  /** Ready and waiting, the first of them */
  "waiting": (Task)[] | null;
  /** Problems of the server itself */
  "warnings"?: (string)[] | null;
}

export interface StepVerdict {
  "evidence"?: string;
  "n": number;
  "pass": boolean;
  "text": string;
}

export interface Task {
  /** Keys of the tasks that must be done first */
  "after"?: (string)[] | null;
  "agent": string;
  /** When a person archived it; lists leave it out unless requested */
  "archived"?: string;
  /** Left out of lists */
  "body"?: string;
  /** The most to spend on it */
  "budget"?: string;
  /** What can be requested of it now; each has a route, /tasks/{key}/land and so on */
  "can"?: (string)[] | null;
  /** Selects its track */
  "category"?: string;
  "checks"?: (string)[] | null;
  "created_at": string;
  "created_by"?: string;
  "ended_at"?: string;
  "failure"?: Failure;
  /** Its id in the project's features file */
  "feature"?: string;
  /** What a person can do about it */
  "fix"?: string;
  /** A person flagged it */
  "flagged"?: boolean;
  /** The task it was forked from */
  "fork_of"?: string;
  /** The name of its group */
  "group"?: string;
  "group_id"?: number;
  "id": number;
  "key": string;
  "labels"?: (string)[] | null;
  /** The commit on the base */
  "landed"?: string;
  /** How hard it looks, if its model is auto: simple, medium or complex */
  "level"?: string;
  /** Who judged that: the model, or the rules */
  "level_by"?: string;
  "model"?: string;
  "not_before"?: string;
  "outcome"?: string;
  "priority": number;
  /** The prefix of its project */
  "project": string;
  /** The result of its newest candidate */
  "proof"?: "conflict" | "checks failed" | "not verified" | "checks passed" | "verified";
  /** The oldest open one */
  "question"?: Question;
  /** Why it has this status */
  "reason"?: string;
  /** What its newest session is for */
  "role"?: string;
  "round": number;
  /** What its newest session said or did last, in one line */
  "says"?: string;
  /** The key of its newest session */
  "session"?: string;
  /** How many sessions it had */
  "sessions": number;
  /** Since when it is in this stage */
  "since": string;
  "stage": string;
  "status": string;
  /** What must be true when it is done; left out of lists */
  "steps"?: (string)[] | null;
  /** A person has it on the agent's own screen, or soon will */
  "taken"?: boolean;
  "title": string;
  "track": string;
  /** It asked something, waits for approval or ended since the person last saw it; see /tasks/{key}/seen */
  "unread"?: boolean;
  /** The sum over its sessions */
  "usage": Usage;
  /** Absent if the result is a change; answer if the result is an answer and nothing lands */
  "wants"?: "answer";
  "warning"?: string;
}

export interface TaskChange {
  "after"?: (string)[];
  "agent"?: string;
  "body"?: string;
  "budget"?: string;
  "category"?: string;
  "flagged"?: boolean;
  /** The name of its group, which is created if it does not exist; empty for none */
  "group"?: string;
  /** Replaces the labels */
  "labels"?: (string)[];
  "model"?: string;
  "not_before"?: string;
  "priority"?: number;
  "steps"?: (string)[];
  "title"?: string;
  "track"?: string;
}

export interface TaskDetail {
  /** Keys of the tasks that must be done first */
  "after"?: (string)[] | null;
  "agent": string;
  /** For a task whose result is an answer: the newest one */
  "answer"?: Answer;
  /** When a person archived it; lists leave it out unless requested */
  "archived"?: string;
  /** Left out of lists */
  "body"?: string;
  /** The most to spend on it */
  "budget"?: string;
  /** What can be requested of it now; each has a route, /tasks/{key}/land and so on */
  "can"?: (string)[] | null;
  /** Selects its track */
  "category"?: string;
  "check_runs": (Check)[] | null;
  "checks"?: (string)[] | null;
  "created_at": string;
  "created_by"?: string;
  /** Keys of tasks that wait for it */
  "dependants": (string)[] | null;
  "ended_at"?: string;
  "failure"?: Failure;
  /** Its id in the project's features file */
  "feature"?: string;
  /** What a person can do about it */
  "fix"?: string;
  /** A person flagged it */
  "flagged"?: boolean;
  /** The task it was forked from */
  "fork_of"?: string;
  /** The name of its group */
  "group"?: string;
  "group_id"?: number;
  /** Its sessions, oldest first, without their prompts; verifiers with their verdicts */
  "history": (Session)[] | null;
  "id": number;
  "key": string;
  "labels"?: (string)[] | null;
  /** The commit on the base */
  "landed"?: string;
  "landings": (Landing)[] | null;
  /** How hard it looks, if its model is auto: simple, medium or complex */
  "level"?: string;
  /** Who judged that: the model, or the rules */
  "level_by"?: string;
  "messages": (Message)[] | null;
  "model"?: string;
  "not_before"?: string;
  "outcome"?: string;
  /** The newest preview of its app */
  "preview"?: Preview;
  "priority": number;
  /** The prefix of its project */
  "project": string;
  /** The result of its newest candidate */
  "proof"?: "conflict" | "checks failed" | "not verified" | "checks passed" | "verified";
  /** The oldest open one */
  "question"?: Question;
  "questions": (Question)[] | null;
  /** Why it has this status */
  "reason"?: string;
  /** What its newest session is for */
  "role"?: string;
  "round": number;
  /** Its checks that wait or run now */
  "running"?: RunningChecks;
  /** What its newest session said or did last, in one line */
  "says"?: string;
  /** The JSON schema that its answer must match */
  "schema"?: unknown;
  /** The key of its newest session */
  "session"?: string;
  /** How many sessions it had */
  "sessions": number;
  /** Since when it is in this stage */
  "since": string;
  "stage": string;
  "status": string;
  /** What must be true when it is done; left out of lists */
  "steps"?: (string)[] | null;
  /** A person has it on the agent's own screen, or soon will */
  "taken"?: boolean;
  "title": string;
  "track": string;
  /** It asked something, waits for approval or ended since the person last saw it; see /tasks/{key}/seen */
  "unread"?: boolean;
  /** The sum over its sessions */
  "usage": Usage;
  /** Absent if the result is a change; answer if the result is an answer and nothing lands */
  "wants"?: "answer";
  "warning"?: string;
  "workspace"?: Workspace;
}

export interface TaskList {
  "tasks": (Task)[] | null;
}

export interface TaskPage {
  /** Pass as before to get the next page; absent on the last one */
  "next"?: number;
  "tasks": (Task)[] | null;
}

export interface Track {
  "categories"?: (string)[] | null;
  "color"?: string;
  "default"?: boolean;
  "limit"?: number;
  "name": string;
}

export interface Trash {
  "archive"?: string;
  "branch"?: string;
  "expires_at": string;
  "head"?: string;
  "id": number;
  "path": string;
  "project_id": number;
  "purged_at"?: string;
  "ref"?: string;
  "removed_at": string;
  "restored_at"?: string;
  "task_id": number;
  "what": string;
}

export interface TrashPolicy {
  "keep"?: (string)[] | null;
  "ttl": string;
}

export interface UndoInBody {
  /** A project's prefix, required without a task */
  "project"?: string;
  /** Whose workspace. Without a task, the one that was removed last in the project */
  "task"?: string;
}

export interface Usage {
  "cache_read_tokens"?: number;
  "cache_write_tokens"?: number;
  "cost_usd"?: number;
  "estimated"?: boolean;
  "input_tokens"?: number;
  "output_tokens"?: number;
  "priced"?: boolean;
  "turns"?: number;
}

export interface UsageReport {
  /** The budgets of the projects, by prefix */
  "budgets": (Budget)[] | null;
  /** The first day */
  "from": string;
  /** There are more rows than requested; the oldest were left out */
  "more": boolean;
  /** Newest day first */
  "rows": (UsageRow)[] | null;
  /** The number of sessions */
  "sessions": number;
  /** The last day */
  "to": string;
  /** The sum of all rows, including those left out */
  "total": Usage;
}

export interface UsageRow {
  "agent": string;
  /** The day on which the sessions started, as in 2026-03-04 */
  "day": string;
  /** As requested; empty for the agent's own default */
  "model"?: string;
  /** The prefix of its project */
  "project": string;
  /** How many */
  "sessions": number;
  /** The task's key, with group=task */
  "task"?: string;
  "usage": Usage;
}

export interface Verdict {
  "steps": (StepVerdict)[] | null;
  "summary"?: string;
}

export interface VerifyPolicy {
  "attempts": number;
  "browser": boolean;
  "by"?: string;
}

export interface Version {
  "api": string;
  "version": string;
}

export interface WordsInBody {
  /** Passed to the agent */
  "text"?: string;
}

export interface Workspace {
  "base_commit"?: string;
  "branch": string;
  "created_at": string;
  "id": number;
  "kept"?: boolean;
  "kind": string;
  "node": string;
  "path"?: string;
  "ports"?: (number)[] | null;
  "project_id": number;
  "ready_at"?: string;
  "removed_at"?: string;
  "retry_at"?: string;
  "task_id": number;
  "trash_id"?: number;
  "tries"?: number;
}

export interface WorkspacePolicy {
  "copy"?: (string)[] | null;
  "docker"?: DockerPolicy;
  "kind": string;
  "link"?: (string)[] | null;
  "ports": number;
  "serve"?: ServePolicy;
  "setup"?: (string)[] | null;
}
