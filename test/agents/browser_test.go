//go:build linux

package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"coppice"
	"coppice/agent/claude"
	"coppice/api"
	"coppice/api/client"
	"coppice/host"
	"coppice/internal/browser"
	"coppice/test/ports"
	"coppice/test/scriptedmodel"
	"coppice/verb"
)

// green is the colour of the page that is looked at.
var green = color.RGBA{10, 200, 30, 255}

// looks are the model's rules: it makes a page, and as a verifier it looks at
// the app with its browser, takes a picture, and saves another to a file. How it
// ends is for the test to say.
const looks = `{"rules": [
  {"name": "verify", "match": "Verify work that somebody else did", "steps": [
    {"shell": "echo \"$COPPICE_URL\""},
    {"tool": {"match": "browser__new_page$", "input": {"url": "${lastresult}"}}},
    {"tool": {"match": "browser__take_screenshot$", "input": {"pageId": 2}}},
    {"tool": {"match": "browser__take_screenshot$", "input": {"pageId": 2, "format": "jpeg", "filePath": "seen.jpeg"}}},
    %s]},
  {"name": "implement", "match": "Your work lands on main", "steps": [
    {"write": {"path": "page-${session}.html", "content": "<title>A page</title>\n"}},
    {"shell": "git add -A && git commit -qm 'A page'"},
    {"text": "made it"}]}
]}`

// app serves a page in one colour.
const app = `require("http").createServer((_, res) => {
  res.setHeader("Content-Type", "text/html");
  res.end("<!doctype html><title>App</title><body style='margin:0;background:rgb(10,200,30)'>");
}).listen(process.env.COPPICE_PORT, "127.0.0.1");
`

// looking is a bench whose verifiers have browsers, and a server on it.
type looking struct {
	*bench
	ctx     context.Context
	client  *client.Client
	state   string
	started string // how browsers were started, a line each
	asked   string // for whom the user's own tool server was started, a line each
	users   string // the user's .mcp.json
	project string
	end     func(os.Signal) // of the server
}

func newLooking(t *testing.T, rules string) *looking {
	t.Helper()
	chromium := chromiumPath(t)
	server := program(t, "chrome-devtools-mcp")
	if out, err := exec.Command(server, "--version").Output(); err != nil || strings.TrimSpace(string(out)) != browser.Version {
		t.Fatalf("%s has version %q, Coppice runs %s: %v", server, out, browser.Version, err)
	}
	ports.Alone(t, "app")
	l := &looking{bench: claudeBench(t)}
	parsed, err := scriptedmodel.ParseRules([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	l.env["ANTHROPIC_BASE_URL"] = serveModel(t, scriptedmodel.New(parsed, nil))
	agentEnv := asYAML(l.env)

	// The tool server is started by way of a script that writes down how.
	l.started = filepath.Join(l.home, "started")
	wrapper := filepath.Join(l.home, "chrome-devtools-mcp")
	put(t, wrapper, fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$*\" >> '%s'\nexec '%s' \"$@\"\n", l.started, server))
	if err := os.Chmod(wrapper, 0o755); err != nil {
		t.Fatal(err)
	}
	l.env[browser.ServerVar], l.env[browser.ChromiumVar] = wrapper, chromium

	// The repository has a tool server of its user's own, of the same name. It
	// writes down for whom it is started.
	l.asked = filepath.Join(l.home, "asked")
	l.users = fmt.Sprintf(`{"mcpServers": {"browser": {"command": "sh", "args": ["-c", "echo $COPPICE_ROLE >> %s"]}}}`+"\n", l.asked)
	put(t, filepath.Join(l.repo, ".mcp.json"), l.users)
	put(t, filepath.Join(l.repo, "serve.js"), app)
	put(t, filepath.Join(l.repo, "coppice.yaml"), fmt.Sprintf(`base: main
agent: {use: %s}
limits: {memory: 100%%}
retry: {max: 0}
verify: {browser: true}
workspace: {serve: {run: exec node serve.js, ready: "http://127.0.0.1:${COPPICE_PORT}/"}}
agents:
  %s:
    command: [%q%s]
    env:%s
`, claude.Name, claude.Name, l.profile.Command[0], rest(l.profile.Command[1:]), agentEnv))
	l.git(t, "add", "--all")
	l.git(t, "commit", "--quiet", "--message=configured")

	var cancel context.CancelFunc
	l.ctx, cancel = context.WithTimeout(t.Context(), 4*deadline)
	t.Cleanup(cancel)
	l.state = filepath.Join(l.home, "state")
	t.Cleanup(func() { endHosts(t, l.state) })
	l.end = l.daemon(t, l.state)
	l.client = client.New(l.state)
	t.Cleanup(l.client.Close)
	p, err := l.client.AddProject(l.ctx, l.repo)
	if err != nil {
		t.Fatal(err)
	}
	l.project = p.Prefix
	return l
}

// create creates tasks with one step to verify.
func (l *looking) create(t *testing.T, titles ...string) (keys []string) {
	t.Helper()
	var tasks []coppice.NewTask
	for _, title := range titles {
		tasks = append(tasks, coppice.NewTask{Title: title, Steps: []string{"The page is green."}})
	}
	made, err := l.client.CreateTasks(l.ctx, l.project, tasks)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range made {
		keys = append(keys, k.Key)
	}
	return keys
}

// TestBrowser: real verifiers look at a real app with a real Chromium, at the
// same time, each with a separate browser. Their pictures are kept, and
// nothing else is left of them.
func TestBrowser(t *testing.T) {
	t.Parallel()
	l := newLooking(t, fmt.Sprintf(looks, `{"tool": {"name": "StructuredOutput", "input": {"steps": [{"n": 1, "pass": true, "evidence": "it is green"}], "summary": "good"}}}`))
	for _, key := range l.create(t, "A page", "Another page") {
		d := l.until(t, key, func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
		if d.Outcome != coppice.OutcomeDone || len(d.History) != 2 {
			t.Fatalf("%s is %s after %d sessions: %v\n%s", key, d.Outcome, len(d.History), d.Failure, l.said(d))
		}
		l.wantPictures(t, d.History[1])
	}
	l.end(syscall.SIGTERM) // which waits until it has cleared up behind the sessions
	profiles := l.wantProfiles(t)
	if profiles[0] == profiles[1] {
		t.Errorf("both verifiers had the profile %s", profiles[0])
	}
	if left := browsers(t, l.home); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	if _, err := os.Stat(filepath.Join(l.home, ".config", "chromium")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the user's own Chromium was touched: %v", err)
	}
	if got := l.git(t, "show", "main:.mcp.json"); got+"\n" != l.users {
		t.Errorf("the user's .mcp.json landed as %q", got)
	}
	if got, err := os.ReadFile(filepath.Join(l.repo, ".mcp.json")); err != nil || string(got) != l.users {
		t.Errorf("the user's .mcp.json is %q: %v", got, err)
	}
	if roles, err := os.ReadFile(l.asked); err == nil && strings.Contains(string(roles), string(coppice.RoleVerify)) {
		t.Errorf("the user's own tool server was started in place of the verifier's: %s", roles)
	}
}

// TestBrowserEndsWithItsSession: a verifier ends in the middle of its work, its
// browser open. Nothing of the browser is left, and the picture is.
func TestBrowserEndsWithItsSession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *looking, string){
		"stopped": func(t *testing.T, l *looking, key string) {
			if _, err := l.client.Ask(l.ctx, key, coppice.VerbStop, verb.Request{}); err != nil {
				t.Fatal(err)
			}
		},
		"lost": func(t *testing.T, l *looking, key string) {
			s, err := l.client.Session(l.ctx, key+".2")
			if err != nil {
				t.Fatal(err)
			}
			_, st, _, err := host.Inspect(filepath.Join(l.state, "sessions", strconv.FormatInt(s.ID, 10)))
			if err != nil || st.PID == 0 {
				t.Fatalf("%+v, %v", st, err)
			}
			if err := syscall.Kill(st.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLooking(t, fmt.Sprintf(looks, `{"hang": true}`))
			key := l.create(t, "A page")[0]
			l.until(t, key, func(d api.TaskDetail) bool { return len(d.History) > 1 && !d.History[1].StartedAt.IsZero() })
			taken := 0
			err := l.client.FollowOutput(l.ctx, key+".2", -1, func(api.Output) error {
				if taken++; taken == 2 {
					return errFound
				}
				return nil
			}, coppice.OutputImage)
			if !errors.Is(err, errFound) {
				t.Fatalf("%d pictures were taken: %v", taken, err)
			}
			if len(browsers(t, l.home)) == 0 {
				t.Fatal("no browser runs: its end would prove nothing")
			}
			end(t, l, key)
			d := l.until(t, key, func(d api.TaskDetail) bool { return !d.History[1].State.Live() })
			if left := browsers(t, l.home); len(left) > 0 {
				t.Errorf("after %s, processes are left: %q", d.History[1].State, left)
			}
			l.wantPictures(t, d.History[1])
		})
	}
}

// asYAML writes variables as a block of YAML.
func asYAML(env map[string]string) string {
	var s strings.Builder
	for k, v := range env {
		fmt.Fprintf(&s, "\n      %s: %q", k, v)
	}
	return s.String()
}

// until follows a task until it is as f wants it, or needs a person.
func (l *looking) until(t *testing.T, key string, f func(api.TaskDetail) bool) (d api.TaskDetail) {
	t.Helper()
	look := func() (err error) {
		if d, err = l.client.Task(l.ctx, key); err == nil && (f(d) || d.Stage == coppice.StageEnded) {
			err = errFound
		}
		return err
	}
	err := look()
	if err == nil {
		err = l.client.FollowEvents(l.ctx, client.EventQuery{Task: key}, func(api.Event) error { return look() }, nil)
	}
	if !errors.Is(err, errFound) || !f(d) {
		t.Fatalf("%v; the task is %s: %s, %v\n%s", err, d.Status, d.Reason, d.Failure, l.said(d))
	}
	return d
}

// said is what the sessions of a task said, for a test that failed.
func (l *looking) said(d api.TaskDetail) string {
	var all strings.Builder
	for _, s := range d.History {
		fmt.Fprintf(&all, "%s %s %v\n", s.Key, s.State, s.Failure)
		page, err := l.client.Output(l.ctx, s.Key, -1, coppice.OutputEvent, coppice.OutputHost)
		if err != nil {
			fmt.Fprintln(&all, err)
		}
		for _, o := range page.Output {
			fmt.Fprintf(&all, "  %.600s%s\n", o.Event, o.Data)
		}
	}
	return all.String()
}

// wantPictures: the verifier's prompt names its browser, and it took two pictures of
// the page, one of which it saved to a file.
func (l *looking) wantPictures(t *testing.T, s coppice.Session) {
	t.Helper()
	ctx, c := l.ctx, l.client
	full, err := c.Session(ctx, s.Key)
	if err != nil || !strings.Contains(full.Prompt, "You have a browser") {
		t.Errorf("%s has the prompt %q: %v", s.Key, full.Prompt, err)
	}
	page, err := c.Output(ctx, s.Key, -1, coppice.OutputImage)
	if err != nil {
		t.Fatal(err)
	}
	var formats []string
	for _, o := range page.Output {
		data, err := c.Image(ctx, s.Key, o.Offset)
		if err != nil || int64(len(data)) != o.Size {
			t.Fatalf("%d bytes of %d: %v", len(data), o.Size, err)
		}
		picture, format, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		formats = append(formats, format)
		size := picture.Bounds().Size()
		if size.X < 600 || size.Y < 400 {
			t.Errorf("%s has a picture of %v", s.Key, size)
		}
		for _, at := range []image.Point{{5, 5}, {size.X / 2, size.Y / 2}} {
			if got := picture.At(at.X, at.Y); !alike(got, green) {
				t.Errorf("%s shows %v at %v", s.Key, got, at)
			}
		}
	}
	if !slices.Equal(formats, []string{"png", "jpeg"}) {
		t.Errorf("%s took %q", s.Key, formats)
	}
}

// alike reports whether two colours look the same; JPEG is not exact.
func alike(a color.Color, b color.RGBA) bool {
	r, g, bl, _ := a.RGBA()
	near := func(x uint32, y uint8) bool { return max(int(x>>8), int(y))-min(int(x>>8), int(y)) <= 6 }
	return near(r, b.R) && near(g, b.G) && near(bl, b.B)
}

// wantProfiles returns the profiles of the browsers that were started, one for
// each verifier, below their sessions' directories, and gone by now.
func (l *looking) wantProfiles(t *testing.T) []string {
	t.Helper()
	lines, err := os.ReadFile(l.started)
	if err != nil {
		t.Fatal(err)
	}
	var profiles []string
	for line := range strings.Lines(string(lines)) {
		for arg := range strings.FieldsSeq(line) {
			if p, ok := strings.CutPrefix(arg, "--userDataDir="); ok {
				profiles = append(profiles, p)
			}
		}
		if !strings.Contains(line, "--headless") {
			t.Errorf("started with %s", line)
		}
	}
	for _, p := range profiles {
		if !strings.HasPrefix(p, filepath.Join(l.state, "sessions")+"/") {
			t.Errorf("the profile %s is not the session's own", p)
		}
		if _, err := os.Stat(p); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the profile %s is left: %v", p, err)
		}
	}
	if len(profiles) != 2 {
		t.Fatalf("browsers were started with %s", lines)
	}
	return profiles
}

// browsers are the processes below a home that a browser consists of: Chromium,
// its tool server, and what passes its words on.
func browsers(t *testing.T, home string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		// One that has ended in the meantime has neither.
		cmdline, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		ours := bytes.Contains(cmdline, []byte(home)) || bytes.Contains(environ, []byte("HOME="+home))
		if ours && (bytes.Contains(cmdline, []byte("chrom")) || bytes.Contains(cmdline, []byte("\x00browser\x00"))) {
			all = append(all, fmt.Sprintf("%s %.200s", e.Name(), bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
		}
	}
	return all
}
