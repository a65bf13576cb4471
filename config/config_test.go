package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/config"
)

var update = flag.Bool("update", false, "rewrite the published schema and the generated documentation")

func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n\n", "# only a comment\n", "---\n", "--- \n...\n", "\uFEFF", "checks:\nworkspace:\n", "{}"} {
		p, err := config.Parse("coppice.yaml", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if d := cmp.Diff(coppice.DefaultPolicy(), p); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestEverything(t *testing.T) {
	t.Parallel()
	text := `
base: ai-develop
tracks:
  - {name: core, default: true, limit: 2}
  - {name: docs, completion: [none]}
limits: {sessions: 7, per_agent: {one: 3}, memory: 70%, reserve: 512 MiB, output: 1.5 GiB}
agent: {use: one, model: "m:large", effort: high, fallback: ["one:m:small", two, "two:x/y:1"], roles: {fix: two}, completion: {answer: [no_error_in_output]}}
agents:
  own:
    protocol: command
    command: [./agent.sh]
    args: [--prompt, "{prompt_file}"]
    prompt: file
    env: {NO_COLOR: "1"}
    pass_env: [HOME, OWN_*]
workspace: {kind: worktree, copy: [.env], link: [node_modules, a/b], setup: [npm ci], ports: 0}
checks:
  - make lint
  - |
    make test
    make more
verify: {attempts: 0, completion: [diff_not_empty, no_error_in_output]}
retry: {policy: analyze, max: 0, backoff: 1m30s}
health: {stalled: 5m, long: 2h, timeout: 1d, check: 90s}
land: {how: branch, strategy: rebase, push: true, remote: upstream}
trash: {keep: [], ttl: 30d}
`
	want := coppice.Policy{
		Base:   "ai-develop",
		Tracks: []coppice.Track{{Name: "core", Default: true, Limit: 2}, {Name: "docs", Completion: []string{coppice.CompletionNone}}},
		Limits: coppice.Limits{Sessions: 7, PerAgent: map[string]int{"one": 3}, Memory: 70, Reserve: 512 << 20, Output: 3 << 29},
		Agent: coppice.AgentChoice{Use: "one", Model: "m:large", Effort: "high", Fallback: []string{"one:m:small", "two", "two:x/y:1"}, Roles: map[coppice.Role]string{coppice.RoleFix: "two"},
			Completion: map[coppice.Role][]string{coppice.RoleAnswer: {coppice.CompletionErrors}}},
		Agents: map[string]coppice.Profile{"own": {Protocol: "command", Command: []string{"./agent.sh"}, Args: []string{"--prompt", "{prompt_file}"},
			Prompt: "file", Env: map[string]string{"NO_COLOR": "1"}, PassEnv: []string{"HOME", "OWN_*"}}},
		Workspace: coppice.WorkspacePolicy{Kind: "worktree", Copy: []string{".env"}, Link: []string{"node_modules", "a/b"}, Setup: []string{"npm ci"}},
		Checks:    []string{"make lint", "make test\nmake more\n"},
		Verify:    coppice.VerifyPolicy{Completion: []string{coppice.CompletionDiff, coppice.CompletionErrors}},
		Retry:     coppice.RetryPolicy{Policy: coppice.RetryAnalyze, Backoff: coppice.Duration(90 * time.Second)},
		Health: coppice.HealthPolicy{Stalled: coppice.Duration(5 * time.Minute), Long: coppice.Duration(2 * time.Hour),
			Timeout: coppice.Duration(24 * time.Hour), Check: coppice.Duration(90 * time.Second)},
		Land:  coppice.LandPolicy{How: "branch", Strategy: "rebase", Push: true, Remote: "upstream"},
		Trash: coppice.TrashPolicy{Keep: []string{}, TTL: coppice.Duration(30 * 24 * time.Hour)},
	}
	for name, text := range map[string]string{"lines": text, "windows lines": strings.ReplaceAll(text, "\n", "\r\n")} {
		p, err := config.Parse("coppice.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "windows lines" {
			p.Checks[1] = strings.ReplaceAll(p.Checks[1], "\r\n", "\n")
		}
		if d := cmp.Diff(want, p); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestChangesBuiltInAgent(t *testing.T) {
	t.Parallel()
	p, err := config.Parse("coppice.yaml", []byte("agents: {scripted: {args: [-x]}}"))
	if err != nil || len(p.Agents["scripted"].Args) != 1 || p.Agents["scripted"].Protocol != "" {
		t.Fatal(err, p.Agents)
	}
}

func TestFirstTrackIsTheDefault(t *testing.T) {
	t.Parallel()
	p, err := config.Parse("coppice.yaml", []byte("tracks: [{name: a}, {name: b}]"))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := p.Track(""); !ok || got.Name != "a" {
		t.Fatalf("the default is %v", got)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("coppice.yaml", []byte(c.text))
			var e *coppice.Error
			if !errors.As(err, &e) || e.Code != coppice.EInvalid {
				t.Fatalf("got %v", err)
			}
			if e.Fix == "" {
				t.Errorf("no way out: %v", err)
			}
			if !strings.HasPrefix(e.Cause, "coppice.yaml:"+c.at+": ") {
				t.Errorf("not at %s: %v", c.at, err)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("does not say %q: %v", part, err)
				}
			}
		})
	}
}

func TestErrorShowsTheLine(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("coppice.yaml", []byte("base: main\nchekcs: [make test]\n"))
	want := "coppice.yaml:2:1: unknown key \"chekcs\", did you mean \"checks\"?\n" +
		"  2 | chekcs: [make test]\n" +
		"    | ^ (known here: base, tracks, limits, agent, agents, workspace, checks, verify, retry, health, land, trash, permissions, mcp, locks, features, instructions, progress, budget, prices, critical_patterns, hooks, forge, reactions, tracker, trust, notify, prompt, goal)"
	if err == nil || err.Error() != want {
		t.Fatalf("got\n%v\nwant\n%s", err, want)
	}
	var at *config.At
	if !errors.As(err, &at) || at.Line != 2 || at.Column != 1 || at.File != "coppice.yaml" {
		t.Fatalf("got %+v", at)
	}
	_, err = config.Parse("coppice.yaml", []byte("x: {"+strings.Repeat("é", 500)+": 1}"))
	if err == nil || len(err.Error()) > 1000 {
		t.Fatalf("a long line is shown whole: %v", err)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, src, err := config.Load(dir)
	if err != nil || src.Read || cmp.Diff(coppice.DefaultPolicy(), p) != "" {
		t.Fatalf("no file: %v %+v", err, src)
	}
	write(t, dir, "base: x\nlimits:\n  sessions: 2\n")
	p, src, err = config.Load(dir)
	if err != nil || p.Base != "x" || p.Limits.Sessions != 2 || p.Limits.Memory != 80 {
		t.Fatalf("%v %+v", err, p)
	}
	if d := cmp.Diff(map[string]int{"base": 1, "limits": 2, "limits.sessions": 3}, src.Set); d != "" || !src.Read {
		t.Fatal(d)
	}
	write(t, dir, strings.Repeat("# comment\n", 110_000))
	if _, _, err = config.Load(dir); coppice.ErrorCode(err) != coppice.EInvalid || !strings.Contains(err.Error(), "bigger") {
		t.Fatalf("a huge file: %v", err)
	}
	other := t.TempDir()
	if err := os.Mkdir(filepath.Join(other, config.File), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err = config.Load(other); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Fatalf("a directory: %v", err)
	}
}

func TestLoadRefusesLinksOut(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(out, "out")
	link(filepath.Join(out, "not-there"), "dangling")
	link("inner", "in")
	if err := os.Mkdir(filepath.Join(dir, "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, ok := range map[string]bool{"out": false, "out/deeper/still": false, "dangling": false, "in": true, "in/new": true, "new/er": true} {
		for _, key := range []string{"copy", "link"} {
			write(t, dir, "workspace:\n  "+key+": [.env, "+path+"]\n")
			_, _, err := config.Load(dir)
			if (err == nil) != ok {
				t.Errorf("%s %s: %v", key, path, err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "coppice.yaml:2:16: ") {
				t.Errorf("wrong place: %v", err)
			}
		}
	}
}

func write(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, config.File), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range refused {
		f.Add([]byte(c.text))
	}
	f.Add([]byte("base: main\ntracks: [{name: a}]\nchecks: [make]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := config.Parse("coppice.yaml", b)
		if err == nil {
			return
		}
		var e *coppice.Error
		if !errors.As(err, &e) || e.Code != coppice.EInvalid || e.Cause == "" {
			t.Fatalf("not a *coppice.Error: %v", err)
		}
		var at *config.At
		if errors.As(err, &at) {
			if at.Line < 1 || at.Column < 1 {
				t.Fatalf("nowhere: %v", err)
			}
			return
		}
		if !strings.HasPrefix(e.Cause, "coppice.yaml is ") {
			t.Fatalf("neither a place nor about the file: %v", err)
		}
	})
}

func TestLinksOfTheFile(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, text := range map[string]string{"secret": "root:x:hunter2\n", "fine.yaml": "base: main\n"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for to, says := range map[string]string{
		filepath.Join(outside, "secret"):    "leaves the repository",
		filepath.Join(outside, "fine.yaml"): "leaves the repository", // whatever is in it
		filepath.Join(outside, "missing"):   "does not exist",
		"/etc/shadow":                       "leaves the repository",
		"/dev/zero":                         "leaves the repository",
		"folder/out":                        "leaves the repository", // a link within to a link that leaves
		"../" + filepath.Base(outside):      "leaves the repository",
		"folder":                            "not a file",
		"folder/real.yaml":                  "",
		"folder/link.yaml":                  "",
	} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(filepath.Dir(outside), "repo-"+filepath.Base(to))
			for _, err := range []error{
				os.MkdirAll(filepath.Join(dir, "folder"), 0o755),
				os.WriteFile(filepath.Join(dir, "folder", "real.yaml"), []byte("limits: {sessions: 3}\n"), 0o644),
				os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "folder", "out")),
				os.Symlink("real.yaml", filepath.Join(dir, "folder", "link.yaml")),
				os.Symlink(to, filepath.Join(dir, config.File)),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			p, _, err := config.Load(dir)
			if says == "" {
				if err != nil || p.Limits.Sessions != 3 {
					t.Fatalf("%+v, %v", p.Limits, err)
				}
				return
			}
			var e *coppice.Error
			if !errors.As(err, &e) || e.Code != coppice.EInvalid || e.Fix == "" || !strings.Contains(e.Cause, says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v", err)
			}
		})
	}
}
