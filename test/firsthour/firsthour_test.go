//go:build firsthour && linux

package firsthour

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"coppice"
	"coppice/api"
	"coppice/test/harness"
	"coppice/test/scriptedmodel"
)

// agents are the agent CLIs of the user's machine.
var agents = []string{"claude", "codex"}

// hour is a new user with a repository.
type hour struct {
	*harness.Machine
	repository
	agent string
	dir   string // the checkout
	model *scriptedmodel.Server
	began time.Time
}

// TestFirstHour is the demo, and then the first hour with each repository and agent.
func TestFirstHour(t *testing.T) {
	began := time.Now()
	t.Run("demo", func(t *testing.T) { (&hour{Machine: newMachine(t)}).step("demo", (*hour).demo) })
	for _, r := range repositories {
		for _, agent := range agents {
			t.Run(r.name+"/"+agent, func(t *testing.T) { newHour(t, r, agent).spend() })
		}
	}
	fmt.Printf("\neverything: %.1f s\n", time.Since(began).Seconds())
}

func newMachine(t *testing.T) *harness.Machine {
	t.Helper()
	m := harness.New(t, program)
	bin := filepath.Join(m.Root, "bin")
	m.Extra = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, agent := range agents {
		if err := os.Symlink(harness.AgentCLI(t, agent), filepath.Join(bin, agent)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"GOCACHE", "GOFLAGS", "GOTOOLCHAIN"} { // the standard library is not compiled for each repository
		out, err := fetchWith(".", "go", "env", name)
		if err != nil {
			t.Fatal(err)
		}
		if v := strings.TrimSpace(string(out)); v != "" {
			m.Extra = append(m.Extra, name+"="+v)
		}
	}
	return m
}

func newHour(t *testing.T, r repository, agent string) *hour {
	t.Helper()
	h := &hour{Machine: newMachine(t), repository: r, agent: agent, model: scriptedmodel.New(rules(t, r), nil), began: time.Now()}
	h.dir = filepath.Join(h.Root, r.name)
	if err := os.CopyFS(h.dir, os.DirFS(filepath.Join(os.Getenv(fetchedVar), h.name))); err != nil {
		t.Fatal(err)
	}
	h.GitIn(h.dir, "init", "--quiet", "--initial-branch=main")
	h.GitIn(h.dir, "add", "--all")
	h.GitIn(h.dir, "commit", "--quiet", "--message=Import")
	return h
}

// spend goes through the steps. Each depends on those before it.
func (h *hour) spend() {
	fmt.Printf("\n%s, with %s\n", h.name, h.agent)
	server := httptest.NewServer(h.model)
	h.T.Cleanup(server.CloseClientConnections)
	h.step("init", (*hour).init)
	h.step("doctor, logged out", (*hour).doctorFails)
	h.logIn(server.URL)
	h.step("doctor --try", (*hour).doctor)
	h.step("the first task", (*hour).first)
	h.step("a fix round", (*hour).fix)
	h.step("a question, by number", (*hour).ask)
	h.step("a red base", (*hour).redBase)
	h.step("undo of a landing", (*hour).undo)
	h.step("stop", (*hour).stop)
	server.CloseClientConnections()
	server.Close()
	fmt.Printf("  %-24s %6.1f s\n", "together", time.Since(h.began).Seconds())
}

// step runs a step and prints its time and its result.
func (h *hour) step(name string, do func(*hour) string) {
	h.T.Helper()
	if h.T.Failed() {
		h.T.FailNow() // nothing that follows says more
	}
	began := time.Now()
	result := do(h)
	fmt.Printf("  %-24s %6.1f s  %s\n", name, time.Since(began).Seconds(), result)
}

// The size of the terminal.
const columns, rows = 120, 50

// at runs a command at a terminal, answers what it asks, and returns what it showed.
func (h *hour) at(dir string, code int, talk []answer, args ...string) string {
	h.T.Helper()
	p := h.Person(dir, columns, rows, args...)
	for _, a := range talk {
		p.Showed(a.to)
		p.Types(a.text + "\r")
	}
	p.Leaves(code)
	shown := strings.ReplaceAll(ansi.Strip(string(p.Raw)), "\r\n", "\n")
	if *transcript != "" {
		f, err := os.OpenFile(*transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = fmt.Fprintf(f, "$ coppice %q\n%s\n[%d]\n\n", args, shown, p.Cmd.ProcessState.ExitCode())
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			h.T.Error(err)
		}
	}
	return shown
}

// answer is what a person types when a text is shown.
type answer struct{ to, text string }

// types runs a command in the repository that has to succeed.
func (h *hour) types(args ...string) string {
	h.T.Helper()
	return h.at(h.dir, 0, nil, args...)
}

// has checks that a text has all parts.
func (h *hour) has(text string, parts ...string) {
	h.T.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			h.T.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

var (
	link = regexp.MustCompile(`http://127\.0\.0\.1:\d+/login\?code=\S+`)
	key  = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*-\d+)\s`)
)

// demo follows the explained demo to its end, and its link to the dashboard.
func (h *hour) demo() string {
	p := h.Person(h.Root, columns, rows, "demo")
	var address string
	p.Until("a link, and the tasks", func() bool {
		address = string(link.Find(p.Raw))
		return address != "" && bytes.Contains(p.Raw, []byte("sample-1"))
	})
	h.opens(address)
	p.Showed("Press Enter or Ctrl-C to end the demo")
	p.Types("\r")
	p.Leaves(0)
	h.has(string(p.Raw), "failed the check on the merged files", "changed the same line as a task that landed", "asks you something",
		"6 tasks landed in", "1 after a fix round", "1 after a merge conflict was handed back", "1 after a question", "cd your-repository && coppice init")
	return "6 tasks landed; the dashboard opened"
}

// opens opens the dashboard with a link, and looks at what the used link shows.
func (h *hour) opens(address string) {
	h.T.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.T.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		client *http.Client
		code   int
	}{{"the link", &http.Client{Jar: jar}, http.StatusOK}, {"the used link", &http.Client{}, http.StatusUnauthorized}} {
		ask, err := http.NewRequestWithContext(h.T.Context(), http.MethodGet, address, nil)
		if err != nil {
			h.T.Fatal(err)
		}
		ask.Header.Set("Accept", "text/html")
		r, err := c.client.Do(ask)
		if err != nil {
			h.T.Fatal(err)
		}
		r.Body.Close()
		if kind := r.Header.Get("Content-Type"); r.StatusCode != c.code || !strings.HasPrefix(kind, "text/html") {
			h.T.Errorf("%s: %s, %s", c.what, r.Status, kind)
		}
	}
}

// init answers the questions of init, and commits its file as it says.
func (h *hour) init() string {
	h.has(h.types(), "there is no coppice.yaml", "coppice init")
	shown := h.at(h.dir, 0, []answer{
		{"Which branch should work land on?", ""},
		{"Land on a separate branch?", ""},
		{"Which agent should do the work? (found: " + strings.Join(agents, ", ") + ")", h.agent},
		{"take over", ""},
		{"Which tracks", ""},
		{"features.json", ""},
		{".coppice/PROJECT.md", ""},
		{"Run the checks one time on main now?", ""},
	}, "init")
	for _, c := range h.checks {
		h.has(shown, "passed  "+c)
	}
	h.has(shown, "work lands on main", h.agent+" does the work", "Next: read coppice.yaml, commit it")
	h.GitIn(h.dir, "add", "coppice.yaml")
	h.GitIn(h.dir, "commit", "--quiet", "--message=Use Coppice")
	return "checks: " + strings.Join(h.checks, "; ")
}

// doctorFails: nobody is logged in, so the project cannot run.
func (h *hour) doctorFails() string {
	h.has(h.at(h.dir, 1, nil, "doctor"), "not logged in", "run `"+h.agent+"` and log in", "not ready: agent "+h.agent)
	return "fails and says how to log in"
}

func (h *hour) doctor() string {
	shown := h.types("doctor", "--try")
	h.has(shown, `answered "ready"`)
	for _, c := range h.checks {
		h.has(shown, c+": passed")
	}
	return "the agent answers, the checks pass"
}

// create creates a task and returns its key.
func (h *hour) create(title string) string {
	h.T.Helper()
	shown := h.types("new", title)
	m := key.FindStringSubmatch(shown)
	if m == nil {
		h.T.Fatalf("no key in:\n%s", shown)
	}
	return m[1]
}

// detail returns all about a task.
func (h *hour) detail(key string) api.TaskDetail {
	h.T.Helper()
	return harness.Decode[api.TaskDetail](h.T, h.Try(h.dir, "", "show", key, "--json").Out)
}

// landed waits until a task has landed, with sessions of these roles. The checkout
// has followed.
func (h *hour) landed(key string, roles ...coppice.Role) string {
	h.T.Helper()
	h.has(h.types("wait", key), key)
	if h.T.Failed() {
		h.T.Fatal(h.types("show", key))
	}
	d := h.detail(key)
	var ran []coppice.Role
	for _, s := range d.History {
		ran = append(ran, s.Role)
	}
	if !slices.Equal(ran, roles) {
		h.T.Fatalf("%s had the sessions %q, want %q:\n%s", key, ran, roles, h.types("show", key))
	}
	if tip := h.GitIn(h.dir, "rev-parse", "main"); d.Landed == "" || tip != d.Landed {
		h.T.Errorf("%s landed as %q, and main is at %s", key, d.Landed, tip)
	}
	if dirty := h.GitIn(h.dir, "status", "--porcelain"); dirty != "" {
		h.T.Errorf("the checkout has not followed:\n%s", dirty)
	}
	return fmt.Sprintf("%s landed: %s", key, h.GitIn(h.dir, "log", "-1", "--format=%s", "main"))
}

// first: new starts the server, and the task lands.
func (h *hour) first() string {
	result := h.landed(h.create(firstTask), coppice.RoleImplement)
	for _, f := range h.repository.first {
		h.holds(f)
	}
	h.has(h.types("status"), "1 done")
	return result
}

// holds checks that the checkout has a file.
func (h *hour) holds(f file) {
	h.T.Helper()
	if text, err := os.ReadFile(filepath.Join(h.dir, f.path)); err != nil || !strings.HasSuffix(string(text), f.text) || !f.append && string(text) != f.text {
		h.T.Errorf("%s has %q: %v", f.path, text, err)
	}
}

// fix: the check fails, and the agent gets its output. The model fixes nothing
// without that.
func (h *hour) fix() string {
	result := h.landed(h.create(fixTask), coppice.RoleImplement, coppice.RoleFix)
	h.holds(h.fixed)
	return result + ", after 1 fix session"
}

// fixes counts the requests of fix sessions to the model.
func (h *hour) fixes() (n int) {
	for _, e := range h.model.Log() {
		if strings.Contains(e.User, "was refused") {
			n++
		}
	}
	return n
}

// ask: the number of an option means that option.
func (h *hour) ask() string {
	key := h.create(askTask)
	h.at(h.dir, 3, nil, "wait", key)
	shown := h.types("inbox")
	h.has(shown, key, question)
	for i, o := range options {
		h.has(h.types("show", key), fmt.Sprintf("%d. %s", i+1, o["label"]), o["description"])
	}
	h.types("answer", key, "2")
	result := h.landed(key, coppice.RoleImplement)
	text := h.GitIn(h.dir, "show", "main:FORMAT.md")
	if !strings.Contains(text, options[1]["label"]) || strings.Contains(text, options[0]["label"]) {
		h.T.Errorf("the agent was answered %q", text)
	}
	return result
}

// redBase: a check that the base fails as well starts no fix session. When the base
// is fixed, the work lands without another session.
func (h *hour) redBase() string {
	text, err := os.ReadFile(filepath.Join(h.dir, h.red.path))
	if err != nil && h.red.append {
		h.T.Fatal(err)
	}
	h.Write(h.dir, harness.Files{h.red.path: string(text) + h.red.text})
	h.GitIn(h.dir, "add", "--all")
	h.GitIn(h.dir, "commit", "--quiet", "--message=Half of something")
	before := h.fixes()
	key := h.create(redTask)
	h.at(h.dir, 3, nil, "wait", key)
	h.has(h.types("inbox"), key, "the base fails this check as well")
	h.has(h.types("show", key), "the base fails this check as well", "coppice skip-check "+key, "coppice retry "+key)
	if n := h.fixes() - before; n != 0 {
		h.T.Errorf("%d requests of fix sessions", n)
	}
	h.GitIn(h.dir, "revert", "--no-edit", "HEAD")
	h.types("retry", key)
	return h.landed(key, coppice.RoleImplement) + ", 0 fix sessions"
}

// undo: the newest landing leaves the base and the checkout.
func (h *hour) undo() string {
	before := h.GitIn(h.dir, "rev-parse", "main~1")
	shown := h.at(h.dir, 0, []answer{{"[y/N]", "y"}}, "undo")
	key := key.FindStringSubmatch(shown[strings.LastIndex(strings.TrimSpace(shown), "\n")+1:])
	if key == nil {
		h.T.Fatalf("no key in:\n%s", shown)
	}
	h.at(h.dir, 4, nil, "wait", key[1], "--until", "ended")
	if d := h.detail(key[1]); d.Title != redTask || d.Reverted == nil || d.Landed != "" {
		h.T.Errorf("%s %q: reverted %+v, landed %q", key[1], d.Title, d.Reverted, d.Landed)
	}
	if tip := h.GitIn(h.dir, "rev-parse", "main"); tip != before {
		h.T.Errorf("main is at %s, want %s", tip, before)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "NOTES.md")); err == nil || h.GitIn(h.dir, "status", "--porcelain") != "" {
		h.T.Error("the checkout has not followed")
	}
	return key[1] + " is off main"
}

func (h *hour) stop() string {
	h.has(h.types("serve", "--stop"), "has stopped")
	return ""
}
