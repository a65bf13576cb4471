package setup_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
	"coppice/cmd/coppice/setup"
	"coppice/config"
	"coppice/test/testfile"
	"coppice/workspace/git"
)

var update = flag.Bool("update", false, "rewrite the golden sections of testdata")

func runner(t testing.TB) *git.Runner {
	t.Helper()
	r, err := git.New(git.Config{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// repository creates a repository with the files in it, and a commit on main.
func repository(t testing.TB, run *git.Runner, files []file) string {
	t.Helper()
	dir := testfile.Dir(t)
	put(t, dir, files)
	do(t, run, dir, "init", "-q", "-b", "main")
	do(t, run, dir, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

func put(t testing.TB, dir string, files []file) {
	t.Helper()
	for _, f := range files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func do(t testing.TB, run *git.Runner, dir string, args ...string) string {
	t.Helper()
	out, err := run.Run(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every kind of repository: the findings and the written file.
func TestInitGolden(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	run := runner(t)
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var input []file
			want := map[string]string{}
			for _, f := range parseArchive(text) {
				if golden, ok := strings.CutPrefix(f.Name, "want/"); ok {
					want[golden] = string(f.Data)
				} else {
					input = append(input, f)
				}
			}
			dir := repository(t, run, input)
			var out bytes.Buffer
			err = setup.Init(t.Context(), setup.Options{Dir: dir, Yes: true, Agents: []string{"one"}, Stdout: &out, Git: run.Run})
			if err != nil {
				t.Fatal(err)
			}
			written, err := os.ReadFile(filepath.Join(dir, config.File))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{"coppice.yaml": string(written), "output": strings.ReplaceAll(out.String(), dir, "DIR")}
			if _, _, err := config.Load(dir); err != nil {
				t.Errorf("what was written cannot be read: %v", err)
			}
			if *update {
				all := append(input, file{Name: "want/output", Data: []byte(got["output"])},
					file{Name: "want/coppice.yaml", Data: []byte(got["coppice.yaml"])})
				if err := os.WriteFile(name, formatArchive(all), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for name := range got {
				if got[name] != want[name] {
					t.Errorf("%s differs; got\n%s\nwant\n%s", name, got[name], want[name])
				}
			}
		})
	}
}

// setupInit runs Init with answers and returns its output.
func setupInit(t testing.TB, run *git.Runner, o setup.Options, answers string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	o.Stdout, o.Git = &out, run.Run
	if answers != "" {
		o.Stdin = strings.NewReader(answers)
	}
	err := setup.Init(t.Context(), o)
	return out.String(), err
}

func load(t testing.TB, dir string) coppice.Policy {
	t.Helper()
	p, src, err := config.Load(dir)
	if err != nil || !src.Read {
		t.Fatal(err, src)
	}
	return p
}

func TestInitAsks(t *testing.T) {
	t.Parallel()
	run := runner(t)
	dir := repository(t, run, nil)
	do(t, run, dir, "branch", "ai")
	out, err := setupInit(t, run, setup.Options{Dir: dir, Agents: []string{"one", "two"}}, "nowhere\nai\n\nmake x: \"y\" # z\n")
	if err != nil {
		t.Fatal(err, out)
	}
	p := load(t, dir)
	if p.Base != "ai" || p.Agent.Use != "one" || len(p.Checks) != 1 || p.Checks[0] != `make x: "y" # z` {
		t.Fatalf("%+v\n%s", p, out)
	}
	if !strings.Contains(out, `there is no branch "nowhere"`) {
		t.Fatal(out)
	}
}

// If work would land on the branch that is checked out, init explains what that
// means and offers a separate branch. It creates no branch without consent.
func TestInitOffersASeparateBranch(t *testing.T) {
	t.Parallel()
	run := runner(t)
	const explains, offers = "Coppice never overwrites a file that you changed", "Land on a separate branch?"
	for name, c := range map[string]struct {
		o                   setup.Options
		answers             string
		code                coppice.Code
		base, branches      string
		explained, separate bool
	}{
		"declined":                   {setup.Options{}, "\n\n\n\n", "", "main", "ai main", true, false},
		"a new one":                  {setup.Options{}, "\nagents\n\n\n", "", "agents", "agents ai main", true, true},
		"one that exists":            {setup.Options{}, "\nai\n\n\n", "", "ai", "ai main", true, false},
		"not a name, then a new one": {setup.Options{}, "\n-x\nagents\n\n\n", "", "agents", "agents ai main", true, true},
		"another branch at once":     {setup.Options{}, "ai\n\n\n", "", "ai", "ai main", false, false},
		"nobody to ask":              {setup.Options{Yes: true}, "", "", "main", "ai main", false, false},
		"a flag":                     {setup.Options{Yes: true, Base: "agents", Create: true}, "", "", "agents", "agents ai main", false, true},
		"a flag, and it exists":      {setup.Options{Yes: true, Base: "ai", Create: true}, "", "", "ai", "ai main", false, false},
		"no consent":                 {setup.Options{Yes: true, Base: "agents"}, "", coppice.ENotFound, "", "ai main", false, false},
		"not a name":                 {setup.Options{Yes: true, Base: "-x", Create: true}, "", coppice.EInvalid, "", "ai main", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t, run, nil)
			do(t, run, dir, "branch", "ai")
			c.o.Dir = dir
			out, err := setupInit(t, run, c.o, c.answers)
			if coppice.ErrorCode(err) != c.code {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := strings.Join(strings.Fields(do(t, run, dir, "for-each-ref", "--format=%(refname:short)", "refs/heads")), " "); got != c.branches {
				t.Errorf("the branches are %s", got)
			}
			if got := do(t, run, dir, "symbolic-ref", "--short", "HEAD"); got != "main" {
				t.Errorf("%s is checked out", got)
			}
			if strings.Contains(out, explains) != c.explained || strings.Contains(out, offers) != c.explained {
				t.Errorf("it says\n%s", out)
			}
			if c.code != "" {
				return
			}
			if p := load(t, dir); p.Base != c.base {
				t.Errorf("work lands on %s", p.Base)
			}
			if c.separate && (do(t, run, dir, "rev-parse", c.base) != do(t, run, dir, "rev-parse", "main") || !strings.Contains(out, "run git merge "+c.base)) {
				t.Errorf("the new branch is elsewhere than main, or it does not say what to do with it:\n%s", out)
			}
			if checkedOut := strings.Contains(out, "your files follow each landing"); checkedOut != (c.base == "main") {
				t.Errorf("says that the files follow: %t\n%s", checkedOut, out)
			}
		})
	}
}

// If the file exists, init creates no branch either.
func TestInitCreatesNoBranchBesideAFile(t *testing.T) {
	t.Parallel()
	run := runner(t)
	dir := repository(t, run, []file{{Name: config.File, Data: []byte("base: main\n")}})
	_, err := setupInit(t, run, setup.Options{Dir: dir, Yes: true, Base: "agents", Create: true}, "")
	if coppice.ErrorCode(err) != coppice.EConflict {
		t.Error(err)
	}
	if got := do(t, run, dir, "for-each-ref", "--format=%(refname)", "refs/heads"); got != "refs/heads/main" {
		t.Errorf("the branches are %s", got)
	}
}

func TestInitInSubdirectory(t *testing.T) {
	t.Parallel()
	run := runner(t)
	dir := repository(t, run, []file{{Name: "go.mod", Data: []byte("module x\n")}, {Name: "a/b/c.go"}})
	if _, err := setupInit(t, run, setup.Options{Dir: filepath.Join(dir, "a/b"), Yes: true, Base: "main", Agent: "mine"}, ""); err != nil {
		t.Fatal(err)
	}
	if p := load(t, dir); p.Base != "main" || p.Agent.Use != "mine" || len(p.Checks) != 2 {
		t.Fatalf("%+v", p)
	}
}

func TestInitNeverOverwrites(t *testing.T) {
	t.Parallel()
	run := runner(t)
	for name, make := range map[string]func(path string) error{
		"file":        func(path string) error { return os.WriteFile(path, []byte("# mine\n"), 0o600) },
		"broken link": func(path string) error { return os.Symlink("/nowhere/at/all", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t, run, []file{{Name: "Cargo.toml"}})
			path := filepath.Join(dir, config.File)
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			out, err := setupInit(t, run, setup.Options{Dir: dir, Yes: true}, "")
			if coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(out, "cargo test") {
				t.Fatal(err, out)
			}
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
				t.Fatal("it was touched", err)
			}
		})
	}
}

func TestInitRefuses(t *testing.T) {
	t.Parallel()
	run := runner(t)
	plain := t.TempDir()
	empty := t.TempDir()
	do(t, run, empty, "init", "-q")
	bare := t.TempDir()
	do(t, run, bare, "init", "-q", "--bare")
	good := repository(t, run, nil)
	detached := repository(t, run, nil)
	do(t, run, detached, "checkout", "-q", "--detach")
	for name, c := range map[string]struct {
		o    setup.Options
		says string
	}{
		"no repository":   {setup.Options{Dir: plain}, "not in a git repository"},
		"empty":           {setup.Options{Dir: empty}, "no commit yet"},
		"bare":            {setup.Options{Dir: bare}, "bare repository"},
		"inside .git":     {setup.Options{Dir: filepath.Join(good, ".git")}, "git's own folder"},
		"detached":        {setup.Options{Dir: detached}, "no branch is checked out"},
		"unknown base":    {setup.Options{Dir: good, Base: "nope"}, "no branch"},
		"base as command": {setup.Options{Dir: good, Base: "$(touch x)"}, "not a valid branch name"},
		"agent as option": {setup.Options{Dir: good, Agent: "-rf"}, "not a valid agent name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.o.Yes = true
			_, err := setupInit(t, run, c.o, "")
			if err == nil || !strings.Contains(err.Error(), c.says) || coppice.ErrorCode(err) == coppice.EInternal {
				t.Fatal(err)
			}
			if _, err := os.Lstat(filepath.Join(c.o.Dir, config.File)); err == nil {
				t.Fatal("a file was written")
			}
		})
	}
}

func TestInitWritesOnlyTheFile(t *testing.T) {
	t.Parallel()
	run := runner(t)
	dir := repository(t, run, nil)
	if _, err := setupInit(t, run, setup.Options{Dir: dir, Yes: true}, ""); err != nil {
		t.Fatal(err)
	}
	if got := do(t, run, dir, "status", "--porcelain"); strings.TrimSpace(got) != "?? coppice.yaml" {
		t.Fatal(got)
	}
}

func TestDetectDoesNotFollowLinksOut(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	put(t, out, []file{{Name: "package.json", Data: []byte(`{"scripts":{"test":"x"}}`)}})
	if err := os.Symlink(filepath.Join(out, "package.json"), filepath.Join(dir, "package.json")); err != nil {
		t.Fatal(err)
	}
	found, err := setup.Detect(dir)
	if err != nil || len(found) != 0 {
		t.Fatal(found, err)
	}
}

// The proposed text can be read back, whatever the files contain.
func TestWrittenAlwaysParses(t *testing.T) {
	t.Parallel()
	run := runner(t)
	names := []string{"go.mod", "package.json", "composer.json", "requirements.txt", "Gemfile", "pom.xml", "Makefile", "manage.py", ".env", "App.sln", ".gitignore", "tox.ini"}
	dir := repository(t, run, nil)
	rapid.Check(t, func(rt *rapid.T) {
		var files []file
		for _, n := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(rt, "files") {
			text := rapid.SampledFrom([]string{"", "*\n", "rails", "django pytest", "test:\nlint:\n", "\x00\xff", `{"scripts":{"test":"a: b #"}}`, `{"require":{"laravel/framework":1}}`}).Draw(rt, n)
			files = append(files, file{Name: n, Data: []byte(text)})
		}
		for _, n := range append(names, config.File) {
			_ = os.Remove(filepath.Join(dir, n)) // most are not there
		}
		put(t, dir, files)
		var out bytes.Buffer
		if err := setup.Init(context.WithoutCancel(t.Context()), setup.Options{Dir: dir, Yes: true, Stdout: &out, Git: run.Run}); err != nil {
			rt.Fatal(err)
		}
		if _, _, err := config.Load(dir); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestInitAsksAboutTheApp(t *testing.T) {
	t.Parallel()
	run := runner(t)
	files := []file{
		{Name: "package.json", Data: []byte(`{"dependencies":{"next":"15"}}`)}, {Name: "features.json", Data: []byte(`[{"id":1,"name":"x"}]`)},
		{Name: "compose.yaml", Data: []byte("services: {app: {volumes: ['.:/app']}}\n")},
	}
	for name, c := range map[string]struct {
		answers                   string
		service, serves, features string
	}{
		"defaults": {"\n\n\nmake\n\n\n\n", "", "npx next dev --port $COPPICE_PORT", "features.json"},
		"others":   {"\n\n\nmake\nno\n./serve $COPPICE_PORT\nno\n", "", "./serve $COPPICE_PORT", ""},
		"none":     {"\n\n\nmake\nn\n-\nmaybe\ny\n", "", "", "features.json"},
		"docker":   {"\n\n\nmake\nyes\n\n", "app", "", "features.json"},
	} {
		dir := repository(t, run, files)
		out, err := setupInit(t, run, setup.Options{Dir: dir, Agents: []string{"one"}}, c.answers)
		if err != nil {
			t.Fatal(name, err, out)
		}
		if p := load(t, dir); p.Workspace.Docker.Service != c.service || p.Workspace.Serve.Run != c.serves || p.Features != c.features {
			t.Errorf("%s: %+v %q after\n%s", name, p.Workspace, p.Features, out)
		}
	}
}
