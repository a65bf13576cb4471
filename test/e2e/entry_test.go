//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"coppice"
	"coppice/api/client"
	"coppice/internal/filelock"
)

// servers counts the servers that run in the background.
func (w *world) servers() (n int) {
	serve := map[int]int{} // a server, and its parent
	for _, p := range w.Processes() {
		if len(p.Argv) > 1 && p.Argv[1] == "serve" {
			serve[p.PID] = p.Parent
		}
	}
	for _, parent := range serve {
		if _, fork := serve[parent]; !fork { // until it runs its program, a child has the arguments of its parent
			n++
		}
	}
	return n
}

// A server in the background outlives its command, is found by the next one, and
// stops when a person asks for that.
func TestServeInTheBackground(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	r := w.try(w.repo, "", "serve", "-d")
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/login\?code=\S+`).FindString(r.out)
	if r.code != 0 || link == "" || !strings.Contains(r.out, filepath.Join(w.State, "server.log")) {
		t.Fatalf("serve -d: %+v", r)
	}
	if _, err := w.client.Version(t.Context()); err != nil {
		t.Fatalf("it returned before the server answers: %v", err)
	}
	if r := w.try(w.repo, "", "serve", "-d", "--sessions", "3"); r.code != 0 || !strings.Contains(r.out, "already runs") || !strings.Contains(r.out, "The flags were not used") {
		t.Errorf("a second serve -d: %+v", r)
	}
	if r := w.try(w.repo, "", "serve"); r.code != 1 || !strings.Contains(r.err, "serve --stop") {
		t.Errorf("a second serve: %+v", r)
	}
	if n := w.servers(); n != 1 {
		t.Errorf("%d servers run", n)
	}
	if r := w.try(w.repo, "", "serve", "--stop"); r.code != 0 || !strings.Contains(r.out, "has stopped") || w.servers() != 0 {
		t.Errorf("serve --stop: %+v, %d servers run", r, w.servers())
	}
	if r := w.try(w.repo, "", "serve", "--stop"); r.code != 0 || !strings.Contains(r.out, "no coppice server is running") {
		t.Errorf("serve --stop without a server: %+v", r)
	}
	if r := w.try(w.repo, "", "status"); r.code != 1 || !strings.Contains(r.err, "coppice serve -d") {
		t.Errorf("status without a server: %+v", r)
	}
}

// The reason why a server does not start reaches the person who started it.
func TestServeInTheBackgroundFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if r := w.try(w.repo, "", "serve", "-d", "--listen", l.Addr().String()); r.code != 1 || !strings.Contains(r.err, "is in use") || w.servers() != 0 {
		t.Errorf("a port in use: %+v", r)
	}
	if err := os.WriteFile(filepath.Join(w.State, "coppice.db"), []byte("not a database, and long enough to be read as one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.try(w.repo, "", "serve", "-d"); r.code != 1 || !strings.Contains(r.err, "coppice.db") {
		t.Errorf("a broken database: %+v", r)
	}
}

// A command that finds the state locked uses the server that locked it.
func TestServeInTheBackgroundBesideAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if err := os.MkdirAll(w.State, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.State, "coppice.db.lock")
	lock, err := filelock.Try(path, filelock.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(lock, os.Getpid()); err != nil {
		t.Fatal(err)
	}
	done := make(chan result, 1)
	go func() { done <- w.try(w.repo, "", "serve", "-d") }()
	w.eventually("the second server sees the lock", func() bool {
		text, err := os.ReadFile(filepath.Join(w.State, "server.log"))
		return err == nil && strings.Contains(string(text), "open")
	})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	filelock.Release(lock)
	w.serve()
	if r := <-done; r.code != 0 || !strings.Contains(r.out, "already runs") {
		t.Errorf("serve -d: %+v", r)
	}
}

// Commands that need a server at the same time start one.
func TestNewStartsAServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases: [{steps: [{write: {path: "${session}", content: "landed\n"}}]}]`})
	if r := w.try(w.Root, "", "new", "Nowhere"); r.code != 1 || !strings.Contains(r.err, "not in a git repository") || w.servers() != 0 {
		t.Errorf("outside of a repository: %+v, %d servers run", r, w.servers())
	}
	if r := w.try(w.repo, "", "new"); r.code != 2 || w.servers() != 0 {
		t.Errorf("without a title: %+v", r)
	}
	const many = 4
	results := make([]result, many)
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() { results[i] = w.try(w.repo, "", "new", "Land together", "--json") })
	}
	wg.Wait()
	started := 0
	var keys []string
	for _, r := range results {
		var list struct{ Tasks []struct{ Key string } }
		if r.code != 0 || json.Unmarshal([]byte(r.out), &list) != nil || len(list.Tasks) != 1 {
			t.Fatalf("new: %+v", r)
		}
		keys = append(keys, list.Tasks[0].Key)
		if strings.Contains(r.err, "started a coppice server in the background") && strings.Contains(r.err, "coppice login --open") {
			started++
		}
	}
	if n := w.servers(); n != 1 || started != 1 {
		t.Errorf("%d servers run, %d commands say that they started one", n, started)
	}
	w.landed(keys...)
}

// coppice alone says where the person is, and which command is next. It exits with 0
// and starts nothing.
func TestOverview(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: Ask, steps: [{ask: Which format?}, {write: {path: a, content: "${answer}"}}]}
`})
	plain := w.NewRepo("plain", files{"README.md": "x"})
	broken := w.NewRepo("broken", files{"coppice.yaml": "chekcs: []"})
	says := func(dir string, words ...string) {
		t.Helper()
		r := w.try(dir, "")
		for _, s := range words {
			if r.code != 0 || !strings.Contains(r.out, s) {
				t.Errorf("%s: %q is missing in %+v", dir, s, r)
			}
		}
	}
	says(w.Root, "not in a git repository", "cd your-repository", "coppice demo")
	says(plain, "there is no coppice.yaml", "coppice init")
	says(broken, "unknown key")
	says(w.repo, "not running", "coppice serve -d", "coppice new")
	if n := w.servers(); n != 0 {
		t.Errorf("%d servers run", n)
	}
	w.serve()
	says(w.repo, "running", "adds this repository")
	if r := w.try(plain, "", "new", "Nobody does it"); r.code != 1 || !strings.Contains(r.err, "coppice init") {
		t.Errorf("new without coppice.yaml: %+v", r)
	}
	key := w.new("Ask")
	w.working(key, coppice.SessionWaiting)
	says(w.repo, key+" needs you: Which format?", `coppice answer `+key)
	if r := w.try(w.repo, "", "--json"); r.code != 0 || !strings.Contains(r.out, `"needs_you": 1`) {
		t.Errorf("as JSON: %+v", r)
	}
	if r := w.try(w.repo, "", "nonsense"); r.code != 2 || !strings.Contains(r.err, `coppice has no command "nonsense"`) {
		t.Errorf("an unknown command: %+v", r)
	}
}

// Agents, checks, setup commands and apps see the same environment. Only the agent
// sees the keys that its profile names.
func TestOneEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"agent.sh": "env > $HOME/agent.env; echo x > done.txt",
		"coppice.yaml": `base: main
agents: {mine: {protocol: command, command: [sh, agent.sh], pass_env: [MINE_*]}}
agent: {use: mine}
limits: {memory: 100%}
workspace: {pass_env: [DATABASE_URL, "TEST_*"], setup: ["env > $HOME/setup.env"]}
checks: ["env > $HOME/check.env"]
`})
	shared := []string{"DATABASE_URL=d", "TEST_A=t", "GOFLAGS=-mod=mod", "JAVA_HOME=/java", "LC_TIME=C"}
	keys := []string{"MINE_KEY=secret"}
	hidden := []string{"ANTHROPIC_API_KEY=hidden", "NODE_OPTIONS=hidden", "TESTA=hidden", "COPPICE_TOKEN=hidden"}
	w.Extra = slices.Concat(w.Extra, shared, keys, hidden)
	w.serve()
	w.landed(w.new("Do it"))
	env := func(name string) (lines []string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(w.Home, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(text), "\n")
	}
	for _, name := range []string{"agent.env", "check.env", "setup.env"} {
		lines := env(name)
		for _, kv := range shared {
			if !slices.Contains(lines, kv) {
				t.Errorf("%s has no %s", name, kv)
			}
		}
		if slices.Contains(lines, keys[0]) != (name == "agent.env") {
			t.Errorf("%s and the agent's key: %q", name, lines)
		}
		if strings.Contains(strings.Join(lines, "\n"), "hidden") {
			t.Errorf("%s has a variable that nobody named: %q", name, lines)
		}
	}
}

// doctor --try runs one turn of the agent and the checks, and leaves nothing behind.
func TestDoctorTries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml":           policy + "checks: [test -f README.md, \"echo it is red; exit 3\"]\nfeatures: features.json\n",
		"features.json":          `[{"id": 1, "name": "Not now", "status": "open"}]`,
		".coppice/scripted.yaml": "cases: [{match: ready, steps: [{say: ready}]}]",
	})
	state := func() string { return tree(t, w.repo) + w.git("for-each-ref") + w.git("worktree", "list") }
	before := state()
	r := w.try(w.repo, "", "doctor", "--try")
	if !strings.Contains(r.err, "not ready: try check\n") {
		t.Errorf("doctor ends with %q", r.err)
	}
	for _, s := range []string{`answered "ready"`, "test -f README.md: passed", "echo it is red; exit 3: exited with 3 on the untouched base: it is red"} {
		if r.code != 1 || !strings.Contains(r.out, s) {
			t.Errorf("%q is missing in %+v", s, r)
		}
	}
	if after := state(); after != before {
		t.Errorf("the repository changed:\n%s\nwas\n%s", after, before)
	}
	if left, err := os.ReadDir(filepath.Join(w.Root, "tmp")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if left := w.Processes(); len(left) != 0 {
		t.Errorf("processes are left: %v", left)
	}
	if _, _, err := client.ReadEndpoint(w.State); err == nil {
		t.Error("a server was started with the person's state")
	}
	w.write(w.repo, files{"coppice.yaml": policy + "checks: [test -f README.md]\n"})
	if r := w.try(w.repo, "", "doctor", "--try"); r.code != 0 {
		t.Errorf("all is well: %+v", r)
	}
	// A turn that costs too much says what to do about its price, not about the task of
	// the trial.
	w.write(w.repo, files{".coppice/scripted.yaml": "cases: [{match: ready, steps: [{usage: {cost_usd: 2}}, {hang: true}]}]"})
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message=An expensive agent")
	if r := w.try(w.repo, "", "doctor", "--try"); r.code != 1 || !strings.Contains(r.out, "one turn cost 2.00 USD") || !strings.Contains(r.out, "coppice prices") || strings.Contains(r.out, "scratch") {
		t.Errorf("an expensive turn: %+v", r)
	}
}
