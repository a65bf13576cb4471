package setup

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Agent is an agent CLI that Coppice knows.
type Agent struct {
	Name     string   `json:"name"`
	Path     string   `json:"path,omitempty"`     // its program; empty when it is not there
	Version  string   `json:"version,omitempty"`  // as it says itself; empty when it is not there
	Tested   string   `json:"tested,omitempty"`   // the version Coppice was tested with
	Install  string   `json:"install,omitempty"`  // how to get it
	Problem  string   `json:"problem,omitempty"`  // why it does not work although it is there
	Login    string   `json:"login,omitempty"`    // yes, no or unknown; empty when it needs none
	LoginBy  string   `json:"login_by,omitempty"` // the variable, file or command that told
	LoginEnv []string `json:"login_env,omitempty"`
	Protocol string   `json:"protocol,omitempty"` // how Coppice talks to it
	Can      []string `json:"can,omitempty"`      // what can be done with it

	Lead      int               `json:"lead,omitempty"`      // how well it leads, 0 to 10
	Implement int               `json:"implement,omitempty"` // and implements
	Models    map[string]string `json:"models,omitempty"`    // by the kind of work
	Source    string            `json:"source,omitempty"`    // where facts come from that were not tested
}

// NoVersion is the version of an agent that is there and does not tell it.
const NoVersion = "unknown"

const loggedOut = "no"

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(?:\.\d+)+(?:-[0-9A-Za-z.]+)?`) })

// Number is the version without the words that some agents put around it.
func (a Agent) Number() string {
	if n := versionNumber().FindString(a.Version); n != "" {
		return n
	}
	words := strings.Fields(a.Version)
	if len(words) == 0 {
		return a.Version
	}
	return words[len(words)-1]
}

// Warnings tell what is to be seen to before an agent is relied on, and that
// nobody has tried this version: it is used all the same.
func (a Agent) Warnings() []string {
	var all []string
	if a.Login == loggedOut {
		fix := "nobody is logged in: log in with the program itself"
		if len(a.LoginEnv) > 0 {
			fix += ", or set " + a.LoginEnv[0]
		}
		all = append(all, fix)
	}
	switch {
	case a.Version == NoVersion:
		all = append(all, "it did not tell its version in time, or tells none: whether it was tested is not known")
	case a.Tested != "" && a.Tested != a.Number():
		all = append(all, "not tested with this version, only with "+a.Tested)
	}
	return all
}

// says is the agent's row in the doctor's table.
func (a Agent) says() string {
	words := []string{a.Number()}
	switch a.Login {
	case "":
	case "yes":
		words = append(words, "logged in")
	case loggedOut:
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

// agents has a row for each agent, and fails when there is none at all.
func agents(list []Agent) []Row {
	var rows []Row
	usable := 0
	for _, a := range list {
		row := Row{Name: "agent " + a.Name, Level: OK}
		switch {
		case a.Problem != "":
			row.Level, row.Detail, row.Fix = Warn, a.Problem, a.Install
		case a.Version == "":
			row.Level, row.Detail, row.Fix = Warn, "not installed", a.Install
		default:
			usable++
			row.Detail = a.says()
			if w := a.Warnings(); len(w) > 0 {
				row.Level, row.Fix = Warn, strings.Join(w, "\n")
			}
		}
		rows = append(rows, row)
	}
	if usable == 0 {
		rows = append(rows, Row{"agents", Fail, "none can be used", "install one of the agents above, or describe your own under agents in coppice.yaml"})
	}
	return rows
}

// PrintAgents writes what is known of the agents: a table for people, those that
// are there first, or JSON for programs.
func PrintAgents(w io.Writer, list []Agent, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(Report{Rows: agents(list), Agents: list})
	}
	rows := [][]string{{"AGENT", "VERSION", "LOGIN", "PROTOCOL", "CAN"}}
	notes := [][]string{nil}
	var missing []Agent
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

func printMissing(b *strings.Builder, missing []Agent) {
	if len(missing) == 0 {
		return
	}
	wide := 0
	for _, a := range missing {
		wide = max(wide, len(a.Name))
	}
	b.WriteString("\nNot installed; this is how to get them:\n")
	for _, a := range slices.SortedFunc(slices.Values(missing), func(x, y Agent) int { return strings.Compare(x.Name, y.Name) }) {
		fmt.Fprintf(b, "  %-*s  %s\n", wide, a.Name, a.Install)
	}
}
