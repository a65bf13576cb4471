package setup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice/cmd/coppice/setup"
	"coppice/control/agents"
)

// healthy is a machine on which all is well.
func healthy(t *testing.T) setup.Machine {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	return setup.Machine{
		StateDir: state,
		Git: func(context.Context, string, ...string) (string, error) {
			return "git version 2.39.5 (Apple Git-154)\n", nil
		},
		Abilities: func(context.Context) []setup.Ability {
			return []setup.Ability{{Name: "cgroup", OK: true, Detail: "v2"}}
		},
		Agents: func(context.Context) []agents.Agent {
			return []agents.Agent{{Name: "one", Version: "one 1.2.3 (new)", Tested: "1.2.3", Login: "yes", Protocol: "p", Can: []string{"resume", "tools"}}, {Name: "two", Install: "get two"}}
		},
		Browser:  func(context.Context) *setup.Browser { return nil }, // it uses none
		LookPath: func(string) (string, error) { return "/bin/x", nil },
		Limits: func(string) (setup.Limits, error) {
			return setup.Limits{DiskFree: 50 << 30, Memory: 16 << 30, OpenFiles: 1 << 20, FileSystem: "ext4"}, nil
		},
	}
}

func row(r setup.Report, name string) setup.Row {
	for _, x := range r.Rows {
		if x.Name == name {
			return x
		}
	}
	return setup.Row{}
}

func TestDoctorHealthy(t *testing.T) {
	t.Parallel()
	m := healthy(t)
	r := setup.Doctor(t.Context(), m)
	var out bytes.Buffer
	if err := r.Print(&out, false); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`ok    git              2.39.5
ok    state directory  STATE
ok    free disk        50.0 GiB
ok    memory           16.0 GiB
ok    open files       1048576
ok    file system      ext4
ok    cgroup           v2
ok    tmux             installed
ok    agent one        1.2.3, logged in, p: resume tools
ok    other agents     not installed: 1; coppice agents lists them
`, "STATE", m.StateDir)
	if out.String() != want || r.Exit() != 0 {
		t.Fatalf("exit %d\n%s\nwant\n%s", r.Exit(), out.String(), want)
	}
	out.Reset()
	if err := r.Print(&out, true); err != nil {
		t.Fatal(err)
	}
	var back setup.Report
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || len(back.Rows) != len(r.Rows) || len(back.Agents) != 2 {
		t.Fatal(err, out.String())
	}
	left, err := os.ReadDir(m.StateDir)
	if err != nil || len(left) > 0 {
		t.Fatal("something was left behind", left, err)
	}
}

func hasAgents(list ...agents.Agent) func(*testing.T, *setup.Machine) {
	return func(_ *testing.T, m *setup.Machine) { m.Agents = func(context.Context) []agents.Agent { return list } }
}

func hasLimits(l setup.Limits) func(*testing.T, *setup.Machine) {
	return func(_ *testing.T, m *setup.Machine) { m.Limits = func(string) (setup.Limits, error) { return l, nil } }
}

func TestDoctorFindsFault(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(t *testing.T, m *setup.Machine)
		row    string
		level  setup.Level
		says   string
	}{
		"no browser": {func(_ *testing.T, m *setup.Machine) {
			m.Browser = func(context.Context) *setup.Browser {
				return &setup.Browser{Problem: "there is no Chromium", Fix: "install it"}
			}
		}, "browser", setup.Fail, "there is no Chromium"},
		"a browser": {func(_ *testing.T, m *setup.Machine) {
			m.Browser = func(context.Context) *setup.Browser { return &setup.Browser{Detail: "chromium, driven by npx"} }
		}, "browser", setup.OK, "driven by npx"},
		"no secret": {func(_ *testing.T, m *setup.Machine) {
			m.Secrets = func(context.Context) []setup.Secret {
				return []setup.Secret{{Name: "A", Detail: "env A"}, {Name: "B", Problem: "the secret B is not set", Fix: "run: coppice secret set B"}}
			}
		}, "secret B", setup.Fail, "is not set"},
		"a secret": {func(_ *testing.T, m *setup.Machine) {
			m.Secrets = func(context.Context) []setup.Secret { return []setup.Secret{{Name: "A", Detail: "env A"}} }
		}, "secret A", setup.OK, "env A"},
		"no git": {func(_ *testing.T, m *setup.Machine) {
			m.Git = func(context.Context, string, ...string) (string, error) { return "", errors.New("no") }
		}, "git", setup.Fail, "cannot be run"},
		"old git": {func(_ *testing.T, m *setup.Machine) {
			m.Git = func(context.Context, string, ...string) (string, error) { return "git version 2.37.9", nil }
		}, "git", setup.Fail, "too old"},
		"strange git": {func(_ *testing.T, m *setup.Machine) {
			m.Git = func(context.Context, string, ...string) (string, error) { return "hello", nil }
		}, "git", setup.Fail, "reports no version"},
		"open state": {func(t *testing.T, m *setup.Machine) {
			if err := os.Chmod(m.StateDir, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "state directory", setup.Warn, "open to other users"},
		"state is a file": {func(t *testing.T, m *setup.Machine) {
			m.StateDir = filepath.Join(m.StateDir, "file")
			if err := os.WriteFile(m.StateDir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "state directory", setup.Fail, "not a directory"},
		"state not there yet": {func(_ *testing.T, m *setup.Machine) {
			m.StateDir = filepath.Join(m.StateDir, "a/b")
		}, "state directory", setup.OK, "will be created"},
		"state not writable": {func(_ *testing.T, m *setup.Machine) { m.StateDir = "/proc/coppice" }, "state directory", setup.Fail, "cannot be written"},
		"full disk":          {hasLimits(setup.Limits{DiskFree: 1 << 20}), "free disk", setup.Fail, "1.0 MiB"},
		"few files":          {hasLimits(setup.Limits{DiskFree: 9 << 30, OpenFiles: 256}), "open files", setup.Warn, "256"},
		"little memory":      {hasLimits(setup.Limits{DiskFree: 9 << 30, Memory: 1 << 30}), "memory", setup.Warn, "1.0 GiB"},
		"no journal":         {hasLimits(setup.Limits{DiskFree: 9 << 30, FileSystem: "ext4", Note: "without a journal"}), "file system", setup.Warn, "without a journal"},
		"no cgroup": {func(_ *testing.T, m *setup.Machine) {
			m.Abilities = func(context.Context) []setup.Ability {
				return []setup.Ability{{Name: "cgroup", Detail: "not delegated"}}
			}
		}, "cgroup", setup.Warn, "not delegated"},
		"no agent":                 {hasAgents(agents.Agent{Name: "two", Install: "get two"}), "agents", setup.Fail, "none can be used"},
		"agent of another version": {hasAgents(agents.Agent{Name: "one", Version: "v1.2.4", Tested: "1.2.3"}), "agent one", setup.Warn, "1.2.4"},
		"agent of no version":      {hasAgents(agents.Agent{Name: "one", Version: agents.NoVersion}), "agent one", setup.Warn, "unknown"},
		"logged out":               {hasAgents(agents.Agent{Name: "one", Version: "1.2", Login: "no", LoginEnv: []string{"ONE_KEY"}}), "agent one", setup.Warn, "not logged in"},
		"login not known":          {hasAgents(agents.Agent{Name: "one", Version: "1.2", Login: "unknown"}), "agent one", setup.OK, "login unknown"},
		"broken agent":             {hasAgents(agents.Agent{Name: "one", Version: "1"}, agents.Agent{Name: "two", Version: "1", Problem: "not logged in", Install: "log in"}), "agent two", setup.Warn, "not logged in"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := healthy(t)
			c.change(t, &m)
			r := setup.Doctor(t.Context(), m)
			got := row(r, c.row)
			if got.Level != c.level || !strings.Contains(got.Detail, c.says) {
				t.Fatalf("%+v", got)
			}
			if got.Level != setup.OK && got.Fix == "" {
				t.Fatalf("no way out: %+v", got)
			}
			if (r.Exit() == 1) != (c.level == setup.Fail) {
				t.Fatalf("exit %d", r.Exit())
			}
		})
	}
}

// A row shows every fix on a separate line.
func TestDoctorTwoWarnings(t *testing.T) {
	t.Parallel()
	m := healthy(t)
	m.Agents = func(context.Context) []agents.Agent {
		return []agents.Agent{{Name: "one", Version: "1.2.4", Tested: "1.2.3", Login: "no", LoginBy: "uno auth status", LoginEnv: []string{"ONE_KEY", "TWO_KEY"}, Protocol: "p"}}
	}
	var out bytes.Buffer
	if err := setup.Doctor(t.Context(), m).Print(&out, false); err != nil {
		t.Fatal(err)
	}
	want := "warn  agent one        1.2.4, not logged in, p\n" +
		"                       -> run `uno` and log in, or set ONE_KEY (coppice agents one lists more variables)\n" +
		"                       -> not tested with this version, only with 1.2.3\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Fatalf("got\n%s\nwant at its end\n%s", out.String(), want)
	}
}

func TestDoctorOnThisMachine(t *testing.T) {
	t.Parallel()
	run := runner(t)
	r := setup.Doctor(t.Context(), setup.Machine{StateDir: t.TempDir(), Git: run.Run})
	for _, name := range []string{"git", "free disk", "memory", "open files"} {
		if got := row(r, name); got.Level == "" || got.Detail == "" || got.Detail == "0 B" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
