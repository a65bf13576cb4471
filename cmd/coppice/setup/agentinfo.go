package setup

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"coppice"
	"coppice/control/agents"
	"coppice/internal/environ"
)

// AgentInfo is everything about one agent that a person needs to set it up. It has
// the names of variables, never their values.
type AgentInfo struct {
	agents.Agent

	Base    []string `json:"base_env"`              // what every program in a workspace gets
	Project []string `json:"project_env,omitempty"` // what the project passes on, besides
	Keys    []string `json:"agent_env,omitempty"`   // what only this agent gets
	SetHere []string `json:"set_here"`              // those of the above that are set in this shell
	Sets    []string `json:"sets_env,omitempty"`    // what its profile sets
	Files   []string `json:"files,omitempty"`       // variables that name a file which Coppice writes for each session

	LoginFiles  []string `json:"login_files,omitempty"`
	LoginCheck  []string `json:"login_check,omitempty"`  // the command that says whether somebody is logged in
	LoginConfig []string `json:"login_config,omitempty"` // settings with which it might need no login

	Sessions int      `json:"sessions,omitempty"`  // how many sessions of the project run at the same time; 0 outside of one
	PerAgent int      `json:"per_agent,omitempty"` // and of this agent; 0 without such a limit
	Limited  []string `json:"limited,omitempty"`   // limits of its account that the server knows
}

// NewAgentInfo collects what is known about an agent. Env is the environment of this
// process.
func NewAgentInfo(a agents.Agent, p coppice.Profile, policy coppice.Policy, env []string) AgentInfo {
	i := AgentInfo{
		Agent: a, Base: environ.Workspace, Project: policy.Workspace.PassEnv, Keys: p.PassEnv,
		Sets: slices.Sorted(maps.Keys(p.Env)), Files: slices.Sorted(maps.Keys(p.Driver.Files)),
		LoginFiles: p.LoginFiles, LoginCheck: p.Login, LoginConfig: slices.Sorted(maps.Keys(p.LoginConfig)),
		Sessions: policy.Limits.Sessions, PerAgent: policy.Limits.PerAgent[a.Name],
	}
	passed := environ.Map(environ.Workspace.And(i.Project, i.Keys).Pick(env))
	i.SetHere = slices.Sorted(maps.Keys(passed))
	return i
}

// Print writes the information: lines for people, or JSON for programs.
func (i AgentInfo) Print(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(i)
	}
	var b strings.Builder
	row := func(name string, values ...string) {
		for _, line := range wrapped(values) {
			fmt.Fprintf(&b, "  %-12s %s\n", name, line)
			name = ""
		}
	}
	state := agentRow(i.Agent)
	fmt.Fprintf(&b, "%s  %s\n", i.Name, state.Detail)
	if state.Level != OK && i.Version != "" {
		for line := range strings.SplitSeq(state.Fix, "\n") {
			fmt.Fprintf(&b, "  -> %s\n", line)
		}
	}
	row("program", i.Path)
	row("install", i.Install)
	row("tested", i.Tested)
	if i.Unproven {
		row("tested", "never with the real CLI (unproven)")
		row("facts from", i.Source)
	}
	row("scores", score("lead", i.Lead), score("implement", i.Implement))
	b.WriteString("\nLogin\n")
	i.printLogin(row)
	b.WriteString("\nWhat it gets from the environment of the server\n")
	row("base", i.Base...)
	row("project", i.Project...)
	row("agent only", i.Keys...)
	row("set here", i.SetHere...)
	b.WriteString("\nWhat Coppice adds\n")
	row("variables", append(slices.Clone(i.Sets), "COPPICE_*", "GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_CONFIG_*")...)
	row("files", i.Files...)
	if i.Sessions > 0 || len(i.Limited) > 0 {
		b.WriteString("\nLimits\n")
		row("sessions", fmt.Sprintf("%d of the project at the same time", i.Sessions), perAgent(i.PerAgent))
		row("account", i.Limited...)
	}
	b.WriteString("\nChecks, setup commands and apps get base and project, and nothing else. See docs/agents.md.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (i AgentInfo) printLogin(row func(name string, values ...string)) {
	switch {
	case i.Version == "", i.Login == "unknown":
		row("state", "unknown")
	case i.Login == "":
		row("state", "needs no login, as far as is known")
	case i.Login == agents.LoggedOut:
		row("state", "not logged in, says "+i.LoginBy)
	default:
		row("state", "logged in, by "+i.LoginBy)
	}
	row("variables", i.LoginEnv...)
	row("files", i.LoginFiles...)
	row("command", strings.Join(i.LoginCheck, " "))
	row("settings", i.LoginConfig...)
}

// wrapped returns the values that are not empty, separated by commas, in lines of
// at most 100 characters.
func wrapped(values []string) (lines []string) {
	for _, v := range values {
		last := len(lines) - 1
		switch {
		case v == "":
		case last >= 0 && len(lines[last])+len(v) < 98:
			lines[last] += ", " + v
		default:
			if last >= 0 {
				lines[last] += ","
			}
			lines = append(lines, v)
		}
	}
	return lines
}

// score returns a score with its limit, or nothing if it is not known.
func score(name string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d of 10", name, n)
}

func perAgent(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of this agent", n)
}
