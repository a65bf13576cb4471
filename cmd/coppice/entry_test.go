package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/agent/profiles"
	"coppice/internal/environ"
)

// The address reaches the desktop's program, or the person gets an error and the
// link.
func TestOpen(t *testing.T) {
	t.Parallel()
	const address = "http://127.0.0.1:1/login?code=x"
	for name, c := range map[string]struct {
		system, program, script string
		env                     []string
		says                    string
	}{
		"linux":       {"linux", "xdg-open", "echo $1 > $HOME/opened", []string{"DISPLAY=:0"}, ""},
		"wayland":     {"linux", "xdg-open", "echo $1 > $HOME/opened", []string{"WAYLAND_DISPLAY=w"}, ""},
		"macOS":       {"darwin", "open", "echo $1 > $HOME/opened", nil, ""},
		"no desktop":  {"linux", "xdg-open", "echo $1 > $HOME/opened", nil, "no desktop"},
		"no program":  {"linux", "other", "", []string{"DISPLAY=:0"}, "xdg-open is not installed"},
		"no browser":  {"linux", "xdg-open", "exit 3", []string{"DISPLAY=:0"}, "exit status 3"},
		"its browser": {"linux", "xdg-open", "echo $1 > $HOME/opened; mkfifo $HOME/gate.new; mv $HOME/gate.new $HOME/gate; read x < $HOME/gate", []string{"BROWSER=b"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.program), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			err := openWith(t.Context(), c.system, append([]string{"PATH=" + dir, "HOME=" + dir}, c.env...), address)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if text, readErr := os.ReadFile(filepath.Join(dir, "opened")); err != nil || readErr != nil || strings.TrimSpace(string(text)) != address {
				t.Errorf("opened %q: %v %v", text, err, readErr)
			}
			if strings.Contains(c.script, "gate") { // its browser ends
				if err := os.WriteFile(filepath.Join(dir, "gate"), []byte("x\n"), 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// The log keeps its newest lines, and never grows beyond its limit.
func TestBoundedLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), serverLog)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := &boundedLog{f: f, path: path, most: 100}
	line := strings.Repeat("x", 39) + "\n"
	for i := range 7 {
		if n, err := l.Write([]byte(line)); err != nil || n != len(line) {
			t.Fatal(n, err)
		}
		if i == 2 { // the process writes to the file in other places, too
			if _, err := f.WriteString("panic\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path + ".1")
	if err != nil {
		t.Fatal(err)
	}
	if string(now) != line || string(before) != line+line {
		t.Errorf("the log has %q, after %q", now, before)
	}
}

func TestProgramOf(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"make test": "make", "CI=1 A=b npm test": "npm", "./test.sh -v": "./test.sh", "cd web && npm test": "", "$TOOL test": "", "test -f a": "", "": "",
		"(cd a; make)": "", "FOO=bar": "", "go vet ./... && go test ./...": "go", `"my tool" x`: "",
	} {
		if got := programOf(command); got != want {
			t.Errorf("%q begins with %q, want %q", command, got, want)
		}
	}
}

// The agents of a project, in the order in which they matter.
func TestUses(t *testing.T) {
	t.Parallel()
	var got []string
	for _, u := range uses(coppice.AgentChoice{Use: "a", Fallback: []string{"a:small", "b", "c:m"}, Roles: map[coppice.Role]string{coppice.RoleFix: "b", coppice.RoleVerify: "a"}}) {
		got = append(got, u.Agent+" "+u.Key)
		if u.Spare != (u.Key == "agent.fallback") {
			t.Errorf("%+v", u)
		}
	}
	if want := []string{"a agent.use", "b agent.roles.fix", "c agent.fallback"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// No key of an agent is part of the base environment, which checks get.
func TestTheBaseEnvironmentHasNoKeys(t *testing.T) {
	t.Parallel()
	set, err := profiles.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range set {
		for _, key := range slices.Concat(p.PassEnv, p.LoginEnv) {
			if in := environ.Workspace.Overlaps(key); in != "" {
				t.Errorf("%s names %s, and every program gets %s", name, key, in)
			}
		}
	}
}
