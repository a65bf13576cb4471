// Code generated from the tables of the domain by `make generate`. DO NOT EDIT.

// classes describes the classes of failures in words.
export const classes: Record<string, string> = {
  rate_limit: "rate limit",
  overload: "service busy",
  auth: "not logged in",
  billing: "no credit",
  budget: "budget spent",
  day_budget: "day's budget spent",
  limit: "limit reached",
  capability: "agent not able",
  environment: "environment",
  test_only: "checks failed",
  implementation: "work not done",
  verification: "not verified",
  conflict: "merge conflict",
  out_of_memory: "out of memory",
  disk: "disk full or read-only",
  context_overflow: "conversation too long",
  mcp_lost: "tools lost",
  timeout: "took too long",
  lost: "process lost",
  cancelled: "stopped",
  base: "checks cannot pass",
  unchanged: "nothing changed",
  unknown: "unknown cause",
};

// errorPatterns match a line of a log at which an error starts.
export const errorPatterns = [
  "^[ \\t]*--- FAIL",
  "^panic: ",
  "^FAIL\\b",
  "^=+ (FAILURES|ERRORS) =+",
  "^Traceback \\(most recent call",
  "^npm (ERR!|error) ",
  "\\berror(\\[\\w+\\]| TS\\d+)?:",
  "^Error: ",
  "^thread '.*' panicked at",
  "^[ \\t]*(✕|✗|✖|×) ",
  "^Exception in thread ",
  "^\\[ERROR\\] ",
  "^make(\\[\\d+\\])?: \\*\\*\\* ",
  "^(not ok|FAILED|FAILURE)\\b",
  "^fatal(:| error:) ",
  ": (command not found|not found)$",
];

// workspacePrefix begins the name of every directory of a workspace.
export const workspacePrefix = "coppice-";

// priorities are the least and the most urgent priority of a task.
export const priorities = { least: -10, most: 10 };

// mostTurns is the highest limit of the turns of a session, and mostTitle the longest title.
export const mostTurns = 1000;
export const mostTitle = 500;

// images are the limits of the images that people attach: bytes of one, how many a message has, and their types.
export const images = { size: 5242880, most: 10, types: ["image/png","image/jpeg","image/gif","image/webp"] };

// completions are the lists of checks that a task can require of its sessions.
export const completions = [
  {"checks":["diff_not_empty"],"words":"it changed something"},
  {"checks":["no_error_in_output"],"words":"its output does not end with an error"},
  {"checks":["diff_not_empty","no_error_in_output"],"words":"it changed something and its output does not end with an error"},
  {"checks":["none"],"words":"it ends without a failure"},
] as const;

// retries are what can follow a failed session.
export const retries = [
  {"policy":"none","words":"the task fails"},
  {"policy":"same","words":"try again"},
  {"policy":"analyze","words":"find out why, then try again"},
] as const;

// firstScreen is the size of a session's screen without viewers.
export const firstScreen = { cols: 120, rows: 40 };

// statuses lists the statuses in the order in which people want to see them.
export const statuses = [
  "needs you",
  "working",
  "verifying",
  "fixing",
  "checking",
  "landing",
  "ready",
  "waiting",
  "failed",
  "done",
  "cancelled",
];

// endedStatuses are those of tasks that have ended.
export const endedStatuses = [
  "done",
  "failed",
  "cancelled",
];

// flowDefaults has what a kind of flow uses for a number that is absent.
export const flowDefaults = {
  goal: {"rounds":3,"workers":4},
  cycle: {"cycles":10,"threshold":1,"verify_tries":2},
  debate: {"loops":1,"rounds":3},
};

// roles are the roles of sessions. Each has a prompt.
export const roles = [
  "implement",
  "verify",
  "fix",
  "answer",
  "analyze",
  "checkout",
];

// appRoles are the roles for whose sessions the project's app is served.
export const appRoles = [
  "verify",
];

// toolNames has words for names of tools that are only types of a protocol.
export const toolNames: Record<string, string> = {
  collabAgentToolCall: "agent",
  commandExecution: "run",
  command_execution: "run",
  fileChange: "edit",
  file_change: "edit",
  imageView: "view image",
  webSearch: "web search",
  web_search: "web search",
};
