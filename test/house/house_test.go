package house_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice/test/house"
)

const (
	module = "coppice"
	root   = "../.."
)

func open(t *testing.T) *house.Tree {
	t.Helper()
	tree, err := house.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func packages(t *testing.T) []house.Package {
	t.Helper()
	list, err := house.List(root)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func report(t *testing.T, bad []house.Breach, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bad {
		t.Error(b)
	}
}

func TestArrows(t *testing.T) {
	t.Parallel()
	report(t, house.Arrows(module, packages(t)), nil)
}

func TestCommandsFollowNothing(t *testing.T) {
	t.Parallel()
	report(t, house.CommandImports(module, packages(t)), nil)
	bad, err := open(t).CommandCalls()
	report(t, bad, err)
}

func TestPackageComments(t *testing.T) {
	t.Parallel()
	report(t, house.PackageComments(packages(t)), nil)
}

func TestPackageNames(t *testing.T) {
	t.Parallel()
	report(t, house.PackageNames(packages(t)), nil)
}

func TestFileSizes(t *testing.T) {
	t.Parallel()
	notes, bad, err := open(t).FileSizes()
	for _, n := range notes {
		t.Log(n)
	}
	report(t, bad, err)
}

// check runs a rule on this repository.
func check(t *testing.T, rule func(*house.Tree) ([]house.Breach, error)) {
	t.Parallel()
	t.Helper()
	bad, err := rule(open(t))
	report(t, bad, err)
}

func TestFunctionSizes(t *testing.T)    { check(t, (*house.Tree).FunctionSizes) }
func TestCalls(t *testing.T)            { check(t, (*house.Tree).Calls) }
func TestAgentsAtHome(t *testing.T)     { check(t, (*house.Tree).AgentsAtHome) }
func TestWords(t *testing.T)            { check(t, (*house.Tree).Words) }
func TestUnfinished(t *testing.T)       { check(t, (*house.Tree).Unfinished) }
func TestLinks(t *testing.T)            { check(t, (*house.Tree).Links) }
func TestQuotes(t *testing.T)           { check(t, (*house.Tree).Quotes) }
func TestPackagesInReadme(t *testing.T) { check(t, (*house.Tree).Packages) }
func TestLeaks(t *testing.T)            { check(t, (*house.Tree).Leaks) }

func TestInterfaces(t *testing.T) {
	t.Parallel()
	bad, err := open(t).Interfaces(module)
	report(t, bad, err)
}

func TestMachinePaths(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	bad, err := open(t).MachinePaths(here)
	report(t, bad, err)
}

// fixture writes files into a fresh git repository.
func fixture(t *testing.T, files map[string]string) *house.Tree {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := house.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// expect checks that the breaches name these places and words.
func expect(t *testing.T, bad []house.Breach, err error, want ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range bad {
		got = append(got, b.String())
	}
	for i, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, w) }) {
			t.Errorf("breach %d (%s) was not found", i, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("found %d breaches, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
}

func TestFilesIgnoredByGitDoNotCount(t *testing.T) {
	t.Parallel()
	tree := fixture(t, map[string]string{".gitignore": "out/\n", "out/x.go": "", "new.go": "package x\n"})
	if !slices.Equal(tree.Files, []string{".gitignore", "new.go"}) {
		t.Fatal(tree.Files)
	}
}

func TestArrowsCanBreak(t *testing.T) {
	t.Parallel()
	pkg := func(path string, imports ...string) house.Package {
		return house.Package{ImportPath: path, Imports: imports}
	}
	bad := house.Arrows(module, []house.Package{
		// All of these are fine.
		pkg("coppice", "time", "encoding/json"),
		pkg("coppice/cmd/coppice", "coppice/store/sqlite", "coppice/agent/one"),
		pkg("coppice/test/e2e", "coppice/store/sqlite"),
		pkg("coppice/engine", "coppice", "coppice/flow", "coppice/store", "coppice/fabric", "coppice/internal/clock"),
		pkg("coppice/host", "coppice/agent", "os", "net"),
		pkg("coppice/worker", "coppice/host", "coppice/workspace", "os/exec"),
		pkg("coppice/store/sqlite", "coppice", "coppice/store", "coppice/store/sqlite/query", "database/sql"),
		pkg("coppice/store/storetest", "coppice/store"),
		pkg("coppice/workspace", "coppice/workspace/git"),
		pkg("coppice/workspace/trash", "coppice/workspace/git"),
		pkg("coppice/api/http", "coppice/engine", "coppice/store"),
		pkg("coppice/fabric/local", "coppice/fabric", "coppice/store"),
		pkg("coppice/api/apitest", "coppice/api/http", "coppice/api/client"),
		pkg("coppice/api/client", "coppice/api", "coppice/internal/clock", "net/http"),
		pkg("coppice/agent", "coppice", "net/url"),
		pkg("coppice/control/checkout", "coppice/api", "coppice/engine", "coppice/features", "os", "coppice/agent/profiles"),
		pkg("coppice/scripts/x", "coppice/store/sqlite"),
		// And each of these breaks a rule.
		pkg("coppice", "github.com/x/y", "coppice/store"),
		pkg("coppice/internal/leaf", "coppice", "coppice/store"),
		pkg("coppice/agent", "coppice/workspace", "coppice/agent/one", "net/http", "os"),
		pkg("coppice/api", "coppice/engine"),
		pkg("coppice/api/client", "coppice/engine", "coppice/api/http"),
		pkg("coppice/control", "coppice/api/http", "coppice/store/sqlite", "coppice/cmd/coppice/server", "coppice/ingest"),
		pkg("coppice/engine", "coppice/control"),
		pkg("coppice/agent/one", "coppice/agent/two"),
		pkg("coppice/engine", "coppice/store/sqlite", "coppice/worker", "os", "net/http", "os/exec"),
		pkg("coppice/flow", "coppice/store"),
		pkg("coppice/worker", "coppice/engine", "coppice/store", "coppice/ingest", "coppice/store/sqlite", "coppice/cmd/coppice"),
		pkg("coppice/api/http", "coppice/store/storetest"),
		pkg("coppice/fabric/local", "coppice/store/sqlite"),
		pkg("coppice/fabric", "coppice/store"),
		pkg("coppice/attic", "coppice"),
	})
	expect(t, bad, nil,
		".: imports github.com/x/y", ".: imports coppice/store",
		"internal/leaf: imports coppice:", "internal/leaf: imports coppice/store",
		"agent: imports coppice/workspace", "agent: imports coppice/agent/one: a contract", "agent: imports net/http", "agent: imports os:",
		"api: imports coppice/engine", "api/client: imports coppice/engine", "api/client: imports coppice/api/http: siblings",
		"control: imports coppice/api/http: only cmd", "control: imports coppice/store/sqlite", "control: imports coppice/cmd", "control: imports coppice/ingest",
		"engine: imports coppice/control", "agent/one: imports coppice/agent/two: siblings",
		"engine: imports coppice/store/sqlite: only cmd", "engine: imports coppice/worker", "engine: imports os:", "engine: imports net/http", "engine: imports os/exec",
		"flow: imports coppice/store",
		"worker: imports coppice/engine", "worker: imports coppice/store:", "worker: imports coppice/ingest", "worker: imports coppice/store/sqlite", "worker: imports coppice/cmd",
		"api/http: imports coppice/store/storetest",
		"fabric/local: imports coppice/store/sqlite", "fabric: imports coppice/store",
		"attic: this directory is not in the table")
}

func TestCommandsFollowNothingCanBreak(t *testing.T) {
	t.Parallel()
	expect(t, house.CommandImports(module, []house.Package{
		{ImportPath: "coppice/cmd/x", Imports: []string{"coppice/store/sqlite", "coppice/fabric/local", "coppice/control", "coppice/store", "github.com/fsnotify/fsnotify"}},
		{ImportPath: "coppice/cmd/y", Imports: []string{"coppice/fabric"}, TestImports: []string{"coppice/store"}},
		{ImportPath: "coppice/control", Imports: []string{"coppice/store", "github.com/fsnotify/fsnotify"}},
	}), nil, "cmd/x: imports coppice/store:", "cmd/x: imports github.com/fsnotify/fsnotify", "cmd/y: imports coppice/fabric:")
	tree := fixture(t, map[string]string{
		"cmd/x/a.go":      "package x\nfunc f() {\n\ts.WaitEvent(1)\n\tw := s.Watch\n}\n",
		"cmd/x/a_test.go": "package x\nfunc g() { s.WaitEvent(1) }\n",
		"control/a.go":    "package control\nfunc f() { s.WaitEvent(1) }\n",
	})
	bad, err := tree.CommandCalls()
	expect(t, bad, err, "cmd/x/a.go:3: WaitEvent", "cmd/x/a.go:4: Watch")
}

func TestPackageRulesCanBreak(t *testing.T) {
	t.Parallel()
	list := []house.Package{
		{ImportPath: "coppice/store/util", GoFiles: []string{"a.go"}},
		{ImportPath: "coppice/store", Doc: "Package store keeps.", GoFiles: []string{"a.go"}},
		{ImportPath: "coppice/onlytests"},
	}
	expect(t, house.PackageComments(list), nil, "coppice/store/util: has no package comment")
	expect(t, house.PackageNames(list), nil, "util says nothing")
}

func TestSizesCanBreak(t *testing.T) {
	t.Parallel()
	lines := func(n int) string { return strings.Repeat("//\n", n) }
	body := func(name string, n int) string {
		return "func " + name + "() {\n" + strings.Repeat("\t_ = 0\n", n-2) + "}\n"
	}
	tree := fixture(t, map[string]string{
		"a/long.go":      "package a\n" + lines(600),
		"a/huge.go":      "package a\n" + lines(900),
		"a/made.go":      "// Code generated by a program. DO NOT EDIT.\n\npackage a\n" + lines(900) + body("made", 300),
		"testdata/x.go":  "package x\n" + lines(900),
		"a/x_test.go":    "package a\n" + body("table", 150),
		"a/functions.go": "package a\n" + body("fine", 100) + body("long", 101) + body("short", 3),
	})
	notes, bad, err := tree.FileSizes()
	expect(t, bad, err, "a/huge.go: has 901 lines")
	expect(t, notes, nil, "a/long.go: has 601 lines")
	bad, err = tree.FunctionSizes()
	expect(t, bad, err, "a/functions.go:102: long has 101 lines", "the 95th percentile")
}

func TestInterfacesCanBreak(t *testing.T) {
	t.Parallel()
	methods := func(name string, n int) string {
		text := ""
		for i := range n {
			text += fmt.Sprintf("\t%s%d()\n", name, i)
		}
		return text
	}
	tree := fixture(t, map[string]string{
		"store/store.go":    "package store\ntype Fine interface {\n" + methods("A", 12) + "}\ntype Long interface {\n" + methods("A", 13) + "}\n",
		"store/both.go":     "package store\ntype Same interface {\n\tFine\n" + methods("A", 3) + "}\ntype Sum interface {\n\tFine\n\tMore()\n}\n",
		"fabric/x/x.go":     "package x\nimport s \"coppice/store\"\ntype Far interface {\n\ts.Fine\n\tMore()\n}\n",
		"api/api.go":        "package api\nimport \"io\"\ntype Open interface{ io.Closer }\ntype Text interface{ ~string | ~int }\n",
		"engine/engine.go":  "package engine\ntype Long interface {\n" + methods("A", 13) + "}\n",
		"store/x_test.go":   "package store\ntype Fake interface {\n" + methods("A", 13) + "}\n",
		"api/apitest/a.go":  "package apitest\ntype Fake interface {\n" + methods("A", 13) + "}\n",
		"api/http/local.go": "package http\nfunc f() {\n\ttype inner interface {\n" + methods("A", 13) + "\t}\n}\n",
	})
	bad, err := tree.Interfaces(module)
	expect(t, bad, err,
		"store/store.go:16: store.Long has 13", "store/both.go:8: store.Sum has 13", "fabric/x/x.go:3: fabric/x.Far has 13",
		"api/api.go:3: api.Open embeds io.Closer", "api/http/local.go:3: api/http.inner has 13")
}

func TestLeaksCanBreak(t *testing.T) {
	t.Parallel()
	const starts = "package a\n\nfunc f() { go f() }\n"
	tree := fixture(t, map[string]string{
		"checked/a.go": starts, "checked/a_test.go": "package a\n\nimport \"go.uber.org/goleak\"\n",
		"missed/a.go": starts, "missed/a_test.go": "package a\n",
		"group/a.go": "package a\n\nfunc f() { wg.Go(f) }\n", "group/a_test.go": "package a\n",
		"calm/a.go": "package a\n", "calm/a_test.go": starts,
		"untested/a.go": starts,
	})
	bad, err := tree.Leaks()
	expect(t, bad, err, "missed/a.go:3: a goroutine is started", "group/a.go:3: a goroutine is started")
}

// A rule about the files of a tree finds what breaks it, and nothing else.
func TestRulesCanBreak(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule  func(*house.Tree) ([]house.Breach, error)
		files map[string]string
		want  []string
	}{
		"calls": {rule: (*house.Tree).Calls, files: map[string]string{
			"a/a.go":        "package a\nimport \"context\"\nvar x = context.Background()\n",
			"a/b.go":        "package a\nimport c \"context\"\nvar y = c.TODO()\n",
			"a/a_test.go":   "package a\nimport (\n\"time\"\n\"context\")\nfunc f() { time.Sleep(1); _ = context.Background() }\n",
			"a/fine.go":     "package a\nimport \"time\"\nvar context struct{ Background func() }\nfunc g() { time.Sleep(1); context.Background() }\n",
			"cmd/x/main.go": "package main\nimport \"context\"\nfunc main() { _ = context.Background() }\n",
		}, want: []string{"a/a.go:3: a context", "a/b.go:3: a context", "a/a_test.go:5: a test does not sleep"}},
		"agents at home": {rule: (*house.Tree).AgentsAtHome, files: map[string]string{
			"agent/profiles/parrot.yaml":    "command: [parrot]\n",
			"agent/profiles/owl.yaml":       "",
			"agent/profiles/command.yaml":   "",
			"agent/profiles/profiles.go":    "package profiles\n",
			"agent/parrot/parrot.go":        "package parrot // parrot and Parrot\n",
			"agent/parrot/wrong.go":         "package parrot // knows of the owl\n",
			"engine/dispatch.go":            "package engine\nvar x = \"parrotSession\" // command\n",
			"engine/dispatch_test.go":       "package engine // parrot\n",
			"scripts/run.sh":                "echo PARROT\n",
			"docs/agents.md":                "parrot\n",
			"README.md":                     "owl\n",
			"test/agents/install.sh":        "parrot\n",
			"agent/agenttest/testdata/x.go": "parrot\n",
		}, want: []string{"engine/dispatch.go:2: the agent parrot", "scripts/run.sh:1: the agent PARROT", "agent/parrot/wrong.go:1: the agent owl"}},
		"unfinished": {rule: (*house.Tree).Unfinished, files: map[string]string{
			"a/a.go":    "package a\n// TODO: finish\nvar s = \"TODO list\"\n// good for nowadays\n",
			"a/b.go":    "package a\n/* this will do For Now */\n",
			"run.sh":    "# FIXME\n",
			"docs/x.md": "a TODO in prose\n",
			"blob":      "\x00 TODO\n",
		}, want: []string{"a/a.go:2: unfinished: TODO", "a/b.go:2: unfinished: For Now", "run.sh:1: unfinished: FIXME"}},
		"links": {rule: (*house.Tree).Links, files: map[string]string{
			"README.md": "# A b\n[a](docs/x.md) [b](docs/x.md#keys-gateways-and-proxies) [c](#a-b) [d](https://host/no) [e](docs/)\n" +
				"[f](docs/no.md)\n\n```\n[g](no)\n```\n[h](docs/x.md#nothing)\n",
			"docs/x.md": "# X\n## Keys, gateways and `proxies`\n```\n# nothing\n```\n[i](../README.md) [j](x.md#x) [k](README.md)\n",
		}, want: []string{"README.md:2: the link docs/ ", "README.md:3: the link docs/no.md", "README.md:8: the link docs/x.md#nothing", "docs/x.md:6: the link README.md"}},
		"quotes": {rule: (*house.Tree).Quotes, files: map[string]string{
			"docs/troubleshooting.md": "| `the disk … is full: …` | a |\n| `the disk … is empty` | b |\n| a `text` | c |\n",
			"a/a.go":                  "package a\nvar s = \"the disk %s is full: %v\"\n",
			"a/a_test.go":             "package a\nvar t = \"is empty\"\n",
		}, want: []string{"docs/troubleshooting.md:2: the code does not print is empty"}},
		"packages in readme": {rule: (*house.Tree).Packages, files: map[string]string{
			"README.md":       "```\n.         the domain\na/deep/   one\ngone/     two\ninternal/  leaves: b, c\n```\n",
			"root.go":         "package root\n",
			"a/a.go":          "package a\n",
			"z/z.go":          "package z\n",
			"text/x.txt":      "x\n",
			"internal/b/b.go": "package b\n",
			"internal/d/d.go": "package d\n",
		}, want: []string{"does not list z", "does not list internal/d", "lists gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, err := c.rule(fixture(t, c.files))
			expect(t, bad, err, c.want...)
		})
	}
}

func TestMachinePathsCanBreak(t *testing.T) {
	t.Parallel()
	tree := fixture(t, map[string]string{
		"paths.go":  "package c\nvar p = \"/home/someone/x\"\n",
		"root.sh":   "cd /root/x\n",
		"conf.yaml": "dir: /madeup/main\n",
		"fine.go":   "package c\nvar p = \"lib/madeup/x\" + \"https://host/root/x\" + \"/home/\" + \"a/madeup/\" + \"/home/dev/x\" + \"/tmp/x\"\n",
		"blob":      "\x00 /root/x\n",
	})
	bad, err := tree.MachinePaths("/madeup/checkout")
	expect(t, bad, err, "paths.go:2", "root.sh:1", "conf.yaml:1")
	bad, err = tree.MachinePaths("/tmp/checkout")
	expect(t, bad, err, "paths.go:2", "root.sh:1")
}

func TestWordsCanBreak(t *testing.T) {
	t.Parallel()
	guide := "# Style\n\n| `fine` | x | |\n\n## Words\n\n| do not write | write | allowed |\n| --- | --- | --- |\n" +
		"| `mend`, `mended` | fix | |\n| `is no` | is not a | `there is no`, `is no longer` |\n\n## More\n\n| `more` | x | |\n"
	tree := fixture(t, map[string]string{
		"docs/style.md":         guide,
		"docs/configuration.md": "mended\n",
		"docs/deep/x.md":        "mended\n",
		"checked/a.go":          "package a\n\n// A file is\n// no more.\nvar isMended_ = amend + `mend`\n",
		"checked/testdata/a.go": "package a // mended\n",
		"README.md":             "It was Mended.\n\n```\nmend\n```\n\nThis is\nno file. `mend` it, [here](mend.md). A mender amends. There is\nno more, fine and is no longer.\n",
		"docs/agents.md":        "<!-- begin: made -->\nmended\n<!-- end -->\nmend\n",
	})
	bad, err := tree.Words()
	expect(t, bad, err, `README.md:1: "Mended": write fix`, `README.md:7: "is no": write is not a`,
		`checked/a.go:3: "is no"`, `checked/a.go:5: "Mended"`, `checked/a.go:5: "mend"`, `docs/agents.md:4: "mend"`)
	tree = fixture(t, map[string]string{"docs/style.md": "# Style\n"})
	if _, err := tree.Words(); err == nil {
		t.Error("a guide without a table is accepted")
	}
}
