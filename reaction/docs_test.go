package reaction_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/reaction"
)

// The tables of the page about reactions are those of the program.
func TestTablesInDocs(t *testing.T) {
	t.Parallel()
	const path = "../docs/reactions.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := withTable(t, withTable(t, string(b), "| event |", eventRows()), "| field |", fieldRows())
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if page != string(b) {
		t.Errorf("%s is out of date: run make generate", path)
	}
}

// withTable returns the page with the rows of the table whose head starts so.
func withTable(t *testing.T, page, head, rows string) string {
	t.Helper()
	start := strings.Index(page, "\n"+head)
	end := strings.Index(page[max(start, 0):], "\n\n")
	if start < 0 || end < 0 {
		t.Fatalf("the page has no table %s", head)
	}
	lines := strings.SplitAfterN(page[start+1:start+end+1], "\n", 3)
	return page[:start+1] + lines[0] + lines[1] + rows + page[start+end+1:]
}

func eventRows() string {
	var b strings.Builder
	for _, e := range reaction.Events {
		var values []string
		for _, v := range e.Values() {
			values = append(values, "`"+v+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s |\n", e.Name, e.Help, ruleText(e.Rules[0]), strings.Join(e.Actions, "`, `"), strings.Join(values, ", "))
	}
	return b.String()
}

func ruleText(r coppice.Reaction) string {
	text := "`" + r.Do + "`"
	if r.Retries > 0 {
		text += fmt.Sprintf(", %d retries", r.Retries)
	}
	for _, d := range []struct {
		name string
		d    coppice.Duration
	}{{"a person decides after", r.EscalateAfter}, {"after", r.Threshold}} {
		if d.d > 0 {
			short, _ := d.d.MarshalText()
			text += fmt.Sprintf(", %s %s", d.name, short)
		}
	}
	if r.Priority != "" {
		text += ", priority " + string(r.Priority)
	}
	return text
}

func fieldRows() string {
	var all []reaction.Field
	where := map[string][]string{}
	for _, e := range reaction.Events {
		for _, f := range e.Fields {
			if where[f.Name] = append(where[f.Name], "`"+string(e.Name)+"`"); len(where[f.Name]) == 1 {
				all = append(all, f)
			}
		}
	}
	var b strings.Builder
	for _, f := range all {
		events := strings.Join(where[f.Name], ", ")
		switch pulls, not := count(f.Name); {
		case len(where[f.Name]) == len(reaction.Events):
			events = "all"
		case len(where[f.Name]) == len(reaction.Events)-1:
			events = "all except `all-complete`"
		case not == 0 && pulls == len(where[f.Name]) && pulls > 5:
			events = "all of pull requests"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Type, f.Help, events)
	}
	return b.String()
}

// count returns how many events of pull requests, and how many others, have a field.
func count(name string) (pulls, others int) {
	for _, e := range reaction.Events {
		if !slices.ContainsFunc(e.Fields, func(f reaction.Field) bool { return f.Name == name }) {
			continue
		}
		if e.Pull {
			pulls++
		} else {
			others++
		}
	}
	return pulls, others
}
