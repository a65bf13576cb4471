package importer

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"coppice"
	"coppice/agent/profiles"
)

// Reasons why settings of AO are dropped.
const (
	noForge    = "this version does not work with pull requests and trackers"
	noNotify   = "this version sends no notifications; coppice inbox and the dashboard show what needs you"
	noLead     = "Coppice has no orchestrator agent"
	ownRuntime = "each session has its own process, which continues when the server stops; coppice attach shows it"
)

// agentNamed returns Coppice's name of an agent of AO: the same, the longest name with
// which AO's starts, or one that starts with AO's.
func agentNamed(name string) string {
	best := ""
	set, err := profiles.Load()
	if err != nil {
		return name
	}
	for _, known := range set.Names() {
		switch {
		case known == name:
			return name
		case strings.HasPrefix(name, known) && len(known) > len(best):
			best = known
		case best == "" && strings.HasPrefix(known, name+"-"):
			best = known
		}
	}
	return cmp.Or(best, name)
}

// aoRules is the table of AO's settings. project. is the chosen entry of projects.
var aoRules = []rule{
	{"$schema", nil, drop("it names the format of " + AOFile)},
	{"port", nil, drop("the address of the server is not a setting of a project: see coppice serve --listen")},
	{"terminalPort", nil, drop("the dashboard needs no further port")},
	{"directTerminalPort", nil, drop("the dashboard needs no further port")},
	{"readyThresholdMs", nil, drop("Coppice shows what each session does from its events")},
	{"power.preventIdleSleep", nil, drop("Coppice does not change the power settings")},
	{"lifecycle.autoCleanupOnMerge", nil, builtIn("the workspace of a task goes to the trash when it has landed")},
	{"lifecycle.mergeCleanupIdleGraceMs", nil, drop("trash.ttl says how long removed workspaces are kept")},
	{"defaults.runtime", nil, overridden("project.runtime", drop(ownRuntime))},
	{"defaults.agent", nil, overridden("project.agent", (*taker).aoAgent)},
	{"defaults.workspace", nil, overridden("project.workspace", (*taker).aoWorkspace)},
	{"defaults.tracker", nil, drop(noForge)},
	{"defaults.notifiers", nil, drop(noNotify)},
	{"defaults.orchestrator", nil, drop(noLead)},
	{"defaults.worker", nil, overridden("project.worker", (*taker).aoWorker)},
	{"plugins", nil, drop("Coppice has no plugins; describe another agent CLI under agents")},
	{"dashboard", nil, drop("the dashboard has no such setting")},
	{"notifiers", nil, drop(noNotify)},
	{"notificationRouting", nil, drop(noNotify)},
	{"project.name", nil, drop("the prefix of its tasks is chosen when the project is added")},
	{"project.repo", nil, drop("the project is this repository")},
	{"project.path", nil, drop("the project is this repository")},
	{"project.defaultBranch", nil, (*taker).base},
	{"project.sessionPrefix", nil, drop("the prefix of its tasks is chosen when the project is added: see coppice project add --help")},
	{"project.runtime", nil, drop(ownRuntime)},
	{"project.agent", nil, (*taker).aoAgent},
	{"project.agentConfig", nil, (*taker).aoAgentConfig},
	{"project.worker", nil, (*taker).aoWorker},
	{"project.workspace", nil, (*taker).aoWorkspace},
	{"project.tracker", nil, drop(noForge)},
	{"project.scm", nil, drop(noForge)},
	{"project.symlinks", nil, paths("link")},
	{"project.postCreate", nil, (*taker).aoSetup},
	{"project.agentRulesFile", nil, file("instructions", true)},
	{"project.agentRules", nil, (*taker).aoGuide},
	{"project.orchestrator", nil, drop(noLead)},
	{"project.orchestratorRules", nil, drop(noLead)},
	{"project.orchestratorSessionStrategy", nil, drop(noLead)},
	{"reactions", nil, (*taker).aoReactions},
	{"project.reactions", nil, (*taker).aoReactions},
}

// takeAO imports agent-orchestrator.yaml: the entry of one project, and what applies to
// all.
func (t *taker) takeAO(path string) error {
	b, err := readWhole(path)
	if err != nil {
		return err
	}
	for _, tok := range lexer.Tokenize(string(b)) {
		if tok.Type == token.AliasType { // nested ones can become very large
			return coppice.Errorf(coppice.EInvalid, "%s uses a YAML alias in line %d", path, tok.Position.Line).WithFix("write the value out, then import the file again; nothing was imported")
		}
	}
	var c map[string]any
	if err := yaml.Unmarshal(b, &c); err != nil || c == nil {
		return coppice.Errorf(coppice.EInvalid, "%s is not a YAML mapping: %v", path, firstLine(err)).WithFix("fix the file, then import it again; nothing was imported")
	}
	projects, ok := c["projects"].(map[string]any)
	if !ok || len(projects) == 0 {
		return coppice.Errorf(coppice.EInvalid, "%s has no projects", path).WithFix("name a file of AO, %s", AOFile)
	}
	id, err := t.aoProject(path, projects)
	if err != nil {
		return err
	}
	delete(c, "projects")
	c["project"] = projects[id]
	t.config, t.table = c, aoRules
	t.label = func(key string) string {
		if rest, ok := strings.CutPrefix(key, "project."); ok {
			return "projects." + id + "." + rest
		}
		return key
	}
	t.all()
	for _, other := range slices.Sorted(maps.Keys(projects)) {
		if other != id {
			t.say("projects."+other, nil, Dropped, "", "import it in its repository, with --project "+other)
		}
	}
	return nil
}

func firstLine(err error) string {
	if err == nil {
		return "it is empty"
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// aoProject chooses the entry of projects: the named one, the one whose path is this
// repository, or the only one.
func (t *taker) aoProject(file string, projects map[string]any) (string, error) {
	ids := slices.Sorted(maps.Keys(projects))
	if t.project != "" {
		if _, ok := projects[t.project].(map[string]any); !ok {
			return "", coppice.Errorf(coppice.ENotFound, "%s has no project %s", file, coppice.Quote(t.project)).WithFix("it has %s", strings.Join(ids, ", "))
		}
		return t.project, nil
	}
	here, _ := os.Stat(t.root)
	var named []string
	for _, id := range ids {
		p, ok := projects[id].(map[string]any)
		if !ok {
			continue
		}
		named = append(named, id)
		dir, _ := p["path"].(string)
		if rest, home := strings.CutPrefix(dir, "~/"); home {
			user, _ := os.UserHomeDir()
			dir = filepath.Join(user, rest)
		} else if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(file), dir)
		}
		if st, err := os.Stat(dir); dir != "" && err == nil && here != nil && os.SameFile(st, here) {
			return id, nil
		}
	}
	if len(named) != 1 {
		return "", coppice.Errorf(coppice.EInvalid, "%s has several projects, and the path of none is %s", file, t.root).WithFix("name one of %s with --project", strings.Join(named, ", "))
	}
	return named[0], nil
}

// builtIn says that Coppice does what the setting asks for, without a setting.
func builtIn(why string) func(*taker, string, any) {
	return func(t *taker, key string, v any) { t.say(key, v, Took, "", "built in: "+why) }
}

// overridden imports a default unless the project has its own value.
func overridden(by string, do func(*taker, string, any)) func(*taker, string, any) {
	return func(t *taker, key string, v any) {
		if own, _ := t.find(by); own != nil {
			t.say(key, v, Kept, "", t.label(by)+" replaces it")
			return
		}
		do(t, key, v)
	}
}

func (t *taker) aoAgent(key string, v any) {
	s, _ := v.(string)
	name := agentNamed(s)
	if err := fits("agent", object{"use": name}); err != nil {
		t.refuse(key, v, err)
		return
	}
	t.in("agent")["use"] = name
	if name != s {
		t.say(key, v, Changed, "agent.use", "Coppice calls it "+name)
		return
	}
	t.say(key, v, Took, "agent.use", "")
}

func (t *taker) aoWorkspace(key string, v any) {
	if v != "worktree" {
		t.say(key, v, Dropped, "", "each workspace is a separate repository that borrows objects from yours, which replaces a clone")
		return
	}
	t.say(key, v, Took, "", "built in: each task has its own workspace")
}

// object returns the fields of an object, and refuses any other value.
func (t *taker) object(key string, v any) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		t.refuse(key, v, wrong("an object"))
	}
	return m
}

// aoWorker imports the agent that does the work, which comes before agent.
func (t *taker) aoWorker(key string, v any) {
	m := t.object(key, v)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		switch k {
		case "agent":
			t.aoAgent(key+".agent", m[k])
		case "agentConfig":
			t.aoAgentConfig(key+".agentConfig", m[k])
		default:
			t.say(key+"."+k, m[k], Dropped, "", "unknown setting, ignored")
		}
	}
}

// aoPermissions maps AO's permissions to what happens without a rule.
var aoPermissions = map[string]string{"permissionless": coppice.RuleAllow, "skip": coppice.RuleAllow, "default": coppice.RuleAsk}

func (t *taker) aoAgentConfig(key string, v any) {
	m := t.object(key, v)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		s, _ := m[k].(string)
		at := key + "." + k
		switch do := aoPermissions[s]; {
		case k == "model" && coppice.ValidModel(s) == nil:
			t.in("agent")["model"] = s
			t.say(at, m[k], Took, "agent.model", "")
		case k == "permissions" && do != "":
			t.in("permissions")["default"] = do
			t.say(at, m[k], Changed, "permissions.default", "")
		case k == "permissions":
			t.say(at, m[k], Dropped, "", "write rules into permissions.rules")
		default:
			t.say(at, m[k], Dropped, "", "unknown setting, ignored")
		}
	}
}

// aoSetup imports the commands that run in a new workspace.
func (t *taker) aoSetup(key string, v any) {
	good := t.texts(key, v, "it has no command", func(s string) error { return fits("workspace", object{"setup": []string{s}}) })
	if len(good) > 0 {
		t.in("workspace")["setup"] = good
		t.say(key, v, Took, "workspace.setup", "")
	}
}

// aoGuide imports the rules of the project's agents as its instructions.
func (t *taker) aoGuide(key string, v any) {
	text, ok := v.(string)
	if !ok || strings.TrimSpace(text) == "" {
		t.refuse(key, v, wrong("a text"))
		return
	}
	if t.out["instructions"] != nil {
		t.say(key, v, Dropped, "", "add it to the file of agentRulesFile, which agents follow")
		return
	}
	t.add(key, v, projectGuide, text, Changed, "agents follow this file")
	t.out["instructions"] = projectGuide
}

// aoReactions imports the reactions that Coppice can express. Those of the project
// come before those of all projects.
func (t *taker) aoReactions(key string, v any) {
	m := t.object(key, v)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		at := key + "." + name
		r, ok := m[name].(map[string]any)
		if !ok {
			t.refuse(at, m[name], wrong("an object"))
			continue
		}
		if own, _ := t.find("project.reactions." + name); own != nil && key == "reactions" {
			t.say(at, m[name], Kept, "", t.label("project.reactions."+name)+" replaces it")
			continue
		}
		if do := aoReacts[name]; do != nil {
			do(t, at, r)
			continue
		}
		t.say(at, m[name], Dropped, "", noForge)
	}
}

// aoReacts has the reactions that Coppice can express.
var aoReacts = map[string]func(t *taker, key string, r map[string]any){
	"ci-failed":          (*taker).aoFix,
	"merge-conflicts":    alwaysDone("a conflict with the base starts a fix session"),
	"approved-and-green": (*taker).aoLand,
	"agent-stuck":        (*taker).aoStalled,
	"agent-idle":         (*taker).aoStalled,
	"agent-needs-input":  alwaysDone("a question is in the inbox, and its session does not count against the limits"),
	"agent-exited":       alwaysDone("a session that disappeared is retried: see retry.max"),
	"all-complete":       alwaysDone("coppice wait returns when tasks have ended"),
}

func alwaysDone(why string) func(*taker, string, map[string]any) {
	return func(t *taker, key string, r map[string]any) { t.say(key, r, Took, "", "built in: "+why) }
}

// automatic reports whether a reaction happens without a person.
func automatic(r map[string]any) bool {
	auto, set := r["auto"].(bool)
	return (auto || !set) && r["action"] != "notify"
}

// aoFix imports how often a failed check goes back to the agent.
func (t *taker) aoFix(key string, r map[string]any) {
	n, ok := number(r["retries"])
	switch {
	case !automatic(r):
		n = 0
	case r["retries"] == nil:
		t.say(key, r, Took, "", "built in: a failed check starts a fix session, at most verify.attempts times")
		return
	case !ok || n < 0 || n > 100:
		t.refuse(key, r, coppice.Errorf(coppice.EInvalid, "its retries are not a number from 0 to 100"))
		return
	}
	t.in("verify")["attempts"] = n
	t.say(key, r, Changed, "verify.attempts", "checks of coppice.yaml run before anything lands; add those of your CI to checks")
}

// aoLand imports who decides that work lands.
func (t *taker) aoLand(key string, r map[string]any) {
	land := object{"how": coppice.LandReview}
	why := "work waits until a person has reviewed it"
	if automatic(r) {
		land["how"], why = coppice.LandQueue, "work lands automatically when its checks have passed"
	}
	if s, ok := r["strategy"].(string); ok {
		land["strategy"] = s
	}
	if err := fits("land", land); err != nil {
		t.refuse(key, r, err)
		return
	}
	maps.Copy(t.in("land"), land)
	t.say(key, r, Changed, "land", why)
}

// aoStalled imports how long a session can be silent.
func (t *taker) aoStalled(key string, r map[string]any) {
	s, ok := r["threshold"].(string)
	if !ok {
		t.say(key, r, Took, "", "built in: a silent session is in the inbox, after health.stalled")
		return
	}
	if err := fits("health", object{"stalled": s}); err != nil {
		t.refuse(key, r, err)
		return
	}
	t.in("health")["stalled"] = s
	t.say(key, r, Changed, "health.stalled", "the session is in the inbox; nothing is sent to it")
}
