package config

import (
	"path"
	"regexp"
	"strings"
	"unicode"

	"coppice"
)

// key is what is known of one key besides its type: what it means and what it
// may hold. Paths name a list's element as [] and a map's value as *.
type key struct {
	doc      string
	unset    string // what leaving it out means, where the default does not tell
	example  string // a value as a person would write it
	min, max int    // bounds of a number; max 0 means none
	least    string // the shortest duration
	oneOf    []string
	pattern  string               // for the schema; valid has the last word
	valid    func(s string) error // of a text
	mapKey   func(s string) error // of the names in a map
	names    []string             // the only names in a map
	required bool                 // within its mapping
}

const (
	namePattern  = `^[A-Za-z0-9][A-Za-z0-9._-]*$`
	modelPattern = `^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]*$`
)

// keys describes every key of coppice.yaml. A test holds it against the fields
// of coppice.Policy, so that none is missing and none is left over.
var keys = map[string]key{
	"base": {doc: "The branch work lands on. It must exist.", unset: "the repository's default branch", example: "ai-develop",
		pattern: `^[A-Za-z0-9_][A-Za-z0-9._/+-]*$`, valid: coppice.ValidBranch},

	"tracks":           {doc: "Lanes with a limit of their own. A task stands in exactly one.", example: "[{name: core, default: true, limit: 2}, {name: docs}]"},
	"tracks[]":         {doc: "One track."},
	"tracks[].name":    {doc: "The track's name.", example: "core", pattern: namePattern, valid: named("track"), required: true},
	"tracks[].default": {doc: "Tasks that name no track stand here. The first track when none says so.", example: "true"},
	"tracks[].limit":   {doc: "The most sessions of this track at once; 0 means no limit of its own.", example: "2"},

	"limits":             {doc: "How much runs at once."},
	"limits.sessions":    {doc: "The most sessions of this project at once.", example: "5", min: 1, max: 10000},
	"limits.per_agent":   {doc: "The most sessions of an agent at once, by the agent's name.", example: "{my-agent: 3}", mapKey: named("agent")},
	"limits.per_agent.*": {doc: "The most sessions of this agent at once.", min: 1, max: 10000},
	"limits.memory":      {doc: "The share of the machine's memory in use above which no further session starts.", example: "80%"},

	"agent":            {doc: "Who does the work."},
	"agent.use":        {doc: "The agent a task gets when it names none.", unset: "every task must name one", example: "my-agent", pattern: namePattern, valid: named("agent")},
	"agent.model":      {doc: "The model it uses, in the words of its vendor.", unset: "the agent's own default", example: "opus", pattern: modelPattern, valid: coppice.ValidModel},
	"agent.fallback":   {doc: "Agents that take over, in this order, when the first cannot work.", example: "[other-agent]"},
	"agent.fallback[]": {doc: "An agent's name.", pattern: namePattern, valid: named("agent")},
	"agent.roles":      {doc: "Another agent for one role.", example: "{fix: other-agent}", names: []string{string(coppice.RoleImplement), string(coppice.RoleFix)}},
	"agent.roles.*":    {doc: "The agent of this role.", pattern: namePattern, valid: named("agent")},

	"agents":              {doc: "Agent CLIs of the project's own, by name. With the name of a built-in agent, only the fields given here are changed.", example: "{my-agent: {protocol: command, command: [./agent.sh]}}", mapKey: named("agent")},
	"agents.*":            {doc: "One agent CLI."},
	"agents.*.protocol":   {doc: "How Coppice talks to it.", unset: "that of the built-in agent of this name", example: "command", pattern: namePattern, valid: named("protocol")},
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
	"agents.*.pass_env":   {doc: "Variables it takes over from Coppice's own environment: NAME, or PREFIX_* for several.", example: "[MY_AGENT_KEY]"},
	"agents.*.pass_env[]": {doc: "A variable's name.", pattern: `^[A-Za-z_][A-Za-z0-9_]*\*?$`, valid: passEnv},
	"agents.*.version":    {doc: "Command that prints its version.", example: "[my-agent, --version]"},
	"agents.*.version[]":  {doc: "An argument.", valid: argument},
	"agents.*.install":    {doc: "Tells a person how to get it.", example: "see the team's wiki", valid: noZero},
	"agents.*.tested":     {doc: "The version this profile was tested with.", example: "1.2.3", valid: noZero},

	"workspace":         {doc: "What a new workspace gets. Paths are relative to the repository's root and never leave it."},
	"workspace.kind":    {doc: "What a workspace is.", example: "worktree", oneOf: []string{"worktree"}},
	"workspace.copy":    {doc: "Files copied from the checkout.", example: "[.env]"},
	"workspace.copy[]":  {doc: "A path.", valid: inside},
	"workspace.link":    {doc: "Paths linked to the checkout's own; links are never committed.", example: "[node_modules]"},
	"workspace.link[]":  {doc: "A path.", valid: inside},
	"workspace.setup":   {doc: "Shell commands run once in a new workspace.", example: "[npm ci]"},
	"workspace.setup[]": {doc: "A shell command.", valid: command},
	"workspace.ports":   {doc: "How many ports of its own a workspace gets, in COPPICE_PORT_1 onwards; COPPICE_PORT is the first.", example: "2", max: 64},

	"checks":   {doc: "Shell commands whose exit code judges the merged tree. All must pass before anything lands.", example: "[make lint, make test]"},
	"checks[]": {doc: "A shell command.", valid: command},

	"verify":          {doc: "What follows a refused candidate."},
	"verify.attempts": {doc: "How often a candidate that a check or merge refused goes back to an agent.", example: "3", max: 100},

	"retry":         {doc: "What follows a failed session."},
	"retry.max":     {doc: "Further sessions after the first.", example: "2", max: 100},
	"retry.backoff": {doc: "The pause before the first of them; it doubles with each.", example: "10s"},

	"health":         {doc: "When a session is worth a person's look, and when it is over."},
	"health.stalled": {doc: "Silence after which a session is called stalled.", example: "10m", least: "1s"},
	"health.long":    {doc: "Age after which a session is called long-running.", example: "1h", least: "1s"},
	"health.timeout": {doc: "Age after which a session is stopped.", example: "4h", least: "1s"},
	"health.check":   {doc: "Age after which a check command is stopped.", example: "30m", least: "1s"},

	"land":          {doc: "How work reaches the base."},
	"land.how":      {doc: "queue lands by itself once proven; branch waits until a person says land.", example: "queue", oneOf: []string{coppice.LandQueue, coppice.LandBranch}},
	"land.strategy": {doc: "The commits that land: one squashed commit, a merge commit, or the branch's own commits rebased.", example: "squash", oneOf: []string{coppice.StrategySquash, coppice.StrategyMerge, coppice.StrategyRebase}},
	"land.push":     {doc: "Push the base after each landing.", example: "false"},
	"land.remote":   {doc: "The remote pushed to.", unset: "origin", example: "origin", pattern: namePattern, valid: named("remote")},

	"trash":        {doc: "What is kept of a removed workspace besides its commits and uncommitted changes."},
	"trash.keep":   {doc: "Ignored files worth keeping, as globs.", example: "[.env*]"},
	"trash.keep[]": {doc: "A glob.", valid: glob},
	"trash.ttl":    {doc: "How long it is kept.", example: "14d", least: "1m"},
}

// planned names what the design has and this version does not: keys, and
// values of keys as key=value.
var planned = map[string]bool{
	"features": true, "instructions": true, "budget": true, "sandbox": true, "reactions": true, "notify": true,
	"hooks": true, "forge": true, "tracker": true,
	"tracks[].categories": true, "limits.unreviewed": true, "workspace.serve": true, "verify.by": true, "verify.browser": true,
	"retry.policy": true, "agent.roles.verify": true, "agent.roles.review": true,
	"land.how=pr": true, "workspace.kind=clone": true, "workspace.kind=none": true,
}

func named(what string) func(string) error {
	return func(s string) error { return coppice.ValidName(what, s) }
}

// inside accepts a path that, by its letters, stays below the repository's root
// and out of git's own directory. Load looks at symbolic links besides.
func inside(s string) error {
	switch first, _, _ := strings.Cut(path.Clean(s), "/"); {
	case s == "" || hasControl(s):
		return coppice.Errorf(coppice.EInvalid, "%s is no path", coppice.Quote(s)).WithFix("name a file or folder of the repository, such as .env")
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

func command(s string) error {
	if strings.TrimSpace(s) == "" || strings.ContainsRune(s, 0) {
		return coppice.Errorf(coppice.EInvalid, "%s is no command", coppice.Quote(s)).WithFix("write a shell command, such as make test")
	}
	return nil
}

func argument(s string) error {
	if s == "" || strings.ContainsRune(s, 0) {
		return coppice.Errorf(coppice.EInvalid, "%s is no argument", coppice.Quote(s)).WithFix("write one argument, or leave it out")
	}
	return nil
}

func noZero(s string) error {
	if strings.ContainsRune(s, 0) {
		return coppice.Errorf(coppice.EInvalid, "the text has a zero byte").WithFix("leave it out")
	}
	return nil
}

var (
	envRE     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	passEnvRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
)

func envName(s string) error {
	if !envRE.MatchString(s) {
		return coppice.Errorf(coppice.EInvalid, "%s is no name of an environment variable", coppice.Quote(s)).
			WithFix("use letters, digits and underscores, no digit first")
	}
	return nil
}

func passEnv(s string) error {
	if !passEnvRE.MatchString(s) {
		return coppice.Errorf(coppice.EInvalid, "%s is no name of an environment variable", coppice.Quote(s)).
			WithFix("write NAME, or PREFIX_* for all that begin so")
	}
	return nil
}

func glob(s string) error {
	if _, err := path.Match(s, ""); err != nil || s == "" || hasControl(s) {
		return coppice.Errorf(coppice.EInvalid, "%s is no glob", coppice.Quote(s)).WithFix("write one such as .env* or config/*.local")
	}
	return inside(strings.NewReplacer("*", "x", "?", "x", "[", "x", "]", "x").Replace(s))
}

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }
