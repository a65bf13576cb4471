package profiles

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
)

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
		if strings.Contains(strings.Join(append(p.Command, p.Version...), " "), SlotSelf) {
			t.Errorf("%s still has %s", name, SlotSelf)
		}
	}
	if _, err := s.Get("nobody"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("an unknown agent: %v", err)
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

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, yaml, want string }{
		{"unknown key", "protocol: command\ncomand: [x]\n", "x.yaml:2:1: unknown field"},
		{"syntax", "protocol: [\n", "x.yaml:1:"},
		{"no protocol", "command: [x]\n", "no protocol"},
		{"no command", "protocol: command\n", "no command"},
		{"prompt", "protocol: command\ncommand: [x]\nprompt: argv\n", "no way to pass a prompt"},
		{"prompt file", "protocol: command\ncommand: [x]\nprompt: file\n", "no argument says where"},
		{"slot", "protocol: command\ncommand: [x]\nargs: ['{prompt}']\n", "{prompt} is unknown"},
		{"slot elsewhere", "protocol: command\ncommand: [x]\nargs: ['{model}']\n", "{model} is unknown"},
		{"env", "protocol: command\ncommand: [x]\nenv: {'A=B': c}\n", "no name of a variable"},
		{"pass", "protocol: command\ncommand: [x]\npass_env: ['*']\n", "no name of a variable"},
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
			t.Errorf("%v is no error for people", err)
		}
	})
}
