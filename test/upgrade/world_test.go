//go:build upgrade && linux

package upgrade

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"coppice/api"
	"coppice/test/forges"
	"coppice/test/harness"
)

// world is a machine on which first the old and then the new program runs.
type world struct {
	*harness.Machine
	old, asker, new string // programs
	open            func() // the gate
	parts           []part
	projects        []string
	keys            []string
	left, asked     int                // hosts, and requests
	notifies        bool               // people get messages
	team            *forges.LinearTeam // has issues; nil if the old program knows no tracker
	token           string             // of it
}

// projects are the repositories of every world.
var projects = []string{"app", "held", "paused", "asks", "feat", "proof"}

func newWorld(t *testing.T, old, asker, new string) *world {
	t.Helper()
	w := &world{old: old, asker: asker, new: new, projects: slices.Clone(projects), notifies: knowsCommand(t, old, "notify")}
	if knowsCommand(t, old, "issues") {
		w.team, w.token = openIssues(t)
	}
	w.Machine = harness.New(t, old)
	gate, open := w.Gate("gate")
	w.open = open
	agent, err := os.ReadFile("../web/testdata/asks/asker.mjs")
	if err != nil {
		t.Fatal(err)
	}
	more := map[string]harness.Files{
		"app": {
			"coppice.yaml":           policy + "agents: {other: {protocol: scripted, command: [\"{coppice}\", scripted], args: [.coppice/other.yaml]}}\n",
			".coppice/scripted.yaml": strings.ReplaceAll(script, "GATE", gate), ".coppice/other.yaml": limited,
		},
		"proof":  {"coppice.yaml": strings.Replace(policy, "verify: {by: none}\n", "", 1), ".coppice/scripted.yaml": proofScript},
		"held":   {"coppice.yaml": policy + "land: {how: branch}\n", ".coppice/scripted.yaml": script},
		"paused": {"coppice.yaml": policy, ".coppice/scripted.yaml": script},
		"asks": {
			"coppice.yaml": strings.Replace(policy, "use: scripted", "use: asker", 1) + "permissions: {default: ask}\nagents: {asker: {protocol: acp, command: [node, asker.mjs]}}\n",
			"asker.mjs":    string(agent),
		},
		"feat": {"coppice.yaml": policy + "features: features.json\n", ".coppice/scripted.yaml": featureScript, "features.json": `[
  {"id": "first", "name": "Do first", "status": "open"},
  {"id": "second", "name": "Do second", "status": "open", "depends_on": ["first"]}
]
`},
	}
	for _, name := range projects {
		w.NewRepo(name, more[name])
	}
	w.addPeople()
	return w
}

// cli runs the program in the repository of app; it has to succeed.
func (w *world) cli(args ...string) string { w.T.Helper(); return w.cliIn("app", args...) }

func (w *world) cliIn(project string, args ...string) string {
	w.T.Helper()
	r := w.Try(filepath.Join(w.Root, project), "", args...)
	if r.Code != 0 {
		w.T.Fatalf("coppice %s: exit code %d\n%s%s", strings.Join(args, " "), r.Code, r.Out, r.Err)
	}
	return r.Out
}

func decode[T any](t *testing.T, text string) T { t.Helper(); return harness.Decode[T](t, text) }

func (w *world) task(key string) api.TaskDetail {
	w.T.Helper()
	return decode[api.TaskDetail](w.T, w.cli("show", key, "--json"))
}

// await looks at a task until it is as f wants it.
func (w *world) await(key, what string, f func(api.TaskDetail) bool) api.TaskDetail {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), harness.Patience)
	defer cancel()
	for {
		d := w.task(key)
		if f(d) {
			return d
		}
		if harness.Tick(ctx) != nil {
			w.T.Fatalf("%s: %s did not come about; it is %s (%s), session %s, failure %v\n%s", key, what, d.Status, d.Reason, d.Session, d.Failure,
				w.cli("events", "--task", key, "--limit", "40"))
		}
	}
}

// begin has the old program make the state.
func (w *world) begin() {
	w.T.Helper()
	w.Serve()
	for _, name := range w.projects {
		w.cliIn(name, "project", "add")
	}
	w.cli("project", "pause", "paused")
	for _, p := range w.parts {
		w.keys = append(w.keys, w.create(p))
	}
	for i, p := range w.parts {
		d := w.await(w.keys[i], p.title, p.until)
		if p.old != nil {
			p.old(w, w.keys[i])
			d = w.task(w.keys[i])
		}
		w.T.Logf("  %-8s %s: %s", w.keys[i], p.title, line(d))
	}
}

// line describes a task's state.
func line(d api.TaskDetail) string {
	if d.Reason == "" {
		return string(d.Status)
	}
	return fmt.Sprintf("%s (%s)", d.Status, d.Reason)
}

// create makes a part's task and returns its key.
func (w *world) create(p part) string {
	w.T.Helper()
	if p.made {
		return w.find(p)
	}
	in := p.in
	if in == "" {
		in = "app"
	}
	words := []string{"new", p.title, "--json"}
	for _, flag := range p.flags {
		words = append(words, strings.ReplaceAll(flag, "ROOT", w.Root))
	}
	list := decode[api.TaskList](w.T, w.cliIn(in, words...))
	return list.Tasks[0].Key
}

// find waits for a task that the features file makes.
func (w *world) find(p part) string {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), harness.Patience)
	defer cancel()
	for {
		page := decode[api.TaskPage](w.T, w.cliIn(p.in, "list", "--json"))
		if i := slices.IndexFunc(page.Tasks, func(t api.Task) bool { return t.Title == p.title }); i >= 0 {
			return page.Tasks[i].Key
		}
		if err := harness.Tick(ctx); err != nil {
			w.T.Fatalf("the features file made no task %q", p.title)
		}
	}
}

// ask leaves the requests open that the parts name. A verb that the old program
// does not know is left out.
func (w *world) ask() {
	w.T.Helper()
	var requests []string
	for i, p := range w.parts {
		if p.ask == "" {
			continue
		}
		if !w.knows(p) {
			w.T.Logf("  %s cannot be left open: the old program has no such command", p.ask)
			continue
		}
		requests = append(requests, strings.Join([]string{p.ask, w.keys[i], p.text}, "\t"))
		w.T.Logf("  %-8s %s %s", w.keys[i], p.ask, p.text)
	}
	w.asked = len(requests)
	cmd := exec.CommandContext(w.T.Context(), w.asker, w.State)
	cmd.Env, cmd.Stdin = w.Env(), strings.NewReader(strings.Join(requests, "\n")+"\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.T.Fatalf("%v: %s", err, out)
	}
}

// knows reports whether the old program has the command of a part's verb.
func (w *world) knows(p part) bool {
	command := p.ask
	if command == "next" {
		command = "send"
	}
	cmd := exec.CommandContext(w.T.Context(), w.old, command, "--help")
	cmd.Env = w.Env()
	return cmd.Run() == nil
}

// hosts lists the hosts of a program that run.
func (w *world) hosts(program string) []harness.Proc {
	return slices.DeleteFunc(w.Processes(), func(p harness.Proc) bool {
		_, ok := p.IsHost()
		return !ok || p.Argv[0] != program
	})
}

// endAlone opens the gate while no server runs, and waits until the host of the
// session that waits at it has ended.
func (w *world) endAlone(session string) {
	w.T.Helper()
	for _, p := range w.Processes() {
		if p.Value("COPPICE_SESSION") != session || !p.IsAgent() {
			continue
		}
		fd, err := unix.PidfdOpen(p.Parent, 0)
		if err != nil {
			w.T.Fatal(err)
		}
		defer unix.Close(fd)
		w.open()
		if !harness.WaitExit(fd) {
			w.T.Fatalf("the host of %s does not end", session)
		}
		return
	}
	w.T.Fatalf("no agent of %s runs", session)
}
