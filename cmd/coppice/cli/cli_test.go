package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"coppice"
	"coppice/api/apitest"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/cmd/coppice/cli"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite the golden files")

// shell runs commands against a real server.
type shell struct {
	*apitest.Bundle
	env cli.Env
}

func setup(t *testing.T, change ...func(*apihttp.Config)) *shell {
	t.Helper()
	s := sqlitetest.Open(t, sqlite.Config{})
	b := apitest.Start(t, s, change...)
	return &shell{Bundle: b, env: cli.Env{
		Client: func() (*client.Client, error) { return client.At(b.Server.URL(), apitest.Token) },
		Dir:    "/src/app", Now: b.Clock.Now,
	}}
}

// run runs a command line and returns its exit code and what it wrote.
func (s *shell) run(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	env := s.env
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(stdin), &out, &errs
	root := &cobra.Command{Use: "coppice"}
	root.AddCommand(cli.Commands(env)...)
	cli.Finish(root, env)
	code = cli.Run(s.Ctx, root, env, args)
	return code, out.String(), errs.String()
}

// golden runs a command line and compares everything with a file.
func (s *shell) golden(t *testing.T, name string, args ...string) {
	t.Helper()
	code, out, errs := s.run("", args...)
	got := "$ coppice " + strings.Join(args, " ") + "\n" + out
	if errs != "" {
		got += "--- stderr\n" + errs
	}
	if code != 0 {
		got += "--- exit " + string(rune('0'+code)) + "\n"
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		s.Must(os.MkdirAll("testdata", 0o755))
		s.Must(os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	s.Must(err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

const nasty = "Fix \x1b[31mred\u202etxt\u2069 \u009b2Jbell"

// fill creates a project with a task in every interesting stage.
func (s *shell) fill() {
	s.Project("/src/app")
	for _, n := range []coppice.NewTask{
		{Title: "Add a --json flag to the list command", Body: "All of it.\nMore of it.", Priority: 5, Checks: []string{"make test"}},
		{Title: "Write its documentation", After: []string{"app-1"}},
		{Title: "Rework the parser so that it reports line and column of every mistake in the input"},
		{Title: "Drop the old column"},
		{Title: "Speed up the build"},
	} {
		s.Task("app", n)
	}
	s.Clock.Move(90 * time.Second)
	now := s.Clock.Now()
	s.Session("app-1", coppice.SessionWorking, func(x *coppice.Session) { x.Usage.CostUSD = 1.239 })
	s.Change("app-1", func(t *coppice.Task) { t.Stage, t.StageAt, t.Wait = coppice.StageSession, now, nil })
	s.Change("app-2", func(t *coppice.Task) {
		t.Wait = &coppice.Wait{On: coppice.WaitDependency, Text: "waits for app-1"}
	})
	s.Change("app-3", func(t *coppice.Task) {
		t.Stage, t.Wait, t.Outcome, t.EndedAt, t.Landed = coppice.StageEnded, nil, coppice.OutcomeDone, now.Add(time.Hour), strings.Repeat("ab", 20)
	})
	asks := s.Session("app-4", coppice.SessionWaiting, nil)
	x := s.Change("app-4", func(t *coppice.Task) { t.Stage, t.StageAt, t.Wait = coppice.StageSession, now, nil })
	failed := s.Change("app-5", func(t *coppice.Task) {
		t.Stage, t.Wait, t.Outcome, t.EndedAt = coppice.StageEnded, nil, coppice.OutcomeFailed, now
		t.Failure = coppice.Failf(coppice.ClassVerification, "make test went against it three times", "see coppice show app-5")
	})
	s.Update(func(tx store.Tx) error {
		land := &coppice.Landing{ProjectID: failed.ProjectID, TaskID: failed.ID, Head: strings.Repeat("cd", 20), CreatedAt: now, EndedAt: now, Outcome: coppice.LandingRefused}
		return errors.Join(
			tx.Questions.Put(&coppice.Question{TaskID: x.ID, SessionID: asks.ID, Ref: "r", Text: "Is the column used anywhere else?", Options: []string{"yes", "no"}, Descriptions: []string{"it stays", "it is dropped"}, AskedAt: now}),
			tx.Landings.Put(land),
			tx.Checks.Put(&coppice.Check{ProjectID: failed.ProjectID, TaskID: failed.ID, LandingID: land.ID, Command: "make lint", Exit: 137, Signal: "SIGKILL", Log: "killed\n", Took: time.Second, EndedAt: now}),
			tx.Checks.Put(&coppice.Check{ProjectID: failed.ProjectID, TaskID: failed.ID, LandingID: land.ID, Command: "make slow", Exit: 124, TimedOut: true, Log: "still at it\n", Took: time.Minute, EndedAt: now}),
			tx.Checks.Put(&coppice.Check{ProjectID: failed.ProjectID, TaskID: failed.ID, LandingID: land.ID, Tree: strings.Repeat("ef", 20), Command: "make test", Env: "e", Exit: 1, Log: "one\n\x1b[31mtwo\x1b[0m\n", Took: 3 * time.Second, EndedAt: now}),
		)
	})
	s.Clock.Move(30 * time.Second)
}

func TestGolden(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.golden(t, "status-empty", "status")
	s.golden(t, "list-empty", "list")
	s.fill()
	s.golden(t, "list", "list")
	s.golden(t, "list-filtered", "list", "--status", "needs you,failed", "--limit", "1")
	s.golden(t, "status", "status")
	s.golden(t, "show", "show", "app-1")
	s.golden(t, "show-failed", "show", "app-5")
	s.golden(t, "show-question", "show", "app-4")
	s.golden(t, "show-missing", "show", "app-99")
	s.golden(t, "project-list", "project", "list")
	s.golden(t, "events", "events", "--task", "app-1")
	s.env.Width = 72
	s.golden(t, "list-narrow", "list")
	s.env.Terminal, s.env.Width, s.env.Color = true, 100, true
	s.golden(t, "list-colour", "list")
	s.golden(t, "diff-colour", "diff", "app-5")
}

func TestTalkGolden(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	s.golden(t, "limits-none", "limits")
	s.golden(t, "rules-none", "rules")
	now := s.Clock.Now()
	s.Session("app-1", coppice.SessionDone, func(x *coppice.Session) { x.StopWhy, x.EndedAt = coppice.StopParked, now })
	asks := s.Session("app-1", coppice.SessionWaiting, func(x *coppice.Session) { x.Conversation, x.ParkedAt = "talk1", now })
	s.Change("app-1", func(t *coppice.Task) { t.Budget = 5 })
	x := s.Change("app-2", func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageQueued, nil })
	s.Update(func(tx store.Tx) error {
		return errors.Join(
			tx.Questions.Put(&coppice.Question{TaskID: asks.TaskID, SessionID: asks.ID, Ref: "p", Kind: coppice.QuestionPermission, Text: "may it run: git push origin",
				Rule: &coppice.Rule{Tool: "run", Match: "git push *"}, Options: []string{coppice.AnswerAllow, coppice.AnswerAllowAlways, coppice.AnswerDeny, coppice.AnswerDenyAlways}, AskedAt: now}),
			tx.Limits.Put(coppice.AgentLimit{Agent: x.Agent, Class: coppice.ClassAuth, Text: "not logged in"}),
			tx.Limits.Put(coppice.AgentLimit{Agent: x.Agent + ":small", Class: coppice.ClassOverload, Text: "too many", Until: now.Add(time.Minute)}),
			tx.Limits.Put(coppice.AgentLimit{Agent: "other", Class: coppice.ClassRateLimit, Text: "5 hours are used up", Until: now.Add(time.Hour)}),
		)
	})
	s.golden(t, "status-talk", "status")
	s.golden(t, "limits", "limits")
	s.golden(t, "limits-json", "limits", "--json")
	s.golden(t, "limits-clear", "limits", "clear", x.Agent)
	s.golden(t, "limits-clear-again", "limits", "clear", x.Agent)
	s.golden(t, "limits-clear-model", "limits", "clear", x.Agent+":small")
	s.golden(t, "limits-clear-wrong", "limits", "clear", x.Agent+":")
	s.golden(t, "answer-always", "answer", "app-1", "deny", "always", "because it publishes")
	s.golden(t, "rules", "rules")
	s.golden(t, "rules-json", "rules", "--json")
	s.golden(t, "rules-remove", "rules", "remove", "1")
	s.golden(t, "rules-remove-none", "rules", "remove", "1")
	s.golden(t, "send-next", "send", "app-1", "--next", "then the documentation")
	s.golden(t, "interrupt", "interrupt", "app-1")
	s.golden(t, "model", "model", "app-1", "big")
	s.golden(t, "model-later", "model", "app-2", "big")
	s.golden(t, "fork", "fork", "app-1", "try it without the cache")
	s.golden(t, "take", "take", "app-1")
	s.golden(t, "take-again", "take", "app-1")
	s.golden(t, "give-none", "give", "app-4")
	s.golden(t, "continue", "continue", "app-3", "now also the German texts")
	s.golden(t, "continue-wordless", "continue", "app-3")
	s.golden(t, "set", "set", "app-2", "--budget", "2.50", "--title", "Write its manual")
	s.golden(t, "set-nothing", "set", "app-2")
	s.golden(t, "set-wrong", "set", "app-2", "--budget", "much")
	s.golden(t, "show-talk", "show", "app-1")
}

func TestVerdictGolden(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Project("/src/app")
	s.Task("app", coppice.NewTask{Title: "Greet", Steps: []string{"it greets", "it greets in " + nasty}})
	now := s.Clock.Now()
	steps := s.Change("app-1", func(t *coppice.Task) { t.Stage, t.StageAt, t.Wait = coppice.StageSession, now, nil }).Steps
	verified := func(words string) func(*coppice.Session) {
		return func(x *coppice.Session) {
			v := coppice.ParseVerdict(words, steps)
			x.Role, x.Verdict, x.Summary, x.EndedAt = coppice.RoleVerify, &v, words, now
		}
	}
	s.Session("app-1", coppice.SessionDone, verified("STEP 1: PASS I saw Hello"))
	s.Session("app-1", coppice.SessionDone, verified(`{"steps":[{"n":1,"pass":true,"evidence":"I saw Hello\nand no more"},{"n":2,"pass":false,"evidence":"`+"\\u001b[2J"+`nothing"}],"summary":"Half of it."}`))
	x := s.Session("app-1", coppice.SessionWorking, func(x *coppice.Session) { x.Role = coppice.RoleVerify })
	s.Update(func(tx store.Tx) error {
		return tx.Landings.Put(&coppice.Landing{ProjectID: x.ProjectID, TaskID: x.TaskID, Head: strings.Repeat("cd", 20), CreatedAt: now, Candidate: coppice.Candidate{Green: true, Pushed: true}, Verified: true})
	})
	s.golden(t, "list-verifying", "list", "--status", "verifying")
	s.golden(t, "show-verdict", "show", "app-1")
}

func TestLogsGolden(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Project("/src/app")
	s.Task("app", coppice.NewTask{Title: "t"})
	x := s.Session("app-1", coppice.SessionDone, func(x *coppice.Session) { x.EndedAt = s.Clock.Now() })
	s.Change("app-1", func(t *coppice.Task) {
		t.Stage, t.Wait, t.Outcome, t.EndedAt = coppice.StageEnded, nil, coppice.OutcomeDone, s.Clock.Now()
	})
	s.Write(x.ID, coppice.OutputEvent,
		`{"kind":"init","model":"m-1","version":"2.0"}`,
		`{"kind":"thinking","text":"First look\naround."}`,
		`{"kind":"text","text":"I will read the file.\nThen change \u001b[2Jit."}`,
		`{"kind":"tool","name":"Read","paths":["list.go"]}`,
		`{"kind":"tool_result","ok":true,"text":"package a\nfunc b() {}\n"}`,
		`{"kind":"tool","name":"Bash","input":{"command":"make test\necho done"}}`,
		`{"kind":"tool_result","text":"exit 2\nboom"}`,
		`{"kind":"tool","ref":"9","name":"mcp__coppice__report_status","own":true}`,
		`{"kind":"call","ref":"app-1.1/3","name":"report_status","input":{"message":"reads"},"ok":true,"text":"{\"ok\":true}","took":"3ms"}`,
		`{"kind":"tool_result","ref":"9","name":"report_status","ok":true,"text":"{\"ok\":true}","own":true}`,
		`{"kind":"call","ref":"app-1.1/4","name":"watch_notes","input":{"keys":["go"]},"text":"the agent did not wait for the answer","took":"1m30s"}`,
		`{"kind":"question","text":"Continue?","options":["yes","no"]}`,
		`{"kind":"error","text":"the tool broke"}`,
		`{"kind":"usage","usage":{"cost_usd":1}}`,
	)
	s.Write(x.ID, coppice.OutputStdout, "raw \x1b[31mbytes\n")
	s.Write(x.ID, coppice.OutputHost, `{"kind":"notice","text":"the disk is full"}`)
	s.golden(t, "logs", "logs", "app-1")
	s.golden(t, "logs-follow", "logs", "-f", "app-1")
	s.golden(t, "logs-json", "logs", "app-1.1", "--json")
	if _, out, _ := s.run("", "logs", "app-1", "--raw"); out != "raw \x1b[31mbytes\n" {
		t.Errorf("raw to a pipe: %q", out)
	}
	s.env.Terminal = true
	if _, out, _ := s.run("", "logs", "app-1", "--raw"); out != "raw bytes\n" {
		t.Errorf("raw to a terminal: %q", out)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	s := setup(t)
	code, out, errs := s.run("the body\n", "new", "First", "--body-file", "-", "--check", "make a,b", "--check", "make c", "--priority", "-3", "--not-before", "2h")
	if code != 0 || !strings.Contains(out, "app-1  First\n") {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	d, err := s.Client.Task(s.Ctx, "app-1")
	s.Must(err)
	if d.Body != "the body\n" || len(d.Checks) != 2 || d.Checks[0] != "make a,b" || d.Priority != -3 || !d.NotBefore.Equal(s.Clock.Now().Add(2*time.Hour)) {
		t.Errorf("made %+v", d.Task)
	}
	file := filepath.Join(t.TempDir(), "tasks.yaml")
	s.Must(os.WriteFile(file, []byte("# two\ntasks:\n  - ref: a\n    title: One\n  - title: Two\n    after: [a, app-1]\n    checks: [make test]\n"), 0o600))
	if code, out, errs := s.run("", "new", "--file", file); code != 0 || !strings.Contains(out, "app-3  Two") {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	if code, out, errs := s.run(`[{"title":"Three","after":["app-3"]}]`, "new", "--file", "-", "--json"); code != 0 || !strings.Contains(out, `"key": "app-4"`) {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	s.Must(os.WriteFile(file, []byte("- title: One\n  titel: Two\n"), 0o600))
	if code, _, errs := s.run("", "new", "--file", file); code != 1 || !strings.Contains(errs, "[2:3]") || !strings.Contains(errs, "\n→ ") {
		t.Errorf("a mistake in the file: %d %s", code, errs)
	}
}

func TestBadAmountsAreRefused(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	for _, amount := range []string{"NaN", "Inf", "-1", "0x1p3", "1e3", "1000001", ".nan", ".inf", "-.inf", "0x10p0", "{}"} {
		for _, line := range []string{"new x --budget=" + amount, "set app-2 --budget=" + amount} {
			if code, _, errs := s.run("", strings.Fields(line)...); code != 2 || !strings.Contains(errs, "not a valid amount of money") || !strings.Contains(errs, "\n→ ") {
				t.Errorf("%s: %d %s", line, code, errs)
			}
		}
		if code, _, errs := s.run("- title: x\n  budget: "+amount+"\n", "new", "--file", "-"); code != 1 || !strings.Contains(errs, "\n→ ") {
			t.Errorf("a file with %s: %d %s", amount, code, errs)
		}
	}
	st, err := s.Client.Status(s.Ctx, "")
	s.Must(err)
	total := 0
	for _, n := range st.Counts {
		total += n
	}
	d, err := s.Client.Task(s.Ctx, "app-2")
	s.Must(err)
	if total != 5 || d.Budget != 0 {
		t.Errorf("something was written: %v, %v", st.Counts, d.Budget)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	for line, want := range map[string]int{
		"list": 0, "stop app-5": 1, "show app-99": 1, "show": 2, "show a b": 2, "list --nope": 2, "nope": 2, "logs ../x": 2, "new": 2,
		"list --limit 0": 2, "new x --not-before soon": 2, "new x --after app-77": 1, "new x --agent absent": 1, "backup": 0, "login": 0, "project": 0,
		"answer app-4 yes": 0, "answer app-1 yes": 1, "send app-1 hello there": 0, "retry app-5 --note again": 0, "stop app-1": 0, "requeue": 2, "requeue app-99": 1,
		"requeue app-4 --note no": 0, "requeue app-1 app-99 app-3": 1, "requeue app-4 --agent absent": 1, "requeue app-4 --nope": 2, "project pause": 0, "project resume app": 0,
		"undo": 1, "land app-2": 1, "events": 0, "diff app-1": 0, "project add /norepo": 1,
	} {
		if line == "stop app-5" {
			continue // what a stop of an ended task means is the engine's business
		}
		code, out, errs := s.run("", strings.Fields(line)...)
		if code != want {
			t.Errorf("%s: exit %d, want %d\n%s%s", line, code, want, out, errs)
		}
		some := line == "requeue app-1 app-99 app-3" // it continues after the one that does not exist
		if code != 0 && (!strings.HasPrefix(errs, "coppice: ") || (out != "") != some) {
			t.Errorf("%s: stdout %q stderr %q", line, out, errs)
		}
	}
}

// noServer finds no server.
func noServer(t *testing.T) func() (*client.Client, error) {
	return func() (*client.Client, error) { return client.New(t.TempDir()), nil }
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.env.Client = noServer(t)
	code, _, errs := s.run("", "list")
	if code != 1 || errs != "coppice: no coppice server is running\n→ start one with `coppice serve -d`\n" {
		t.Errorf("%d %q", code, errs)
	}
}

// obeyed finds a character that a terminal would obey, or that makes text look
// like other text.
func obeyed(s string) (rune, bool) {
	for _, r := range s {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029) {
			return r, true
		}
	}
	return 0, false
}

func TestUntrustedTextCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	s.Change("app-4", func(t *coppice.Task) { t.Title, t.Body, t.Agent = nasty, nasty, nasty })
	s.Change("app-5", func(t *coppice.Task) { t.Title, t.Failure.Text, t.Failure.Fix = nasty, nasty, nasty })
	x := s.Session("app-4", coppice.SessionWorking, func(x *coppice.Session) { x.Summary, x.Warning, x.Model = nasty, nasty, nasty })
	event, err := json.Marshal(map[string]any{"kind": "text", "text": nasty + "\x1b]52;c;eA==\a\r\u2028", "name": nasty})
	s.Must(err)
	s.Write(x.ID, coppice.OutputEvent, string(event), strings.Replace(string(event), `"text"`, `"tool"`, 1), nasty)
	s.Write(x.ID, coppice.OutputHost, nasty)
	s.Write(x.ID, coppice.OutputStdout, nasty)
	s.env.Terminal = true
	for _, width := range []int{0, 100} { // a terminal need not know its size
		s.env.Width = width
		for _, line := range []string{
			"list", "status", "show app-4", "show app-5", "diff app-4", "list --json", "show app-4 --json", "diff app-4 --json", "events", "events --json",
			"logs app-4", "logs app-4 --raw", "logs app-4 --json", "search red", "usage", "limits", "rules", "project", "features", "nope " + nasty, "show " + nasty, "set app-4 --title " + nasty,
		} {
			_, out, errs := s.run("", strings.Fields(line)...)
			if r, bad := obeyed(out + errs); bad {
				t.Errorf("%q lets %U through: %q", line, r, out+errs)
			}
		}
	}
	if _, out, _ := s.run("", "diff", "app-4"); !strings.Contains(out, "+Fix ^[[31mred<U+202E>txt<U+2069> <U+009B>2Jbell\n") {
		t.Errorf("a review does not show every character: %q", out)
	}
	if _, out, _ := s.run("", "logs", "app-4"); !strings.Contains(out, "Fix red<U+202E>txt<U+2069> <U+009B>2Jbell^[]52;c;eA==^G^M<U+2028>") {
		t.Errorf("the log does not show every character: %q", out)
	}
	s.env.Terminal = false
	if _, out, _ := s.run("", "diff", "app-4"); !strings.Contains(out, "+"+nasty+"\n") {
		t.Errorf("a diff to a pipe is not exact: %q", out)
	}
}

func FuzzClean(f *testing.F) {
	f.Add(nasty)
	f.Add("\x1b]0;title\x07\x9b31m\xff\r\n\x1b[\x1b[1m31m")
	f.Fuzz(func(t *testing.T, s string) {
		if r, bad := obeyed(cli.Clean(s)); bad {
			t.Fatalf("%U in %q", r, s)
		}
		var b strings.Builder
		if n, err := cli.Screen(&b).Write([]byte(s)); n != len(s) || err != nil || b.String() != cli.Clean(s) {
			t.Fatalf("a screen wrote %d, %v, %q", n, err, b.String())
		}
	})
}

func TestFollowContinuesWithLaterSessions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Project("/src/app")
	s.Task("app", coppice.NewTask{Title: "t"})
	done := make(chan string, 1)
	go func() { _, out, errs := s.run("", "logs", "-f", "app-1"); done <- out + errs }()
	for _, text := range []string{"one", "two"} {
		x := s.Session("app-1", coppice.SessionWorking, nil)
		s.Change("app-1", func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageSession, nil })
		s.Update(func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{At: s.Clock.Now(), Kind: coppice.EventSessionCreated, ProjectID: x.ProjectID, TaskID: x.TaskID, Subject: x.Key, By: "dispatch"})
		})
		s.Write(x.ID, coppice.OutputEvent, `{"kind":"text","text":"`+text+`"}`)
		if text == "one" {
			s.end(x.ID, nil)
		} else {
			s.end(x.ID, func(t *coppice.Task) {
				t.Stage, t.Outcome, t.EndedAt = coppice.StageEnded, coppice.OutcomeDone, s.Clock.Now()
			})
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a safety net only
	defer cancel()
	select {
	case out := <-done:
		if !strings.HasSuffix(out, "two\ndone\n") {
			t.Errorf("shown: %q", out)
		}
	case <-ctx.Done():
		t.Fatal("the command did not end")
	}
}

// end ends a session and changes its task, with their events.
func (s *shell) end(session int64, f func(*coppice.Task)) {
	s.Update(func(tx store.Tx) error {
		x, err := tx.Sessions.Get(session)
		if err != nil {
			return err
		}
		x.State, x.EndedAt = coppice.SessionDone, s.Clock.Now()
		t, err := tx.Tasks.Get(x.TaskID)
		if err != nil {
			return err
		}
		kind := coppice.EventTaskStage
		if f != nil {
			f(&t)
			kind = coppice.EventTaskEnded
		}
		return errors.Join(tx.Sessions.Put(&x), tx.Tasks.Put(&t),
			tx.Log.Append(&coppice.Event{At: x.EndedAt, Kind: kind, ProjectID: t.ProjectID, TaskID: t.ID, Subject: t.Key, By: "pipeline"}))
	})
}
