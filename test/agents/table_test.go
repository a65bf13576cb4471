package agents

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The table in docs/agents.md says what works with which CLI. It is made by
// this run: a test that shows something says so, and the run fails when the
// table says otherwise. With -update-table it is rewritten, in the columns of
// the CLIs that were driven.

var updateTable = flag.Bool("update-table", false, "rewrite the table in docs/agents.md")

const (
	tableFile  = "../../docs/agents.md"
	tableBegin = "<!-- begin: made by make test and make test-agents -->\n"
	tableEnd   = "<!-- end -->\n"
)

// shown is what this run has shown, by CLI and then by what was shown.
var shown = struct {
	sync.Mutex
	by map[string]map[string]bool
}{by: map[string]map[string]bool{}}

// capabilities says what a test shows, by its name.
var capabilities = map[string]string{
	"write":              "edits and commits",
	"resume":             "continues a conversation",
	"fork":               "continues a copy of a conversation",
	"messages":           "reads a message during its turn",
	"message-later":      "reads a message at the end of its turn",
	"steer":              "reads a message during its turn",
	"question":           "asks a person",
	"interrupt":          "ends its turn when it is interrupted",
	"stop":               "ends when it is stopped",
	"sigterm":            "a killed process is distinguished from a failed one",
	"large":              "takes a prompt of 1 MiB",
	"restart":            "continues its turn when the server is killed",
	"screen":             "works on its own screen",
	"model":              "works with the model it is given",
	"model-later":        "changes its model while it runs",
	"effort":             "takes an effort",
	"budget":             "stops at its budget",
	"max-turns":          "stops after a number of turns",
	"limited":            "reports that its account is limited",
	"dropped":            "continues after a dropped stream",
	"cut":                "a stream that stays dropped is reported",
	"401":                "a refused key is reported (401)",
	"403":                "a refused account is reported (403)",
	"429":                "a rate limit is reported (429)",
	"500":                "a broken service is reported (500)",
	"529":                "an overload is reported (529 or 503)",
	"503":                "an overload is reported (529 or 503)",
	"reset":              "does not wait for a limit that lasts for hours (429)",
	"long":               "a prompt that is too long is reported",
	"login":              "a missing login is reported",
	"unknown":            "an unknown conversation is reported",
	"permission-allow":   "asks for permission, and gets it",
	"permission-deny":    "asks for permission, and is denied",
	"permission-rule":    "is denied by a rule",
	"permission-rewrite": "has its tool's input rewritten by a rule",
	"permission-always":  "remembers \"allow always\"",
	"hook-closed":        "makes no edit when nobody can decide",
	"tools":              "uses the tools of Coppice, which survive a kill of the server",
	"mcp":                "calls a tool server with the session's token",
	"mcp-program":        "starts a tool server itself, and leaves none behind",
	"mcp-secret":         "gives tool servers a secret, and keeps it out of arguments and files",
	"schema":             "its final message matches a schema",
	"mcp-refused":        "a lost tool server is reported",
}

// exceptions are tests that show something else with one CLI.
var exceptions = map[string]string{
	"codex/permission-rewrite":            "receives the input that a rule wants instead",
	"claude-agent-acp/permission-rewrite": "receives the input that a rule wants instead",
	"codex-acp/permission-rewrite":        "receives the input that a rule wants instead",
	"gemini/permission-rewrite":           "receives the input that a rule wants instead",
	"opencode/permission-rewrite":         "receives the input that a rule wants instead",
	"qwen/permission-rewrite":             "receives the input that a rule wants instead",
	"claude/model":                        "changes its model while it runs",
}

// capability returns what a test shows of a CLI, or nothing.
func capability(cli, test string) string {
	name := test[strings.LastIndex(test, "/")+1:]
	name = strings.TrimPrefix(strings.TrimPrefix(name, cli+"-"), "lines-")
	name = strings.TrimSuffix(name, "-settings")
	if what, ok := exceptions[cli+"/"+name]; ok {
		return what
	}
	return capabilities[name]
}

// shows says that this test, when it passes, shows what a CLI can do.
func shows(t *testing.T, cli string) {
	t.Helper()
	what := capability(cli, t.Name())
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() || what == "" {
			return
		}
		shown.Lock()
		defer shown.Unlock()
		if shown.by[cli] == nil {
			shown.by[cli] = map[string]bool{}
		}
		shown.by[cli][what] = true
	})
}

// column is one CLI's: its version and what works.
type column struct {
	version string
	works   map[string]bool
}

var versionRE = regexp.MustCompile(`\d+\.\d+\.\d+`)

// installedVersion asks a CLI for its version.
func installedVersion(cli string) string {
	cmd := exec.Command(filepath.Join(cache(), "node_modules", ".bin", cli), "--version")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}
	out, _ := cmd.Output() // without one the column says so
	if v := versionRE.Find(out); v != nil {
		return string(v)
	}
	// Adapters have no such flag, but a package.json.
	link, err := filepath.EvalSymlinks(cmd.Path)
	for dir := filepath.Dir(link); err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if b, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil {
			if m := regexp.MustCompile(`"version":\s*"([^"]+)"`).FindSubmatch(b); m != nil {
				return string(m[1])
			}
		}
	}
	return "?"
}

// readTable reads the columns of the table in a document.
func readTable(text string) map[string]column {
	cols := map[string]column{}
	_, rest, ok := strings.Cut(text, tableBegin)
	body, _, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return cols
	}
	var names []string
	for n, line := range strings.Split(strings.TrimSpace(body), "\n") {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case n == 0:
			for _, c := range cells[1:] {
				name, version, _ := strings.Cut(c, " ")
				names = append(names, strings.Trim(name, "`"))
				cols[strings.Trim(name, "`")] = column{version: version, works: map[string]bool{}}
			}
		case n > 1:
			for i, c := range cells[1:] {
				if c == "yes" && i < len(names) {
					cols[names[i]].works[cells[0]] = true
				}
			}
		}
	}
	return cols
}

// writeTable writes the columns as a table, the rows that most can do first.
func writeTable(cols map[string]column) string {
	names := slices.Sorted(maps.Keys(cols))
	count := map[string]int{}
	for _, c := range cols {
		for what := range c.works {
			count[what]++
		}
	}
	rows := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	b.WriteString("| |")
	for _, n := range names {
		fmt.Fprintf(&b, " `%s` %s |", n, cols[n].version)
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(names)+1) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r)
		for _, n := range names {
			if cols[n].works[r] {
				b.WriteString(" yes |")
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// checkTable holds the document against what the run has shown. Part of a run
// can show too little, never too much.
func checkTable(whole bool) error {
	shown.Lock()
	defer shown.Unlock()
	if len(shown.by) == 0 {
		return nil
	}
	doc, err := os.ReadFile(tableFile)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(doc), tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no place for the table", tableFile)
	}
	cols := readTable(string(doc))
	for cli, works := range shown.by {
		now := column{version: installedVersion(cli), works: maps.Clone(works)}
		if !whole {
			now.version = cols[cli].version
			for what := range cols[cli].works {
				now.works[what] = true
			}
		}
		cols[cli] = now
	}
	text := before + tableBegin + writeTable(cols) + tableEnd + after
	if text == string(doc) {
		return nil
	}
	if *updateTable {
		return os.WriteFile(tableFile, []byte(text), 0o644)
	}
	return fmt.Errorf("the table in docs/agents.md is out of date: run make agents-table\n%s", writeTable(cols))
}

func TestTable(t *testing.T) {
	t.Parallel()
	cols := map[string]column{
		"a": {"1.2.3", map[string]bool{"edits": true, "asks": true}},
		"b": {"?", map[string]bool{"edits": true}},
	}
	text := "before\n" + tableBegin + writeTable(cols) + tableEnd
	got := readTable(text)
	if fmt.Sprint(got) != fmt.Sprint(cols) {
		t.Errorf("%v became %v", cols, got)
	}
	if want := "| | `a` 1.2.3 | `b` ? |\n| --- | --- | --- |\n| edits | yes | yes |\n| asks | yes | |\n"; writeTable(cols) != want {
		t.Errorf("table\n%s", writeTable(cols))
	}
}
