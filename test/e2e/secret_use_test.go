//go:build linux

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/test/mcpserver"
)

// toolAgentArg makes the test binary an agent CLI that uses its tool servers, and
// toolProgramArg such a server, which says what it finds in its environment.
const (
	toolAgentArg   = "tool-agent"
	toolProgramArg = "tool-program"
)

// theSecret has characters that JSON and addresses write in another way, and a
// part that nothing else has.
const (
	theSecret  = `tok"en\ <5f2c9a7713b4>`
	secretPart = "5f2c9a7713b4"
)

// sum names a text without showing it.
func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

// toolAgent reads its tool servers as Claude Code does: from the file that its
// arguments name, with variables filled in from its environment. It calls the one
// at an address, starts the one that is a program, waits at the gate in its home,
// and then prints what it knows.
func toolAgent(args []string) error {
	at := slices.Index(args, "--mcp-config")
	if at < 0 || at+1 >= len(args) {
		return errors.New("no tool servers")
	}
	b, err := os.ReadFile(args[at+1])
	if err != nil {
		return err
	}
	var file struct {
		Servers map[string]struct {
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return err
	}
	tracker, local := file.Servers["tracker"], file.Servers["local"]
	say := func(v any) { _ = json.NewEncoder(os.Stdout).Encode(v) }
	say(map[string]any{"type": "system", "subtype": "init", "session_id": "c1", "model": "m"})
	header := os.ExpandEnv(tracker.Headers["Authorization"])
	req, err := http.NewRequest(http.MethodPost, tracker.URL, strings.NewReader(`{"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", header)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	res.Body.Close()
	cmd := exec.Command(local.Command, local.Args...)
	cmd.Env = []string{"KEY=" + os.ExpandEnv(local.Env["KEY"])}
	found, err := cmd.Output()
	if err != nil {
		return err
	}
	if err := os.WriteFile("found.txt", found, 0o644); err != nil {
		return err
	}
	if _, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), "gate")); err != nil { // waits until somebody opens it
		return err
	}
	fmt.Fprintln(os.Stderr, "I was given", header)
	say(map[string]any{"type": "assistant", "message": map[string]any{"content": []any{map[string]any{"type": "text", "text": "I was given " + header}}}})
	say(map[string]any{"type": "result", "subtype": "success", "result": "It was " + header, "session_id": "c1"})
	return nil
}

// secretPolicy is a project whose tool servers need a secret.
func secretPolicy(t *testing.T, url string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(policy, "scripted", "claude", 1) + fmt.Sprintf(`agents: {claude: {command: [%q, %s]}}
mcp:
  tracker: {url: %q, headers: {Authorization: "Bearer ${secret:TRACKER}"}}
  local: {command: [%q, %s], env: {KEY: "${secret:TRACKER}"}}
checks: ["echo the check has ${COPPICE_SECRET_TRACKER:-nothing}"]
`, self, toolAgentArg, url, self, toolProgramArg)
}

// A secret arrives at the tool servers that need it, and is nowhere else: in no
// file of the state, row, event, answer, log or argument list.
func TestSecretArrivesAndIsNowhereElse(t *testing.T) {
	t.Parallel()
	tools := mcpserver.New(theSecret)
	web := httptest.NewServer(tools)
	t.Cleanup(web.Close)
	w := newWorld(t, files{"coppice.yaml": secretPolicy(t, web.URL+"/mcp")})
	gate := filepath.Join(w.Home, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.try(w.repo, theSecret+"\n", "secret", "set", "TRACKER"); r.code != 0 || strings.Contains(r.out+r.err, secretPart) {
		t.Fatalf("%d %s%s", r.code, r.out, r.err)
	}
	w.serve()
	key := w.new("Use the tracker")
	open, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits until the agent is there
	if err != nil {
		t.Fatal(err)
	}

	calls := tools.Calls()
	if len(calls) != 1 || calls[0].Headers.Get("Authorization") != "Bearer "+theSecret || tools.Refused() != 0 {
		t.Errorf("the tool server saw %d calls, %d refused", len(calls), tools.Refused())
	}
	w.secretNowhere("while the session runs")
	holders := 0
	for _, p := range w.Processes() {
		if strings.Contains(strings.Join(p.Argv, " "), secretPart) {
			t.Errorf("an argument list has it: %.200q", p.Argv)
		}
		if strings.Contains(strings.Join(p.Environ, " "), secretPart) {
			holders++
			if len(p.Argv) < 2 || p.Argv[1] != toolAgentArg {
				t.Errorf("%.200q has it in its environment", p.Argv)
			}
		}
	}
	if holders != 1 {
		t.Errorf("%d processes have it in their environment, want the agent alone", holders)
	}

	if err := open.Close(); err != nil { // the agent continues, and prints what it knows
		t.Fatal(err)
	}
	d := w.landed(key)[0]
	w.said(last(d.History).Key, "I was given Bearer [redacted]")
	if got := w.onBase("found.txt"); got != sum(theSecret) {
		t.Errorf("the program found %s in its environment", got)
	}
	w.eventually("the end of the session's directory", func() bool {
		left, err := os.ReadDir(filepath.Join(w.State, "sessions"))
		return err == nil && len(left) == 0
	})
	w.cli("backup")
	w.secretNowhere("after the end")
	w.secretInNoAnswer(key, last(d.History).Key)
	if r := w.try(w.repo, "", "secret", "test", "TRACKER"); r.code != 0 || !strings.Contains(r.out, fmt.Sprintf("TRACKER has %d bytes (file secrets/TRACKER)", len(theSecret))) {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	list := w.cli("secret", "list")
	if !strings.Contains(list, "TRACKER") || !strings.Contains(list, "app") {
		t.Errorf("list:\n%s", list)
	}
}

// secretNowhere looks for the secret in every file of the world, apart from the
// one that holds it.
func (w *world) secretNowhere(when string) {
	w.t.Helper()
	w.nowhere(secretPart, when, "secrets/TRACKER")
}

// nowhere looks for a text in every file of the world, apart from those whose paths
// end like this. The database and its log are among them: their rows are not
// compressed.
func (w *world) nowhere(text, when string, except ...string) {
	w.t.Helper()
	seen := 0
	for _, dir := range []string{w.State, w.repo, filepath.Join(w.Root, "tmp"), filepath.Join(w.Root, "serve.log"), w.Home} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
				return nil
			}
			if err != nil || slices.ContainsFunc(except, func(end string) bool { return strings.HasSuffix(path, "/"+end) }) {
				return err
			}
			b, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the server is running
			}
			seen++
			if bytes.Contains(b, []byte(text)) {
				w.t.Errorf("%s, %s has it", when, path)
			}
			return err
		})
		if err != nil {
			w.t.Error(err)
		}
	}
	if seen < 10 {
		w.t.Errorf("%s: only %d files were looked at", when, seen)
	}
}

// secretInNoAnswer asks the server and the program for everything about a task.
func (w *world) secretInNoAnswer(task, session string) {
	w.t.Helper()
	ctx := w.t.Context()
	answers := map[string]func() (any, error){
		"status":   func() (any, error) { return w.client.Status(ctx, "") },
		"projects": func() (any, error) { return w.client.Projects(ctx) },
		"config":   func() (any, error) { return w.client.Config(ctx, "app") },
		"task":     func() (any, error) { return w.client.Task(ctx, task) },
		"session":  func() (any, error) { return w.client.Session(ctx, session) },
		"events":   func() (any, error) { return w.client.Events(ctx, client.EventQuery{Limit: 1000}) },
	}
	for name, ask := range answers {
		v, err := ask()
		if text := string(coppice.Raw(v)); err != nil || strings.Contains(text, secretPart) || len(text) < 10 {
			w.t.Errorf("%s: %v %s", name, err, text)
		}
	}
	page, err := w.client.Output(ctx, session, -1)
	if err != nil || len(page.Output) == 0 {
		w.t.Fatalf("%v %v", page, err)
	}
	var all bytes.Buffer
	for _, o := range page.Output {
		all.Write(o.Data)
		all.Write(o.Event)
	}
	if strings.Contains(all.String(), secretPart) || strings.Count(all.String(), "[redacted]") < 3 {
		w.t.Errorf("output: %s", &all)
	}
	for _, args := range [][]string{{"show", task}, {"logs", task}, {"events", "--json"}, {"status"}, {"secret", "list", "--json"}, {"config"}, {"config", "--user"}, {"doctor"}} {
		if r := w.try(w.repo, "", args...); strings.Contains(r.out+r.err, secretPart) {
			w.t.Errorf("coppice %s shows it:\n%s%s", strings.Join(args, " "), r.out, r.err)
		}
	}
}

// A secret that is not set fails the session with the fix. Once it is set, the
// task is done.
func TestSecretThatIsNotSet(t *testing.T) {
	t.Parallel()
	tools := mcpserver.New(theSecret)
	web := httptest.NewServer(tools)
	t.Cleanup(web.Close)
	w := newWorld(t, files{"coppice.yaml": strings.Replace(secretPolicy(t, web.URL+"/mcp"), "max: 3", "max: 0", 1)})
	w.write(w.Home, files{"gate": ""})
	w.serve()
	key := w.new("Use the tracker")
	d := w.await(key, "its failure", func(d api.TaskDetail) bool { return d.Failure != nil })
	if f := d.Failure; f.Class != coppice.ClassEnvironment || !strings.Contains(f.Text, "the secret TRACKER is not set") || f.Fix != "run: coppice secret set TRACKER" {
		t.Errorf("failure %+v", f)
	}
	if r := w.try(w.repo, "", "doctor"); r.code != 1 || !strings.Contains(r.out, "secret TRACKER") || !strings.Contains(r.out, "coppice secret set TRACKER") {
		t.Errorf("the doctor says %d:\n%s", r.code, r.out)
	}
	if r := w.try(w.repo, "", "secret", "list"); r.code != 0 || !strings.Contains(r.out, "not set: coppice secret set TRACKER") {
		t.Errorf("list %d:\n%s%s", r.code, r.out, r.err)
	}
	for _, c := range []struct {
		stdin string
		args  []string
		code  int
		says  string
	}{
		{"", []string{"secret", "test", "TRACKER"}, 1, "coppice secret set TRACKER"},
		{"", []string{"secret", "set", "TRACKER", theSecret}, 2, "never write a value on the command line"},
		{"abc\n", []string{"secret", "set", "TRACKER"}, 1, "shorter than 8 bytes"},
		{theSecret, []string{"secret", "set", "../TRACKER"}, 2, "not a valid name"},
		{"", []string{"secret", "remove", "TRACKER"}, 1, "there is no secret TRACKER"},
		{theSecret, []string{"secret", "set", "TRACKER", "--json"}, 0, `"file": "secrets/TRACKER"`},
	} {
		if r := w.try(w.repo, c.stdin, c.args...); r.code != c.code || !strings.Contains(r.out+r.err, c.says) || strings.Contains(r.out+r.err, secretPart) {
			t.Errorf("%q: %d\n%s%s", c.args, r.code, r.out, r.err)
		}
	}
	w.cli("retry", key)
	w.await(key, "its landing", func(d api.TaskDetail) bool { return d.Landed != "" })
	if len(tools.Calls()) != 1 {
		t.Errorf("%d calls", len(tools.Calls()))
	}
	if r := w.try(w.repo, "", "doctor"); strings.Contains(r.out, "secret TRACKER is not set") || !strings.Contains(r.out, "secret TRACKER") {
		t.Errorf("the doctor says:\n%s", r.out)
	}
	w.cli("secret", "remove", "TRACKER")
	if _, err := os.Stat(filepath.Join(w.Home, ".config", "coppice", "secrets", "TRACKER")); err == nil {
		t.Error("the value is still there")
	}
}

// On a terminal a value is typed without echo.
func TestSecretIsTypedWithoutEcho(t *testing.T) {
	t.Parallel()
	w := bareWorld(t)
	w.repo = w.Root
	p := w.person(80, 24, "secret", "set", "TYPED")
	p.Sees("Value of TYPED:")
	w.eventually("the end of the echo", func() bool { // which the program ends a moment after it asks
		mode, err := unix.IoctlGetTermios(int(p.TTY.Fd()), unix.TCGETS)
		return err == nil && mode.Lflag&unix.ECHO == 0
	})
	if _, err := p.TTY.WriteString(theSecret + "\r"); err != nil {
		t.Fatal(err)
	}
	<-p.Gone
	if shown := string(p.Raw); p.Cmd.ProcessState.ExitCode() != 0 || strings.Contains(shown, secretPart) || !strings.Contains(shown, "TYPED is stored (file secrets/TYPED)") {
		t.Errorf("%v: %q", p.Cmd.ProcessState, shown)
	}
	if r := w.try(w.Root, "", "secret", "test", "TYPED", "--json"); r.code != 0 || !strings.Contains(r.out, fmt.Sprintf(`"length": %d`, len(theSecret))) {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	if r := w.try(w.Root, "", "__complete", "secret", "test", ""); !strings.HasPrefix(r.out, "TYPED\n") {
		t.Errorf("completion: %s%s", r.out, r.err)
	}
}
