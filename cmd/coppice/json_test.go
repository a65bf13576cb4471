package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"coppice/api/client"
	"coppice/cmd/coppice/cli"
)

// shellOf returns a function that runs command lines without a server, in a directory
// that is not a repository.
func shellOf(t *testing.T) func(stdin string, args ...string) (code int, stdout, stderr string) {
	state, dir := t.TempDir(), t.TempDir()
	return func(stdin string, args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		p := &program{state: state, self: os.Args[0]}
		p.env = cli.Env{Dir: dir, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Client: func() (*client.Client, error) { return client.New(state), nil }}
		code := p.run(t.Context(), args)
		return code, out.String(), errs.String()
	}
}

// sample has an argument for each name in the Use of a command.
var sample = map[string]string{
	"KEY": "app-4", "PREFIX": "app", "N": "1", "ID": "failed/app-4", "METHOD": "GET", "PATH": "/status", "BACKUP": "/nowhere/x.db", "VALUE": "3",
}

// callOf returns a command line for a command, with sample arguments.
func callOf(c *cobra.Command) []string {
	words := strings.Fields(c.CommandPath())[1:]
	for _, word := range strings.Fields(c.Use)[1:] {
		if strings.HasPrefix(word, "[") {
			continue
		}
		name := strings.Trim(word, "…")
		if arg := sample[name]; arg != "" {
			name = arg
		}
		words = append(words, name)
	}
	return words
}

// more has what a command needs to fail without a server, besides its arguments. For
// others it has a flag that does not exist, because they succeed.
var more = map[string]string{
	"coppice config get": "--nope", "coppice config set": "", "coppice config unset": "", "coppice agents": "--nope", "coppice demo": "--nope",
	"coppice doctor": "--nope", "coppice prices": "--nope", "coppice config": "", "coppice secret": "--nope", "coppice secret list": "--nope",
	"coppice secret remove": "", "coppice secret set": "", "coppice secret test": "", "coppice serve": "--nope", "coppice init": "--nope", "coppice version": "--nope",
	"coppice new": "title", "coppice set": "--title x", "coppice inbox snooze": "--for 1h", "coppice restore": "--yes", "coppice import": "--nope",
	"coppice group": "nope", "coppice project": "nope", "coppice features": "",
}

// TestErrorsAreJSON runs a failure of every command with --json.
func TestErrorsAreJSON(t *testing.T) {
	t.Parallel()
	run := shellOf(t)
	calls := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		if !c.Runnable() || !c.HasParent() {
			return
		}
		calls++
		for _, args := range [][]string{
			append(append(callOf(c), strings.Fields(more[c.CommandPath()])...), "--json"),
			append(callOf(c), "--nope", "--json"),
		} {
			code, _, errs := run("", args...)
			var e struct {
				Error struct{ Code, Message, Fix string }
			}
			d := json.NewDecoder(strings.NewReader(errs))
			if err := d.Decode(&e); err != nil || d.More() || code == 0 || e.Error.Code == "" || e.Error.Message == "" {
				t.Errorf("coppice %s: exit %d, %v\n%s", strings.Join(args, " "), code, err, errs)
			}
		}
	}
	visit((&program{}).root())
	if calls < 60 {
		t.Errorf("only %d commands were run", calls)
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	run := shellOf(t)
	for line, want := range map[string]string{
		"unknown":               "coppice: coppice has no command \"unknown\"\n→ see coppice --help\n",
		"staus":                 "coppice: coppice has no command \"staus\"\n→ did you mean coppice status? Otherwise see coppice --help\n",
		"help staus":            "coppice: coppice has no command \"staus\"\n→ did you mean coppice status? Otherwise see coppice --help\n",
		"help project nope":     "coppice: coppice project has no command \"nope\"\n→ see coppice project --help\n",
		"project lst":           "coppice: coppice project has no command \"lst\"\n→ did you mean coppice project list? Otherwise see coppice project --help\n",
		"group nope":            "coppice: coppice group has no command \"nope\"\n→ see coppice group --help\n",
		"config st limits 3":    "coppice: coppice config has no command \"st\"\n→ did you mean coppice config set? Otherwise see coppice config --help\n",
		"list --staus x":        "coppice: coppice list has no flag --staus\n→ did you mean --status? Otherwise see coppice list --help\n",
		"list -z":               "coppice: coppice list has no flag -z\n→ see coppice list --help\n",
		"list --limit x":        "coppice: invalid argument \"x\" for \"-n, --limit\" flag: strconv.ParseInt: parsing \"x\": invalid syntax\n→ see coppice list --help\n",
		"restore":               "coppice: coppice restore needs BACKUP\n→ see coppice restore --help\n",
		"config set limits":     "coppice: coppice config set needs KEY VALUE\n→ see coppice config set --help\n",
		"serve --json":          "{\n  \"error\": {\n    \"code\": \"invalid\",\n    \"message\": \"coppice serve has no JSON output\",\n    \"fix\": \"leave out --json; `coppice status --json` asks the running server\"\n  }\n}\n",
		"status --disk --watch": "coppice: --disk and --watch cannot be used together\n→ see coppice status --help\n",
	} {
		code, out, errs := run("", strings.Fields(line)...)
		if code != 2 || out != "" || errs != want {
			t.Errorf("%s: exit %d\n%s%s", line, code, out, errs)
		}
	}
}

// TestEveryCommandHasAGroup keeps the help in order.
func TestEveryCommandHasAGroup(t *testing.T) {
	t.Parallel()
	for _, c := range (&program{}).root().Commands() {
		if c.IsAvailableCommand() && c.GroupID == "" {
			t.Errorf("%s belongs to no group of the help; see groups in cli/finish.go", c.Name())
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	run := shellOf(t)
	if code, out, errs := run("", "version"); code != 0 || !strings.HasPrefix(out, "coppice dev (go") || !strings.Contains(out, "no server is running") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	code, out, _ := run("", "version", "--json")
	var v versionShown
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v.Version != "dev" || v.Server != "" {
		t.Errorf("%d %s", code, out)
	}
}

func TestConfigCompletion(t *testing.T) {
	t.Parallel()
	run := shellOf(t)
	if _, out, _ := run("", "__complete", "config", "set", "limits.ses"); !strings.HasPrefix(out, "limits.sessions\t") || strings.Count(out, "\n") != 2 {
		t.Errorf("%q", out)
	}
	if _, out, _ := run("", "__complete", "config", "set", "limits.sessions", ""); out != ":4\n" {
		t.Errorf("%q", out)
	}
}
