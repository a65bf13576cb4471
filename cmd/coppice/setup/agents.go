package setup

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"coppice/control/agents"
)

// describe returns the agent's row in the doctor's table.
func describe(a agents.Agent) string {
	words := []string{a.Number()}
	switch a.Login {
	case "":
	case "yes":
		words = append(words, "logged in")
	case agents.LoggedOut:
		words = append(words, "not logged in")
	default:
		words = append(words, "login unknown")
	}
	if a.Protocol != "" {
		words = append(words, a.Protocol)
	}
	line := strings.Join(words, ", ")
	if len(a.Can) > 0 {
		line += ": " + strings.Join(a.Can, " ")
	}
	return line
}

// agentRow is the row of an agent.
func agentRow(a agents.Agent) Row {
	row := Row{Name: "agent " + a.Name, Level: OK}
	switch {
	case a.Problem != "":
		row.Level, row.Detail, row.Fix = Warn, a.Problem, a.Install
	case a.Version == "":
		row.Level, row.Detail, row.Fix = Warn, "not installed", a.Install
	default:
		row.Detail = describe(a)
		if w := a.Warnings(); len(w) > 0 {
			row.Level, row.Fix = Warn, strings.Join(w, "\n")
		}
	}
	return row
}

// agentRows has a row for each agent. It fails if no agent can be used.
func agentRows(list []agents.Agent) []Row {
	var rows []Row
	for _, a := range list {
		rows = append(rows, agentRow(a))
	}
	return append(rows, noAgent(list)...)
}

func noAgent(list []agents.Agent) []Row {
	if slices.ContainsFunc(list, func(a agents.Agent) bool { return a.Problem == "" && a.Version != "" }) {
		return nil
	}
	return []Row{{Name: "agents", Level: Fail, Detail: "none can be used", Fix: "install one: coppice agents says how; or describe your own under agents in coppice.yaml"}}
}

// otherAgents has a row for each agent that is installed and that the project does
// not use, and one row for all that are not installed.
func otherAgents(list []agents.Agent, p *Project) []Row {
	var rows []Row
	missing := 0
	for _, a := range list {
		used := p != nil && slices.ContainsFunc(p.Uses, func(u Use) bool { return u.Agent == a.Name })
		switch {
		case used:
		case a.Version == "" && a.Problem == "":
			missing++
		default:
			rows = append(rows, agentRow(a))
		}
	}
	if missing > 0 {
		rows = append(rows, Row{Name: "other agents", Level: OK, Detail: fmt.Sprintf("not installed: %d; coppice agents lists them", missing)})
	}
	return append(rows, noAgent(list)...)
}

// PrintAgents writes the agents: a table for people with the installed ones
// first, or JSON for programs.
func PrintAgents(w io.Writer, list []agents.Agent, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(Report{Rows: agentRows(list), Agents: list})
	}
	rows := [][]string{{"AGENT", "VERSION", "LOGIN", "PROTOCOL", "CAN"}}
	notes := [][]string{nil}
	var missing []agents.Agent
	for _, a := range list {
		if a.Version == "" && a.Problem == "" {
			missing = append(missing, a)
			continue
		}
		row := []string{a.Name, a.Number(), a.Login, a.Protocol, strings.Join(a.Can, " ")}
		for i := range row {
			if row[i] == "" {
				row[i] = "-"
			}
		}
		rows = append(rows, row)
		note := a.Warnings()
		if a.Problem != "" {
			note = []string{a.Problem}
		}
		notes = append(notes, note)
	}
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			wide[i] = max(wide[i], len(cell))
		}
	}
	var b strings.Builder
	for i, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			fmt.Fprintf(&line, "%-*s  ", wide[j], cell)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		for _, n := range notes[i] {
			fmt.Fprintf(&b, "%*s  -> %s\n", wide[0], "", n)
		}
	}
	printMissing(&b, missing)
	_, err := io.WriteString(w, b.String())
	return err
}

func printMissing(b *strings.Builder, missing []agents.Agent) {
	if len(missing) == 0 {
		return
	}
	wide := 0
	for _, a := range missing {
		wide = max(wide, len(a.Name))
	}
	b.WriteString("\nNot installed. To install them:\n")
	for _, a := range slices.SortedFunc(slices.Values(missing), func(x, y agents.Agent) int { return strings.Compare(x.Name, y.Name) }) {
		mark := ""
		if a.Unproven {
			mark = "unproven"
		}
		fmt.Fprintf(b, "  %-*s  %-8s  %s\n", wide, a.Name, mark, a.Install)
	}
}
