package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Package is a package as `go list` describes it.
type Package struct {
	ImportPath   string
	Dir          string
	Doc          string
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// List returns the packages of a module.
func List(root string) ([]Package, error) {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Doc,GoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var packages []Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
}

// open are the top-level directories that may import everything, and that nobody
// imports.
var open = []string{"cmd", "test", "scripts"}

// mayImport lists the top-level directories that each other one may import. All
// may import the root and internal.
var mayImport = map[string][]string{
	"":          {},
	"internal":  {},
	"agent":     {"lock"},
	"workspace": {},
	"forge":     {},
	"notify":    {},
	"store":     {},
	"fabric":    {},
	"web":       {},
	"flow":      {},
	"features":  {},
	"secret":    {},
	"verb":      {},
	"lock":      {},
	"price":     {},
	"prompt":    {},
	"answer":    {},
	"reaction":  {},
	"config":    {"agent", "engine", "flow", "prompt", "reaction", "secret"},
	"host":      {"agent", "lock"},
	"memory":    {"store"},
	"engine":    {"answer", "flow", "lock", "store", "fabric", "prompt", "reaction", "verb"},
	"worker":    {"secret", "host", "agent", "workspace", "forge", "notify", "fabric"},
	"ingest":    {"agent", "store", "fabric", "price"},
	"api":       {"engine", "lock", "store", "fabric", "memory", "reaction", "verb", "web"},
	"control":   {"api", "engine", "flow", "lock", "store", "fabric", "forge", "agent", "host", "workspace", "features", "config", "reaction", "verb", "worker", "price"},
}

// fewer are the packages that may import less than the rest of their directory: a
// client of the API needs nothing of the server.
var fewer = map[place][]string{
	{"api", ""}:       {},
	{"api", "client"}: {"verb"},
}

// crossings are the arrows between siblings that the architecture asks for by
// name, from one implementation to another contract.
var crossings = map[place]string{
	{"fabric", "local"}: "store", // on one machine the store is the queue
}

// contracts are the packages whose implementations are in directories below them.
var contracts = []string{"agent", "workspace", "forge", "notify", "store", "fabric", "api"}

// divided are the directories whose packages import their parts below them.
var divided = []string{"workspace"}

// pure are the directories whose packages decide and do no I/O.
var pure = []string{"answer", "engine", "flow", "ingest", "lock", "prompt", "reaction", "verb"}

// pureAlone are packages that do no I/O, though others of their directory do.
var pureAlone = []place{{"agent", ""}}

// effects are the packages of the standard library that reach the world, and
// harmless those of their names that do not.
var (
	effects  = []string{"os", "net", "syscall", "io/ioutil", "database/sql", "plugin"}
	harmless = []string{"net/url"}
)

// place is a package's directory.
type place struct {
	top string // "" for the root package
	sub string // the path below top, "" for top itself
}

func placeOf(module, importPath string) (place, bool) {
	if importPath == module {
		return place{}, true
	}
	rest, ours := strings.CutPrefix(importPath, module+"/")
	if !ours {
		return place{}, false
	}
	top, sub, _ := strings.Cut(rest, "/")
	return place{top, sub}, true
}

// Arrows checks the imports of every package, its tests apart.
func Arrows(module string, packages []Package) []Breach {
	var bad []Breach
	for _, p := range packages {
		from, ours := placeOf(module, p.ImportPath)
		if !ours || slices.Contains(open, from.top) {
			continue
		}
		dir := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if dir == "" {
			dir = "."
		}
		if _, known := mayImport[from.top]; !known {
			bad = append(bad, Breach{File: dir, What: "this directory is not in the table mayImport of test/house/arrows.go; add it"})
			continue
		}
		for _, imported := range p.Imports {
			if why := refuses(module, from, dir, imported); why != "" {
				bad = append(bad, Breach{File: dir, What: "imports " + imported + ": " + why})
			}
		}
	}
	return bad
}

// refuses returns why a package may not import another, "" when it may.
func refuses(module string, from place, dir, imported string) string {
	to, ours := placeOf(module, imported)
	if !ours {
		return refusesOutside(from, imported)
	}
	switch {
	case from.top == "":
		return "the root imports the standard library only"
	case to.top == "" || to.top == "internal":
		if from.top == "internal" && to.top == "" {
			return "internal imports only internal"
		}
		return ""
	case slices.Contains(open, to.top):
		return "nobody imports " + to.top
	case isTestPackage(strings.TrimSuffix(to.top+"/"+to.sub, "/")):
		if isTestPackage(dir) {
			return ""
		}
		return "a suite for tests is imported by tests only"
	case from.top == to.top && isTestPackage(dir):
		return "" // a suite drives the implementations of its contract
	case from.top == to.top:
		return refusesInside(from, to)
	case to.sub == "" && crossings[from] == to.top:
		return ""
	case !slices.Contains(reach(from), to.top):
		return "the arrow from " + from.top + " to " + to.top + " does not exist"
	case to.sub != "" && slices.Contains(contracts, to.top) && !shared(to):
		return "only cmd imports implementations"
	}
	return ""
}

// reach returns the top-level directories that a package may import.
func reach(p place) []string {
	if list, ok := fewer[p]; ok {
		return list
	}
	return mayImport[p.top]
}

// refusesInside judges imports within one directory: an implementation may import
// its contract and what is below itself, never a sibling, and the contract
// imports no implementation.
func refusesInside(from, to place) string {
	switch {
	case to.sub == "" || shared(to):
		return ""
	case from.sub == "" && slices.Contains(contracts, from.top) && !slices.Contains(divided, from.top):
		return "a contract does not import its implementations"
	case within(to, from) || within(from, to) || slices.Contains(layers[from], to.sub):
		return ""
	}
	return "siblings do not import each other"
}

// layers lists the siblings that a package below workspace is built on.
var layers = map[place][]string{
	{"workspace", "landing"}: {"repo", "gitconfig"},
	{"workspace", "repo"}:    {"gitconfig"},
}

// shared reports whether all packages of a top-level directory may import a
// package below it: the git runner, the access to git's files, the profiles of
// agents, and everything in an internal directory.
func shared(p place) bool {
	return p == place{"workspace", "git"} || p == place{"workspace", "gitfiles"} || p == place{"agent", "profiles"} || strings.Contains("/"+p.sub+"/", "/internal/")
}

func within(p, outer place) bool {
	return p.top == outer.top && (outer.sub == "" || p.sub == outer.sub || strings.HasPrefix(p.sub, outer.sub+"/"))
}

func refusesOutside(from place, imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	standard := !strings.Contains(first, ".")
	if from.top == "" && !standard {
		return "the root imports the standard library only"
	}
	if !slices.Contains(pure, from.top) && !slices.Contains(pureAlone, from) || slices.Contains(harmless, imported) {
		return ""
	}
	for _, e := range effects {
		if imported == e || strings.HasPrefix(imported, e+"/") {
			return from.top + " does no I/O"
		}
	}
	return ""
}

// generated reports whether a program wrote all of the package.
func (p Package) generated() bool {
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil || !isGenerated(string(text)) {
			return false
		}
	}
	return true
}

// PackageComments checks that every package says what it is for.
func PackageComments(packages []Package) []Breach {
	var bad []Breach
	for _, p := range packages {
		if p.Doc == "" && len(p.GoFiles) > 0 && !p.generated() {
			bad = append(bad, Breach{File: p.ImportPath, What: "has no package comment"})
		}
	}
	return bad
}

// banned are names that say nothing about what a package is for.
var banned = []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc", "shared", "base", "lib"}

// PackageNames checks that no package has a name that says nothing.
func PackageNames(packages []Package) []Breach {
	var bad []Breach
	for _, p := range packages {
		for part := range strings.SplitSeq(p.ImportPath, "/") {
			if slices.Contains(banned, part) {
				bad = append(bad, Breach{File: p.ImportPath, What: part + " says nothing; name it for what it does"})
			}
		}
	}
	return bad
}
