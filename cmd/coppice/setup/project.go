package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/control/agents"
)

// Project is the project in the working directory, as the doctor sees it.
type Project struct {
	Root     string
	Err      error    // why its coppice.yaml cannot be used; nothing else is known then
	Missing  bool     // it has no coppice.yaml
	Base     string   // the branch that work lands on
	BaseErr  error    // why work cannot land there
	Problems []string // settings that do not take effect
	Uses     []Use    // the agents that it uses
	Checks   []Command
}

// Use is an agent that the project uses.
type Use struct {
	Agent string
	Key   string // where coppice.yaml says so
	Spare bool   // it works only if another one cannot
}

// Command is a check, and why it cannot run.
type Command struct {
	Text    string
	Problem string
	Fix     string
}

// Tries runs what the doctor tries: one turn of the project's agent, and each
// check on the base.
type Tries struct {
	Agent  func(ctx context.Context, name string) (text string, took time.Duration, err error)
	Checks func(ctx context.Context) ([]Tried, error)
}

// Tried is the result of a check on the base.
type Tried struct {
	Command string
	Took    time.Duration
	Problem string // empty if it passed
	Line    string // the last line of its output, if it failed
}

// rows returns the rows about the project that need no agent.
func (p Project) rows() []Row {
	if p.Err != nil {
		e := coppice.Public(p.Err)
		return []Row{{Name: "project", Level: Fail, Detail: e.Cause, Fix: orText(e.Fix, "fix coppice.yaml")}}
	}
	row := Row{Name: "project", Level: OK, Detail: p.Root}
	if p.Missing {
		row.Level, row.Detail, row.Fix = Warn, p.Root+" has no coppice.yaml", "run coppice init"
	}
	rows := []Row{row}
	for _, problem := range p.Problems {
		rows = append(rows, Row{Name: "project", Level: Warn, Detail: problem, Fix: "fix it; until then the project runs without this setting"})
	}
	if p.BaseErr != nil {
		e := coppice.Public(p.BaseErr)
		rows = append(rows, Row{Name: "base", Level: Fail, Detail: e.Cause, Fix: orText(e.Fix, "name another branch as base in coppice.yaml")})
	} else {
		rows = append(rows, Row{Name: "base", Level: OK, Detail: p.Base})
	}
	for _, c := range p.Checks {
		row := Row{Name: "check", Level: OK, Detail: c.Text}
		if c.Problem != "" {
			row.Level, row.Detail, row.Fix = Fail, c.Text+": "+c.Problem, c.Fix
		}
		rows = append(rows, row)
	}
	if len(p.Checks) == 0 && !p.Missing {
		rows = append(rows, Row{Name: "checks", Level: Warn, Detail: "none: nothing is checked before it lands", Fix: "add checks to coppice.yaml"})
	}
	return rows
}

func orText(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

// agentRows returns the rows of the agents that the project uses. It fails if the
// project cannot run.
func (p Project) agentRows(list []agents.Agent) []Row {
	var rows []Row
	for _, u := range p.Uses {
		i := slices.IndexFunc(list, func(a agents.Agent) bool { return a.Name == u.Agent })
		bad := Fail
		if u.Spare {
			bad = Warn
		}
		row := Row{Name: "agent " + u.Agent, Level: bad}
		switch {
		case i < 0:
			row.Detail, row.Fix = "there is no such agent", "correct "+u.Key+" in coppice.yaml; coppice agents lists the agents"
		default:
			row = agentRow(list[i])
			if a := list[i]; a.Problem != "" || a.Version == "" || a.Login == agents.LoggedOut {
				row.Level = bad
			}
		}
		row.Detail += " (" + u.Key + ")"
		rows = append(rows, row)
	}
	if len(p.Uses) == 0 && p.Err == nil {
		rows = append(rows, Row{Name: "agent", Level: Warn, Detail: "the project names none, so each task must", Fix: "run: coppice config set agent.use NAME"})
	}
	return rows
}

// try returns the rows of what was tried.
func (t Tries) try(ctx context.Context, p Project) []Row {
	if p.Err != nil || p.BaseErr != nil {
		return nil // nothing can run, and other rows say why
	}
	var rows []Row
	if i := slices.IndexFunc(p.Uses, func(u Use) bool { return !u.Spare }); i >= 0 {
		rows = append(rows, t.tryAgent(ctx, p.Uses[i].Agent))
	}
	if len(p.Checks) == 0 || ctx.Err() != nil {
		return rows
	}
	tried, err := t.Checks(ctx)
	if err != nil {
		e := coppice.Public(err)
		return append(rows, Row{Name: "try checks", Level: Fail, Detail: "cannot run on the base: " + causeOf(err), Fix: orText(e.Fix, "see the text of the error")})
	}
	for _, c := range tried {
		row := Row{Name: "try check", Level: OK, Detail: c.Command + ": passed", Took: c.Took}
		if c.Problem != "" {
			row.Level, row.Detail = Fail, c.Command+": "+c.Problem+" on the untouched base"
			if c.Line != "" {
				row.Detail += ": " + firstLine(c.Line)
			}
			row.Fix = "make it pass on the base, or remove it from checks in coppice.yaml: no work can land while it fails"
		}
		rows = append(rows, row)
	}
	return rows
}

func (t Tries) tryAgent(ctx context.Context, name string) Row {
	text, took, err := t.Agent(ctx, name)
	row := Row{Name: "try agent " + name, Level: OK, Took: took}
	if err != nil {
		row.Level, row.Detail, row.Fix = Fail, causeOf(err), orText(coppice.Public(err).Fix, "run the agent's own program and see whether it works")
		return row
	}
	row.Detail = "answered " + coppice.Quote(firstLine(text))
	return row
}

// causeOf returns the text of an error, also of one that has no cause for people:
// this is the person's own machine.
func causeOf(err error) string {
	if coppice.ErrorCode(err) == coppice.EInternal {
		return err.Error()
	}
	return coppice.Public(err).Cause
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(line); len(r) > 100 {
		return string(r[:99]) + "…"
	}
	return line
}

// seconds formats how long something took.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
