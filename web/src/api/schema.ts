// Code generated from the API's description by `make generate`. DO NOT EDIT.

export interface AddProjectInBody {
  /** A directory of the checkout */
  "path": string;
}

export interface AgentChoice {
  "fallback"?: (string)[] | null;
  "model"?: string;
  "roles"?: Record<string, string>;
  "use": string;
}

export interface AgentLimit {
  "agent": string;
  "class": string;
  "text"?: string;
  "until"?: string;
}

export interface AnswerInBody {
  /** Which one; the oldest open one when absent */
  "question"?: number;
  "text": string;
}

export interface Backup {
  "path": string;
}

export interface BudgetPolicy {
  "task"?: string;
}

export interface Check {
  "command": string;
  "ended_at": string;
  "env": string;
  "exit": number;
  "id": number;
  "landing_id": number;
  "log"?: string;
  "project_id": number;
  "task_id": number;
  "took": number;
  "tree": string;
}

export interface CreateTasksInBody {
  /** All are created, or none */
  "tasks": (NewTask)[];
}

export interface DockerPolicy {
  "dir"?: string;
  "file"?: string;
  "service": string;
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
  /** Pass as after to read on */
  "next": number;
}

export interface Failure {
  "class": string;
  "fix"?: string;
  "retry_at"?: string;
  "text": string;
}

export interface FailurePattern {
  "label"?: string;
  "match": string;
}

export interface HealthPolicy {
  "check": string;
  "long": string;
  "stalled": string;
  "timeout": string;
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
  "outcome"?: string;
  "project_id": number;
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

export interface Limit {
  "agent": string;
  "class": string;
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
  "per_agent"?: Record<string, number>;
  "sessions": number;
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

export interface NewTask {
  /** Keys of tasks, or refs within the request, that must be done first */
  "after"?: (string)[] | null;
  "agent"?: string;
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
  "model"?: string;
  "not_before"?: string;
  /** From -10 to 10; higher goes first */
  "priority"?: number;
  /** A name for this task within the request, so that others can come after it */
  "ref"?: string;
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
}

export interface OutputPage {
  /** The session has ended and nothing will follow this page but what More tells */
  "ended": boolean;
  /** There is more already */
  "more": boolean;
  /** Pass as after to read on */
  "next": number;
  "output": (Output)[] | null;
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
  "problems"?: (string)[] | null;
  "progress"?: string;
  "prompts"?: Record<string, string>;
  "retry": RetryPolicy;
  "tracks": (Track)[] | null;
  "trash": TrashPolicy;
  "verify": VerifyPolicy;
  "workspace": WorkspacePolicy;
}

export interface Problem {
  "code": string;
  /** What is wrong */
  "detail": string;
  /** The field of the request that is wrong */
  "field"?: string;
  /** What to do about it */
  "fix"?: string;
  "status": number;
  "title": string;
  "type"?: string;
}

export interface Profile {
  "args"?: (string)[] | null;
  "budget"?: (string)[] | null;
  "command": (string)[] | null;
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
  "created_at": string;
  "id": number;
  "last_task": number;
  "path": string;
  "paused_at"?: string;
  "paused_tracks"?: Record<string, string>;
  "policy": Policy;
  "prefix": string;
  "rules"?: (Rule)[] | null;
  /** Live sessions */
  "running": number;
  "strikes"?: Record<string, number>;
}

export interface ProjectList {
  "projects": (Project)[] | null;
}

export interface ProjectStatus {
  "limit": number;
  "path": string;
  "paused_at"?: string;
  "prefix": string;
  "running": number;
  /** What is wrong in its checkout, such as a features file that cannot be read */
  "warnings"?: (string)[] | null;
}

export interface Question {
  "answer"?: string;
  "answered_at"?: string;
  "asked_at": string;
  "id": number;
  /** Empty, or permission: may a tool be used */
  "kind"?: string;
  "open": boolean;
  "options"?: (string)[] | null;
  /** What an answer with always would remember */
  "rule"?: Rule;
  "text": string;
}

export interface RetryInBody {
  /** Told to the agent */
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

export interface SendInBody {
  /** When the running session's turn is over, not in mid-turn */
  "next"?: boolean;
  "text": string;
}

export interface ServePolicy {
  "ready"?: string;
  "run": string;
  "timeout"?: string;
}

export interface Session {
  "agent": string;
  "conversation"?: string;
  "created_at": string;
  "cursor": number;
  "ended_at"?: string;
  "exit"?: number;
  "failure"?: Failure;
  "fork"?: boolean;
  "from"?: string;
  "head"?: string;
  "id": number;
  "key": string;
  "model"?: string;
  "n": number;
  "output_at"?: string;
  "path"?: string;
  "ports"?: (number)[] | null;
  "project_id": number;
  "prompt"?: string;
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
  /** Agents whose accounts must wait */
  "limited": (AgentLimit)[] | null;
  "needs_you": (Task)[] | null;
  "projects": (ProjectStatus)[] | null;
  /** The newest event this reflects; follow events after it */
  "seq": number;
  /** Ready and waiting, the first of them */
  "waiting": (Task)[] | null;
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
  /** Left out of lists */
  "body"?: string;
  /** The most to spend on it */
  "budget"?: string;
  /** Routes it to a track */
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
  /** The task it was forked from */
  "fork_of"?: string;
  "id": number;
  "key": string;
  /** The commit on the base */
  "landed"?: string;
  "model"?: string;
  "not_before"?: string;
  "outcome"?: string;
  "priority": number;
  /** The prefix of its project */
  "project": string;
  /** The oldest one nobody has answered */
  "question"?: Question;
  /** Why it stands where it stands */
  "reason"?: string;
  "round": number;
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
  /** A person has it on the agent's own screen, or will in a moment */
  "taken"?: boolean;
  "title": string;
  "track": string;
  /** The sum over its sessions */
  "usage": Usage;
  "warning"?: string;
}

export interface TaskChange {
  "after"?: (string)[];
  "agent"?: string;
  "body"?: string;
  "budget"?: string;
  "category"?: string;
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
  /** Left out of lists */
  "body"?: string;
  /** The most to spend on it */
  "budget"?: string;
  /** Routes it to a track */
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
  /** The task it was forked from */
  "fork_of"?: string;
  /** Its sessions, oldest first, without their prompts; verifiers with their verdicts */
  "history": (Session)[] | null;
  "id": number;
  "key": string;
  /** The commit on the base */
  "landed"?: string;
  "landings": (Landing)[] | null;
  "messages": (Message)[] | null;
  "model"?: string;
  "not_before"?: string;
  "outcome"?: string;
  "priority": number;
  /** The prefix of its project */
  "project": string;
  /** The oldest one nobody has answered */
  "question"?: Question;
  "questions": (Question)[] | null;
  /** Why it stands where it stands */
  "reason"?: string;
  "round": number;
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
  /** A person has it on the agent's own screen, or will in a moment */
  "taken"?: boolean;
  "title": string;
  "track": string;
  /** The sum over its sessions */
  "usage": Usage;
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
  /** Only in this project */
  "project"?: string;
  /** Whose workspace; the one removed last when absent */
  "task"?: string;
}

export interface Usage {
  "cache_read_tokens"?: number;
  "cache_write_tokens"?: number;
  "cost_usd"?: number;
  "input_tokens"?: number;
  "output_tokens"?: number;
  "turns"?: number;
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
  /** Told to the agent */
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
