package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/cmd/coppice/setup"
	"coppice/cmd/coppice/trial"
	"coppice/config"
	"coppice/control/agents"
	"coppice/internal/browser"
	"coppice/internal/environ"
	"coppice/internal/process"
)

func (p *program) doctorCommand() *cobra.Command {
	var asJSON, try bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this project and this machine have what Coppice needs",
		Long: `Checks what the project in the current directory needs first: its settings, its
base, the commands of its checks, its agents and their logins. Then the machine.
Agents that are not installed and that the project does not use are one line. The
exit code is 1 if a row fails: the project cannot run.

With --try, the project's agent answers one short question in a temporary copy of the
repository, with a budget of $1 and within 3 minutes, and each check runs one time
on the base. Each row shows its time. Nothing changes in your repository.`,
		Example: "  coppice doctor\n  coppice doctor --try",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			at := p.project(c.Context())
			m := setup.Machine{
				StateDir: p.state, Git: runGit, Abilities: abilities,
				Agents:  func(ctx context.Context) []agents.Agent { return p.agents(ctx, at.policy.Agents) },
				Project: func(context.Context) *setup.Project { return at.shown },
				Browser: p.browser, Secrets: p.checkSecrets, Database: p.database,
			}
			if try {
				if at.shown == nil {
					return coppice.Errorf(coppice.EInvalid, "%s is not in a git repository, so there is nothing to try", p.env.Dir).WithFix("go to the repository of a project")
				}
				m.Tries = p.tries(at)
			}
			r := setup.Doctor(c.Context(), m)
			if err := r.Print(p.out(asJSON), asJSON); err != nil {
				return err
			}
			if r.Exit() != 0 {
				return coppice.Errorf(coppice.EUnavailable, "not ready: %s", strings.Join(r.Failed(), ", ")).WithFix("fix the rows marked fail")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&try, "try", false, "let the agent answer one question, and run each check one time on the base")
	return c
}

// projectHere is the project in the working directory.
type projectHere struct {
	policy coppice.Policy
	shown  *setup.Project // nil outside of a repository
}

func (p *program) project(ctx context.Context) (at projectHere) {
	root, err := runGit(ctx, p.env.Dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return at // the directory is not in a repository
	}
	at.shown = &setup.Project{Root: root}
	policy, src, err := config.Load(root)
	if at.shown.Err = err; err != nil {
		return at
	}
	at.policy = policy
	at.shown.Missing, at.shown.Problems, at.shown.Uses = !src.Read, policy.Problems, uses(policy.Agent)
	at.shown.Base, at.shown.BaseErr = baseOf(ctx, root, policy.Base)
	for _, c := range policy.Checks {
		check := setup.Command{Text: c}
		if word := programOf(c); word != "" && !policy.Workspace.Docker.Set() {
			check.Problem, check.Fix = missing(root, word)
		}
		at.shown.Checks = append(at.shown.Checks, check)
	}
	return at
}

// uses returns the agents of a project, in the order in which they matter.
func uses(c coppice.AgentChoice) (all []setup.Use) {
	add := func(choice, key string, spare bool) {
		name, _ := coppice.SplitChoice(choice)
		if name != "" && !slices.ContainsFunc(all, func(u setup.Use) bool { return u.Agent == name }) {
			all = append(all, setup.Use{Agent: name, Key: key, Spare: spare})
		}
	}
	add(c.Use, "agent.use", false)
	for _, role := range coppice.RoleNames() {
		add(c.Roles[coppice.Role(role)], "agent.roles."+role, false)
	}
	for _, f := range c.Fallback {
		add(f, "agent.fallback", true)
	}
	return all
}

// baseOf returns the branch that work lands on, and whether it exists.
func baseOf(ctx context.Context, root, base string) (string, error) {
	if base == "" {
		head, err := runGit(ctx, root, "symbolic-ref", "--quiet", "--short", "HEAD")
		if err != nil {
			return "", coppice.Errorf(coppice.EInvalid, "%s is not on a branch, and coppice.yaml names no base", root).WithFix("check a branch out, or set base in coppice.yaml")
		}
		base = head
	}
	if _, err := runGit(ctx, root, "rev-parse", "--verify", "--quiet", "refs/heads/"+base+"^{commit}"); err != nil {
		return base, coppice.Errorf(coppice.ENotFound, "there is no branch %s with a commit", coppice.Quote(base)).WithFix("create it with git branch %s, or name another branch as base in coppice.yaml", base)
	}
	return base, nil
}

// shellWords are words with which a command can begin and that no program has to
// provide.
var shellWords = []string{
	".", "!", "[", "{", "(", "break", "case", "cd", "command", "echo", "eval", "exec", "exit", "export", "false", "for", "if", "printf", "set", "source", "test", "time",
	"trap", "true", "ulimit", "umask", "unset", "until", "while",
}

// programOf returns the program with which a shell command begins, or "" if only a
// shell can say that.
func programOf(command string) string {
	for _, word := range strings.Fields(command) {
		if name, _, assigns := strings.Cut(word, "="); assigns && !strings.ContainsAny(name, "/$\"'") {
			continue // a variable for the command
		}
		if strings.ContainsAny(word, "$`\"'\\();&|<>*?[]{}~#") || slices.Contains(shellWords, word) {
			return ""
		}
		return word
	}
	return ""
}

// missing says why a program of a check cannot run.
func missing(root, word string) (problem, fix string) {
	if strings.Contains(word, "/") {
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		if _, err := os.Stat(path); err != nil {
			return "there is no " + word, "correct the check in coppice.yaml, or create the file"
		}
		return "", ""
	}
	if _, err := environ.LookPath(word, os.Environ()); err != nil {
		return word + " is not in the PATH", "install it, or correct the check in coppice.yaml"
	}
	return "", ""
}

// tries returns what the doctor tries.
func (p *program) tries(at projectHere) *setup.Tries {
	t := trial.Trial{Self: p.self, Environ: os.Environ(), State: p.state, Root: at.shown.Root, Policy: at.policy}
	return &setup.Tries{
		Agent: func(ctx context.Context, name string) (string, time.Duration, error) {
			turn, err := t.Agent(ctx, name)
			return turn.Text, turn.Took, err
		},
		Checks: func(ctx context.Context) ([]setup.Tried, error) { return tried(t.Checks(ctx)) },
	}
}

// tryChecks runs the checks of the project here on its base.
func (p *program) tryChecks(ctx context.Context) ([]setup.Tried, error) {
	at := p.project(ctx)
	if at.shown == nil {
		return nil, nil
	}
	if err := errors.Join(at.shown.Err, at.shown.BaseErr); err != nil {
		return nil, err
	}
	return p.tries(at).Checks(ctx)
}

// tried converts the results of checks.
func tried(checks []trial.Check, err error) ([]setup.Tried, error) {
	var list []setup.Tried
	for _, c := range checks {
		t := setup.Tried{Command: c.Command, Took: c.Took, Problem: c.Problem}
		if c.Problem != "" {
			text := strings.TrimSpace(c.Log)
			t.Line = text[strings.LastIndexByte(text, '\n')+1:]
		}
		list = append(list, t)
	}
	return list, err
}

// browser searches for the browser that the project's verifiers use.
func (p *program) browser(ctx context.Context) *setup.Browser {
	root, err := runGit(ctx, p.env.Dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil
	}
	policy, _, err := config.Load(root)
	if err != nil || !policy.Verify.Browser {
		return nil // the row of the project says what is wrong with the policy
	}
	if _, own := policy.MCP[policy.Verify.BrowserServer.ServerName()]; own {
		return &setup.Browser{Detail: "the project's own tool server"}
	}
	found, err := browser.Find(os.Environ(), policy.Verify.BrowserServer.Package)
	var missing *browser.Missing
	switch {
	case errors.As(err, &missing):
		return &setup.Browser{Problem: missing.What, Fix: missing.Fix + "; or set verify.browser to false"}
	case err != nil:
		return &setup.Browser{Problem: err.Error()}
	}
	return &setup.Browser{Detail: found.Chromium + ", driven by " + strings.Join(found.Server, " ")}
}

// abilities returns what the operating system lets Coppice do.
func abilities(context.Context) []setup.Ability {
	a := process.Abilities()
	rows := []setup.Ability{
		{Name: "cgroup", OK: a.Cgroup != "", Detail: a.Cgroup},
		{Name: "subreaper", OK: a.Subreaper, Detail: "adopts what an agent leaves behind"},
	}
	for _, n := range a.Notes {
		rows = append(rows, setup.Ability{Name: "note", OK: true, Detail: n})
	}
	return rows
}
