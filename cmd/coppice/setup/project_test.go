package setup_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/cmd/coppice/setup"
	"coppice/control/agents"
)

// project is a project with which all is well.
func project() setup.Project {
	return setup.Project{
		Root: "/src/app", Base: "main", Checks: []setup.Command{{Text: "make test"}},
		Uses: []setup.Use{{Agent: "one", Key: "agent.use"}, {Agent: "two", Key: "agent.fallback", Spare: true}},
	}
}

// What the project needs comes first, and fails if the project cannot run.
func TestDoctorOfAProject(t *testing.T) {
	t.Parallel()
	one := agents.Agent{Name: "one", Version: "1.2.3", Login: "yes"}
	out := one
	out.Login, out.LoginEnv = "no", []string{"ONE_KEY"}
	for name, c := range map[string]struct {
		change func(p *setup.Project)
		one    agents.Agent
		row    string
		level  setup.Level
		says   string
		exit   int
	}{
		"all is well":        {func(*setup.Project) {}, one, "agent one", setup.OK, "logged in (agent.use)", 0},
		"a missing spare":    {func(*setup.Project) {}, one, "agent two", setup.Warn, "not installed (agent.fallback)", 0},
		"logged out":         {func(*setup.Project) {}, out, "agent one", setup.Fail, "not logged in", 1},
		"not installed":      {func(*setup.Project) {}, agents.Agent{Name: "one", Install: "get one"}, "agent one", setup.Fail, "not installed", 1},
		"no such agent":      {func(p *setup.Project) { p.Uses[0].Agent = "on" }, one, "agent on", setup.Fail, "no such agent", 1},
		"no agent":           {func(p *setup.Project) { p.Uses = nil }, one, "agent", setup.Warn, "each task must", 0},
		"no base":            {func(p *setup.Project) { p.BaseErr = coppice.Errorf(coppice.ENotFound, "there is no branch") }, one, "base", setup.Fail, "no branch", 1},
		"a missing program":  {func(p *setup.Project) { p.Checks[0].Problem, p.Checks[0].Fix = "make is not in the PATH", "install it" }, one, "check", setup.Fail, "make test: make is not", 1},
		"no checks":          {func(p *setup.Project) { p.Checks = nil }, one, "checks", setup.Warn, "none", 0},
		"no coppice.yaml":    {func(p *setup.Project) { p.Missing = true }, one, "project", setup.Warn, "no coppice.yaml", 0},
		"a broken file":      {func(p *setup.Project) { p.Err = coppice.Errorf(coppice.EInvalid, "coppice.yaml:1: unknown key") }, one, "project", setup.Fail, "unknown key", 1},
		"a setting is wrong": {func(p *setup.Project) { p.Problems, p.Root = []string{"no such prompt"}, "" }, one, "project", setup.OK, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := healthy(t)
			p := project()
			c.change(&p)
			m.Project = func(context.Context) *setup.Project { return &p }
			m.Agents = func(context.Context) []agents.Agent {
				return []agents.Agent{c.one, {Name: "two", Install: "get two"}, {Name: "three", Version: "1"}}
			}
			r := setup.Doctor(t.Context(), m)
			got := row(r, c.row)
			if got.Level != c.level || !strings.Contains(got.Detail, c.says) || got.Level != setup.OK && got.Fix == "" {
				t.Errorf("%+v", got)
			}
			if r.Exit() != c.exit {
				t.Errorf("exit %d", r.Exit())
			}
			if r.Rows[0].Name != "project" {
				t.Errorf("the first row is %+v", r.Rows[0])
			}
		})
	}
}

// What was tried has its time, and fails if it failed.
func TestDoctorTries(t *testing.T) {
	t.Parallel()
	p := project()
	p.Uses = p.Uses[:1]
	m := setup.Machine{
		Git:      func(context.Context, string, ...string) (string, error) { return "git version 2.50.0", nil },
		LookPath: func(string) (string, error) { return "/bin/x", nil },
		Limits: func(string) (setup.Limits, error) {
			return setup.Limits{DiskFree: 9 << 30, Memory: 9 << 30, OpenFiles: 9999}, nil
		},
		Project: func(context.Context) *setup.Project { return &p },
		Agents:  func(context.Context) []agents.Agent { return []agents.Agent{{Name: "one", Version: "1.2"}} },
	}
	for _, c := range []struct {
		agent  error
		checks []setup.Tried
		err    error
		exit   int
		want   string
	}{
		{nil, []setup.Tried{{Command: "make test", Took: 1500 * time.Millisecond}}, nil, 0,
			"ok    try agent one  2.0 s  answered \"ready\"\nok    try check      1.5 s  make test: passed\n"},
		{coppice.Errorf(coppice.EUnavailable, "nobody is logged in").WithFix("log in"), []setup.Tried{{Command: "make test", Problem: "exited with 2", Line: "no rule", Took: time.Second}}, nil, 1,
			"fail  try agent one  2.0 s  nobody is logged in\n                     -> log in\nfail  try check      1.0 s  make test: exited with 2 on the untouched base: no rule\n"},
		{nil, nil, errors.New("no space"), 1, "fail  try checks     cannot run on the base: no space\n"},
	} {
		m.Tries = &setup.Tries{
			Agent: func(context.Context, string) (string, time.Duration, error) {
				return "ready\nand more", 2 * time.Second, c.agent
			},
			Checks: func(context.Context) ([]setup.Tried, error) { return c.checks, c.err },
		}
		r := setup.Doctor(t.Context(), m)
		var out bytes.Buffer
		if err := r.Print(&out, false); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.want) || r.Exit() != c.exit {
			t.Errorf("exit %d\n%s\nwant in it\n%s", r.Exit(), out.String(), c.want)
		}
	}
}

// What an agent gets has the names of variables, and no values.
func TestAgentInfo(t *testing.T) {
	t.Parallel()
	policy := coppice.DefaultPolicy()
	policy.Workspace.PassEnv = []string{"DATABASE_URL"}
	policy.Limits.PerAgent = map[string]int{"one": 2}
	info := setup.NewAgentInfo(agents.Agent{Name: "one", Version: "1.2", Login: "yes", LoginBy: "ONE_KEY", LoginEnv: []string{"ONE_KEY"}, Install: "get one",
		Unproven: true, Source: "its handbook", Lead: 3},
		coppice.Profile{PassEnv: []string{"ONE_*"}, Env: map[string]string{"QUIET": "s3cret"}, LoginFiles: []string{"~/.one"}, Login: []string{"one", "whoami"},
			Driver: coppice.DriverProfile{Files: map[string]string{"ONE_CONFIG": "s3cret"}}},
		policy, []string{"PATH=/bin", "ONE_KEY=s3cret", "TWO_KEY=s3cret", "DATABASE_URL=s3cret"})
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		if err := info.Print(&out, asJSON); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"ONE_*", "DATABASE_URL", "QUIET", "ONE_CONFIG", "~/.one", "get one", "GOFLAGS", "unproven", "its handbook", "lead"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s is missing in\n%s", want, out.String())
			}
		}
		if strings.Contains(out.String(), "s3cret") || strings.Contains(out.String(), "TWO_KEY") {
			t.Errorf("it has a value, or a variable that is not passed:\n%s", out.String())
		}
	}
	var out bytes.Buffer
	if err := info.Print(&out, false); err != nil || !strings.Contains(out.String(), "  scores       lead 3 of 10\n") {
		t.Errorf("no score, or one that is not known: %v\n%s", err, out.String())
	}
	if want := []string{"DATABASE_URL", "ONE_KEY", "PATH"}; strings.Join(info.SetHere, " ") != strings.Join(want, " ") {
		t.Errorf("set here: %q", info.SetHere)
	}
}
