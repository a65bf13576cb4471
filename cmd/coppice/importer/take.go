package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
	"coppice/config"
)

// taker goes through the settings one by one.
type taker struct {
	root    string
	branch  func(string) bool
	project string   // the name of the project to import; if empty, the one at root
	out     object   // for coppice.yaml, by top key
	files   []Output // besides coppice.yaml
	lines   []Line

	// Of the file that is being imported.
	config map[string]any
	table  []rule
	known  map[string]bool
	label  func(key string) string // the key as people read it; optional
}

// rule says what becomes of a setting. Its value is nil if it is not set and
// has no default.
type rule struct {
	key string
	def any // the other orchestrator's default
	do  func(t *taker, key string, v any)
}

// The reasons why settings are dropped.
const (
	ownPort  = "each workspace has its own port; set workspace.serve to the command that serves the app"
	ownReset = "Coppice reads from the agent's output when a limit ends"
)

// rules is the whole table, in the order of the other orchestrator's own.
var rules = []rule{
	{"projectName", nil, drop("the prefix of its tasks is chosen when the project is added")},
	{"appUrl", nil, drop(ownPort)},
	{"baseBranch", "ai-develop", (*taker).base},
	{"featuresFile", "features.json", file("features", true)},
	{"progressFile", nil, file("progress", false)},
	{"instructionsFile", "ORCHESTRATOR.md", file("instructions", true)},
	{"tracksConfigured", nil, drop("tracks are those that coppice.yaml names")},
	{"tracks", nil, (*taker).tracks},
	{"worktree.symlinkDirs", []any{"node_modules"}, paths("link")},
	{"worktree.copyFiles", []any{".mcp.json", ".env"}, paths("copy")},
	{"worktree.preserveFiles", nil, drop("your checkout is never stashed or reset, so there is nothing to preserve")},
	{"worktree.setupScript", nil, drop("put its commands into workspace.setup; for docker every workspace has the script " + ".coppice/run")},
	{"worktree.setupScriptName", nil, drop("Coppice has no setup script")},
	{"worktree.dockerService", nil, docker("service")},
	{"worktree.dockerWorkDir", nil, docker("dir")},
	{"worktree.dockerComposeFile", nil, docker("file")},
	{"criticalPatterns", nil, (*taker).patterns},
	{"prompts.implementation", nil, inlinePrompt("implement")},
	{"prompts.verification", nil, inlinePrompt("verify")},
	{"prompts.fix", nil, inlinePrompt("fix")},
	{"agent.preferred", nil, (*taker).agent},
	{"agent.fallbackAgents", nil, (*taker).fallback},
	{"agent.maxTurnsImplementation", nil, turns(coppice.RoleImplement)},
	{"agent.maxTurnsVerification", nil, turns(coppice.RoleVerify)},
	{"agent.allowedTools", nil, tools(coppice.RoleImplement, coppice.RoleFix)},
	{"agent.allowedToolsVerification", nil, tools(coppice.RoleVerify)},
	{"agent.rateLimitWaitMs", nil, drop(ownReset)},
	{"verification.maxAttempts", nil, (*taker).attempts},
	{"verification.delayMs", nil, drop("Coppice waits until the app answers: see workspace.serve.ready")},
	{"verification.disabled", nil, (*taker).verifier},
	{"browser.enabled", nil, (*taker).browser},
	{"browser.mcpPackage", nil, browserServer("package")},
	{"browser.mcpArgs", nil, (*taker).browserArgs},
	{"browser.mcpServerName", nil, browserServer("name")},
}

// all handles the settings of the table, then the others.
func (t *taker) all() {
	t.known = map[string]bool{}
	for _, r := range t.table {
		t.known[r.key] = true
		v, set := t.find(r.key)
		if v == nil {
			if set {
				continue // null means unset there
			}
			if r.def != nil {
				r.do(t, r.key, r.def)
			}
			continue
		}
		r.do(t, r.key, v)
	}
	t.rest("", t.config)
}

// find returns a setting by its path.
func (t *taker) find(key string) (any, bool) {
	var v any = t.config
	for part := range strings.SplitSeq(key, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[part]; !ok {
			return nil, false
		}
	}
	return v, true
}

var ownCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^agent\.(\w+?)(Command|Args)$`) })

// rest reports the settings that the table does not have.
func (t *taker) rest(prefix string, m map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		key := prefix + k
		inner, nested := m[k].(map[string]any)
		switch {
		case t.known[key], m[k] == nil: // null means unset there
		case nested && slices.ContainsFunc(t.table, func(r rule) bool { return strings.HasPrefix(r.key, key+".") }):
			t.rest(key+".", inner)
		case ownCommand().MatchString(key):
			t.command(key, m[k])
		default:
			t.say(key, m[k], Dropped, "", "unknown setting, ignored")
		}
	}
}

// command drops how an agent is started.
func (t *taker) command(key string, v any) {
	m := ownCommand().FindStringSubmatch(key)
	s, _ := v.(string)
	if m[2] == "Command" && s == m[1] || m[2] == "Args" && s == "" {
		t.say(key, v, Dropped, "", "it is the default; Coppice knows how to start "+m[1])
		return
	}
	t.say(key, v, Dropped, "", "describe another command for an agent under agents."+m[1]+"; see docs/agents.md")
}

func (t *taker) say(key string, v any, did, to, why string) {
	if t.label != nil {
		key = t.label(key)
	}
	l := Line{Key: key, Did: did, To: to, Why: why}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if v != nil && e.Encode(v) == nil {
		l.Value = bytes.TrimSpace(b.Bytes())
	}
	t.lines = append(t.lines, l)
}

var placeRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S+:\d+:\d+: `) })

// fits returns an error if coppice.yaml cannot have this value.
func fits(top string, v any) error {
	var b strings.Builder
	writeYAML(&b, "", top, v)
	_, err := config.Parse(config.File, []byte(b.String()))
	if err == nil {
		return nil
	}
	e := *coppice.Public(err)
	e.Cause, _, _ = strings.Cut(e.Cause, "\n")
	e.Cause = placeRE().ReplaceAllString(e.Cause, "")
	return &e
}

// refuse drops a value that is not of the kind it should be.
func (t *taker) refuse(key string, v any, err error) {
	e := coppice.Public(err)
	t.say(key, v, Dropped, "", e.Cause)
}

func drop(why string) func(*taker, string, any) {
	return func(t *taker, key string, v any) { t.say(key, v, Dropped, "", why) }
}

// in returns an object of coppice.yaml. It creates the object if necessary.
func (t *taker) in(top string) object {
	o, ok := t.out[top].(object)
	if !ok {
		o = object{}
		t.out[top] = o
	}
	return o
}

func wrong(what string) error {
	return coppice.Errorf(coppice.EInvalid, "it is not %s", what)
}

func (t *taker) base(key string, v any) {
	s, ok := v.(string)
	if !ok {
		t.refuse(key, v, wrong("a text"))
		return
	}
	if err := fits("base", s); err != nil {
		t.refuse(key, v, err)
		return
	}
	why := ""
	if t.branch != nil && !t.branch(s) {
		why = "the branch does not exist yet; create it with git branch " + s
	}
	t.out["base"] = s
	t.say(key, v, Took, "base", why)
}

// file imports a path. Some files must exist.
func file(to string, must bool) func(*taker, string, any) {
	return func(t *taker, key string, v any) {
		s, ok := v.(string)
		if !ok {
			t.refuse(key, v, wrong("a text"))
			return
		}
		if err := fits(to, s); err != nil {
			t.refuse(key, v, err)
			return
		}
		if _, err := os.Stat(filepath.Join(t.root, s)); must && err != nil {
			t.say(key, v, Dropped, "", "the repository has no such file; when it has one, set "+to)
			return
		}
		t.out[to] = s
		t.say(key, v, Took, to, "")
	}
}

// texts returns the valid texts of a list, and reports the others. If none is left, it
// reports why the list is dropped.
func (t *taker) texts(key string, v any, none string, valid func(string) error) (good []string) {
	list, ok := v.([]any)
	if !ok {
		t.refuse(key, v, wrong("a list"))
		return nil
	}
	for i, e := range list {
		s, _ := e.(string)
		if err := valid(s); err != nil {
			t.refuse(fmt.Sprintf("%s[%d]", key, i), e, err)
			continue
		}
		good = append(good, s)
	}
	if len(good) == 0 {
		t.say(key, v, Dropped, "", none)
	}
	return good
}

// paths imports a list of paths in the repository.
func paths(to string) func(*taker, string, any) {
	return func(t *taker, key string, v any) {
		good := t.texts(key, v, "it names no path", func(s string) error {
			return fits("workspace", object{to: []string{strings.TrimSuffix(s, "/")}})
		})
		if len(good) == 0 {
			return
		}
		for i := range good {
			good[i] = strings.TrimSuffix(good[i], "/")
		}
		t.in("workspace")[to] = good
		if len(good) < len(v.([]any)) {
			t.say(key, v, Changed, "workspace."+to, "without the dropped paths")
			return
		}
		t.say(key, v, Took, "workspace."+to, "")
	}
}

func docker(to string) func(*taker, string, any) {
	return func(t *taker, key string, v any) {
		s, ok := v.(string)
		service, _ := t.find("worktree.dockerService")
		switch {
		case !ok:
			t.refuse(key, v, wrong("a text"))
			return
		case s == "":
			return
		case to != "service" && (service == nil || service == ""):
			t.say(key, v, Dropped, "", "it names no service")
			return
		}
		probe := object{"service": "app"}
		probe[to] = s
		if err := fits("workspace", object{"docker": probe}); err != nil {
			t.refuse(key, v, err)
			return
		}
		d, _ := t.in("workspace")["docker"].(object)
		if d == nil {
			if to != "service" {
				t.say(key, v, Dropped, "", "its service was dropped")
				return
			}
			d = object{}
			t.in("workspace")["docker"] = d
		}
		if to == "dir" && len(s) > 1 {
			s = strings.TrimSuffix(s, "/")
		}
		d[to] = s
		why := ""
		if to == "service" {
			why = "it must mount the folder of the workspaces: see docs/features.md"
		}
		t.say(key, v, Took, "workspace.docker."+to, why)
	}
}
