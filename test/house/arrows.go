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

// Package is what `go list` tells of a package.
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

// open are the rooms that may import everything, and that nobody imports.
var open = []string{"cmd", "test", "scripts"}

// rooms says which other rooms each of the rest may import. The root and
// internal are there for all.
var rooms = map[string][]string{
	"":          {},
	"internal":  {},
	"agent":     {},
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
	"price":     {},
	"prompt":    {},
	"answer":    {},
	"config":    {"agent", "engine", "prompt", "secret"},
	"host":      {"agent"},
	"memory":    {"store"},
	"engine":    {"answer", "flow", "store", "fabric", "prompt", "verb"},
	"worker":    {"secret", "host", "agent", "workspace", "forge", "notify", "fabric"},
	"ingest":    {"agent", "store", "fabric", "price"},
	"api":       {"engine", "store", "fabric", "memory", "verb", "web"},
	"control":   {"api", "engine", "store", "fabric", "agent", "host", "workspace", "features", "config", "verb", "worker", "price"},
}

// fewer are the packages that may import fewer rooms than the rest of their
// room: a client of the API needs nothing of the server.
var fewer = map[place][]string{
	{"api", ""}:       {},
	{"api", "client"}: {"verb"},
}

// crossings are the arrows between siblings that the architecture asks for by
// name, from one implementation to another room's contract.
var crossings = map[place]string{
	{"fabric", "local"}: "store", // on one machine the store is the queue
}

// contracts are the rooms whose implementations stand in folders below them.
var contracts = []string{"agent", "workspace", "forge", "notify", "store", "fabric", "api"}

// divided rooms have parts in folders below them, which they import themselves.
var divided = []string{"workspace"}

// pure rooms decide and do no I/O.
var pure = []string{"answer", "engine", "flow", "ingest", "prompt", "verb"}

// pureAlone are packages that do no I/O, though others of their room do.
var pureAlone = []place{{"agent", ""}}

// effects are the packages of the standard library that reach the world, and
// harmless those of their names that do not.
var (
	effects  = []string{"os", "net", "syscall", "io/ioutil", "database/sql", "plugin"}
	harmless = []string{"net/url"}
)

// place is a package's place in the house.
type place struct {
	room string // "" for the root package
	sub  string // the path below the room, "" for the room itself
}

func placeOf(module, importPath string) (place, bool) {
	if importPath == module {
		return place{}, true
	}
	rest, ours := strings.CutPrefix(importPath, module+"/")
	if !ours {
		return place{}, false
	}
	room, sub, _ := strings.Cut(rest, "/")
	return place{room, sub}, true
}

// Arrows checks the imports of every package, its tests apart.
func Arrows(module string, packages []Package) []Breach {
	var bad []Breach
	for _, p := range packages {
		from, ours := placeOf(module, p.ImportPath)
		if !ours || slices.Contains(open, from.room) {
			continue
		}
		dir := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if dir == "" {
			dir = "."
		}
		if _, known := rooms[from.room]; !known {
			bad = append(bad, Breach{File: dir, What: "this room has no place in the house; add it to the table of rooms"})
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

// refuses tells why a package may not import another, "" when it may.
func refuses(module string, from place, dir, imported string) string {
	to, ours := placeOf(module, imported)
	if !ours {
		return refusesOutside(from, imported)
	}
	switch {
	case from.room == "":
		return "the root imports the standard library only"
	case to.room == "" || to.room == "internal":
		if from.room == "internal" && to.room == "" {
			return "internal imports no room"
		}
		return ""
	case slices.Contains(open, to.room):
		return "nobody imports " + to.room
	case isTestPackage(strings.TrimSuffix(to.room+"/"+to.sub, "/")):
		if isTestPackage(dir) {
			return ""
		}
		return "a suite for tests is imported by tests only"
	case from.room == to.room && isTestPackage(dir):
		return "" // a suite drives the implementations of its own room
	case from.room == to.room:
		return refusesInside(from, to)
	case to.sub == "" && crossings[from] == to.room:
		return ""
	case !slices.Contains(reach(from), to.room):
		return "the arrow from " + from.room + " to " + to.room + " does not exist"
	case to.sub != "" && slices.Contains(contracts, to.room) && !shared(to):
		return "only cmd imports implementations"
	}
	return ""
}

// reach returns the rooms that a package may import.
func reach(p place) []string {
	if list, ok := fewer[p]; ok {
		return list
	}
	return rooms[p.room]
}

// refusesInside judges imports within one room: an implementation may import its
// contract and what stands below itself, never a sibling, and the contract
// imports no implementation.
func refusesInside(from, to place) string {
	switch {
	case to.sub == "" || shared(to):
		return ""
	case from.sub == "" && slices.Contains(contracts, from.room) && !slices.Contains(divided, from.room):
		return "a contract does not import its implementations"
	case within(to, from) || within(from, to):
		return ""
	}
	return "siblings do not import each other"
}

// shared reports whether a package below a room serves all of the room: git's
// runner, the access to git's files, the profiles of agents, and packages in an
// internal folder.
func shared(p place) bool {
	return p == place{"workspace", "git"} || p == place{"workspace", "gitfiles"} || p == place{"agent", "profiles"} || strings.Contains("/"+p.sub+"/", "/internal/")
}

func within(p, outer place) bool {
	return p.room == outer.room && (outer.sub == "" || p.sub == outer.sub || strings.HasPrefix(p.sub, outer.sub+"/"))
}

func refusesOutside(from place, imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	standard := !strings.Contains(first, ".")
	if from.room == "" && !standard {
		return "the root imports the standard library only"
	}
	if !slices.Contains(pure, from.room) && !slices.Contains(pureAlone, from) || slices.Contains(harmless, imported) {
		return ""
	}
	for _, e := range effects {
		if imported == e || strings.HasPrefix(imported, e+"/") {
			return from.room + " does no I/O"
		}
	}
	return ""
}

// generated tells whether a program wrote all of the package.
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
