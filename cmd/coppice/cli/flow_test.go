package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/cmd/coppice/cli"
	"coppice/store"
)

// fillFlow creates a cycle, app-6, as the engine would leave it in its second cycle.
func (s *shell) fillFlow() {
	s.fill()
	spec := json.RawMessage(`{"tasks": [{"title": "a"}]}`)
	s.Task("app", coppice.NewTask{Title: "Import from CSV", Budget: 20, Flow: &coppice.NewFlow{Kind: coppice.FlowBatch, Spec: spec}})
	flow := s.Change("app-6", func(t *coppice.Task) {
		t.Stage, t.Wait = coppice.StageFlow, nil
		t.Flow.Kind, t.Flow.Branch, t.Flow.Note = coppice.FlowCycle, true, "cycle 2 of 10: reviewing (1 of 3 milestones done)"
	})
	now := s.Clock.Now()
	for i, key := range []string{"assess", "c1/review", "c1/implement", "c2/review"} {
		step := s.Task("app", coppice.NewTask{Title: "Step " + key})
		s.Change(step.Key, func(t *coppice.Task) {
			t.Parent, t.Step = flow.ID, &coppice.Step{Flow: flow.ID, Key: key}
			if i < 3 {
				t.Stage, t.Wait, t.Outcome, t.EndedAt = coppice.StageEnded, nil, coppice.OutcomeDone, now.Add(time.Minute)
			}
		})
		if i < 3 {
			s.Session(step.Key, coppice.SessionDone, func(x *coppice.Session) {
				x.EndedAt, x.Summary, x.Usage.CostUSD = now.Add(time.Minute), "It is done.", 0.25
			})
		}
	}
}

// writePlan writes the plan of that cycle.
func (s *shell) writePlan(text string) {
	s.T.Helper()
	_, err := s.Client.PutDocument(s.Ctx, "app-6", "plan", api.DocumentWrite{Text: text})
	s.Must(err)
}

func TestFlowCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fillFlow()
	s.golden(t, "flow-list", "flow", "list")
	s.writePlan("- [x] M1 reads a file\n- [ ] M2 writes rows\n")
	s.golden(t, "flow-show", "flow", "show", "app-6")
	s.golden(t, "flow-show-task", "flow", "show", "app-1")
	s.golden(t, "flow-task", "show", "app-6")
	s.golden(t, "flow-step", "show", "app-8")
	s.golden(t, "flow-docs", "flow", "docs", "app-6")
	s.golden(t, "flow-doc", "flow", "doc", "app-6", "plan")
	s.golden(t, "flow-doc-missing", "flow", "doc", "app-6", "none")
	s.golden(t, "flow-pause", "flow", "pause", "app-6")
	s.golden(t, "flow-pause-task", "flow", "pause", "app-1")
	s.Change("app-6", func(t *coppice.Task) {
		t.Stage, t.Wait = coppice.StageWaiting, &coppice.Wait{On: coppice.WaitPerson, Text: "paused by person"}
	})
	s.golden(t, "flow-resume-wrong", "flow", "resume", "app-6", "--from", "review", "--cycle", "7")
	s.golden(t, "flow-resume", "flow", "resume", "app-6", "--from", "review", "--cycle", "1")
	s.golden(t, "flow-wrap-up", "flow", "wrap-up", "app-6")
	s.golden(t, "flow-cancel", "flow", "cancel", "app-6")
	if code, out, _ := s.run("", "list"); code != 0 || !strings.Contains(out, "flow:cycle") {
		t.Errorf("coppice list does not mark the flow:\n%s", out)
	}
}

// The step that a person means by a phase is the last one, unless a cycle is named.
func TestResumeNamesAStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags []string
		from  string
	}{
		{[]string{"--from", "review"}, "c2/review"},
		{[]string{"--from", "review", "--cycle", "1"}, "c1/review"},
		{[]string{"--from", "assess"}, "assess"},
		{[]string{"--from", "c1/implement"}, "c1/implement"},
		{[]string{"--from", "c1"}, "c1/review"},
		{nil, ""},
	} {
		s := setup(t)
		s.fillFlow()
		s.Change("app-6", func(t *coppice.Task) {
			t.Stage, t.Wait = coppice.StageWaiting, &coppice.Wait{On: coppice.WaitPerson, Text: "paused"}
		})
		code, _, errs := s.run("", append([]string{"flow", "resume", "app-6"}, c.flags...)...)
		var asks []coppice.Ask
		s.Must(s.Store.View(s.Ctx, func(r store.Reader) error {
			t, err := r.Tasks.ByKey("app-6")
			if err == nil {
				asks, err = r.Asks.Open(coppice.TaskSubject(t.ID))
			}
			return err
		}))
		if code != 0 || len(asks) != 1 || asks[0].Text != c.from {
			t.Errorf("%v: exit code %d, requests %+v, want one from %q\n%s", c.flags, code, asks, c.from, errs)
		}
	}
}

// What the commands send is what the flags say.
func TestFlowsAreStarted(t *testing.T) {
	t.Parallel()
	yaml := filepath.Join(t.TempDir(), "list.yaml")
	if err := os.WriteFile(yaml, []byte("- title: a\n  ref: one\n- title: b\n  after: [one]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		stdin, title, body, spec string
		args                     []string
	}{
		"lines": {"# a list\n- a\n* b\n\nc: d\n", "3 tasks", "", `{"tasks":[{"title":"a"},{"title":"b"},{"title":"c: d"}]}`, []string{"batch", "-"}},
		"yaml":  {"", "2 tasks of list.yaml", "", `{"tasks":[{"ref":"one","title":"a"},{"title":"b","after":["one"]}],"most":1}`, []string{"batch", yaml, "--most", "1"}},
		"goal": {"", "x", "", `{"agents":["bob","ann"],"lead":"bob","workers":2,"rounds":5,"verifier":"ann"}`, []string{
			"goal", "x", "--no-wait", "--lead", "bob", "--agents", "bob,ann", "--workers", "2", "--rounds", "5", "--verifier", "ann",
		}},
	} {
		s := setup(t, twoAgents)
		s.Project("/src/app")
		code, out, errs := s.run(c.stdin, append(c.args, "--budget", "5", "--time", "8h")...)
		if code != 0 || !strings.Contains(out, "coppice flow show app-1") {
			t.Errorf("%s: exit code %d, want the next command\n%s%s", name, code, out, errs)
			continue
		}
		f, err := s.Client.Flow(s.Ctx, "app-1")
		s.Must(err)
		if string(f.Spec) != c.spec || f.Task.Title != c.title || f.Task.Budget != 5 {
			t.Errorf("%s: %q with %s, want %q with %s", name, f.Task.Title, f.Spec, c.title, c.spec)
		}
	}
	s := setup(t)
	s.Project("/src/app")
	for _, c := range [][]string{
		{"batch", "-"},
		{"batch", yaml, "--debate", "--debate-first"},
		{"batch", yaml, "--between", "a,b"},
		{"cycle", "x", "--phase-turns", "dance=3"},
		{"cycle", "x", "--phase-turns", "review=many"},
		{"cycle", " "},
		{"goal"},
		{"goal", "x", "--file", "y"},
		{"new", "x", "--between", "a,b"},
		{"new", "x", "--debate-first", "--answer"},
		{"flow", "resume", "app-1", "--cycle", "1"},
	} {
		if code, _, errs := s.run("", c...); code == 0 || errs == "" {
			t.Errorf("coppice %s: exit code %d, want a refusal", strings.Join(c, " "), code)
		}
	}
	page, err := s.Client.Tasks(s.Ctx, client.TaskQuery{})
	if err != nil || len(page.Tasks) != 0 {
		t.Errorf("%+v, %v; want that nothing was created", page.Tasks, err)
	}
}

// A pasted text ends with /end or two blank lines, and cannot be too long.
func TestPaste(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"end":         {"a\n\nb\n/end\nc\n", "a\n\nb\n"},
		"blank lines": {"\n\na\n\n\nb\n", "\n\na\n\n"},
		"no end":      {"a", "a\n"},
	} {
		e := cli.Env{Stdin: strings.NewReader(c.in), Stderr: &strings.Builder{}}
		if got, err := cli.Paste(&e); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	for size, refused := range map[int]bool{9 << 10: false, 65 << 10: true} {
		var warned strings.Builder
		e := cli.Env{Stdin: strings.NewReader(strings.Repeat("a line\n", size/7) + "/end\n"), Stderr: &warned}
		_, err := cli.Paste(&e)
		if (coppice.ErrorCode(err) == coppice.ETooLarge) != refused || !refused && !strings.Contains(warned.String(), "8 KiB") {
			t.Errorf("%d bytes: %v, and %q; want refused %v, or a warning", size, err, warned.String(), refused)
		}
	}
}

// An edit of a document is stored only if nobody else changed the document. Otherwise
// the person's text is kept.
func TestEditDocument(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fillFlow()
	s.writePlan("one\n")
	var path string
	s.env.Edit = func(_ context.Context, p string) error {
		path = p
		return os.WriteFile(p, []byte("two\n"), 0o600)
	}
	if code, out, errs := s.run("", "flow", "doc", "app-6", "plan", "--edit"); code != 0 || out != "plan  version 2\n" {
		t.Errorf("%d %q %q, want version 2", code, out, errs)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file of the editor is left: %v", err)
	}
	if code, _, errs := s.run("", "flow", "doc", "app-6", "plan", "--edit"); code == 0 || !strings.Contains(errs, "nothing was stored") {
		t.Errorf("%d %q, want a refusal of a text that is as it was", code, errs)
	}
	s.env.Edit = func(_ context.Context, p string) error {
		path = p
		if _, err := s.Client.PutDocument(s.Ctx, "app-6", "plan", api.DocumentWrite{Text: "somebody else\n"}); err != nil {
			return err
		}
		return os.WriteFile(p, []byte("mine\n"), 0o600)
	}
	code, _, errs := s.run("", "flow", "doc", "app-6", "plan", "--edit")
	if code == 0 || !strings.Contains(errs, "has version 3, not 2") || !strings.Contains(errs, path) {
		t.Errorf("%d %q, want a conflict that names %s", code, errs, path)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "mine\n" {
		t.Errorf("%q, %v; want the person's text", b, err)
	}
	s.Must(os.RemoveAll(filepath.Dir(path)))
}

// A command that follows a flow prints its steps and its note. Its exit code is 0 only
// if the flow is done.
func TestFollowFlow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(*shell)
		code int
		last string
	}{
		"done":      {func(s *shell) { s.ends("app-1", coppice.OutcomeDone) }, 0, "done"},
		"failed":    {func(s *shell) { s.ends("app-1", coppice.OutcomeFailed) }, 1, "failed"},
		"needs you": {func(s *shell) { s.becomes("app-1", needsPerson) }, 1, "needs you"},
	} {
		s := setup(t)
		s.Project("/src/app")
		file := filepath.Join(t.TempDir(), "list")
		s.Must(os.WriteFile(file, []byte("a\n"), 0o600))
		wait := s.waiting("batch", file, "--wait")
		s.created()
		step := s.Task("app", coppice.NewTask{Title: "The step"})
		s.Session("app-2", coppice.SessionDone, func(x *coppice.Session) { x.EndedAt = x.StartedAt.Add(time.Minute) })
		s.ends("app-2", coppice.OutcomeDone)
		s.becomes("app-1", func(t *coppice.Task) { t.Flow.Note = "1 of 1 done" })
		s.Change("app-2", func(t *coppice.Task) { t.Parent, t.Step = step.ID-1, &coppice.Step{Flow: step.ID - 1, Key: "1"} })
		c.end(s)
		code, out, errs := wait()
		if code != c.code || errs != "" || !strings.Contains(out, "1 of 1 done\n✓ 1  app-2  robot  done in 1m00s\n") || !strings.Contains(out, "\n"+c.last) {
			t.Errorf("%s: exit code %d, want %d, the note, the step and the end\n%s%s", name, code, c.code, out, errs)
		}
	}
}

// created waits for the first task.
func (s *shell) created() {
	s.T.Helper()
	created := errors.New("created")
	err := s.Client.FollowEvents(s.Ctx, eventsFrom(0), func(ev api.Event) error {
		if ev.Kind == coppice.EventTaskCreated {
			return created
		}
		return nil
	}, nil)
	if !errors.Is(err, created) {
		s.T.Fatal(err)
	}
}

func TestFlowCompletion(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fillFlow()
	s.writePlan("x")
	s.wantCompletions(map[string]string{
		"flow show ":                   "app-6\tImport from CSV\n" + noFiles,
		"flow resume ":                 noFiles, // it runs
		"flow pause ":                  "app-6\tImport from CSV\n" + noFiles,
		"flow resume app-6 --from c1/": "c1/review\tStep c1/review\nc1/implement\tStep c1/implement\n" + noFiles,
		"flow doc ":                    "app-6\tImport from CSV\n" + noFiles,
		"flow doc app-6 ":              "plan\tversion 1\n" + noFiles,
	})
}
