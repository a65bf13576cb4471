package worker

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
	"coppice/workspace"
)

// serveFiles is the app of the tests. It serves its working directory.
func serveFiles() int {
	fmt.Println("serving on", os.Getenv("COPPICE_PORT"), "secret:", os.Getenv("API_SECRET"))
	fmt.Println(http.ListenAndServe("127.0.0.1:"+os.Getenv("COPPICE_PORT"), http.FileServer(http.Dir("."))))
	return 1
}

// fetchFile writes the answer of an address into a file.
func fetchFile(address, file string) int {
	res, err := http.Get(address)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer res.Body.Close()
	out, err := os.Create(file)
	if err == nil {
		err = res.Write(out)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// verify prepares a worktree at main and offers a read-only session.
func (b *bundle) verify(script string, change func(*coppice.RunSpec)) (run int64, spec coppice.RunSpec) {
	b.t.Helper()
	b.must(os.WriteFile(filepath.Join(b.dir, "script.yaml"), []byte(script), 0o600))
	s := coppice.Session{
		ProjectID: b.project.ID, TaskID: b.task.ID, N: 2, Key: "app-1.2", Role: coppice.RoleVerify, Agent: "ann", Prompt: "Verify it.",
		State: coppice.SessionStarting, CreatedAt: time.Now().UTC(),
	}
	ready, err := b.spaces.Prepare(b.ctx, coppice.PrepareSpec{
		Key: s.Key, Repo: b.repo, Base: "main", From: b.git("rev-parse", "main"), Detached: true, Policy: coppice.WorkspacePolicy{Ports: 1},
	})
	b.must(err)
	b.update(func(tx store.Tx) error { return tx.Sessions.Put(&s) })
	spec = coppice.RunSpec{Session: s, Task: b.task.Key, Repo: b.repo, Path: ready.Path, Ports: ready.Ports, Base: "main", ReadOnly: true}
	spec.Session.Prompt = ""
	if change != nil {
		change(&spec)
	}
	b.t.Cleanup(func() { b.endHost(s.ID) })
	return b.offer(coppice.WorkRun, "session/2/run", spec, s.ID), spec
}

func TestAVerifierChangesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step string
		want []string
	}{
		"looks":  {"run: git status", nil},
		"edits":  {"run: echo more >> README.md", []string{"README.md"}},
		"writes": {"write: {path: notes, content: x}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.must(os.WriteFile(filepath.Join(b.repo, "README.md"), []byte("an app\n"), 0o644))
			b.git("add", "README.md")
			b.git("commit", "-q", "-m", "A file")
			id, spec := b.verify("cases: [{role: verify, steps: [{"+c.step+"}, {say: \"STEP 1: PASS\"}]}]", func(s *coppice.RunSpec) {
				// Root ignores the modes. For other users they are changed here.
				b.must(os.Chmod(filepath.Join(s.Path, "README.md"), 0o644))
				b.must(os.Chmod(s.Path, 0o755))
			})
			b.start()
			r := result[coppice.RunResult](b, b.finished(id))
			head := b.git("rev-parse", "main")
			if r.Failure != nil || r.Summary != "STEP 1: PASS" || !slices.Equal(r.Changed, c.want) || r.From != head || r.Head != head || r.Stat != "" {
				t.Errorf("%+v, failure %v", r, r.Failure)
			}
			if on := b.git("-C", spec.Path, "rev-parse", "HEAD"); on != head {
				t.Error("something was committed")
			}
		})
	}
}

func TestTheAppOfAVerifier(t *testing.T) {
	t.Parallel()
	b := setup(t)
	self, err := os.Executable()
	b.must(err)
	b.environ = append(b.environ, "API_SECRET=nobody's business")
	b.must(os.WriteFile(filepath.Join(b.repo, "page.txt"), []byte("the candidate's page\n"), 0o644))
	b.git("add", "page.txt")
	b.git("commit", "-q", "-m", "A page")
	b.open()
	page := filepath.Join(b.dir, "page")
	script := fmt.Sprintf("cases: [{steps: [{run: '%s=fetch %s \"${COPPICE_URL}page.txt\" %s'}]}]", roleVar, self, page)
	id, spec := b.verify(script, func(s *coppice.RunSpec) {
		s.Serve = coppice.ServePolicy{Run: roleVar + "=web exec " + self, Ready: "http://127.0.0.1:${COPPICE_PORT}/"}
	})
	b.start()
	r := result[coppice.RunResult](b, b.finished(id))
	got, err := os.ReadFile(page)
	if r.Failure != nil || err != nil || !strings.Contains(string(got), "the candidate's page") {
		t.Fatalf("%v, %v: %s", r.Failure, err, got)
	}
	said := ""
	for _, o := range b.output(spec.Session.ID) {
		if o.Kind == coppice.OutputApp {
			said += string(o.Data)
		}
	}
	if want := fmt.Sprintf("serving on %d secret: \n", spec.Ports[0]); !strings.HasPrefix(said, want) {
		t.Errorf("the app said %q, not %q", said, want)
	}
}

func TestAnAppThatDoesNotComeUpIsAnEnvironmentFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := b.verify("cases: [{steps: [{say: hello}]}]", func(s *coppice.RunSpec) { s.Serve.Run = "echo no database; exit 3" })
	b.start()
	r := result[coppice.RunResult](b, b.finished(id))
	if r.Failure == nil || r.Failure.Class != coppice.ClassEnvironment || !strings.Contains(r.Failure.Text, "no database") || r.Summary != "" {
		t.Errorf("%+v: %v", r, r.Failure)
	}
}

func TestNoPortForTheApp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := b.verify("cases: [{steps: [{say: hello}]}]", func(s *coppice.RunSpec) { s.Serve.Run, s.Ports = "true", nil })
	b.start()
	if f := b.finished(id).Failure; f == nil || f.Class != coppice.ClassEnvironment || !strings.Contains(f.Text, "no port") {
		t.Errorf("%v", f)
	}
}

func TestAppURL(t *testing.T) {
	t.Parallel()
	for ready, want := range map[string]string{
		"":                                       "http://127.0.0.1:4000/",
		"http://127.0.0.1:${COPPICE_PORT}/ready": "http://127.0.0.1:4000/",
		"https://localhost:${COPPICE_PORT}":      "https://localhost:4000/",
		"http://127.0.0.1:9000/health":           "http://127.0.0.1:4000/",
		"://":                                    "http://127.0.0.1:4000/",
	} {
		if got := appURL(coppice.ServePolicy{Ready: ready}, 4000); got != want {
			t.Errorf("%q: %s, want %s", ready, got, want)
		}
	}
}

func TestTheAppsCommandInAService(t *testing.T) {
	t.Parallel()
	b := setup(t)
	spec := coppice.RunSpec{Serve: coppice.ServePolicy{Run: "npm run dev"}, Ports: []int{4000}, Docker: coppice.DockerPolicy{Service: "app"}}
	a, _, err := b.app(spec)
	if want := workspace.Command(coppice.WorkspacePolicy{Docker: spec.Docker}, "npm run dev"); err != nil || a.Run != want || a.Run == "npm run dev" {
		t.Errorf("%q, %v", a.Run, err)
	}
}

func TestCriticalPatterns(t *testing.T) {
	t.Parallel()
	patterns := []coppice.FailurePattern{{Match: "("}, {Match: `ECONNREFUSED.*5432`, Label: "the database is down"}, {Match: "no space"}}
	for name, c := range map[string]struct {
		steps, says string
		class       coppice.Class
	}{
		"no failure":      {"{run: echo ECONNREFUSED 5432}", "", ""},
		"in the output":   {"{run: echo ECONNREFUSED 127.0.0.1:5432}, {crash: {exit: 3}}", "the database is down: ", coppice.ClassEnvironment},
		"in the failure":  {"{fail: {class: unknown, text: no space left}}", "the environment is broken: \"no space\"", coppice.ClassEnvironment},
		"another failure": {"{fail: {class: unknown, text: tired}}", "tired", coppice.ClassUnknown},
		"its own remedy":  {"{run: echo ECONNREFUSED 5432}, {fail: {class: rate_limit, text: later}}", "later", coppice.ClassRateLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.project.Policy.Critical = patterns
			b.update(func(tx store.Tx) error { return tx.Projects.Put(&b.project) })
			id, _ := b.verify("cases: [{steps: ["+c.steps+"]}]", nil)
			b.start()
			r := result[coppice.RunResult](b, b.finished(id))
			switch {
			case c.class == "" && r.Failure != nil:
				t.Errorf("%v", r.Failure)
			case c.class != "" && (r.Failure == nil || r.Failure.Class != c.class || !strings.HasPrefix(r.Failure.Text, c.says)):
				t.Errorf("%v, want %s %q", r.Failure, c.class, c.says)
			}
		})
	}
}

func TestProgressIsInNoCommit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, s := b.run("cases: [{steps: [{write: {path: 'notes/so far.md', content: found it}}, {write: {path: a, content: b}}, {run: git add --all}]}]")
	b.update(func(tx store.Tx) error {
		w, err := tx.Work.Get(id)
		if err != nil {
			return err
		}
		spec, err := coppice.DecodeSpec[coppice.RunSpec](w)
		spec.Progress = "notes/so far.md"
		w.Spec = coppice.Raw(spec)
		b.must(err)
		return tx.Work.Put(&w)
	})
	b.start()
	r := result[coppice.RunResult](b, b.finished(id))
	if files := b.own("ls-tree", "-r", "--name-only", r.Head); !strings.Contains(files, "a") || strings.Contains(files, "so far") {
		t.Errorf("%s committed %q", s.Key, files)
	}
	if again, err := b.spaces.Prepare(b.ctx, coppice.PrepareSpec{Key: b.task.Key, Repo: b.repo, Branch: coppice.TaskBranch(b.task.Key), Base: "main"}); err != nil {
		t.Error(err)
	} else if got, err := os.ReadFile(filepath.Join(again.Path, "notes", "so far.md")); err != nil || string(got) != "found it" {
		t.Errorf("%q, %v", got, err)
	}
}
