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
	config map[string]any
	root   string
	branch func(string) bool
	out    object // of coppice.yaml, by top key
	lines  []Line
	known  map[string]bool
}

// rule says what becomes of a setting. Its value is nil when it is not set and
// has no default.
type rule struct {
	key string
	def any // what the other orchestrator takes when it is not set
	do  func(t *taker, key string, v any)
}

// The reasons why settings are dropped.
const (
	ownPort    = "each workspace has a port of its own; name the command that serves the app by workspace.serve"
	ownReset   = "when a limit ends is read from what the agent says"
	ownTools   = "what agents may do is said by permissions.rules; verifiers cannot edit in any case"
	ownTurns   = "how long a session may take is said by health.timeout"
	ownBrowser = "the browser that verifiers get is pinned; name a server of your own by mcp.browser in coppice.yaml"
)

// rules is the whole table, in the order of the other orchestrator's own.
var rules = []rule{
	{"projectName", nil, drop("tasks are named after the repository's folder")},
	{"appUrl", nil, drop(ownPort)},
	{"baseBranch", "ai-develop", (*taker).base},
	{"featuresFile", "features.json", file("features", true)},
	{"progressFile", nil, file("progress", false)},
	{"instructionsFile", "ORCHESTRATOR.md", file("instructions", true)},
	{"tracksConfigured", nil, drop("tracks are those that coppice.yaml names")},
	{"tracks", nil, (*taker).tracks},
	{"worktree.symlinkDirs", []any{"node_modules"}, paths("link")},
	{"worktree.copyFiles", []any{".mcp.json", ".env"}, paths("copy")},
	{"worktree.preserveFiles", nil, drop("your checkout is never stashed or reset, so nothing has to be preserved")},
	{"worktree.setupScript", nil, drop("name commands by workspace.setup; for docker there is a script in every workspace, " + ".coppice/run")},
	{"worktree.setupScriptName", nil, drop("there is no such script")},
	{"worktree.dockerService", nil, docker("service")},
	{"worktree.dockerWorkDir", nil, docker("dir")},
	{"worktree.dockerComposeFile", nil, docker("file")},
	{"criticalPatterns", nil, (*taker).patterns},
	{"prompts.implementation", nil, prompt("implement")},
	{"prompts.verification", nil, prompt("verify")},
	{"prompts.fix", nil, prompt("fix")},
	{"agent.preferred", nil, (*taker).agent},
	{"agent.fallbackAgents", nil, (*taker).fallback},
	{"agent.maxTurnsImplementation", nil, drop(ownTurns)},
	{"agent.maxTurnsVerification", nil, drop(ownTurns)},
	{"agent.allowedTools", nil, drop(ownTools)},
	{"agent.allowedToolsVerification", nil, drop(ownTools)},
	{"agent.rateLimitWaitMs", nil, drop(ownReset)},
	{"verification.maxAttempts", nil, (*taker).attempts},
	{"verification.delayMs", nil, drop("the app is waited for until it answers: see workspace.serve.ready")},
	{"verification.disabled", nil, (*taker).verifier},
	{"browser.enabled", nil, (*taker).browser},
	{"browser.mcpPackage", nil, drop(ownBrowser)},
	{"browser.mcpArgs", nil, drop(ownBrowser)},
	{"browser.mcpServerName", nil, drop("no other file names it, and .mcp.json is left alone")},
}

// all goes through the table, then through what is left.
func (t *taker) all() {
	t.out, t.known = object{}, map[string]bool{}
	for _, r := range rules {
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
	t.dropPromptFiles()
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

// rest tells what the table does not know.
func (t *taker) rest(prefix string, m map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		key := prefix + k
		inner, nested := m[k].(map[string]any)
		switch {
		case t.known[key], m[k] == nil: // null means unset there
		case nested && slices.ContainsFunc(rules, func(r rule) bool { return strings.HasPrefix(r.key, key+".") }):
			t.rest(key+".", inner)
		case ownCommand().MatchString(key):
			t.command(key, m[k])
		default:
			t.say(key, m[k], Dropped, "", "it means nothing there or here")
		}
	}
}

// command drops how an agent is started; the usual way needs no word.
func (t *taker) command(key string, v any) {
	m := ownCommand().FindStringSubmatch(key)
	s, _ := v.(string)
	if m[2] == "Command" && s == m[1] || m[2] == "Args" && s == "" {
		t.say(key, v, Dropped, "", "it is the usual one; Coppice knows how to start "+m[1])
		return
	}
	t.say(key, v, Dropped, "", "describe another way to start an agent under agents."+m[1]+"; see docs/agents.md")
}

func (t *taker) say(key string, v any, did, to, why string) {
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

// fits tells whether coppice.yaml may say this, by its own rules.
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

// in returns an object of coppice.yaml, made when it is not there.
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
		why = "there is no such branch yet: make it with git branch " + s
	}
	t.out["base"] = s
	t.say(key, v, Took, "base", why)
}

// file takes a path; some must be there to be of use.
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
			t.say(key, v, Dropped, "", "there is no such file in the repository; name one by "+to+" when there is")
			return
		}
		t.out[to] = s
		t.say(key, v, Took, to, "")
	}
}

// paths takes a list of paths of the repository.
func paths(to string) func(*taker, string, any) {
	return func(t *taker, key string, v any) {
		list, ok := v.([]any)
		if !ok {
			t.refuse(key, v, wrong("a list"))
			return
		}
		var good []string
		for i, e := range list {
			s, _ := e.(string)
			s = strings.TrimSuffix(s, "/")
			if err := fits("workspace", object{to: []string{s}}); err != nil {
				t.refuse(fmt.Sprintf("%s[%d]", key, i), e, err)
				continue
			}
			good = append(good, s)
		}
		if len(good) == 0 {
			t.say(key, v, Dropped, "", "it names nothing")
			return
		}
		t.in("workspace")[to] = good
		if len(good) < len(list) {
			t.say(key, v, Changed, "workspace."+to, "without what was dropped")
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
			t.say(key, v, Dropped, "", "no service is named")
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
			why = "it must see the folder of the workspaces: see docs/features.md"
		}
		t.say(key, v, Took, "workspace.docker."+to, why)
	}
}

// prompt tells where a prompt of one's own belongs.
func prompt(role string) func(*taker, string, any) {
	return func(t *taker, key string, v any) {
		t.say(key, v, Dropped, "", "put it into .coppice/prompts/"+role+".md")
	}
}

// dropPromptFiles tells of prompts that stand in files of their own.
func (t *taker) dropPromptFiles() {
	for _, f := range []struct{ name, role string }{{"implementation", "implement"}, {"verification", "verify"}, {"fix", "fix"}} {
		name := ".orchestrator/" + f.name + ".md"
		if _, err := os.Stat(filepath.Join(t.root, name)); err == nil {
			t.say(name, nil, Dropped, "", "copy it to .coppice/prompts/"+f.role+".md and look at what it refers to")
		}
	}
}
