package profiles

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"go.uber.org/goleak"

	"coppice"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(t *testing.T) Set {
	t.Helper()
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBuiltIn(t *testing.T) {
	t.Parallel()
	s := load(t)
	if len(s) < 4 {
		t.Errorf("built in are only %v", s.Names())
	}
	for name, p := range s.Self("/opt/coppice") {
		if p.Install == "" || len(p.Version) == 0 {
			t.Errorf("%s does not say how to install it or ask its version", name)
		}
		if strings.Contains(strings.Join(slices.Concat(p.Command, p.Version, p.Login, p.Screen.Command), " "), SlotSelf) {
			t.Errorf("%s still has %s", name, SlotSelf)
		}
	}
	if _, err := s.Get("nobody"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("an unknown agent: %v", err)
	}
}

// Every third-party agent says how to detect a login, how well it works, and
// where untested facts come from. A variable that counts as a login reaches the
// agent.
func TestFilled(t *testing.T) {
	t.Parallel()
	for name, p := range load(t) {
		if name == "scripted" {
			if p.Unproven() {
				t.Errorf("%s is part of Coppice, and unproven", name)
			}
			continue
		}
		if len(p.LoginEnv)+len(p.LoginFiles)+len(p.Login) == 0 {
			t.Errorf("%s does not say how to tell whether somebody is logged in", name)
		}
		if p.Scores.Lead == 0 || p.Scores.Implement == 0 {
			t.Errorf("%s has no scores", name)
		}
		if p.Source == "" {
			t.Errorf("%s does not say where its facts come from", name)
		}
		if p.Unproven() != (p.Tested == "") {
			t.Errorf("%s is unproven: %v", name, p.Unproven())
		}
		for _, v := range p.LoginEnv {
			passed := slices.ContainsFunc(p.PassEnv, func(pass string) bool {
				prefix, all := strings.CutSuffix(pass, "*")
				return pass == v || all && strings.HasPrefix(v, prefix)
			})
			if !passed {
				t.Errorf("%s: %s counts as a login, and is not passed on", name, v)
			}
		}
		for _, keys := range []string{p.Screen.Submit, p.Screen.Stop, p.Screen.Quit} {
			if strings.Contains(keys, `\`) {
				t.Errorf("%s: the keys %q have a backslash that stands for itself", name, keys)
			}
		}
	}
}

func TestOwnProfiles(t *testing.T) {
	t.Parallel()
	base := Set{"a": {Protocol: "command", Command: []string{"a"}, Args: []string{"-x"}, Env: map[string]string{"K": "1"}, Install: "get a"}}
	s, err := base.With(map[string]coppice.Profile{
		"a": {Args: []string{"-y"}, Env: map[string]string{"L": "2"}},
		"b": {Protocol: "command", Command: []string{"b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := s["a"]
	if a.Command[0] != "a" || a.Args[0] != "-y" || a.Env["K"] != "1" || a.Env["L"] != "2" || a.Install != "get a" || s["b"].Command[0] != "b" {
		t.Errorf("merged to %+v", s)
	}
	if base["a"].Args[0] != "-x" || base["a"].Env["L"] != "" {
		t.Errorf("the set merged from was changed: %+v", base)
	}
}

// Each field that a project can set changes only itself.
func TestOverlay(t *testing.T) {
	t.Parallel()
	base := coppice.Profile{
		Protocol: "command", Command: []string{"a"}, Models: map[string]string{"simple": "s", "complex": "c"},
		Scores: coppice.Scores{Lead: 3, Implement: 4}, LoginEnv: []string{"K"},
		Screen: coppice.ScreenProfile{Runtime: "pty", Quit: "/exit", Rules: []coppice.ScreenRule{{Match: "x", State: coppice.SessionIdle}}},
	}
	for _, c := range []struct {
		yaml string
		want func(*coppice.Profile)
	}{
		{"fork: [-f]", func(p *coppice.Profile) { p.Fork = []string{"-f"} }},
		{"effort: [-e]", func(p *coppice.Profile) { p.Effort = []string{"-e"} }},
		{"efforts: [low]", func(p *coppice.Profile) { p.Efforts = []string{"low"} }},
		{"budget: [-b]", func(p *coppice.Profile) { p.Budget = []string{"-b"} }},
		{"schema: [-s]", func(p *coppice.Profile) { p.Schema = []string{"-s"} }},
		{"schema: []", func(p *coppice.Profile) { p.Schema = []string{} }},
		{"mcp: none", func(p *coppice.Profile) { p.MCP = "none" }},
		{"login: [in]", func(p *coppice.Profile) { p.Login = []string{"in"} }},
		{"login_files: [~/x]", func(p *coppice.Profile) { p.LoginFiles = []string{"~/x"} }},
		{"login_config: {~/x: own}", func(p *coppice.Profile) { p.LoginConfig = map[string]string{"~/x": "own"} }},
		{"login_env: []", func(p *coppice.Profile) { p.LoginEnv = []string{} }},
		{"models: {simple: t}", func(p *coppice.Profile) { p.Models = map[string]string{"simple": "t", "complex": "c"} }},
		{"scores: {lead: 9}", func(p *coppice.Profile) { p.Scores.Lead = 9 }},
		{"source: me", func(p *coppice.Profile) { p.Source = "me" }},
		{"screen: {runtime: tmux}", func(p *coppice.Profile) { p.Screen.Runtime = "tmux" }},
		{"screen: {args: [-i]}", func(p *coppice.Profile) { p.Screen.Args = []string{"-i"} }},
		{"screen: {command: [b]}", func(p *coppice.Profile) { p.Screen.Command = []string{"b"} }},
		{"screen: {resume: [-r]}", func(p *coppice.Profile) { p.Screen.Resume = []string{"-r"} }},
		{"screen: {submit: x}", func(p *coppice.Profile) { p.Screen.Submit = "x" }},
		{"screen: {stop: x}", func(p *coppice.Profile) { p.Screen.Stop = "x" }},
		{"screen: {quit: x}", func(p *coppice.Profile) { p.Screen.Quit = "x" }},
		{"screen: {rules: []}", func(p *coppice.Profile) { p.Screen.Rules = []coppice.ScreenRule{} }},
	} {
		var own coppice.Profile
		if err := yaml.Unmarshal([]byte(c.yaml), &own); err != nil {
			t.Fatal(err)
		}
		want := base
		c.want(&want)
		s, err := Set{"a": base}.With(map[string]coppice.Profile{"a": own})
		if err != nil || !reflect.DeepEqual(s["a"], want) {
			t.Errorf("%s: %v\n%+v\nwant\n%+v", c.yaml, err, s["a"], want)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, yaml, want string }{
		{"unknown key", "protocol: command\ncomand: [x]\n", "x.yaml:2:1: unknown field"},
		{"syntax", "protocol: [\n", "x.yaml:1:"},
		{"no protocol", "command: [x]\n", "no protocol"},
		{"no command", "protocol: command\n", "no command"},
		{"prompt", "protocol: command\ncommand: [x]\nprompt: argv\n", "not a valid value for prompt"},
		{"prompt file", "protocol: command\ncommand: [x]\nprompt: file\n", "no argument names the file"},
		{"slot", "protocol: command\ncommand: [x]\nargs: ['{prompt}']\n", "{prompt} is unknown"},
		{"slot elsewhere", "protocol: command\ncommand: [x]\nargs: ['{model}']\n", "{model} is unknown"},
		{"env", "protocol: command\ncommand: [x]\nenv: {'A=B': c}\n", "not a valid name of a variable"},
		{"pass", "protocol: command\ncommand: [x]\npass_env: ['*']\n", "not a valid name of a variable"},
		{"fork slot", "protocol: command\ncommand: [x]\nfork: ['{model}']\n", "{model} is unknown"},
		{"effort slot", "protocol: command\ncommand: [x]\neffort: ['{usd}']\n", "{usd} is unknown"},
		{"budget slot", "protocol: command\ncommand: [x]\nbudget: ['{effort}']\n", "{effort} is unknown"},
		{"schema slot", "protocol: command\ncommand: [x]\nschema: ['{schema}', '{schema_file}', '{model}']\n", "{model} is unknown"},
		{"screen slot", "protocol: command\ncommand: [x]\nscreen: {resume: ['{prompt_file}']}\n", "{prompt_file} is unknown"},
		{"runtime", "protocol: command\ncommand: [x]\nscreen: {runtime: window}\n", "not a valid value for screen.runtime"},
		{"rule", "protocol: command\ncommand: [x]\nscreen: {rules: [{match: '(', state: idle}]}\n", "not a valid regular expression"},
		{"empty rule", "protocol: command\ncommand: [x]\nscreen: {rules: [{state: idle}]}\n", "not a valid regular expression"},
		{"rule's state", "protocol: command\ncommand: [x]\nscreen: {rules: [{match: x, state: lost}]}\n", "not a valid state of a screen"},
		{"login variable", "protocol: command\ncommand: [x]\nlogin_env: ['A_*']\n", "not a valid name of a variable"},
		{"login file", "protocol: command\ncommand: [x]\nlogin_files: [auth.json]\n", "not a path from"},
		{"kind of work", "protocol: command\ncommand: [x]\nmodels: {huge: m}\n", "not a valid kind of work"},
		{"model", "protocol: command\ncommand: [x]\nmodels: {simple: '-x'}\n", "model"},
		{"score", "protocol: command\ncommand: [x]\nscores: {lead: 11}\n", "11 is not a valid score"},
	} {
		_, err := Parse("x.yaml", []byte(c.yaml))
		if err == nil || !strings.Contains(err.Error(), c.want) || coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if err := Validate("../x", coppice.Profile{Protocol: "command", Command: []string{"x"}}); err == nil {
		t.Error("a name that is a path passes")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$1\" = --version ] && echo \"1.2.3 ($WHO)\"\n"
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=relative:" + t.TempDir() + ":" + dir, "WHO=me"}
	p := coppice.Profile{Protocol: "command", Command: []string{"tool"}, Version: []string{"tool", "--version"}, Install: "get tool"}
	path, version, err := Find(t.Context(), "x", p, env)
	if err != nil || path != filepath.Join(dir, "tool") || version != "1.2.3 (me)" {
		t.Errorf("found %q %q %v", path, version, err)
	}
	for _, missing := range []string{"nothing", "plain"} {
		p.Command[0] = missing
		_, _, err = Find(t.Context(), "x", p, env)
		if coppice.ErrorCode(err) != coppice.EUnavailable || !strings.Contains(err.Error(), "get tool") || !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s: %v", missing, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("protocol: command\ncommand: [x]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := Parse("x.yaml", b); err != nil && coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%v is not an error for people", err)
		}
	})
}
