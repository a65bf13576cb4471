package house

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// generic are agents whose names are ordinary words: the one that runs any
// program, the one that follows a script, and the plain terminal.
var generic = []string{"command", "scripted", "terminal"}

// AgentNames returns the names of the agents this repository knows, from the
// file names of their profiles.
func (t *Tree) AgentNames() []string {
	var names []string
	for _, f := range t.Files {
		dir, file := path.Split(f)
		if dir != "agent/profiles/" || path.Ext(file) != ".yaml" {
			continue
		}
		name := strings.TrimSuffix(file, path.Ext(file))
		if name != "" && !slices.Contains(generic, name) {
			names = append(names, name)
		}
	}
	return names
}

// wiring is the one file that says which protocols there are.
const wiring = "cmd/coppice/protocols/protocols.go"

// namesakes are other things of an agent's name, and where they are at home:
// the library that migrates the database, a model that is asked directly, and
// models that have a price.
var namesakes = map[string][]string{
	"goose": {"store/sqlite/"}, "claude": {"internal/smallmodel/", "price/"}, "codex": {"price/"}, "gemini": {"price/"},
}

// AgentsAtHome checks that an agent's name is only in its own directory, its
// profile, the documentation and tests, so that adding an agent is one file.
func (t *Tree) AgentsAtHome() ([]Breach, error) {
	// A name of two letters is part of other names, such as PID.
	names := slices.DeleteFunc(t.AgentNames(), func(name string) bool { return len(name) < 3 })
	if len(names) == 0 {
		return nil, nil
	}
	word := regexp.MustCompile(`\b(?i:(` + strings.Join(quoteAll(names), "|") + `))(?:\b|[A-Z_])`)
	return t.lines(func(file string) bool {
		return !isTest(file) && !isFixture(file) && !isProse(file) && !strings.HasPrefix(file, "agent/profiles/") && file != wiring && file != "go.mod" && file != "go.sum"
	}, func(file, line string) string {
		for _, found := range word.FindAllStringSubmatch(line, -1) {
			name := strings.ToLower(found[1])
			homes := append([]string{"agent/" + name + "/"}, namesakes[name]...)
			if !slices.ContainsFunc(homes, func(home string) bool { return strings.HasPrefix(file, home) }) {
				return "the agent " + found[1] + " is named outside of its own folder"
			}
		}
		return ""
	})
}

func quoteAll(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, regexp.QuoteMeta(n))
	}
	return out
}

// isProse reports whether a file is written for people.
func isProse(file string) bool {
	return strings.HasPrefix(file, "docs/") || strings.HasSuffix(file, ".md") || file == "LICENSE"
}

// nobody are the names of people who do not exist, for examples and for
// recordings from which the real name was taken out.
var nobody = []string{"/home/dev", "/home/user", "/home/you", "/home/somebody", "/Users/dev", "/Users/you"}

// everywhere are directories that most machines have.
var everywhere = []string{"home", "Users", "bin", "dev", "etc", "opt", "private", "run", "srv", "tmp", "usr", "var"}

// MachinePaths checks that no file names a path of somebody's machine: a home
// directory, or the directory at the top of this one, in which here is.
func (t *Tree) MachinePaths(here string) ([]Breach, error) {
	tops := "root"
	if top, _, _ := strings.Cut(strings.TrimPrefix(here, "/"), "/"); !slices.Contains(everywhere, top) {
		tops += "|" + regexp.QuoteMeta(top)
	}
	machine := regexp.MustCompile(`(?:^|[^\w./-])(/(?:` + tops + `)/|/home/[a-z]\w*|/Users/[A-Za-z]\w*)`)
	return t.lines(func(file string) bool { return !strings.HasPrefix(file, "test/house/") }, func(_, line string) string {
		for _, m := range machine.FindAllStringSubmatch(line, -1) {
			if !slices.Contains(nobody, m[1]) {
				return "a path of one machine: " + m[1]
			}
		}
		return ""
	})
}

// unfinished are words that promise work instead of doing it.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b|(?i)\bfor now\b`)

// Unfinished checks the comments in Go code, and every other file that is run,
// for such words.
func (t *Tree) Unfinished() ([]Breach, error) {
	var bad []Breach
	err := t.each(func(name string, fset *token.FileSet, f *ast.File) {
		if strings.HasPrefix(name, "test/house/") {
			return
		}
		for _, group := range f.Comments {
			for _, c := range group.List {
				if m := unfinished.FindString(c.Text); m != "" {
					bad = append(bad, Breach{name, fset.Position(c.Pos()).Line, "unfinished: " + m})
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	rest, err := t.lines(func(file string) bool {
		return !strings.HasSuffix(file, ".go") && !isProse(file) && !isFixture(file) && file != "go.sum"
	}, func(_, line string) string {
		if m := unfinished.FindString(line); m != "" {
			return "unfinished: " + m
		}
		return ""
	})
	return append(bad, rest...), err
}

// lines runs a check on every line of the chosen text files.
func (t *Tree) lines(choose func(file string) bool, check func(file, line string) string) ([]Breach, error) {
	var bad []Breach
	for _, file := range t.Files {
		if !choose(file) {
			continue
		}
		text, err := t.read(file)
		if err != nil {
			return nil, err
		}
		if isBinary(text) || isGenerated(text) {
			continue
		}
		n := 0
		for line := range strings.Lines(text) {
			n++
			if what := check(file, strings.TrimRight(line, "\n")); what != "" {
				bad = append(bad, Breach{file, n, what})
			}
		}
	}
	return bad, nil
}
