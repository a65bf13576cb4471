package config

import (
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
	"coppice/agent/profiles"
	"coppice/internal/browser"
	"coppice/secret"
)

// key describes one key besides its type: what it means and which values it can
// have. Paths name a list's element as [] and a map's value as *.
type key struct {
	doc      string
	unset    string // what it means to leave it out, if the default does not show that
	example  string // a value as a person would write it
	min, max int    // bounds of a number, in MiB of an amount of data; max 0 means none
	least    string // the shortest duration
	oneOf    []string
	pattern  string               // of a text, or of the names in a map, for the schema; valid and mapKey decide
	valid    func(s string) error // of a text
	mapKey   func(s string) error // of the names in a map
	names    []string             // the only names in a map
	required bool                 // in its mapping
	secrets  bool                 // the text can refer to secrets
	secret   bool                 // the text is the name of a secret

	list func(l []string) error // of a list of texts

	single bool // the list can be written as its only element
}

const (
	namePattern  = `^[A-Za-z0-9][A-Za-z0-9._-]*$`
	npmPattern   = `^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(@[A-Za-z0-9][A-Za-z0-9.+-]*)?$`
	modelPattern = `^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]*$`

	choicePattern = `^[A-Za-z0-9][A-Za-z0-9._-]*(:[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]*)?$`
)

// keys describes every key of coppice.yaml and of the user's config.yaml. A
// test compares it with the fields of coppice.Policy and User, so that none is
// missing or left over.
var keys = sync.OnceValue(func() map[string]key {
	all := described()
	maps.Copy(all, forgeKeys())
	maps.Copy(all, notifyKeys())
	maps.Copy(all, trackerKeys())
	// The rules of a role have the same form as the project's.
	for name, k := range all {
		if rest, ok := strings.CutPrefix(name, "permissions.rules"); ok {
			all["permissions.roles.*.rules"+rest] = k
		}
	}
	rules, otherwise := all["permissions.rules"], all["permissions.default"]
	rules.doc = "Rules of this role, before all others, remembered answers included."
	otherwise.doc, otherwise.unset = "What happens in this role if no rule matches.", "permissions.default"
	all["permissions.roles.*.rules"], all["permissions.roles.*.default"] = rules, otherwise
	return all
})

var described = func() map[string]key {
	return map[string]key{
		"base": {doc: "The branch that work lands on. It must exist. If it is checked out, its files follow each landing.", unset: "the repository's default branch", example: "ai-develop",
			pattern: `^[A-Za-z0-9_][A-Za-z0-9._/+-]*$`, valid: coppice.ValidBranch},

		"tracks":           {doc: "Lanes with separate limits. Each task is in exactly one.", example: "[{name: core, default: true, limit: 2}, {name: docs}]"},
		"tracks[]":         {doc: "One track."},
		"tracks[].name":    {doc: "The track's name.", example: "core", pattern: namePattern, valid: named("track"), required: true},
		"tracks[].default": {doc: "Tasks that name no track are in this one. Without a default, it is the first track.", example: "true"},
		"tracks[].limit":   {doc: "The most sessions of this track at the same time; 0 means no separate limit.", example: "2"},

		"tracks[].categories":   {doc: "Tasks of these categories are in this track unless they name another.", example: "[marketing, docs]"},
		"tracks[].categories[]": {doc: "A category.", valid: plain},
		"tracks[].completion":   {list: coppice.ValidCompletion, doc: "The completion checks of this track's tasks, instead of verify.completion.", example: "[none]"},
		"tracks[].completion[]": {doc: "A completion check.", oneOf: coppice.CompletionChecks},
		"tracks[].color":        {doc: "Its colour in the dashboard.", unset: "Coppice chooses one", example: "\"#8b5cf6\"", pattern: `^#[0-9a-fA-F]{6}$`, valid: color},

		"limits":             {doc: "How much runs at the same time."},
		"limits.sessions":    {doc: "The most sessions of this project at the same time.", example: "5", min: 1, max: 10000},
		"limits.per_agent":   {doc: "The most sessions of an agent at the same time, by the agent's name.", example: "{my-agent: 3}", mapKey: named("agent")},
		"limits.per_agent.*": {doc: "The most sessions of this agent at the same time.", min: 1, max: 10000},
		"limits.memory":      {doc: "The share of the machine's memory above which no further session starts. Memory in use counts, and memory reserved for sessions that have just started.", example: "80%"},
		"limits.reserve":     {doc: "How much memory is reserved for a session in its first 30 seconds, before its real use can be measured.", unset: "what earlier sessions of its agent used; 256 MiB for the first", example: "512 MiB", min: 1, max: 1 << 20},

		"limits.disk":       {doc: "How much of the disk of the state directory must be free. With less, no session and no workspace starts, and queued tasks say so. coppice status --disk shows what Coppice uses.", unset: "100 MiB", example: "1 GiB", min: 1, max: 1 << 30},
		"limits.output":     {doc: "How much of a session's output is kept. Beyond it, only the last MiB and the events that decide about the session are kept. The session is not stopped. Pictures have a separate limit.", example: "256 MiB", min: 1, max: 1 << 20},
		"limits.checks":     {doc: "How many checks run at the same time, of all projects together. Projects take turns.", unset: "as many as the machine has CPUs", example: "2", min: 1, max: 1000},
		"limits.workspaces": {doc: "The most tasks between the start of a session and their landing. At this number no further task starts, so that landings keep up with sessions. Tasks that wait for you do not count.", unset: "twice limits.sessions", example: "20", min: 1, max: 100000},
		"limits.parked":     {doc: "The most sessions that stay alive while they wait for your answer. They do not count against limits.sessions. Beyond this number, the one that has waited longest is stopped, and your answer resumes its conversation.", unset: "twice limits.sessions", example: "10", min: 1, max: 10000},

		"limits.previews": {doc: "The most previews of this project at the same time: apps that people started with coppice preview.", unset: "4", example: "2", min: 1, max: 1000},
		"limits.depth":    {doc: "How many levels of tasks agents can create below your own tasks with the tool create_task: 1 means that the agent of a task which you created can create tasks, and their agents cannot.", unset: "3", example: "1", min: 1, max: 10},
		"limits.children": {doc: "The most open tasks that the agents of one task can have created.", unset: "20", example: "5", min: 1, max: 1000},

		"limits.hooks": {doc: "The most hooks of this project at the same time. A hook that blocks a landing starts immediately and does not count.", unset: "4", example: "2", min: 1, max: 1000},

		"hooks":                {doc: "Commands that run after events. Each gets a JSON object on stdin. The hooks of an event run in this order, and those of the user's config.yaml run after those of coppice.yaml.", unset: "no command runs", example: "{landed: [{run: ./scripts/announce.sh}]}", names: coppice.HookEventNames()},
		"hooks.*":              {doc: "The hooks of this event.", example: "[{run: ./scripts/announce.sh}]"},
		"hooks.*[]":            {doc: "One hook."},
		"hooks.*[].run":        {doc: "A shell command. It runs in the root of the project's checkout.", example: "./scripts/announce.sh", valid: command, required: true},
		"hooks.*[].timeout":    {doc: "After this time the command is killed, with all that it started. At most 10m.", unset: "30s", example: "30s", least: "1s"},
		"hooks.*[].on_failure": {doc: "What follows a failure: ignore, only the list of runs shows it; warn, the task has a warning; block, the candidate does not land. Only before-land can block.", unset: "warn", example: "warn", oneOf: coppice.HookFailures},

		"agent":            {doc: "The agents that do the work."},
		"agent.use":        {doc: "The agent of a task that names none.", unset: "every task must name one", example: "my-agent", pattern: namePattern, valid: named("agent")},
		"agent.model":      {doc: "The model it uses, by its vendor's name for it.", unset: "the agent's own default", example: "opus", pattern: modelPattern, valid: coppice.ValidModel},
		"agent.effort":     {doc: "How hard the first agent thinks, as one of the agent's own levels. Agents without such a setting ignore it.", unset: "the agent's own default", example: "high", pattern: namePattern, valid: named("effort")},
		"agent.fallback":   {doc: "The agents that take over, in this order, if the first cannot work. Use agent:model for another model, also of the first agent. The limit of such a model is separate from the agent's.", example: "[\"my-agent:small\", other-agent]"},
		"agent.fallback[]": {doc: "An agent's name, or its name, a colon and a model.", pattern: choicePattern, valid: coppice.ValidChoice},
		"agent.roles":      {doc: "Another agent for one role.", example: "{fix: other-agent}", names: coppice.RoleNames()},
		"agent.roles.*":    {doc: "The agent of this role.", pattern: namePattern, valid: named("agent")},

		"agent.limits":          {doc: "When each session of a role is stopped before it is done. Its task then waits for you. A task's own limits replace these.", example: "{implement: {turns: 100, time: 2h}, verify: {turns: 30, budget: 1 USD}}", names: coppice.RoleNames()},
		"agent.limits.*":        {doc: "The limits of this role."},
		"agent.limits.*.turns":  {doc: "The most turns: answers of the model, with the tools that each calls.", unset: "1000, the limit of every session", example: "100", min: 1, max: coppice.MaxTurns},
		"agent.limits.*.time":   {doc: "How long a session can work. The time that it waits for your answer does not count.", unset: "health.timeout, after which the session is retried; 10m for analyze", example: "2h", least: "1s"},
		"agent.limits.*.budget": {doc: "The most that a session can cost; 0 means no limit, and 1 USD for analyze.", example: "1 USD"},

		"agent.completion":     {doc: "The completion checks of each session in a role, instead of those of the track and verify.completion. A task's own replace these.", example: "{answer: [no_error_in_output]}", names: coppice.RolesWithCompletion()},
		"agent.completion.*":   {list: coppice.ValidCompletion, doc: "The completion checks of this role."},
		"agent.completion.*[]": {doc: "A completion check.", oneOf: coppice.CompletionChecks},

		"agent.identity":   {doc: "The author and committer of the commits that an agent makes, and that Coppice makes of what it left uncommitted, by the agent's name. What lands has the same author.", unset: "the name and e-mail address that git has for the repository", example: "{my-agent: \"My Agent <my-agent@example.com>\"}", mapKey: named("agent")},
		"agent.identity.*": {doc: "A name and an e-mail address, as git prints them.", example: "My Agent <my-agent@example.com>", pattern: `^[^<>]+ <[^<> ]+>$`, valid: identity},

		"agents":              {doc: "The project's own agent CLIs, by name. With the name of a built-in agent, only the fields given here are changed.", example: "{my-agent: {protocol: command, command: [./agent.sh]}}", mapKey: named("agent")},
		"agents.*":            {doc: "One agent CLI."},
		"agents.*.protocol":   {doc: "The protocol by which Coppice talks to it.", unset: "that of the built-in agent of this name", example: "command", pattern: namePattern, valid: named("protocol")},
		"agents.*.command":    {doc: "Its program and leading arguments.", unset: "that of the built-in agent of this name", example: "[my-agent, --json]"},
		"agents.*.command[]":  {doc: "An argument.", valid: argument},
		"agents.*.args":       {doc: "Further arguments.", example: "[--quiet]"},
		"agents.*.args[]":     {doc: "An argument.", valid: argument},
		"agents.*.resume":     {doc: "Arguments that continue a conversation; {conversation} stands for its id.", example: "[--resume, \"{conversation}\"]"},
		"agents.*.resume[]":   {doc: "An argument.", valid: argument},
		"agents.*.model":      {doc: "Arguments that choose a model; {model} stands for its name.", example: "[--model, \"{model}\"]"},
		"agents.*.model[]":    {doc: "An argument.", valid: argument},
		"agents.*.prompt":     {doc: "How it gets its prompt: on stdin, or in a file named by {prompt_file} in args.", unset: "stdin", example: "stdin", oneOf: []string{"stdin", "file"}},
		"agents.*.env":        {doc: "Set in its environment.", example: "{NO_COLOR: \"1\"}", mapKey: envName},
		"agents.*.env.*":      {doc: "The variable's value.", valid: noZero},
		"agents.*.pass_env":   {doc: "Variables that it gets from Coppice's own environment: NAME, or PREFIX_* for several.", example: "[MY_AGENT_KEY]"},
		"agents.*.pass_env[]": {doc: "A variable's name.", pattern: `^[A-Za-z_][A-Za-z0-9_]*\*?$`, valid: passEnv},
		"agents.*.version":    {doc: "Command that prints its version.", example: "[my-agent, --version]"},
		"agents.*.version[]":  {doc: "An argument.", valid: argument},
		"agents.*.install":    {doc: "How a person can install it.", example: "see the team's wiki", valid: noZero},
		"agents.*.tested":     {doc: "The version this profile was tested with.", example: "1.2.3", valid: noZero},

		"agents.*.fork":                 {doc: "Arguments that continue a copy of a conversation, instead of resume; {conversation} stands for its id.", example: "[--fork, \"{conversation}\"]"},
		"agents.*.fork[]":               {doc: "An argument.", valid: argument},
		"agents.*.effort":               {doc: "Arguments that choose how hard it thinks; {effort} stands for the level.", example: "[--effort, \"{effort}\"]"},
		"agents.*.effort[]":             {doc: "An argument.", valid: argument},
		"agents.*.efforts":              {doc: "The levels of effort that it knows, the lowest first. People choose from them.", example: "[low, high]"},
		"agents.*.efforts[]":            {doc: "A level.", pattern: namePattern, valid: named("effort")},
		"agents.*.budget":               {doc: "Arguments that limit what it spends; {usd} stands for the amount.", example: "[--budget, \"{usd}\"]"},
		"agents.*.budget[]":             {doc: "An argument.", valid: argument},
		"agents.*.schema":               {doc: "Arguments that make its final message match a JSON schema; {schema} stands for the schema, {schema_file} for a file that contains it.", example: "[--json-schema, \"{schema}\"]"},
		"agents.*.schema[]":             {doc: "An argument.", valid: argument},
		"agents.*.mcp":                  {doc: "How the agent gets its tool servers. none means that it gets none, stdio that it gets the tools of Coppice as a program. Other values depend on its protocol.", unset: "the protocol's default", example: "none", valid: noZero},
		"agents.*.screen":               {doc: "Its own interactive screen.", example: "{args: []}"},
		"agents.*.screen.runtime":       {doc: "What the screen runs on: Coppice's own terminal, or tmux.", unset: "it has no screen", example: "pty", oneOf: []string{"pty", "tmux"}},
		"agents.*.screen.command":       {doc: "Its program and leading arguments, instead of those above.", example: "[my-agent]"},
		"agents.*.screen.command[]":     {doc: "An argument.", valid: argument},
		"agents.*.screen.args":          {doc: "Further arguments, instead of those above.", example: "[--interactive]"},
		"agents.*.screen.args[]":        {doc: "An argument.", valid: argument},
		"agents.*.screen.resume":        {doc: "Arguments that continue a conversation, instead of those above.", example: "[--resume, \"{conversation}\"]"},
		"agents.*.screen.resume[]":      {doc: "An argument.", valid: argument},
		"agents.*.screen.submit":        {doc: "The keys that send what was typed.", unset: "a carriage return", example: "\"\\r\"", valid: noZero},
		"agents.*.screen.stop":          {doc: "The keys that interrupt a turn.", unset: "escape", example: "\"\\x1b\"", valid: noZero},
		"agents.*.screen.quit":          {doc: "The text that ends it when it is typed and sent.", example: "/exit", valid: noZero},
		"agents.*.screen.rules":         {doc: "How Coppice recognizes its state on the screen. The first rule that matches decides.", example: "[{match: \"esc to interrupt\", state: working}]"},
		"agents.*.screen.rules[]":       {doc: "One rule."},
		"agents.*.screen.rules[].match": {doc: "A regular expression over the screen's text.", example: "\"^> $\"", valid: expression, required: true},
		"agents.*.screen.rules[].lines": {doc: "Match only this many last lines that are not empty; 0 means all.", example: "5", max: 500},
		"agents.*.screen.rules[].state": {doc: "The state that it is in then.", example: "idle", oneOf: []string{string(coppice.SessionWorking), string(coppice.SessionWaiting), string(coppice.SessionIdle)}, required: true},
		"agents.*.screen.rules[].keys":  {doc: "Keys that Coppice types when it appears: for a screen that only waits for a key.", example: "\"\\r\"", valid: noZero},
		"agents.*.login":                {doc: "Command that exits with 0 if the user is logged in.", example: "[my-agent, whoami]"},
		"agents.*.login[]":              {doc: "An argument.", valid: argument},
		"agents.*.login_files":          {doc: "Files that exist if the user is logged in; one of them is enough; ~ stands for the home directory.", example: "[~/.my-agent/auth.json]"},
		"agents.*.login_files[]":        {doc: "A path.", valid: argument},
		"agents.*.login_config":         {doc: "Settings files with which the agent can work without a login: a pattern that a line of the file matches, by file.", example: "{~/.my-agent/config.toml: '^provider ='}"},
		"agents.*.login_config.*":       {doc: "A regular expression.", valid: expression},
		"agents.*.login_env":            {doc: "Variables that are set if the user is logged in; one of them is enough.", example: "[MY_AGENT_KEY]"},
		"agents.*.login_env[]":          {doc: "A variable's name.", valid: envName},
		"agents.*.models":               {doc: "The model for each kind of work, for model: auto.", example: "{simple: small, complex: large}", names: []string{"simple", "medium", "complex"}},
		"agents.*.models.*":             {doc: "A model.", pattern: modelPattern, valid: coppice.ValidModel},
		"agents.*.scores":               {doc: "How well it does, 1 to 10. Coppice shows the scores, and decides nothing by them."},
		"agents.*.scores.lead":          {doc: "At leading others; 0 leaves it as it is.", unset: "that of the built-in agent of this name, otherwise unknown", example: "5", max: 10},
		"agents.*.scores.implement":     {doc: "At implementing; 0 leaves it as it is.", unset: "that of the built-in agent of this name, otherwise unknown", example: "5", max: 10},
		"agents.*.driver":               {doc: "Settings of the driver for its protocol. Except for files, each key is for one protocol.", example: "{auth: api-key}"},
		"agents.*.driver.files":         {doc: "Files for the session, by the variable that has the file's path: for settings that the agent reads only from a file.", example: "{MY_SETTINGS: \"{}\"}", mapKey: envName},
		"agents.*.driver.files.*":       {doc: "The file's text.", valid: noZero},
		"agents.*.driver.auth":          {doc: "acp: the login method to use if the agent refuses a session without one.", unset: "none is chosen", example: "api-key", valid: noZero},
		"agents.*.driver.messages":      {doc: "acp: now, if the agent reads messages during a turn.", unset: "later", example: "now", oneOf: coppice.DriverMessages},
		"agents.*.driver.ask_env":       {doc: "acp: variables that make the agent ask for permission. They are set if there are permission rules.", example: "{MY_AGENT_ASK: \"1\"}", mapKey: envName},
		"agents.*.driver.ask_env.*":     {doc: "The variable's value.", valid: noZero},
		"agents.*.driver.ask_args":      {doc: "acp: arguments that make the agent ask for permission, if there are permission rules.", example: "[--ask]"},
		"agents.*.driver.ask_args[]":    {doc: "An argument.", valid: argument},
		"agents.*.driver.secrets":       {doc: "acp: named, if the agent itself fills in the secrets of tool servers from its environment.", unset: "filled", example: "named", oneOf: coppice.DriverSecrets},
		"agents.*.driver.meta":          {doc: "acp: a JSON object for _meta of a new session; \"{usd}\" in it stands for the budget.", example: "'{\"options\": {\"maxTurns\": 50}}'", valid: profiles.ValidMeta},
		"agents.*.driver.retry_log":     {doc: "acp: a regular expression for the line on stderr that reports that a service refused a request and that the agent retries. The first group is the cause. If it is a limit, Coppice does not wait for the agent.", example: "\"retrying: (.*)\"", valid: profiles.ValidRetryLog},
		"agents.*.driver.sandbox":       {doc: "Its own sandbox, for agents that have one.", unset: "danger-full-access, which means no sandbox", example: "workspace-write", oneOf: coppice.DriverSandboxes},
		"agents.*.source":               {doc: "The source of the facts in this profile that were not tested.", example: "its documentation", valid: noZero},

		"permissions":               {doc: "What agents can do without asking. Remembered answers (\"always\") come first."},
		"permissions.rules":         {doc: "Rules in this order; the first that matches decides.", example: "[{tool: run, match: \"git push*\", do: deny, why: Coppice lands the work}]"},
		"permissions.rules[]":       {doc: "One rule."},
		"permissions.rules[].tool":  {doc: "A kind of tool (read, edit, run, search, fetch, other) or the agent's own name for one, with * for anything.", unset: "every tool", example: "run", valid: noZero},
		"permissions.rules[].match": {doc: "A pattern for the command, path or address, with * for anything.", unset: "everything", example: "\"git push*\"", valid: noZero},
		"permissions.rules[].do":    {doc: "What happens then.", example: "deny", oneOf: []string{coppice.RuleAllow, coppice.RuleDeny, coppice.RuleAsk}, required: true},
		"permissions.rules[].why":   {doc: "The reason that a denied agent gets.", example: "Coppice lands the work", valid: noZero},
		"permissions.rules[].set":   {doc: "Fields of the tool's input that are replaced; only with allow.", example: "{timeout: \"60000\"}"},
		"permissions.rules[].set.*": {doc: "The field's new value.", valid: noZero},
		"permissions.roles":         {doc: "Further rules for the sessions of one role.", example: "{verify: {default: ask, rules: [{tool: fetch, do: deny}]}}", names: coppice.RoleNames()},
		"permissions.roles.*":       {doc: "What agents can do in this role."},
		"permissions.default":       {doc: "What happens if no rule matches.", unset: "allow: a session has its own workspace, and nothing lands without its checks", example: "ask", oneOf: []string{coppice.RuleAllow, coppice.RuleDeny, coppice.RuleAsk}},

		"locks": {doc: "What a lock of a file means for other sessions. With advisory, nothing is refused. With enforce, an edit of a file that another session holds is refused. With required, an edit of a file that the session itself does not hold is refused.", unset: "advisory", example: "enforce", oneOf: coppice.LockModes},

		"mcp":             {doc: "Tool servers for every session, by name.", example: "{tracker: {url: \"http://127.0.0.1:9000/mcp\"}}", mapKey: named("server")},
		"mcp.*":           {doc: "One server: an address, or a program that each session starts.", example: "{command: [my-server]}"},
		"mcp.*.url":       {doc: "Its address.", example: "http://127.0.0.1:9000/mcp", valid: address},
		"mcp.*.command":   {doc: "Its program and arguments; Coppice connects to its stdin and stdout.", example: "[my-server, --stdio]"},
		"mcp.*.command[]": {doc: "An argument.", valid: argument},
		"mcp.*.env":       {doc: "Set in the program's environment; ${secret:NAME} stands for one of your secrets.", example: "{TRACKER_TOKEN: \"${secret:TRACKER_TOKEN}\"}", mapKey: envName},
		"mcp.*.env.*":     {doc: "The variable's value.", valid: noZero, secrets: true},
		"mcp.*.headers":   {doc: "Sent with every request; ${COPPICE_TOKEN} stands for the session's own token, ${secret:NAME} for one of your secrets.", example: "{Authorization: \"Bearer ${secret:TRACKER_TOKEN}\"}"},
		"mcp.*.headers.*": {doc: "The header's value.", valid: noZero, secrets: true},

		"keep":              {doc: "How much of the history the server keeps. Only tasks whose work has landed, or that were archived, are ever removed."},
		"keep.output":       {doc: "How long the output of sessions, their prompts and the logs of checks are kept after the task has ended; 0s means without limit.", example: "90d"},
		"keep.output_size":  {doc: "How much output of sessions is kept, of all projects together, measured in the database; the oldest is removed first. 0 B means no limit.", example: "5 GiB", max: 1 << 30},
		"keep.tasks":        {doc: "How long tasks are kept after they have ended, with their sessions, landings and checks; 0s means without limit.", example: "365d"},
		"keep.tasks_most":   {doc: "How many ended tasks are kept; the oldest are removed first. 0 means no limit.", example: "50000", max: 1 << 30},
		"keep.backups_size": {doc: "How much space automatic backups take together; the oldest are removed first, and the newest stays. 0 B means no limit.", example: "2 GiB", max: 1 << 30},

		"listen": {doc: "Where the server listens; loopback only. The flag --listen and the variables COPPICE_LISTEN and PORT come first.", unset: "127.0.0.1:4040", example: "127.0.0.1:5050", valid: noZero},

		"secrets":             {doc: "Where secrets come from, by name.", example: "{GITHUB_TOKEN: {command: [gh, auth, token]}}", pattern: secret.NamePattern, mapKey: secret.ValidName},
		"secrets.*":           {doc: "One secret: exactly one of env, file, command and keyring.", example: "{env: TRACKER_TOKEN}"},
		"secrets.*.env":       {doc: "A variable in the environment of the server.", example: "TRACKER_TOKEN", valid: envName},
		"secrets.*.file":      {doc: "A file with mode 0600 that contains the value. ~/ is the home directory; a relative path is below the directory of config.yaml.", example: "secrets/TRACKER_TOKEN", valid: argument},
		"secrets.*.command":   {doc: "A program and its arguments. It must print the value within 30 seconds.", example: "[gh, auth, token]"},
		"secrets.*.command[]": {doc: "An argument.", valid: argument},
		"secrets.*.keyring":   {doc: "The name of an entry in the desktop's keyring, as `coppice secret set --keyring` stores it.", example: "TRACKER_TOKEN", pattern: secret.NamePattern, valid: secret.ValidName},

		"goal":         {doc: "Defaults of flows of the kind goal."},
		"goal.workers": {doc: "The most workers of a goal that are open at the same time, unless the goal names another number.", unset: "4", example: "2", min: 1, max: coppice.MaxGoalWorkers},

		"features":                  {doc: "A file of the repository that lists tasks. Coppice reads it again when it changes.", unset: "tasks come only from commands and the API", example: "features.json", valid: inside},
		"prompt":                    {doc: "What the first message of a session has."},
		"prompt.context":            {doc: "How much of .coppice/PROJECT.md, .coppice/CONVENTIONS.md and .coppice/context/*.md is part of the first message of each session, in this order. A file that does not fit is cut, and the message says so.", unset: "24 KiB", example: "48 KiB", max: 1},
		"instructions":              {doc: "A file of the repository with instructions for every session.", unset: "each agent loads its own", example: "COPPICE.md", valid: inside},
		"progress":                  {doc: "A file of the workspace in which sessions write notes for the next session. It is never committed.", unset: "none", example: ".coppice/progress.md", valid: inside},
		"budget":                    {doc: "How much can be spent, by the costs that agents report."},
		"budget.accounts":           {doc: "The most that an account can cost per day, from midnight UTC, in all projects together. An account is an agent, or an agent, a colon and a model: the sessions for which this model was chosen. At the limit, running sessions are stopped and continue the next day.", example: "{my-agent: 20 USD, \"my-agent:big\": 5 USD}", pattern: choicePattern, mapKey: coppice.ValidChoice},
		"budget.accounts.*":         {doc: "The most that this account can cost per day; 0 means no limit.", example: "20 USD"},
		"budget.task":               {doc: "The most that one task can cost before it waits for a person; 0 means no limit.", example: "5 USD"},
		"prices":                    {doc: "What models cost, by name, for agents that report tokens and no cost. They replace the prices that `coppice prices` lists. coppice.yaml comes before the user's config.yaml.", example: "{gpt-6-sol: {input: 2 USD, output: 10 USD}}", pattern: modelPattern, mapKey: coppice.ValidModel},
		"prices.*":                  {doc: "What one model costs, in dollars for a million tokens.", example: "{input: 2 USD, output: 10 USD, cache_read: 0.2 USD, cache_write: 2.5 USD}"},
		"prices.*.input":            {doc: "Input that is not cached.", example: "2 USD", required: true},
		"prices.*.output":           {doc: "Output, thinking included.", example: "10 USD", required: true},
		"prices.*.cache_read":       {doc: "Input that was read from the vendor's cache.", unset: "the price of input", example: "0.2 USD"},
		"prices.*.cache_write":      {doc: "Input that was written to the vendor's cache.", unset: "the price of input", example: "2.5 USD"},
		"budget.day":                {doc: "The most that the project can cost per day, from midnight UTC. At the limit, running sessions are stopped and continue the next day; 0 means no limit.", example: "20 USD"},
		"critical_patterns":         {doc: "Output of a session or check that means the environment is broken.", example: "[{match: ECONNREFUSED, label: the database is down}]"},
		"critical_patterns[]":       {doc: "One pattern."},
		"critical_patterns[].match": {doc: "A regular expression.", example: "ECONNREFUSED", valid: expression, required: true},
		"critical_patterns[].label": {doc: "What it means.", example: "the database is down", valid: noZero},

		"workspace":         {doc: "What a new workspace gets. Paths are relative to the repository's root and never leave it."},
		"workspace.kind":    {doc: "What a workspace is.", example: "worktree", oneOf: []string{"worktree"}},
		"workspace.branch":  {doc: "How the branches of new tasks are named. {key} is the task's key, which is required, and {words} are the first words of its title.", unset: "coppice/{key}", example: "\"feature/{key}-{words}\"", valid: coppice.ValidBranchTemplate},
		"workspace.copy":    {doc: "Files copied from the checkout.", example: "[.env]"},
		"workspace.copy[]":  {doc: "A path.", valid: inside},
		"workspace.link":    {doc: "Paths that link to the checkout; links are never committed.", example: "[node_modules]"},
		"workspace.link[]":  {doc: "A path.", valid: inside},
		"workspace.setup":   {doc: "Shell commands that run one time in a new workspace.", example: "[npm ci]"},
		"workspace.setup[]": {doc: "A shell command.", valid: command},
		"workspace.ports":   {doc: "How many ports a workspace gets, in COPPICE_PORT_1 and so on; COPPICE_PORT is the first.", example: "2", max: 64},

		"workspace.pass_env":   {doc: "Variables that agents, checks, setup commands and apps get from Coppice's own environment, besides the base environment: NAME, or PREFIX_* for several. The keys of agents are refused.", example: "[DATABASE_URL, TEST_*]"},
		"workspace.pass_env[]": {doc: "A variable's name.", pattern: `^[A-Za-z_][A-Za-z0-9_]*\*?$`, valid: passEnv},

		"workspace.serve":          {doc: "The app, served for verifiers.", example: "{run: npm run dev, ready: \"http://127.0.0.1:${COPPICE_PORT}/\"}"},
		"workspace.serve.run":      {doc: "A shell command that serves the app on $COPPICE_PORT until it is stopped.", example: "npm run dev", valid: command, required: true},
		"workspace.serve.ready":    {doc: "An address that answers when the app is ready; ${COPPICE_PORT} stands for the port.", unset: "ready when the port accepts connections", example: "\"http://127.0.0.1:${COPPICE_PORT}/\"", valid: address},
		"workspace.serve.timeout":  {doc: "How long Coppice waits until the app is ready.", unset: "1m", example: "1m", least: "1s"},
		"workspace.docker":         {doc: "The compose service in which checks, setup and served apps run.", example: "{service: app}"},
		"workspace.docker.service": {doc: "Its name.", example: "app", pattern: namePattern, valid: named("service"), required: true},
		"workspace.docker.dir":     {doc: "The directory in the service where the repository's root is mounted.", unset: "/app", example: "/var/www/html", valid: noZero},
		"workspace.docker.file":    {doc: "The compose file.", unset: "the default file of docker compose", example: "compose.yaml", valid: inside},

		"checks":   {doc: "Shell commands whose exit code judges the merged tree. All must pass before anything lands.", example: "[make lint, make test]"},
		"checks[]": {doc: "A shell command.", valid: command},

		"verify":          {doc: "How a candidate is verified before it lands, and what follows if it is refused."},
		"verify.by":       {doc: "Who verifies it in addition to the checks: none, or agent, a session that cannot edit.", unset: "agent for tasks with steps", example: "agent", oneOf: []string{coppice.VerifyNone, coppice.VerifyAgent}},
		"verify.attempts": {doc: "How often a candidate that a check or merge refused goes back to an agent.", example: "3", max: 100},
		"verify.browser":  {doc: "Each verifier gets its own browser, through chrome-devtools-mcp. Its screenshots are kept as evidence.", example: "true"},

		"verify.completion":   {list: coppice.ValidCompletion, doc: "What must be true of a session that ends without a failure. diff_not_empty: it changed something, otherwise its task waits for you; without this check the task is done as it is. no_error_in_output: its output does not end with an error, otherwise it has failed and is retried. none: no check.", unset: "[diff_not_empty]", example: "[diff_not_empty, no_error_in_output]"},
		"verify.completion[]": {doc: "A completion check.", oneOf: coppice.CompletionChecks},

		"verify.browser_server":         {doc: "The tool server through which verifiers use the browser.", example: "{package: chrome-devtools-mcp@latest, args: [--no-performance-crux]}"},
		"verify.browser_server.package": {doc: "The npm package of the tool server, with its version. It must accept the arguments of chrome-devtools-mcp. npx starts it.", unset: "chrome-devtools-mcp, as installed, or the version that Coppice was tested with", example: "chrome-devtools-mcp@latest", pattern: npmPattern, valid: npmPackage},
		"verify.browser_server.args":    {doc: "Further arguments of the tool server.", example: "[--no-performance-crux, --no-usage-statistics]"},
		"verify.browser_server.args[]":  {doc: "An argument.", valid: browserArgument},
		"verify.browser_server.name":    {doc: "The name of the tool server, as agents and rules see it.", unset: "browser", example: "chrome-devtools", pattern: namePattern, valid: named("server")},

		"retry":            {doc: "What follows a failed session."},
		"retry.policy":     {doc: "What follows a failed session: none, the task fails; same, another session with what went wrong; analyze, the same after a small session has found out why. Limits of accounts and budgets are not failures.", example: "analyze", oneOf: coppice.RetryPolicies},
		"retry.recoveries": {doc: "The most retries of a task and its copies together (the task that it was forked from, and other forks of it), in 30 minutes. Beyond it, the task waits for you.", unset: "3", example: "5", min: 1, max: 1000},
		"retry.max":        {doc: "How many sessions can follow the first one.", example: "2", max: 100},
		"retry.backoff":    {doc: "The pause before the first retry. It doubles with each retry.", example: "10s"},

		"health":          {doc: "When a session is marked for a person, and when it is stopped."},
		"health.stalled":  {doc: "Time without output after which a session is marked as stalled.", example: "10m", least: "1s"},
		"health.long":     {doc: "Age after which a session is marked as long-running.", example: "1h", least: "1s"},
		"health.timeout":  {doc: "Age after which a session is stopped.", example: "4h", least: "1s"},
		"health.question": {doc: "Time after which a question that nobody has answered is answered by Coppice: the agent is asked to use its best judgement, or to stop. A request for permission is refused. Without it, questions wait without a limit.", example: "2h", least: "1m"},
		"health.check":    {doc: "Age after which a check command is stopped.", example: "30m", least: "1s"},

		"land":                  {doc: "How work reaches the base."},
		"land.how":              landingMethods(),
		"land.strategy":         {doc: "The commits that land: one squashed commit, a merge commit, or the branch's own commits rebased.", example: "squash", oneOf: []string{coppice.StrategySquash, coppice.StrategyMerge, coppice.StrategyRebase}},
		"land.push":             {doc: "Push each landing to the remote before the base moves.", example: "false"},
		"land.ask":              {doc: "Changes that wait for a person's review, although land.how is queue. One rule that applies is enough."},
		"land.ask.paths":        {doc: "Globs. A change that touches a file which matches one of them waits for a review. A glob without a slash matches names in every directory.", unset: "no path asks for a review", example: "[migrations/*, '*.sql']"},
		"land.ask.paths[]":      {doc: "A glob.", valid: glob},
		"land.ask.lines":        {doc: "A change that adds and removes more lines than this waits for a review.", unset: "the size does not matter", example: "500", max: 1000000},
		"land.ask.categories":   {doc: "The change of a task with one of these categories waits for a review.", unset: "no category asks for a review", example: "[security]"},
		"land.ask.categories[]": {doc: "A category.", valid: plain},
		"land.remote":           {doc: "The remote pushed to.", unset: "origin", example: "origin", pattern: namePattern, valid: named("remote")},

		"trash":        {doc: "What is kept of a removed workspace in addition to its commits and uncommitted changes."},
		"trash.keep":   {doc: "Ignored files to keep, as globs.", example: "[.env*]"},
		"trash.keep[]": {doc: "A glob.", valid: glob},
		"trash.ttl":    {doc: "How long it is kept.", example: "14d", least: "1m"},
	}
}

// planned names keys of the design that this version does not have, and values
// of keys as key=value.
var planned = map[string]bool{
	"sandbox": true, "budget.on_reach": true,
	"limits.unreviewed": true, "agent.roles.review": true,
	"workspace.kind=clone": true, "workspace.kind=none": true,
}

// plain accepts a short text in one line.
func plain(s string) error {
	if len(s) > 200 || coppice.LineProblem(s) != "" {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid name", coppice.Quote(s)).WithFix("write a few words in one line")
	}
	return nil
}

var colorRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#[0-9a-fA-F]{6}$`) })

func color(s string) error {
	if !colorRE().MatchString(s) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid colour", coppice.Quote(s)).WithFix("write it as \"#rrggbb\"")
	}
	return nil
}

func expression(s string) error {
	if _, err := regexp.Compile(s); err != nil || s == "" {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid regular expression: %v", coppice.Quote(s), err).WithFix("see https://github.com/google/re2/wiki/Syntax")
	}
	return nil
}

// address accepts an HTTP address, which can contain ${COPPICE_PORT}.
func address(s string) error {
	u, err := url.Parse(strings.ReplaceAll(s, "${COPPICE_PORT}", "1"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid address", coppice.Quote(s)).WithFix("write it as http://host:port/path")
	}
	return nil
}

func named(what string) func(string) error {
	return func(s string) error { return coppice.ValidName(what, s) }
}

// inside accepts a path that is lexically below the repository's root and
// outside git's own directory. Load checks symbolic links as well.
func inside(s string) error {
	switch first, _, _ := strings.Cut(path.Clean(s), "/"); {
	case strings.ContainsRune(s, '\t') || coppice.LineProblem(s) != "":
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid path", coppice.Quote(s)).WithFix("name a file or folder of the repository, such as .env")
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.Contains(s, `\`) || first == ".." ||
		strings.Contains("/"+s+"/", "/../"):
		return coppice.Errorf(coppice.EInvalid, "%s leaves the repository", coppice.Quote(s)).WithFix("write a path relative to the repository's root, without ..")
	case first == ".":
		return coppice.Errorf(coppice.EInvalid, "%s is the repository itself", coppice.Quote(s)).WithFix("name a file or folder in it")
	case strings.EqualFold(first, ".git"):
		return coppice.Errorf(coppice.EInvalid, "%s belongs to git", coppice.Quote(s)).WithFix("leave it out: every workspace has its own")
	}
	return nil
}

// landingMethods describes land.how.
func landingMethods() key {
	k := key{example: coppice.LandQueue}
	var docs []string
	for _, m := range coppice.LandingMethods {
		k.oneOf, docs = append(k.oneOf, m.Name), append(docs, m.Name+" "+m.Help)
	}
	k.doc = strings.Join(docs, "; ") + "."
	return k
}

func command(s string) error {
	if strings.TrimSpace(s) == "" || strings.ContainsRune(s, 0) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid command", coppice.Quote(s)).WithFix("write a shell command, such as make test")
	}
	return nil
}

func argument(s string) error {
	if s == "" || strings.ContainsRune(s, 0) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid argument", coppice.Quote(s)).WithFix("write one argument, or leave it out")
	}
	return nil
}

var npmRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(npmPattern) })

// npmPackage accepts a package of npm's registry, without addresses and paths.
func npmPackage(s string) error {
	if len(s) > 214 || !npmRE().MatchString(s) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid npm package", coppice.Quote(s)).WithFix("write its name and its version, such as chrome-devtools-mcp@latest")
	}
	return nil
}

// browserArgument accepts an argument of the browser's tool server, except those that
// Coppice sets itself.
func browserArgument(s string) error {
	name, _, _ := strings.Cut(strings.TrimLeft(s, "-"), "=")
	if name = strings.ReplaceAll(name, "-", ""); strings.HasPrefix(s, "-") && slices.ContainsFunc(browser.OwnArguments, func(own string) bool { return strings.EqualFold(own, name) }) {
		return coppice.Errorf(coppice.EInvalid, "Coppice sets %s itself", coppice.Quote(s)).WithFix("leave it out; each verifier has its own browser and profile")
	}
	return argument(s)
}

func identity(s string) error {
	_, err := coppice.ParseIdentity(s)
	return err
}

func noZero(s string) error {
	if strings.ContainsRune(s, 0) {
		return coppice.Errorf(coppice.EInvalid, "the text has a zero byte").WithFix("leave it out")
	}
	return nil
}

var (
	envRE     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
	passEnvRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`) })
)

func envName(s string) error {
	if !envRE().MatchString(s) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid name of an environment variable", coppice.Quote(s)).
			WithFix("use letters, digits and underscores, no digit first")
	}
	return nil
}

func passEnv(s string) error {
	if !passEnvRE().MatchString(s) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid name of an environment variable", coppice.Quote(s)).
			WithFix("write NAME, or PREFIX_* for several")
	}
	return nil
}

func glob(s string) error {
	if _, err := path.Match(s, ""); err != nil || s == "" {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid glob", coppice.Quote(s)).WithFix("write one such as .env* or config/*.local")
	}
	return inside(strings.NewReplacer("*", "x", "?", "x", "[", "x", "]", "x").Replace(s))
}
